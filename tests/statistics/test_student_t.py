"""Student's t against SciPy."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evenhand.statistics.student_t import two_sided_p, two_sided_quantile


@given(st.floats(-50, 50), st.floats(1, 1999))
def test_p_value(t: float, degrees: float) -> None:
    assert two_sided_p(t, degrees) == pytest.approx(2 * stats.t.sf(abs(t), degrees), rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("degrees", [1, 2, 5.5, 30, 418, 1999, 2000, 1e6])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_quantile(level: float, degrees: float) -> None:
    assert two_sided_quantile(level, degrees) == pytest.approx(stats.t.ppf((1 + level) / 2, degrees), rel=2e-3)


def test_ends() -> None:
    assert two_sided_p(0.0, 5) == 1.0
    assert two_sided_p(math.inf, 5) == 0.0
