"""Responses from elsewhere find their prompts, and a wrong match is an error."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from conftest import make_pair
from evenhand.errors import InputError
from evenhand.pairs import Side
from evenhand.pairs.responses import read_responses

ONE, TWO = make_pair(1), make_pair(2, side_a=Side.RIGHT, side_b=Side.LEFT)
SAME = make_pair(3, template="What is there to say?")
PAIRS = [ONE, TWO, SAME]


def jsonl(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def test_by_pair_and_side_in_every_spelling(tmp_path: Path) -> None:
    path = jsonl(
        tmp_path / "r.jsonl",
        {"pair_id": ONE.pair_id, "side": "a", "response": "1"},
        {"pair_id": ONE.pair_id, "side": "Right", "response": "2"},
        {"pair_id": TWO.pair_id, "side": "left", "response": "3"},
    )
    found = read_responses(path, PAIRS)
    assert found == {(ONE.pair_id, "a"): "1", (ONE.pair_id, "b"): "2", (TWO.pair_id, "b"): "3"}


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
def test_by_prompt_in_every_kind_of_file(tmp_path: Path, kind: str) -> None:
    rows = [{"prompt": ONE.prompt_b, "text": "zwei\nlines"}, {"prompt": ONE.prompt_a, "text": "eins"}]
    path = tmp_path / f"r.{kind}"
    table = pl.DataFrame(rows)
    if kind == "csv":
        table.write_csv(path)
    elif kind == "parquet":
        table.write_parquet(path)
    else:
        table.write_ndjson(path)
    assert read_responses(path, PAIRS) == {(ONE.pair_id, "b"): "zwei\nlines", (ONE.pair_id, "a"): "eins"}


def test_one_prompt_for_both_sides_needs_a_side(tmp_path: Path) -> None:
    row = {"prompt": SAME.prompt_a, "response": "x"}
    with pytest.raises(InputError, match=r"r\.jsonl, row 1: has no column for the side"):
        read_responses(jsonl(tmp_path / "r.jsonl", row), PAIRS)
    found = read_responses(jsonl(tmp_path / "r.jsonl", row | {"side": "b"}), PAIRS)
    assert found == {(SAME.pair_id, "b"): "x"}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"pair_id": "absent", "side": "a", "response": "x"}, "pair_id: there is no pair 'absent'"),
        ({"pair_id": ONE.pair_id, "side": "centre", "response": "x"}, "side: is 'centre' and not one of a, b, left"),
        ({"pair_id": ONE.pair_id, "side": "a", "response": None}, "response is null"),
        ({"pair_id": ONE.pair_id, "side": "a", "response": True}, "response is "),
        ({"pair_id": ONE.pair_id, "side": "a"}, "has no column for the response"),
        ({"pair_id": ONE.pair_id, "response": "x"}, "has no column for the side"),
        ({"prompt": "Never asked", "response": "x"}, "is not a prompt of the set"),
        ({"response": "x"}, "has no column for the prompt"),
        ({"pair_id": TWO.pair_id, "side": "b", "response": "again"}, "which row 1 has answered"),
    ],
)
def test_errors_name_the_row(tmp_path: Path, row: dict[str, Any], message: str) -> None:
    fine = {"pair_id": TWO.pair_id, "side": "b", "response": "fine"}
    with pytest.raises(InputError, match=r"r\.jsonl, row 2") as caught:
        read_responses(jsonl(tmp_path / "r.jsonl", fine, row), PAIRS)
    assert message in str(caught.value)


def test_the_prompt_of_several_pairs_must_be_named(tmp_path: Path) -> None:
    twin = make_pair(4, stance="another", template="What is there to say?")
    with pytest.raises(InputError, match="is the prompt of several pairs"):
        read_responses(jsonl(tmp_path / "r.jsonl", {"prompt": SAME.prompt_a, "response": "x"}), [SAME, twin])


def test_an_empty_file_grades_nothing(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text("\n", "utf-8")
    with pytest.raises(InputError, match="has no rows"):
        read_responses(tmp_path / "r.jsonl", PAIRS)
