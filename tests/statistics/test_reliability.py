"""Reliability against SciPy, plain analyses of variance and simulated truth."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evenhand.statistics import Estimate
from evenhand.statistics.reliability import correlation, intraclass, lengthened, same_sign, spearman_brown


def test_value_is_pearsons() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=50)
    y = x + rng.normal(size=50)
    holes = np.where(np.arange(50) % 7 == 0, np.nan, y)
    known = ~np.isnan(holes)
    found = correlation(x, holes, np.arange(50))
    assert found.value == pytest.approx(stats.pearsonr(x[known], y[known]).statistic)
    assert found.n == int(known.sum())


def test_coverage() -> None:
    """True correlation .6, rows of a cluster alike, 300 times."""
    rng = np.random.default_rng(1)
    names = np.repeat(np.arange(80), 2)
    covered = 0
    for _ in range(300):
        common = np.repeat(rng.normal(size=80), 2) * np.sqrt(0.6 / 2) + rng.normal(size=160) * np.sqrt(0.6 / 2)
        x, y = (common + rng.normal(size=160) * np.sqrt(0.4) for _ in range(2))
        found = correlation(x, y, names)
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= 0.6 <= found.high
    assert 0.92 <= covered / 300 <= 0.98


def test_without_the_means_it_is_that_of_rows_signed_at_random() -> None:
    rng = np.random.default_rng(4)
    x = rng.normal(1, 1, 4000)
    y = x + rng.normal(size=4000)
    signs = rng.choice([-1.0, 1.0], 4000)
    found = correlation(x, y, np.arange(4000), centred=False)
    assert found.value == pytest.approx(stats.pearsonr(x * signs, y * signs).statistic, abs=0.005)


def test_not_estimable_says_why() -> None:
    two = np.array([1.0, 2.0])
    assert "fewer than 3 pairs" in correlation(two, two, np.arange(2)).method
    flat = np.ones(5)
    assert correlation(flat, np.arange(5.0), np.arange(5)).method == "the ratings do not vary"
    same = correlation(np.arange(5.0), np.arange(5.0), np.arange(5))
    assert (same.value, same.low) == pytest.approx((1.0, 1.0))
    assert lengthened(Estimate.missing("x"), 2).method == "x"


@given(st.floats(0.01, 1), st.integers(1, 9), st.integers(1, 9))
def test_spearman_brown_twice_is_once_by_the_product(reliability: float, a: int, b: int) -> None:
    twice = spearman_brown(spearman_brown(reliability, a), b)
    assert twice == pytest.approx(spearman_brown(reliability, a * b))
    assert reliability - 1e-12 <= twice <= 1 + 1e-12


def test_spearman_brown_foretells_the_mean_of_two() -> None:
    rng = np.random.default_rng(2)
    truth = rng.normal(size=20_000)
    four = truth[:, None] + rng.normal(size=(20_000, 4)) * 1.2
    clusters = np.arange(20_000)
    single = lengthened(correlation(four[:, 0], four[:, 1], clusters), 2)
    pairs = correlation(four[:, :2].mean(axis=1), four[:, 2:].mean(axis=1), clusters)
    assert single.value == pytest.approx(pairs.value, abs=0.02)
    assert single.method.startswith("Spearman-Brown to 2")


def test_same_sign() -> None:
    found = same_sign(np.array([1.0, 0.0, -2.0, np.nan]), np.array([3.0, 1.0, -1.0, 1.0]))
    assert found.tolist()[:3] == [1.0, 0.0, 1.0]
    assert np.isnan(found[3])


def test_intraclass_against_an_analysis_of_variance() -> None:
    rng = np.random.default_rng(3)
    data = rng.normal(size=(60, 1)) + rng.normal(size=(60, 3))
    f = stats.f_oneway(*data).statistic
    value, size = intraclass(np.full(60, 3.0), data.sum(axis=1), (data**2).sum(axis=1))
    assert value == pytest.approx((f - 1) / (f + 2))
    assert size == 3


def test_intraclass_without_repeats() -> None:
    assert np.isnan(intraclass(np.ones(9), np.ones(9), np.ones(9))[0])
    assert np.isnan(intraclass(np.full(9, 2.0), np.full(9, 2.0), np.full(9, 2.0))[0])
