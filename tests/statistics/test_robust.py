"""Cluster-robust standard errors against formulas for the cases that have one, and against plain loops."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evenhand.statistics import ClusterBootstrap, Estimate, robust

ROWS = st.lists(st.tuples(st.integers(0, 5), st.floats(-3, 3)), min_size=2, max_size=30)


def simulated(icc: float, *, clusters: int = 400, rows: int = 6, seed: int = 0) -> tuple[list[int], list[float]]:
    rng = np.random.default_rng(seed)
    names = np.repeat(np.arange(clusters), rows)
    values = math.sqrt(icc) * rng.normal(size=clusters)[names] + math.sqrt(1 - icc) * rng.normal(size=names.size)
    return names.tolist(), values.tolist()


def test_with_a_row_a_cluster_it_is_the_usual_one() -> None:
    values = np.random.default_rng(0).normal(2, 1, 25)
    found = robust.mean(values, range(25))
    assert found.standard_error == pytest.approx(stats.sem(values))
    expected = stats.t.interval(0.95, 24, loc=values.mean(), scale=stats.sem(values))
    assert (found.low, found.high) == pytest.approx(expected)
    assert found.design_effect == pytest.approx(1)
    assert found.method == "cluster-robust, t on 24 degrees of freedom"


def test_with_clusters_of_one_size_it_is_that_of_their_means() -> None:
    names, values = simulated(0.4, clusters=30)
    found = robust.mean(values, names)
    assert found.standard_error == pytest.approx(stats.sem(np.array(values).reshape(30, 6).mean(axis=1)))


@given(ROWS)
def test_against_a_plain_loop(rows: list[tuple[int, float]]) -> None:
    names, values = (list(column) for column in zip(*rows, strict=True))
    found = robust.mean(values, names)
    mean = sum(values) / len(values)
    squares = sum(sum(v - mean for n, v in rows if n == name) ** 2 for name in set(names))
    count = len(set(names))
    if count > 1:
        expected = math.sqrt(count / (count - 1) * squares) / len(values)
        assert (found.standard_error or 0.0) == pytest.approx(expected, abs=1e-11)
    else:
        assert found.standard_error is None
    assert found.value == pytest.approx(mean, abs=1e-12)


@given(ROWS, st.randoms(use_true_random=False))
def test_neither_names_nor_order_matter(rows: list[tuple[int, float]], random: object) -> None:
    assert hasattr(random, "shuffle")
    shuffled = [(f"c{name}", value) for name, value in rows]
    random.shuffle(shuffled)
    one, other = (robust.mean([v for _, v in some], [n for n, _ in some]) for some in (rows, shuffled))
    for name in ("value", "standard_error", "low", "high"):
        assert getattr(one, name) == pytest.approx(getattr(other, name), abs=1e-8), name


@pytest.mark.parametrize("icc", [0.0, 0.2, 0.6])
def test_design_effect_and_correlation_find_what_was_put_in(icc: float) -> None:
    names, values = simulated(icc, clusters=3000)
    assert robust.intracluster_correlation(values, names) == pytest.approx(icc, abs=0.03)
    assert robust.mean(values, names).design_effect == pytest.approx(1 + 5 * icc, rel=0.08)


def test_correlation_against_analysis_of_variance() -> None:
    rng = np.random.default_rng(3)
    groups = [
        rng.normal(level, 1, size) for level, size in zip(rng.normal(size=8), [2, 3, 4, 5, 6, 7, 8, 9], strict=True)
    ]
    f = stats.f_oneway(*groups).statistic
    sizes = np.array([group.size for group in groups])
    size = (sizes.sum() - (sizes**2).sum() / sizes.sum()) / 7
    names = np.repeat(np.arange(8), sizes).tolist()
    far = np.concatenate(groups) + 1e6
    assert robust.intracluster_correlation(far, names) == pytest.approx((f - 1) / (f + size - 1), abs=1e-6)


def test_correlation_that_cannot_be_had() -> None:
    assert robust.intracluster_correlation([], []) is None
    assert robust.intracluster_correlation([np.nan], [0]) is None
    assert robust.intracluster_correlation([0.1, 0.2, 0.3], [0, 1, 2]) is None
    assert robust.intracluster_correlation([1.0] * 8, [0, 0, 1, 1, 2, 2, 3, 3]) is None


def test_ratio_is_the_weighted_mean() -> None:
    rng = np.random.default_rng(1)
    names = rng.integers(0, 20, 100).tolist()
    u, y = rng.random(100) + 0.5, rng.random(100)
    found = robust.ratio(u * y, u, names)
    assert found.value == pytest.approx(np.average(y, weights=u))
    assert found.standard_error is not None
    assert found.standard_error == pytest.approx(robust.ratio(3 * u * y, 3 * u, names).standard_error)
    draws = ClusterBootstrap(names, seed=0).statistic([u * y, u], lambda s: s[0] / s[1])
    assert draws.standard_error == pytest.approx(found.standard_error, rel=0.03)
    masked = robust.ratio(u * y, u, names, where=[name < 10 for name in names])
    assert masked.clusters == 10


def test_the_bootstrap_carries_the_same_numbers() -> None:
    names, values = simulated(0.3, clusters=50)
    estimate = ClusterBootstrap(names, seed=0).mean(values)
    analytic = robust.mean(values, names)
    assert (estimate.standard_error, estimate.design_effect) == (analytic.standard_error, analytic.design_effect)
    assert robust.interval(estimate) == (analytic.low, analytic.high)
    assert (estimate.low, estimate.high) == pytest.approx((analytic.low, analytic.high), abs=0.02)


def test_logit_scale() -> None:
    """Against its definition, in which p = .9 and SE = .05 is log 9 +- t .05 / .09."""
    share = Estimate(0.9, None, None, 90, 11, "", 0.05)
    reach = stats.t.ppf(0.975, 10) * 0.05 / 0.09
    expected = [1 / (1 + math.exp(-(math.log(9) + sign * reach))) for sign in (-1, 1)]
    assert robust.interval(share, "logit") == pytest.approx(tuple(expected))
    assert robust.interval(Estimate(1e-9, None, None, 9, 3, "", 0.4), "logit") == pytest.approx((0, 1))
    assert robust.interval(Estimate(-0.1, None, None, 90, 11, "", 0.05), "logit") is None
    found = robust.mean([1, 1, 0, 1, 1, 1, 1, 0], range(8), scale="logit")
    assert found.method == "cluster-robust on the logit scale, t on 7 degrees of freedom"
    assert found.low is not None
    assert found.high is not None
    assert 0 < found.low < 0.75 < found.high < 1


def test_what_cannot_be_had_says_why() -> None:
    assert robust.mean([], []) == Estimate.missing("no rows")
    assert robust.mean([0.1, 0.3], ["a", "a"]).method == "no interval: one cluster"
    flat = robust.mean([0.3, 0.3], ["a", "b"])
    assert (flat.standard_error, flat.method) == (None, "no interval: no variation between clusters")
    assert robust.interval(flat) is None
    assert robust.rare_outcomes(flat) is None


def test_rare_outcomes() -> None:
    """With independent rows the number of failures; with clusters of copies the number of failing clusters."""
    independent = [0.0] * 5 + [1.0] * 95
    alone = robust.rare_outcomes(robust.mean(independent, range(100)))
    assert alone == pytest.approx(5, rel=0.02)
    copied = robust.rare_outcomes(robust.mean(np.repeat(independent, 9), np.repeat(np.arange(100), 9).tolist()))
    assert copied == pytest.approx(alone)
