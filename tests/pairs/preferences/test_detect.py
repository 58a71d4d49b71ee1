"""How a format is told, overridden and refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from evenhand.errors import InputError
from evenhand.pairs.preferences import FORMATS, Columns, read_preferences

ROW = {"prompt": "Q?", "chosen": "yes", "rejected": "no"}


def file(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def error_of(path: Path, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        read_preferences(path, **options)
    return str(caught.value)


def test_what_told_the_format_is_said(tmp_path: Path) -> None:
    assert read_preferences(file(tmp_path, ROW)).reason == (
        "it has the columns chosen, rejected, and the prompt is in prompt"
    )
    row = {"chosen": "It is so.", "rejected": "It is not."}
    assert "no prompt: it is taken to be what both share" in read_preferences(file(tmp_path, row)).reason
    assert read_preferences(file(tmp_path, ROW), format="trl").reason == "it was named"


def test_a_column_that_first_comes_later_counts(tmp_path: Path) -> None:
    later = {**ROW, "score_chosen": 2, "score_rejected": 1}
    assert read_preferences(file(tmp_path, {"chosen": "x y", "rejected": "x z"}, later)).format == "ultrafeedback"


def test_no_known_format_lists_the_columns_and_the_way_out(tmp_path: Path) -> None:
    message = error_of(file(tmp_path, {"": 0, "question text": "Q?", "good": "yes", "bad": "no"}))
    assert "rows.jsonl: is in no format that is known by its columns" in message
    assert "(it has: (unnamed), question text, good, bad)" in message
    assert "--chosen and --rejected" in message
    assert "pandalm" in message


@pytest.mark.parametrize(
    "row",
    [
        {"instruction": "Do", "input": "", "output": "one answer"},
        {"prompt": "Q?", "response_a": "x", "response_b": "y", "winner": "the other one"},
    ],
)
def test_columns_alone_do_not_make_a_format(tmp_path: Path, row: dict[str, Any]) -> None:
    assert "is in no format" in error_of(file(tmp_path, row))


def test_format_is_overridable(tmp_path: Path) -> None:
    row = {"chosen": "\n\nHuman: q\n\nAssistant: yes", "rejected": "\n\nHuman: q\n\nAssistant: no", "prompt": "p"}
    assert read_preferences(file(tmp_path, row)).format == "hh-rlhf"
    found = read_preferences(file(tmp_path, row), format="trl")
    assert (found.format, found.pairs[0].input) == ("trl", "p")


def test_unknown_format_and_wrong_format(tmp_path: Path) -> None:
    path = file(tmp_path, ROW)
    unknown = error_of(path, format="trll")
    assert "--format: there is no format 'trll'" in unknown
    assert all(name in unknown for name in FORMATS)
    wrong = error_of(path, format="pandalm")
    assert "needs the columns instruction, response1, response2, annotator1" in wrong
    assert "(it has: prompt, chosen, rejected)" in wrong


def test_format_and_columns_together_are_refused(tmp_path: Path) -> None:
    options = {"format": "trl", "columns": Columns(chosen="chosen", rejected="rejected")}
    assert "one or the other" in error_of(file(tmp_path, ROW), **options)


def test_a_preference_that_names_a_column_that_is_not_there(tmp_path: Path) -> None:
    rows = [{"text_a": "x", "text_b": "y", "preferred_text": "text_c"}] * 2
    message = error_of(file(tmp_path, *rows))
    assert "rows.jsonl, row 1: gives no pair in the format icai" in message
    assert "preferred_text is 'text_c', which is none of its values (text_a, text_b)" in message
    assert "(there are the columns text_a, text_b, preferred_text)" in message


def test_one_such_row_among_good_ones_is_a_problem_of_the_row(tmp_path: Path) -> None:
    row = {"text_a": "x", "text_b": "y", "preferred_text": "text_b"}
    found = read_preferences(file(tmp_path, row, row | {"preferred_text": "text_c"}))
    assert len(found.pairs) == 1
    assert [problem.row for problem in found.problems] == [2]
