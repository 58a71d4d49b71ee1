"""The notations of a preference."""

from typing import Any

import pytest

from evenhand.pairs.preferences.preference import by_code, by_name, number_of, on_scale_1_to_2, signed
from evenhand.pairs.preferences.problem import ProblemKind, RowFaultError


@pytest.mark.parametrize(
    ("word", "winner"),
    [
        ("a", "a"),
        (" B ", "b"),
        ("model_a", "a"),
        ("Model-B", "b"),
        ("response 2", "b"),
        ("output_1", "a"),
        ("assistant_b", "b"),
        ("A>B", "a"),
        ("b >> a", "b"),
        ("A=B", "tie"),
        ("tie", "tie"),
        ("tie (bothbad)", "tie"),
        ("Tie (both bad)", "tie"),
        ("both_bad", "tie"),
        ("neither", "tie"),
    ],
)
def test_words(word: str, winner: str) -> None:
    found = by_name(word)
    assert found is not None
    assert found.winner == winner


@pytest.mark.parametrize("word", ["", "c", "model_c", "model_ab", "A>A", "better", "none", "10", None, 1, True])
def test_what_is_no_word_for_a_winner(word: Any) -> None:
    assert by_name(word) is None


@pytest.mark.parametrize("value", [True, None, "nan", float("inf"), "1e999", "", "x", [1], 10**400])
def test_what_is_no_number(value: Any) -> None:
    assert number_of(value) is None


@pytest.mark.parametrize("value", [0.5, 2.5, -1, True, "model_a", float("nan")])
def test_beyond_the_scale_from_1_to_2(value: Any) -> None:
    with pytest.raises(RowFaultError) as caught:
        on_scale_1_to_2(value, "preference")
    assert caught.value.kind == ProblemKind.UNKNOWN_PREFERENCE
    assert "preference is" in caught.value.message


@pytest.mark.parametrize("value", [4, -3.5, "much better", False])
def test_beyond_the_signed_scale(value: Any) -> None:
    with pytest.raises(RowFaultError, match="-3 to 3"):
        signed(value, "strength")


@pytest.mark.parametrize("value", [None, ""])
def test_no_preference_at_all(value: Any) -> None:
    with pytest.raises(RowFaultError) as caught:
        by_code(value, "label", {1: "a", 2: "b"})
    assert caught.value.kind == ProblemKind.NULL
