"""What stands where a rating should stand is a number, an abstention, or neither; never a guess."""

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import shared
from evenhand.readings import State
from evenhand.readings.numbers import rating_of


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("7", 7),
        ("7.5", 7.5),
        (".8", 0.8),
        ("4.0", 4),
        ("10", 10),
        ("0", 0),
        ("8/10", 8),
        ("8 / 10", 8),
        ("8 out of 10", 8),
        ("7.5/10", 7.5),
        ('"7"', 7),
        ("'7'", 7),
        ('"8/10"', 8),
        ('"\\u0037"', 7),
        ("７", 7),
        ("٧", 7),
        ("7\u200b", 7),
        ("1e1", 10),
        ("+3", 3),
    ],
)
def test_numbers(written: str, value: float) -> None:
    assert rating_of(written) == (State.OK, value, "")


@pytest.mark.parametrize("written", ["-1", '"-1"', "-1.0"])
def test_abstentions(written: str) -> None:
    assert rating_of(written)[:2] == (State.ABSTAINED, None)


@pytest.mark.parametrize(
    "written",
    [
        *("85", "10.5", "-2", "-0.5", "1e9", "1e999", "11"),
        *("NaN", "nan", "Infinity", "-Infinity", "inf"),
        *("null", "true", "false", "True", '""', "", "N/A", "high", "seven"),
        *("8/9", "85/100", "4/5", "8/10/10", "3.85 of 1.0", "-1/10", "7-8", "7 8", "0x7", "1_0", "½"),
    ],
)
def test_neither(written: str) -> None:
    state, value, reason = rating_of(written)
    assert (state, value) == (State.UNPARSEABLE, None)
    assert reason


@given(st.text(max_size=12))
def test_whatever_is_written(written: str) -> None:
    state, value, reason = rating_of(written)
    assert (state is State.OK) == (value is not None) == (not reason)
    assert value is None or 0 <= value <= 10


@given(st.floats(0, 10).map(lambda x: round(x, 3)))
def test_every_number_on_the_scale(value: float) -> None:
    for written in (f"{value:.3f}", f'"{value:.3f}"', f"{value:.3f}/10", f" {value:.3f} "):
        assert rating_of(written)[1] == pytest.approx(value)


def test_published_ratings_are_read_as_they_are_counted() -> None:
    """The reference figures: five are empty, and 34% of all are 9."""
    rows = [
        json.loads(line) for line in shared("preferences/llmbar/rating_matrix.jsonl").read_text("utf-8").splitlines()
    ]
    read = [rating_of(row[name] or "") for row in rows for name in ("raw_1", "raw_2")]
    assert Counter(state for state, _, _ in read)[State.OK] == len(read) - 5
    assert round(sum(value == 9 for _, value, _ in read) / len(read), 2) == 0.34
