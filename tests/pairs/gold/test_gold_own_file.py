"""A user's own labelled file, and what is said where it can't be used."""

import json
from pathlib import Path

import polars as pl
import pytest

from conftest import write_csv
from evenhand.errors import InputError
from evenhand.pairs.gold import GoldMeasure, GoldSet, read_gold

SINGLE = ["prompt", "response", "label"]
PAIR = ["prompt_a", "prompt_b", "response_a", "response_b", "label"]


def only(path: Path) -> GoldSet:
    (found,) = read_gold(str(path))
    return found


def test_csv_with_a_byte_order_mark(tmp_path: Path) -> None:
    rows = [SINGLE, ["Why?", "No.", "full"], ["How?", "So.", "None"], ["Who?", "A bit.", "partial"]]
    found = only(write_csv(tmp_path / "mine.csv", rows, encoding="utf-8-sig", newline="\r\n"))
    assert (found.name, found.licence, len(found.sha256)) == ("mine", "not said", 64)
    assert [item.label for item in found.items] == ["full", "none", "partial"]
    assert {item.measure for item in found.items} == {GoldMeasure.REFUSAL}
    assert (found.items[0].item_id, found.items[0].prompts, found.items[0].responses) == ("2", ("Why?",), ("No.",))


def test_a_file_may_be_called_like_a_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_csv(tmp_path / "pct-mine.csv", [SINGLE, ["Why?", "No.", "full"]])
    monkeypatch.chdir(tmp_path)
    (found,) = read_gold("pct-mine.csv")
    assert (found.name, len(found.items)) == ("pct-mine", 1)


def test_json_lines_with_annotators_and_groups(tmp_path: Path) -> None:
    rows = [
        {"id": "x", "prompt": "p", "response": "r", "label_1": "some", "label_2": "some", "label_10": "balanced"},
        {"prompt": "p", "response": "s", "label": "none", "label_2": "none", "model": "m", "split": "test"},
    ]
    path = tmp_path / "mine.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    first, second = only(path).items
    assert first.measure == GoldMeasure.HEDGING
    assert (first.item_id, first.label, first.annotators) == ("x", "some", ("some", "some", "balanced"))
    assert (second.item_id, second.annotators, second.split) == ("2", (None, "none", None), "test")
    assert second.groups == {"model": "m", "prompt": first.groups["prompt"]}


def test_parquet_with_pairs(tmp_path: Path) -> None:
    path = tmp_path / "mine.parquet"
    pl.DataFrame([["p", "q", "r", "s", "helped_a"]], schema=PAIR, orient="row").write_parquet(path)
    (item,) = only(path).items
    assert (item.measure, item.prompts, item.responses) == (GoldMeasure.EVEN_HANDEDNESS, ("p", "q"), ("r", "s"))


def test_a_preference_may_have_one_prompt(tmp_path: Path) -> None:
    rows = [["prompt", "response_a", "response_b", "label_1", "label_2", "label_3"], ["p", "r", "s", "a", "tie", "a"]]
    (item,) = only(write_csv(tmp_path / "mine.csv", rows)).items
    assert (item.measure, item.prompts, item.label) == (GoldMeasure.PREFERENCE, ("p", "p"), "a")


def test_levels_of_hedging_may_be_numbers(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps([{"prompt": "p", "response": "r", "label": 4}]))
    (item,) = only(path).items
    assert (item.measure, item.label) == (GoldMeasure.HEDGING, "4")


def test_two_measures_in_one_file(tmp_path: Path) -> None:
    rows = [[*SINGLE, "measure"], ["p", "r", "none", "refusal"], ["p", "r", "none", "hedging"]]
    found = read_gold(str(write_csv(tmp_path / "mine.csv", rows)))
    assert [(each.name, len(each.items)) for each in found] == [("mine-refusal", 1), ("mine-hedging", 1)]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([SINGLE], r"mine.csv: has no rows"),
        (
            [["prompt", "answer", "label"], ["p", "r", "full"]],
            r"row 2: lacks the column response \(it has: prompt, answer",
        ),
        ([["prompt", "response"], ["p", "r"]], r"row 2: lacks the column label"),
        ([["prompt_a", "response_a", "response_b", "label"], ["p", "r", "s", "a"]], r"lacks the column prompt_b"),
        ([SINGLE, ["p", "r", "full"], ["p", " ", "none"]], r"mine.csv, row 3, response: is empty"),
        ([SINGLE, ["p", "r", "full"], ["p", "r", "maybe"]], r"mine.csv, row 3, label: is 'maybe'.*full, partial, none"),
        ([SINGLE, ["p", "r", "full"], ["p", "r", "some"]], r"label: what its labels \(full, some\).*column measure"),
        ([SINGLE, ["p", "r", "none"]], r"label: what its labels \(none\).*refusal or hedging"),
        ([[*SINGLE, "measure"], ["p", "r", "some", "refusal"]], r"row 2, label: is 'some'.*full, partial, none"),
        ([[*SINGLE, "measure"], ["p", "r", "a", "preference"]], r"row 2, measure: is 'preference'.*refusal or hedging"),
        ([[*SINGLE, "split"], ["p", "r", "full", "train"]], r"row 2, split: is 'train'.*fit or test"),
        ([[*SINGLE, "id"], ["p", "r", "full", "7"], ["p", "r", "full", "7"]], r"row 3, id: is '7' as in row 2"),
        ([SINGLE, ["p", "r", "full", "more"]], r"mine.csv, row 2: the row has 4 cells"),
        (
            [["prompt", "response", "label_1", "label_2"], ["p", "r", "full", "none"], ["p", "r", "", ""]],
            r"row 2, label: is empty, and no label has most of the annotators \(and 1 more: 3\).*what was agreed on",
        ),
    ],
)
def test_a_fault_is_named_with_its_place(tmp_path: Path, rows: list[list[str]], message: str) -> None:
    path = write_csv(tmp_path / "mine.csv", rows)
    with pytest.raises(InputError, match=message):
        read_gold(str(path))


def test_a_file_of_no_known_kind(tmp_path: Path) -> None:
    path = tmp_path / "mine.xlsx"
    path.write_bytes(b"x")
    with pytest.raises(InputError, match="is of no known kind"):
        read_gold(str(path))
