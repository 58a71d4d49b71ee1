"""The smallest detectable difference is found in four cases of five."""

import math

import numpy as np
import pytest
from scipy import stats

from evenhand.statistics import ClusterBootstrap, Estimate, robust
from evenhand.statistics.detectable import (
    detectable,
    detectable_between,
    detectable_rates,
    multiplier,
    planned_difference_error,
    planned_error,
)
from evenhand.statistics.paired_differences import paired_difference

REFERENCE = {0.0: 1.16, 0.1: 1.56, 0.2: 1.87, 0.3: 2.14, 0.5: 2.60}


def test_multiplier() -> None:
    assert multiplier(10**6) == pytest.approx(stats.norm.ppf(0.975) + stats.norm.ppf(0.8), abs=1e-6)
    assert multiplier(20) == pytest.approx(stats.t.ppf(0.975, 19) + stats.t.ppf(0.8, 19))
    assert multiplier(20, size=0.01, power=0.9) == pytest.approx(stats.t.ppf(0.995, 19) + stats.t.ppf(0.9, 19))


@pytest.mark.parametrize(("icc", "half_width"), REFERENCE.items())
def test_planned_error_gives_the_reference_half_widths(icc: float, half_width: float) -> None:
    error = planned_error(0.95, rows=1350, clusters=150, icc=icc)
    assert 100 * 1.96 * error == pytest.approx(half_width, abs=0.006)


def test_unequal_clusters_cost_more() -> None:
    """Kish: with sizes m the design effect is 1 + (sum m^2 / sum m - 1) ICC."""
    sizes = np.array([1, 2, 3, 10, 14, 6])
    variation = sizes.std() / sizes.mean()
    error = planned_error(0.8, rows=36, clusters=6, icc=0.3, size_variation=variation)
    assert error**2 == pytest.approx(0.16 / 36 * (1 + ((sizes**2).sum() / 36 - 1) * 0.3))


@pytest.mark.parametrize("clusters", [12, 150])
def test_power_of_the_sample_at_hand(clusters: int) -> None:
    """A second configuration that is better by just as much is told apart by the paired test in 80%."""
    rng = np.random.default_rng(clusters)
    names = np.repeat(np.arange(clusters), 9)
    boot = ClusterBootstrap(names.tolist(), seed=0, draws=2)
    trials = 500

    def noise() -> object:
        return 0.1 * rng.normal(size=clusters)[names] + 0.1 * rng.normal(size=names.size)

    errors = [robust.mean(np.asarray(noise()), names.tolist()).standard_error or 0.0 for _ in range(300)]
    typical = Estimate(0.0, None, None, names.size, clusters, "", math.sqrt(np.mean(np.square(errors))))
    shift = detectable(typical)
    assert shift is not None
    found = 0
    for _ in range(trials):
        first = rng.normal(0.9, 0.05, names.size)
        p = paired_difference(first, first + shift + np.asarray(noise()), boot).p
        assert p is not None
        found += p <= 0.05
    assert found / trials == pytest.approx(0.8, abs=0.045)


@pytest.mark.parametrize("side", [0, 1])
def test_power_against_a_fixed_value(side: int) -> None:
    """Rates below and above .9, planned with ICC .2, against the interval that each sample gives."""
    rng = np.random.default_rng(5)
    rate = detectable_rates(0.9, rows=1350, clusters=150, icc=0.2)[side]
    assert rate is not None
    names = np.repeat(np.arange(150), 9).tolist()
    trials = 800
    share = rng.beta(rate * 4, (1 - rate) * 4, (trials, 150))
    found = 0
    for row in share:
        estimate = robust.mean((rng.random(1350) < np.repeat(row, 9)).astype(float), names)
        assert estimate.low is not None
        assert estimate.high is not None
        found += not estimate.low <= 0.9 <= estimate.high
    assert found / trials == pytest.approx(0.8, abs=0.06)


def test_rates_that_no_sample_could_tell_apart() -> None:
    below, above = detectable_rates(1.0, rows=90, clusters=10, icc=0.2)
    assert above is None
    assert below is not None
    assert 1 - below == pytest.approx(multiplier(10) * planned_error(below, rows=90, clusters=10, icc=0.2))
    below, above = detectable_rates(0.5, rows=90, clusters=10, icc=0.2)
    assert below is not None
    assert above is not None
    assert 0.5 - below == pytest.approx(above - 0.5)
    assert above - 0.5 == pytest.approx(multiplier(10) * planned_error(above, rows=90, clusters=10, icc=0.2))


def test_planned_difference() -> None:
    """Against simulated verdicts of two configurations that agree often."""
    rng = np.random.default_rng(7)
    share = rng.beta(0.9 * 3, 0.1 * 3, (400, 150))
    first = rng.random((400, 150, 9)) < share[:, :, None]
    second = np.where(rng.random(first.shape) < 0.7, first, rng.random(first.shape) < 0.85)
    differences = second.astype(float) - first
    correlation = float(np.corrcoef(first.ravel(), second.ravel())[0, 1])
    names = np.repeat(np.arange(400 * 150), 9).tolist()
    icc = robust.intracluster_correlation(differences.ravel(), names)
    assert icc is not None
    planned = planned_difference_error(
        first.mean(), second.mean(), correlation=correlation, rows=1350, clusters=150, icc=icc
    )
    assert differences.mean(axis=(1, 2)).std() == pytest.approx(planned, rel=0.08)


def test_between_two_configurations() -> None:
    one = Estimate(0.95, 0.93, 0.97, 1350, 150, "", 0.01)
    alone = detectable(one)
    assert alone is not None
    assert detectable_between(one) == pytest.approx(alone * math.sqrt(2))
    assert detectable_between(one, correlation=0.5) == pytest.approx(alone)
    assert detectable(Estimate.missing("no rows")) is None
    assert detectable_between(Estimate(1.0, 0.9, 1.0, 9, 9, "exact")) is None
