"""Benjamini and Hochberg's q values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evenhand.statistics.multiplicity import benjamini_hochberg, q_values


def plain(p_values: list[float]) -> list[float]:
    """An oracle by the definition: the least of p(j) m / j over all j that are not smaller."""
    ordered = sorted(p_values)
    return [
        min(min(1.0, ordered[j] * len(p_values) / (j + 1)) for j in range(len(ordered)) if ordered[j] >= p)
        for p in p_values
    ]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_against_the_definition_and_scipy(p_values: list[float]) -> None:
    q = benjamini_hochberg(p_values)
    assert q.tolist() == pytest.approx(plain(p_values))
    assert q.tolist() == pytest.approx(stats.false_discovery_control(p_values).tolist())


def test_what_was_not_tested_does_not_count() -> None:
    assert q_values([0.02, None, float("nan"), 0.5]) == pytest.approx([0.04, None, None, 0.5])
    assert q_values([]) == []
    assert np.isnan(benjamini_hochberg([np.nan])).all()
