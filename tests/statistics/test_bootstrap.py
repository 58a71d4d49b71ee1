"""Intervals resample clusters."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.statistics import ClusterBootstrap, Estimate

ROWS = st.lists(st.tuples(st.integers(0, 6), st.floats(0, 1)), min_size=1, max_size=40)


@given(ROWS, st.integers(0, 100))
def test_value_is_the_mean_and_lies_in_the_interval(rows: list[tuple[int, float]], seed: int) -> None:
    clusters, values = zip(*rows, strict=True)
    found = ClusterBootstrap(clusters, seed=seed, draws=200).mean(values)
    assert found.value == pytest.approx(np.mean(values))
    assert (found.n, found.clusters) == (len(rows), len(set(clusters)))
    if found.clusters > 1:
        assert found.low is not None
        assert found.high is not None
        assert 0 <= found.low <= found.high <= 1 + 1e-12


@given(ROWS)
def test_same_seed_same_interval(rows: list[tuple[int, float]]) -> None:
    clusters, values = zip(*rows, strict=True)
    one, other = (ClusterBootstrap(clusters, seed=3, draws=50).mean(values) for _ in range(2))
    assert one == other


def test_resamples_against_a_plain_loop() -> None:
    """An oracle: the same resamples, drawn and averaged row by row."""
    rng = np.random.default_rng(0)
    clusters = rng.integers(0, 12, 60)
    values = rng.random(60)
    found = ClusterBootstrap(clusters.tolist(), seed=5, draws=400).mean(values)
    names = list(dict.fromkeys(clusters.tolist()))
    counts = np.random.default_rng(5).multinomial(12, np.full(12, 1 / 12), size=400)
    means = [
        np.mean(
            np.concatenate([np.tile(values[clusters == name], times) for name, times in zip(names, row, strict=True)])
        )
        for row in counts
    ]
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(means, [0.025, 0.975])))


def test_rows_of_one_cluster_do_not_make_it_narrower() -> None:
    """Each cluster's row written down nine times says no more than once."""
    values = np.random.default_rng(1).random(40)
    once = ClusterBootstrap(range(40), seed=0).mean(values)
    nine = ClusterBootstrap([c for c in range(40) for _ in range(9)], seed=0).mean(np.repeat(values, 9))
    assert (nine.low, nine.high) == pytest.approx((once.low, once.high))


def test_coverage() -> None:
    """95% intervals over 60 clusters of correlated rows cover the truth about as often as they say."""
    rng = np.random.default_rng(7)
    covered, trials, clusters, rows = 0, 400, 60, 5
    for trial in range(trials):
        level = rng.beta(4, 2, clusters)
        values = (rng.random((clusters, rows)) < level[:, None]).astype(float).ravel()
        names = np.repeat(np.arange(clusters), rows).tolist()
        found = ClusterBootstrap(names, seed=trial, draws=400).mean(values)
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= 4 / 6 <= found.high
    assert 0.91 <= covered / trials <= 0.98


def test_nan_rows_and_where_do_not_enter() -> None:
    boot = ClusterBootstrap([0, 0, 1, 2], seed=0)
    assert boot.mean([0.5, np.nan, np.nan, 0.1]).n == 2
    assert boot.mean([0.5, 0.7, 0.9, 0.1], where=[True, True, False, False]).value == pytest.approx(0.6)
    assert boot.mean([0.5, 0.7, 0.9, 0.1], where=[True, True, False, False]).clusters == 1


def test_not_estimable_says_why() -> None:
    assert ClusterBootstrap([], seed=0).mean([]) == Estimate.missing("no rows")
    assert ClusterBootstrap([0, 1], seed=0).mean([np.nan, np.nan]).method == "no rows"
    single = ClusterBootstrap([0, 0], seed=0).mean([0.2, 0.4])
    assert single.value == pytest.approx(0.3)
    assert (single.low, single.high, single.method) == (None, None, "no interval: one cluster")


@pytest.mark.parametrize(("value", "low", "high"), [(0.0, 0.0, 0.3694), (1.0, 0.6306, 1.0)])
def test_no_variation_is_not_certainty(value: float, low: float, high: float) -> None:
    """0 or 8 of 8: Clopper and Pearson's exact interval (tables give .3694 for 0 of 8)."""
    found = ClusterBootstrap(range(8), seed=0).mean([value] * 8)
    assert (found.low, found.high) == pytest.approx((low, high), abs=5e-5)
    assert "exact binomial" in found.method


def test_estimates_survive_being_stored() -> None:
    found = ClusterBootstrap([0, 1], seed=0).mean([0.2, 0.4])
    assert Estimate(**found.as_json()) == found
