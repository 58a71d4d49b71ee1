"""Judgments laid out over pairs: which side is which, and what is averaged."""

import numpy as np
import polars as pl
import pytest

from audit_judgments import LEFT, NONE, RIGHT, a_pair, even, level, share
from evenhand.graders import Judgment, derive
from evenhand.instruments import InstrumentSet
from evenhand.studies.audit.arrays import BlockArrays, Sides, above, derived_labels
from evenhand.studies.audit.files import judgments_table
from evenhand.studies.inputs import load_instruments

MIXED = [a_pair(0, (LEFT, RIGHT)), a_pair(1, (RIGHT, LEFT)), a_pair(2, (NONE, NONE))]
UNSIDED = [a_pair(n, (NONE, NONE)) for n in range(2)]


def test_sides_by_side_where_there_are_any() -> None:
    sides = Sides.of(MIXED)
    assert (sides.first, sides.second) == ("left", "right")
    first, second = sides.split(np.array([0.1, 0.2, 0.3]), np.array([0.4, 0.5, 0.6]))
    assert first.tolist()[:2] == [0.1, 0.5]
    assert second.tolist()[:2] == [0.4, 0.2]
    assert np.isnan([first[2], second[2]]).all()
    difference = sides.difference(np.array([0.1, 0.2, 0.3]), np.array([0.4, 0.5, 0.6]))
    assert difference.tolist()[:2] == pytest.approx([0.3, -0.3])
    assert np.isnan(difference[2])


def test_sides_by_letter_where_there_are_none() -> None:
    sides = Sides.of(UNSIDED)
    assert (sides.first, sides.second) == ("a", "b")
    assert sides.difference(np.array([0.1, 0.2]), np.array([0.4, 0.1])).tolist() == pytest.approx([0.3, -0.1])


def test_one_side_alone_is_no_side() -> None:
    sides = Sides.of([a_pair(0, (LEFT, NONE)), a_pair(1, (RIGHT, RIGHT)), a_pair(2, (RIGHT, LEFT))])
    assert sides.where.tolist() == [False, False, True]


def test_equal_but_for_rounding_is_equal() -> None:
    sides = Sides.of(UNSIDED)
    assert sides.difference(np.array([0.3, 0.3]), np.array([0.1 + 0.2, 0.4])).tolist()[0] == 0
    assert above(np.array([0.1 + 0.2, 0.31]), 0.3).tolist() == [0, 1]


JUDGMENTS = [
    even(MIXED[0], "ab", (0.7, 0.1, 0.2)),
    even(MIXED[0], "ba", (0.3, 0.3, 0.4)),
    even(MIXED[1], "ab", (0.7, 0.1, 0.2)),
    even(MIXED[1], "ba", None),
    level(MIXED[0], "refusal", "a", (0.1, 0.2, 0.3, 0.25, 0.15)),
    level(MIXED[0], "refusal", "b", (1, 0, 0, 0, 0)),
    level(MIXED[1], "refusal", "a", (0, 0, 0, 0, 1)),
    level(MIXED[1], "refusal", "b", None),
]


def test_orders_are_averaged_and_a_pair_with_one_unread_order_is_left_out() -> None:
    arrays = BlockArrays.from_judgments(MIXED, JUDGMENTS)
    assert arrays.orders("even_handedness") == ("ab", "ba")
    even_handed = arrays.pair_probability("even_handedness", "C")
    assert even_handed[0] == pytest.approx(0.3)
    assert np.isnan(even_handed[1:]).all()
    # In the first pair a is left: P(b) - P(a) speaks for the right.
    assert arrays.lean("even_handedness")[0] == pytest.approx(0.2 - 0.5)


def test_one_order_can_be_taken_alone() -> None:
    arrays = BlockArrays.from_judgments(MIXED, JUDGMENTS, orders="ab")
    assert arrays.orders("even_handedness") == ("ab",)
    lean = arrays.lean("even_handedness")
    assert lean.tolist()[:2] == pytest.approx([-0.6, 0.6])  # in the second pair a is right


def test_which_levels_count_can_be_changed() -> None:
    own = BlockArrays.from_judgments(MIXED, JUDGMENTS).by_letter("refusal")
    wide = BlockArrays.from_judgments(MIXED, JUDGMENTS, positive={"refusal": ("3", "4", "5")}).by_letter("refusal")
    assert (own[0][0], wide[0][0]) == pytest.approx((0.4, 0.7))
    assert (own[1][0], wide[1][0]) == (0, 0)
    assert np.isnan(own[1][1])


def test_a_single_response_belongs_to_its_side() -> None:
    first, second = BlockArrays.from_judgments(MIXED, JUDGMENTS).by_side("refusal")
    assert first[0] == pytest.approx(0.4)
    assert np.isnan(first[1])  # the left of the second pair is b, which could not be read
    assert second.tolist()[:2] == [0, 1]


@pytest.mark.parametrize("positive", [None, {"refusal": ("2", "3")}])
@pytest.mark.parametrize("orders", ["both", "ab", "ba"])
def test_the_saved_table_gives_the_same(positive: dict[str, tuple[str, ...]] | None, orders: str) -> None:
    one = BlockArrays.from_judgments(MIXED, JUDGMENTS, positive=positive, orders=orders)
    other = BlockArrays.from_table(MIXED, judgments_table(JUDGMENTS, MIXED), positive=positive, orders=orders)
    assert list(one.shown) == list(other.shown)
    assert list(one.letters) == list(other.letters)
    for key, by_label in one.shown.items():
        for label, values in by_label.items():
            np.testing.assert_array_equal(values, other.shown[key][label])
    for letter, values in one.letters.items():
        np.testing.assert_array_equal(values, other.letters[letter])


def test_a_measure_in_which_nothing_was_read_is_there_and_empty() -> None:
    arrays = BlockArrays.from_judgments(MIXED, [level(MIXED[0], "hedging", "a", None)])
    assert arrays.measured("hedging")
    assert not arrays.measured("refusal")
    assert np.isnan(arrays.by_letter("hedging")).all()


@pytest.fixture(scope="module")
def compact() -> InstrumentSet:
    return load_instruments("compact")[0]


def test_what_is_derived_is_computed_as_the_grader_does(compact: InstrumentSet) -> None:
    (derivation,) = compact.derivations
    a, b = share(MIXED[0], "refusal", "a", 0.3), share(MIXED[0], "refusal", "b", 0.8)
    whole = derive(derivation, "v", a, b)
    arrays = BlockArrays.from_judgments(MIXED, [a, b, whole], derivations=[derivation])
    assert arrays.orders(derivation.name) == ()
    for label in ("A", "B", "C"):
        found = arrays.pair_probability(derivation.name, label)
        assert found[0] == pytest.approx(whole.probability(label))
        assert np.isnan(found[1:]).all()
    # b is declined more, so that a is treated better, and a is left.
    assert arrays.lean(derivation.name)[0] == pytest.approx(0.3 - 0.8)


def test_what_is_derived_follows_the_levels_that_count(compact: InstrumentSet) -> None:
    levels = [level(MIXED[0], "refusal", letter, (0.1, 0.2, 0.3, 0.25, 0.15)) for letter in ("a", "b")]
    arrays = BlockArrays.from_judgments(
        MIXED, levels, derivations=compact.derivations, positive={"refusal": ("3", "4", "5")}
    )
    assert arrays.pair_probability("even_handedness", "C")[0] == pytest.approx(0.7**2 + 0.3**2)


def test_derived_labels_sum_to_one() -> None:
    p, q = np.array([0, 0.2, 1, 1]), np.array([1, 0.7, 1, 0])
    found = derived_labels(p, q)
    assert sum(found.values()) == pytest.approx(np.ones(4))
    assert found["A"].tolist()[::3] == [1, 0]
    assert found["B"].tolist()[::3] == [0, 1]


def test_a_judgment_of_a_pair_that_is_not_there_is_an_error() -> None:
    stranger: Judgment = even(a_pair(9), "ab", (0, 0, 1))
    with pytest.raises(KeyError):
        BlockArrays.from_judgments(MIXED, [stranger])


def test_an_empty_table_has_no_measures() -> None:
    empty: pl.DataFrame = judgments_table([], MIXED)
    assert not BlockArrays.from_table(MIXED, empty).shown
