"""From two ratings to the values that are averaged."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.statistics.paired_effects import (
    chosen_higher,
    difference,
    label_swap,
    log_length_ratio,
    or_none,
    order_effect,
)


@given(st.lists(st.floats(0, 10), min_size=3, max_size=3))
def test_the_same_ratings_in_another_order_are_equal(values: list[float]) -> None:
    a, b, c = values
    gap = difference(np.array([(a + b + c) / 3]), np.array([(c + b + a) / 3]))
    assert gap.tolist() == [0.0]


def test_unknown_stays_unknown() -> None:
    gap = difference(np.array([np.nan, 3.0]), np.array([1.0, np.nan]))
    assert np.isnan(gap).all()
    assert np.isnan(chosen_higher(gap)).all()
    assert or_none(float(gap[0])) is None
    assert or_none(0.5) == 0.5


def test_order_effect_is_what_the_place_gives() -> None:
    """Outputs worth 7 and 4, and 2 points for standing first."""
    assert order_effect(np.array([9.0 - 4]), np.array([7.0 - 6])).tolist() == [2.0]


def test_log_length_ratio_of_empty_outputs_is_finite() -> None:
    assert log_length_ratio([0, 9], [0, 0]) == pytest.approx([0.0, np.log(10)])


def test_label_swap_takes_what_there_is() -> None:
    nan = np.nan
    found = label_swap(
        np.array([8.0, 8.0, nan]), np.array([5.0, 5.0, nan]), np.array([7.0, nan, nan]), np.array([6.0, 6.0, nan])
    )
    assert found.tolist()[:2] == [2.0, 3.0]
    assert np.isnan(found[2])
