"""Outputs to be scored are read whole or not at all."""

import json
from pathlib import Path

import pytest

from evenhand.errors import InputError
from evenhand.pairs.outputs import Output, read_outputs


def lines(tmp_path: Path, *rows: object) -> Path:
    path = tmp_path / "outputs.jsonl"
    path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows), "utf-8")
    return path


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"input": "q", "output": "a"}, ("q", "a")),
        ({"prompt": "q", "completion": "a", "id": 3}, ("q", "a")),
        ({"response": "a"}, ("", "a")),
        ({"instruction": "q", "text": "a\u2028b"}, ("q", "a\u2028b")),
    ],
)
def test_columns_are_told_from_their_names(tmp_path: Path, row: dict[str, object], expected: tuple[str, str]) -> None:
    (found,) = read_outputs(lines(tmp_path, row))
    assert (found.input, found.output, found.row) == (*expected, 1)


def test_named_columns(tmp_path: Path) -> None:
    path = lines(tmp_path, {"the q": "q", "the a": "a", "output": "other"})
    assert read_outputs(path, input_column="the q", output_column="the a") == [Output(1, "q", "a")]


def test_same_texts_same_id(tmp_path: Path) -> None:
    one, other, third = read_outputs(lines(tmp_path, *[{"input": "q", "output": a} for a in ("a", "a", "b")]))
    assert one.output_id == other.output_id != third.output_id


@pytest.mark.parametrize(
    ("rows", "columns", "what"),
    [
        ([], {}, "has no rows"),
        ([{"q": "x"}], {}, "has no column of outputs (it has: q)"),
        ([{"output": "x"}], {"output_column": "reply"}, "--output: names the column 'reply'"),
        ([{"output": "x"}], {"input_column": "ask"}, "--input: names the column 'ask'"),
        ([{"output": "x"}, {"output": None}], {}, "row 2:"),
        ([{"output": "x"}, {"output": True}], {}, "row 2:"),
        ([{"output": "x"}, {"input": "q"}], {}, "row 2: there is no output"),
        ([{"output": "x"}, "{broken"], {}, "row 2:"),
    ],
)
def test_bad_files(tmp_path: Path, rows: list[object], columns: dict[str, str], what: str) -> None:
    with pytest.raises(InputError) as caught:
        read_outputs(lines(tmp_path, *rows), **columns)
    assert what in str(caught.value)
    assert "The way out" in str(caught.value)
