"""Many means at once say what one at a time says, and their intervals hold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evenhand.statistics import ClusterBootstrap, Estimate
from evenhand.statistics.clustered_means import ClusteredMeans

ROWS = st.lists(st.tuples(st.integers(0, 6), st.floats(0.1, 0.9)), min_size=1, max_size=40)


@given(ROWS, st.integers(0, 100))
def test_the_same_as_the_cluster_bootstrap(rows: list[tuple[int, float]], seed: int) -> None:
    clusters, values = zip(*rows, strict=True)
    data = np.array(values)
    holes = np.where(np.arange(data.size) % 3 == 1, np.nan, data)
    found = ClusteredMeans(clusters, seed=seed, draws=80).means(np.column_stack([data, holes]))
    one_by_one = ClusterBootstrap(clusters, seed=seed, draws=80, kind="percentile")
    for column, values_of in zip(found, (data, holes), strict=True):
        expected = one_by_one.mean(values_of)
        if expected.low is None:
            assert column.low is None
            assert column.n == expected.n
            continue
        for name in ("value", "low", "high"):
            assert getattr(column, name) == pytest.approx(getattr(expected, name))
        assert (column.n, column.clusters, column.method) == (expected.n, expected.clusters, expected.method)


def test_the_normal_approximation_agrees_with_the_bootstrap() -> None:
    rng = np.random.default_rng(0)
    clusters = rng.integers(0, 3000, 9000)
    values = rng.random(9000) + rng.random(3000)[clusters]
    resampled = ClusteredMeans(clusters, seed=0).mean(values)
    normal = ClusteredMeans(clusters, seed=0, most_resampled=10).mean(values)
    assert "bootstrap" in resampled.method
    assert normal.method == "cluster-robust normal approximation"
    assert None not in {normal.low, normal.high, resampled.low, resampled.high}
    assert normal.value == resampled.value
    assert normal.low == pytest.approx(resampled.low, abs=0.001)
    assert normal.high == pytest.approx(resampled.high, abs=0.001)


@pytest.mark.parametrize("most_resampled", [1000, 0])
def test_coverage(most_resampled: int) -> None:
    """95% intervals of P(higher) over 80 clusters of correlated rows, 300 times."""
    rng = np.random.default_rng(7)
    covered, trials = 0, 300
    names = np.repeat(np.arange(80), 3)
    for trial in range(trials):
        level = rng.beta(6, 4, 80)
        values = (rng.random(240) < level[names]).astype(float)
        found = ClusteredMeans(names, seed=trial, draws=400, most_resampled=most_resampled).mean(values)
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= 0.6 <= found.high
    assert 0.92 <= covered / trials <= 0.98


def test_p_values_are_even_where_there_is_nothing() -> None:
    rng = np.random.default_rng(3)
    names = np.repeat(np.arange(40), 3)
    found = []
    for _ in range(400):
        values = 0.5 + np.repeat(rng.normal(size=40), 3) + rng.normal(size=120)
        found.append(ClusteredMeans(names, seed=0, draws=2).p_value(values, 0.5))
    assert stats.kstest(found, "uniform").pvalue > 0.01


def test_with_a_row_a_cluster_it_is_the_t_test() -> None:
    values = np.random.default_rng(0).normal(0.3, 1, 25)
    found = ClusteredMeans(np.arange(25), seed=0, draws=2).p_value(values, 0.0)
    assert found == pytest.approx(stats.ttest_1samp(values, 0.0).pvalue)


@pytest.mark.parametrize("most_resampled", [1000, 0])
def test_clusters_that_are_alike_though_their_rows_differ(most_resampled: int) -> None:
    means = ClusteredMeans(np.repeat(np.arange(8), 2), seed=0, most_resampled=most_resampled)
    halves = np.tile([1.0, 0.0], 8)
    assert means.mean(halves).low is None
    bounded = means.mean(halves, bounds=(0.0, 1.0))
    assert (bounded.low, bounded.high) == pytest.approx((0.5 - 0.3694 / 2, 0.5 + 0.3694 / 2), abs=5e-5)
    assert np.isnan(means.p_value(halves, 0.3))


def test_no_variation_is_not_certainty() -> None:
    means = ClusteredMeans(np.arange(8), seed=0)
    exact = means.mean(np.ones(8), bounds=(0.0, 1.0))
    assert (exact.low, exact.high) == pytest.approx((0.6306, 1.0), abs=5e-5)
    middle = means.mean(np.full(8, 0.5), bounds=(0.0, 1.0))
    assert (middle.low, middle.high) == pytest.approx((0.5 - 0.3694 / 2, 0.5 + 0.3694 / 2), abs=5e-5)
    assert means.p_value(np.ones(8), 0.5) == pytest.approx(stats.binomtest(8, 8).pvalue)
    assert means.p_value(np.full(8, 0.5), 0.5) == 1.0


def test_not_estimable_says_why() -> None:
    means = ClusteredMeans([0, 0, 1], seed=0)
    assert means.mean(np.full(3, np.nan)) == Estimate.missing("no rows")
    assert means.mean(np.array([0.2, 0.4, np.nan])).method == "no interval: one cluster"
    assert np.isnan(means.p_value(np.array([0.2, 0.4, np.nan]), 0.5))
    assert ClusteredMeans([], seed=0).means(np.empty((0, 1))) == (Estimate.missing("no rows"),)
    assert ClusteredMeans([0], seed=0).means(np.empty((1, 0))) == ()


def test_names_of_clusters_do_not_matter() -> None:
    values = np.array([0.1, 0.5, 0.9, 0.3])
    one = ClusteredMeans(["b", "a", "b", "c"], seed=0).mean(values)
    assert one == ClusteredMeans([7, 2, 7, 9], seed=0).mean(values)
