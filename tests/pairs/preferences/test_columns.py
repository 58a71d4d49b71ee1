"""Columns that the user names, and what numbers in them mean."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import InputError
from evenhand.pairs.preferences import (
    Columns,
    PreferenceSet,
    ProblemKind,
    collected,
    records_of,
    stream_of_records,
)

SIDES = Columns(input="the prompt", a="left", b="right", preference="winner")


def read(rows: list[dict[str, Any]], columns: Columns) -> PreferenceSet:
    return collected(stream_of_records(records_of(rows), source="rows", columns=columns))


def error_of(rows: list[dict[str, Any]], columns: Columns) -> str:
    with pytest.raises(InputError) as caught:
        read(rows, columns)
    return str(caught.value)


def row(winner: Any, **more: Any) -> dict[str, Any]:
    return {"the prompt": "Q?", "left": "l", "right": "r", "winner": winner, **more}


@pytest.mark.parametrize(
    ("winner", "chosen", "tie", "strength"),
    [
        ("left", "l", False, None),
        ("right", "r", False, None),
        ("Model_B", "r", False, None),
        ("A>B", "l", False, None),
        ("tie", "l", True, None),
        (1, "l", False, 1.0),
        ("2", "r", False, 1.0),
        (1.75, "r", False, 0.5),
    ],
)
def test_what_a_preference_may_say(winner: Any, chosen: str, tie: bool, strength: float | None) -> None:
    found = read([row(winner)], SIDES)
    (pair,) = found.pairs
    assert (pair.input, pair.chosen, pair.tie, pair.strength) == ("Q?", chosen, tie, strength)
    assert found.format == "columns"


@pytest.mark.parametrize("winner", ["a", "first", "left"])
def test_the_name_of_a_column_goes_before_what_else_a_word_may_mean(winner: str) -> None:
    swapped = Columns(a="right", b="left", preference="winner")
    (pair,) = read([row("left")], swapped).pairs
    assert (pair.chosen, pair.input) == ("l", "")
    assert read([row(winner)], SIDES).pairs[0].chosen == "l"


def test_chosen_and_rejected() -> None:
    columns = Columns(chosen="right", rejected="left", strength="margin")
    pairs = read([row("", margin=3), row("", margin=""), row("", margin=-2)], columns).pairs
    assert {(pair.chosen, pair.rejected) for pair in pairs} == {("r", "l")}
    assert [pair.strength for pair in pairs] == [3, None, 2]


@pytest.mark.parametrize(
    ("values", "winners", "chosen"),
    [
        ("a=0,b=1", [0, 1, "0", 1.0], ["l", "r", "l", "r"]),
        ("a=1, b=0, tie=2", ["1", 0, 2], ["l", "r", "tie"]),
        ("a=better,b=worse", ["better", "worse"], ["l", "r"]),
        ("signed", [-3, 0.5, 0], ["l", "r", "tie"]),
    ],
)
def test_values_say_what_they_mean(values: str, winners: list[Any], chosen: list[str]) -> None:
    columns = Columns(a="left", b="right", preference="winner", values=values)
    pairs = read([row(winner) for winner in winners], columns).pairs
    assert ["tie" if pair.tie else pair.chosen for pair in pairs] == chosen


@pytest.mark.parametrize("winners", [[1, 0], ["0", "1"], [0, 1, 2], [-3, 2], [5]])
def test_numbers_that_can_mean_different_things_are_not_guessed(winners: list[Any]) -> None:
    message = error_of([row(winner) for winner in winners], SIDES)
    assert "winner: holds the numbers" in message
    assert "--values a=0,b=1" in message


def test_such_a_number_far_down_is_a_problem_of_its_row() -> None:
    found = read([row(1)] * 300 + [row(0), row(None), row("who?")], SIDES)
    assert len(found.pairs) == 300
    assert [problem.kind for problem in found.problems] == [
        ProblemKind.UNKNOWN_PREFERENCE,
        ProblemKind.NULL,
        ProblemKind.UNKNOWN_PREFERENCE,
    ]


def test_a_column_that_is_not_there() -> None:
    message = error_of([row(1)], Columns(a="left", b="right", preference="winnr"))
    assert "rows, --preference: there is no column 'winnr'" in message
    assert "(there are: the prompt, left, right, winner)" in message
    assert "did you mean 'winner'" in message


@pytest.mark.parametrize(
    "columns",
    [
        Columns(a="left"),
        Columns(a="left", b="right"),
        Columns(chosen="left"),
        Columns(a="left", b="right", preference="winner", chosen="left", rejected="right"),
        Columns(chosen="left", rejected="right", values="signed"),
        Columns(values="signed"),
    ],
)
def test_too_few_columns_or_too_many(columns: Columns) -> None:
    assert "--chosen and --rejected" in error_of([row(1)], columns)


@pytest.mark.parametrize("values", ["a", "a=", "c=1", ""])
def test_wrong_values(values: str) -> None:
    assert "--values" in error_of([row(1)], Columns(a="left", b="right", preference="winner", values=values))


WORDS = st.sampled_from([("left", "right"), ("a", "b"), ("1", "2"), ("A>B", "B>A"), ("tie", "tie"), ("1.25", "1.75")])
TEXT = st.text()


@given(prompt=TEXT, left=TEXT, right=TEXT, words=WORDS)
def test_swapping_the_sides_and_the_preference_gives_the_same_pair(
    prompt: str, left: str, right: str, words: tuple[str, str]
) -> None:
    columns = Columns(input="p", a="left", b="right", preference="w")
    (pair,) = read([{"p": prompt, "left": left, "right": right, "w": words[0]}], columns).pairs
    (other,) = read([{"p": prompt, "left": right, "right": left, "w": words[1]}], columns).pairs
    assert (pair.pair_id, pair.input_id, pair.tie, pair.strength) == (
        other.pair_id,
        other.input_id,
        other.tie,
        other.strength,
    )
    sides = [(each.chosen, each.rejected) for each in (pair, other)]
    assert sides[0] == (sides[1][::-1] if pair.tie else sides[1])


@given(st.lists(st.tuples(st.sampled_from("pq"), st.sampled_from("xyz"), st.sampled_from("xyz"))))
def test_ids_are_unique_and_the_same_in_every_run(rows: list[tuple[str, str, str]]) -> None:
    columns = Columns(input="p", chosen="c", rejected="r")
    data = [{"p": p, "c": c, "r": r} for p, c, r in rows] or [{"p": "p", "c": "x", "r": "y"}]
    pairs = read(data, columns).pairs
    assert len({pair.pair_id for pair in pairs}) == len(pairs)
    assert len({pair.input_id for pair in pairs}) == len({pair.input for pair in pairs})
    assert read(data, columns).pairs == pairs
