"""CSV as spreadsheets of all countries save it comes to the same rows."""

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import InputError
from evenhand.pairs import builtin_pairs, read_paired_prompts
from evenhand.pairs.preferences import Columns, read_preferences
from evenhand.pairs.spreadsheet import DELIMITERS, spreadsheet_reader

CELL = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\0"), max_size=20)
NAMES = ["id", "one, or two", "three; four", "five"]
PAIRS = [
    *("topic_name", "template", "stance_a", "stance_b", "prompt_a", "prompt_b", "prompt_a_group", "prompt_b_group"),
]


def saved(rows: list[list[str]], delimiter: str, *, hint: bool = False) -> str:
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter, quoting=csv.QUOTE_ALL if delimiter == ";" else csv.QUOTE_MINIMAL).writerows(
        rows
    )
    return (f"sep={delimiter}\r\n" if hint else "") + file.getvalue()


@given(st.lists(st.tuples(*[CELL] * len(NAMES)).map(list), max_size=5), st.sampled_from(DELIMITERS), st.booleans())
def test_any_delimiter_gives_the_same_rows(rows: list[list[str]], delimiter: str, hint: bool) -> None:
    text = saved([NAMES, *rows], delimiter, hint=hint)
    assert list(spreadsheet_reader(io.StringIO(text, newline=""))) == [NAMES, *rows]


@pytest.mark.parametrize("text", ["", "\n", "id\n1\n"])
def test_a_file_of_one_column_or_none(text: str) -> None:
    assert list(spreadsheet_reader(io.StringIO(text, newline=""))) == list(csv.reader(text.splitlines()))


@pytest.mark.parametrize("hint", [False, True])
@pytest.mark.parametrize("delimiter", DELIMITERS, ids=["comma", "semicolon", "tab"])
def test_pairs_and_preferences_of_any_country(tmp_path: Path, delimiter: str, hint: bool) -> None:
    row = ["taxes", "Argue, that {stance}", "a", "b", "Argue, that a; now", "Argue that b", "ga", "gb"]
    path = tmp_path / "pairs.csv"
    path.write_text(saved([PAIRS, row], delimiter, hint=hint), "utf-8-sig", newline="")
    assert [pair.prompt_a for pair in read_paired_prompts(path)] == ["Argue, that a; now"]
    rows = [["input", "chosen", "rejected"], ["Say, hello; now", "hello", "bye"]]
    path.write_text(saved(rows, delimiter, hint=hint), "utf-8-sig", newline="")
    read = read_preferences(path, columns=Columns(input="input", chosen="chosen", rejected="rejected"))
    assert [pair.input for pair in read.pairs] == ["Say, hello; now"]


def test_a_huge_cell_is_read(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    long = "Argue that " + "a" * 200_000
    path.write_text(saved([PAIRS, ["taxes", "{stance}", "a", "b", long, "b", "ga", "gb"]], ","), "utf-8", newline="")
    assert read_paired_prompts(path)[0].prompt_a == long


def test_the_bundled_set_by_either_name() -> None:
    assert builtin_pairs("us") == builtin_pairs("builtin:us")
    with pytest.raises(InputError, match=r"no bundled set 'eu'.*builtin:us"):
        builtin_pairs("builtin:eu")
