"""No cell is a formula, no number is hurt, and nothing that a sheet can't hold goes into one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.report.exports.spreadsheet_cells import MOST_CHARACTERS, characters, cut, guarded, is_number

STARTS = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
BLANKS = ("", " ", "\t", "\r", "\n", "\u00a0", "\u3000", "\u200b", "\ufeff", "\u202e", "  \t ")


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("blank", BLANKS)
def test_what_begins_like_a_formula_gets_an_apostrophe(start: str, blank: str) -> None:
    text = f'{blank}{start}HYPERLINK("http://x.org")'
    assert guarded(text).startswith("'")


@pytest.mark.parametrize(
    "text", ["\tx", "\rx", "\nx", "-", "+", "--1", "-1-1", "-1+cmd|' /C calc'!A0", "+1 more", "-(1)"]
)
def test_these_too(text: str) -> None:
    assert guarded(text).startswith("'")


@pytest.mark.parametrize(
    "text", ["-1", "-0.25", "+3", "-1,250", "1e-9", "-2.5E+3", "-87.5%", "0", ".5", "-.5", "1,350"]
)
def test_plain_numbers_stay_numbers(text: str) -> None:
    assert is_number(text)
    assert guarded(text) == text


@pytest.mark.parametrize("text", ["", "plain", "a=b", "it's", "'=1", "87.5 [60.0, 100.0]", "ends with ="])
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert guarded(text) == text


def test_what_a_sheet_can_not_hold_becomes_a_mark() -> None:
    assert guarded("nul \x00 bell \x07 esc \x1b surrogate \ud83d") == "nul \ufffd bell \ufffd esc \ufffd surrogate ?"
    assert guarded("two\r\nlines\rand three") == "two\nlines\nand three"


@given(st.text(max_size=30))
def test_any_text_is_a_cell(text: str) -> None:
    cell = guarded(text)
    cell.encode("utf-8")
    assert is_number(cell) or not cell.lstrip(" \u00a0\u3000").startswith((*STARTS, "\t", "\r", "\n"))
    assert guarded(cell) == cell, "a guarded cell needs no other guard"


def test_a_long_text_is_cut_with_a_note() -> None:
    assert cut("x" * MOST_CHARACTERS) == "x" * MOST_CHARACTERS
    found = cut("x" * (MOST_CHARACTERS + 1))
    assert len(found) == MOST_CHARACTERS
    assert found.endswith("x [cut here: 32,768 characters in all]")


@given(st.text(alphabet="a\U0001f600", min_size=41, max_size=90))
def test_a_cut_text_fits_as_spreadsheets_count(text: str) -> None:
    found = cut(text, most=60)
    assert characters(found) <= 60
    assert found == text or found.split(" [cut")[0] == text[: len(found.split(" [cut")[0])]
    assert characters(found) >= 57 or characters(text) <= 57
