"""Intervals resample clusters."""

import random
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evenhand.statistics import ClusterBootstrap, Estimate
from evenhand.statistics.bootstrap import Kind

Floats = npt.NDArray[np.float64]
ROWS = st.lists(st.tuples(st.integers(0, 6), st.floats(0, 1)), min_size=1, max_size=40)
GRID = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 4)), min_size=2, max_size=30)
"""Whole numbers, so that sums of them in another order are the same to the last bit."""
KINDS: list[Kind] = ["bca", "percentile"]
KIND = st.sampled_from(KINDS)
FIELDS = ("value", "low", "high", "standard_error", "design_effect")


def ends(found: Estimate) -> tuple[float, float]:
    assert found.low is not None
    assert found.high is not None
    return found.low, found.high


def mean_of(rows: Sequence[tuple[object, float]], kind: Kind) -> Estimate:
    return ClusterBootstrap([name for name, _ in rows], seed=1, draws=100, kind=kind).mean([value for _, value in rows])


def same(one: Estimate, other: Estimate) -> bool:
    return all(getattr(one, name) == pytest.approx(getattr(other, name), abs=1e-9) for name in FIELDS)


@given(ROWS, st.integers(0, 100), KIND)
def test_value_is_the_mean_and_the_interval_is_within_the_data(
    rows: list[tuple[int, float]], seed: int, kind: Kind
) -> None:
    clusters, values = zip(*rows, strict=True)
    found = ClusterBootstrap(clusters, seed=seed, draws=200, kind=kind).mean(values)
    assert found.value == pytest.approx(np.mean(values))
    assert (found.n, found.clusters) == (len(rows), len(set(clusters)))
    if found.clusters > 1 and not found.method.startswith("no interval"):
        low, high = ends(found)
        assert -1e-12 <= low <= high <= 1 + 1e-12


@given(GRID, KIND, st.booleans())
def test_no_interval_is_a_point(rows: list[tuple[int, int]], kind: Kind, bounded: bool) -> None:
    """All rows may be alike, or all clusters though their rows differ: that nothing varied says nothing for certain."""
    clusters, values = zip(*rows, strict=True)
    bootstrap = ClusterBootstrap(clusters, seed=0, draws=200, kind=kind)
    found = bootstrap.mean(np.array(values) / 4, bounds=(0.0, 1.0) if bounded else None)
    if found.low is None:
        assert found.method.startswith("no interval")
        assert found.clusters == 1 or not bounded
    else:
        low, high = ends(found)
        assert low < high


def test_clusters_that_are_alike_though_their_rows_differ() -> None:
    clusters, halves = ["x", "x", "y", "y", "z", "z"], [1.0, 0.0, 0.0, 1.0, 1.0, 0.0]
    bootstrap = ClusterBootstrap(clusters, seed=0)
    without = bootstrap.mean(halves)
    assert (without.value, without.low, without.method) == (0.5, None, "no interval: no cluster makes a difference")
    low, high = ends(bootstrap.mean(halves, bounds=(0.0, 1.0)))
    assert (low, high) == pytest.approx((0.5 * 0.025 ** (1 / 3), 1 - 0.5 * 0.025 ** (1 / 3)))


@given(ROWS, KIND)
def test_same_seed_same_interval(rows: list[tuple[int, float]], kind: Kind) -> None:
    assert mean_of(rows, kind) == mean_of(rows, kind)


@given(GRID, KIND)
def test_names_of_clusters_do_not_matter(rows: list[tuple[int, int]], kind: Kind) -> None:
    plain = mean_of(rows, kind)
    assert mean_of([(f"stance {name}", value) for name, value in rows], kind) == plain
    assert mean_of([((-name, "x"), value) for name, value in rows], kind) == plain


@given(GRID, KIND, st.integers(0, 99))
def test_order_of_the_rows_of_a_cluster_does_not_matter(rows: list[tuple[int, int]], kind: Kind, seed: int) -> None:
    shuffled: list[tuple[int, int]] = []
    for name in dict.fromkeys(name for name, _ in rows):
        own = [row for row in rows if row[0] == name]
        shuffled += random.Random(seed).sample(own, len(own))
    assert same(mean_of(shuffled, kind), mean_of(rows, kind))


@given(GRID, KIND)
def test_every_row_twice_says_no_more(rows: list[tuple[int, int]], kind: Kind) -> None:
    once, twice = mean_of(rows, kind), mean_of([*rows, *rows], kind)
    assert (once.value, once.low, once.high) == (twice.value, twice.low, twice.high)
    assert once.standard_error == pytest.approx(twice.standard_error)
    if once.standard_error is not None and once.design_effect is not None:
        assert twice.design_effect is not None
        n = len(rows)
        assert twice.design_effect == pytest.approx(once.design_effect * (2 * n - 1) / (n - 1))


@given(GRID, KIND)
def test_turning_the_values_round_turns_the_interval_round(rows: list[tuple[int, int]], kind: Kind) -> None:
    clusters, values = zip(*rows, strict=True)
    shares = np.array(values) / 4
    there, back = (ClusterBootstrap(clusters, seed=1, draws=100, kind=kind).mean(v) for v in (shares, 1 - shares))
    if there.low is not None:
        assert ends(there) == pytest.approx(tuple(1 - end for end in reversed(ends(back))))
        assert there.standard_error == pytest.approx(back.standard_error)


def test_resamples_against_a_plain_loop() -> None:
    """An oracle: the same resamples, drawn and averaged row by row, and BCa written out for them."""
    rng = np.random.default_rng(0)
    clusters = rng.integers(0, 12, 60)
    values = rng.random(60) ** 4
    names = list(dict.fromkeys(clusters.tolist()))
    counts = np.random.default_rng(5).multinomial(12, np.full(12, 1 / 12), size=400)
    means = [
        np.mean(
            np.concatenate([np.tile(values[clusters == name], times) for name, times in zip(names, row, strict=True)])
        )
        for row in counts
    ]
    percentile = ClusterBootstrap(clusters.tolist(), seed=5, draws=400, kind="percentile").mean(values)
    assert ends(percentile) == pytest.approx(tuple(np.quantile(means, [0.025, 0.975])))

    without = [np.mean(values[clusters != name]) for name in names]
    deviations = [np.mean(without) - one for one in without]
    acceleration = sum(d**3 for d in deviations) / (6 * sum(d**2 for d in deviations) ** 1.5)
    normal = NormalDist()
    reach = stats.t.ppf(0.975, 11) * np.sqrt(12 / 11)
    bias = normal.inv_cdf(sum(mean < values.mean() for mean in means) / 400)
    levels = [normal.cdf(bias + (bias + z) / (1 - acceleration * (bias + z))) for z in (-reach, reach)]
    assert levels != pytest.approx([0.025, 0.975], abs=0.002)
    bca = ClusterBootstrap(clusters.tolist(), seed=5, draws=400).mean(values)
    assert ends(bca) == pytest.approx(tuple(np.quantile(means, levels)))
    assert (bca.method, percentile.method) == (
        "BCa bootstrap over clusters, 400 draws, widened for 12 clusters",
        "percentile bootstrap over clusters, 400 draws",
    )


@pytest.mark.parametrize(("kind", "method"), [("bca", "BCa"), ("percentile", "percentile")])
def test_against_scipy(kind: Kind, method: str) -> None:
    """Other draws of the same: with 40,000 the ends agree to the third digit."""
    sums = np.random.default_rng(2).beta(8, 0.7, 60)
    ours = ClusterBootstrap(range(60), seed=0, draws=40_000, kind=kind).mean(sums)
    theirs = stats.bootstrap(
        (sums,), np.mean, n_resamples=40_000, method=method, rng=np.random.default_rng(1), batch=5000
    )
    assert ends(ours) == pytest.approx(tuple(theirs.confidence_interval), abs=0.002)


def test_bca_reaches_farther_on_the_long_side() -> None:
    values = [1.0] * 45 + [0.0] * 5
    low, high = ends(ClusterBootstrap(range(50), seed=0).mean(values))
    plain_low, plain_high = ends(ClusterBootstrap(range(50), seed=0, kind="percentile").mean(values))
    assert low < plain_low
    assert high < plain_high


def test_one_lone_failure_does_not_break_bca() -> None:
    """All skew that there can be: a single cluster differs."""
    values = np.ones(1350)
    values[100] = 0
    low, high = ends(ClusterBootstrap(np.repeat(np.arange(150), 9).tolist(), seed=0).mean(values))
    assert 0.99 < low < 1 - 1 / 1350 < high <= 1
    for draws in (2, 100_000):
        assert ends(ClusterBootstrap([0, 1, 2], seed=0, draws=draws).mean([1, 1, 0.9]))[1] <= 1


def test_few_clusters_widen_bca() -> None:
    values = np.random.default_rng(3).random(120)
    lengths = {}
    for clusters in (5, 49, 50):
        low, high = ends(ClusterBootstrap(range(clusters), seed=0, draws=20_000).mean(values[:clusters]))
        plain_low, plain_high = ends(
            ClusterBootstrap(range(clusters), seed=0, draws=20_000, kind="percentile").mean(values[:clusters])
        )
        lengths[clusters] = (high - low) / (plain_high - plain_low)
    assert lengths[50] == pytest.approx(1, abs=0.01)
    assert lengths[49] == pytest.approx(stats.t.ppf(0.975, 48) * np.sqrt(49 / 48) / 1.96, abs=0.01)
    assert lengths[5] > 1.3


def test_rows_of_one_cluster_do_not_make_it_narrower() -> None:
    """Each cluster's row written down nine times says no more than once."""
    values = np.random.default_rng(1).random(40)
    once = ClusterBootstrap(range(40), seed=0).mean(values)
    nine = ClusterBootstrap([c for c in range(40) for _ in range(9)], seed=0).mean(np.repeat(values, 9))
    assert ends(nine) == pytest.approx(ends(once))
    assert nine.design_effect == pytest.approx(9, rel=0.03)
    assert once.design_effect == pytest.approx(1)


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


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("value", "low", "high"), [(0.0, 0.0, 0.3694), (1.0, 0.6306, 1.0)])
def test_no_variation_is_not_certainty(value: float, low: float, high: float, kind: Kind) -> None:
    """0 or 8 of 8: Clopper and Pearson's exact interval (tables give .3694 for 0 of 8)."""
    found = ClusterBootstrap(range(8), seed=0, kind=kind).mean([value] * 8)
    assert ends(found) == pytest.approx((low, high), abs=5e-5)
    assert "exact binomial" in found.method
    assert found.standard_error is None


def test_no_variation_within_other_bounds() -> None:
    """A difference that is 0 everywhere may lie on either side."""
    found = ClusterBootstrap(range(8), seed=0).mean([0.0] * 8, bounds=(-1, 1))
    assert ends(found) == pytest.approx((-0.3694, 0.3694), abs=5e-5)
    assert ends(ClusterBootstrap(range(8), seed=0).mean([1.0] * 8, bounds=(-1, 1)))[0] == pytest.approx(
        1 - 2 * 0.3694, abs=1e-4
    )


def test_a_share_given_something() -> None:
    """Weights of 0 and 1 pick rows; a share of them is a mean over the rows picked."""
    rng = np.random.default_rng(4)
    clusters = np.repeat(np.arange(30), 4).tolist()
    uneven = (rng.random(120) < 0.4).astype(float)
    left = uneven * (rng.random(120) < 0.6)
    boot = ClusterBootstrap(clusters, seed=0)
    share = boot.ratio(left, uneven)
    assert share == boot.mean(left, where=uneven == 1)
    assert share.n == uneven.sum()
    assert share == boot.ratio(left * 4, uneven * 4)
    assert boot.ratio(uneven, uneven).method == f"exact binomial on {share.clusters} clusters (no variation)"
    by_hand = boot.statistic([left, uneven], lambda s: s[0] / s[1])
    assert by_hand.value == share.value
    assert ends(by_hand) == pytest.approx(ends(share))
    assert by_hand.standard_error == pytest.approx(share.standard_error, rel=0.05)
    assert by_hand.design_effect is None


def test_difference_of_two_groups_of_rows() -> None:
    rng = np.random.default_rng(5)
    clusters = np.repeat(np.arange(40), 4).tolist()
    level = np.repeat(rng.normal(size=40), 4)
    values = level + rng.normal(size=160) / 10
    one, other = np.where(np.arange(160) % 4 < 2, values, np.nan), np.where(np.arange(160) % 4 >= 2, values, np.nan)
    boot = ClusterBootstrap(clusters, seed=0)
    within = boot.difference(one, other)
    assert within.value == pytest.approx(np.nanmean(one) - np.nanmean(other))
    assert (within.n, within.clusters) == (160, 40)
    # What a cluster's rows share cancels where both groups have it, and doesn't where they are of other clusters.
    half = np.repeat(np.arange(40) % 2 == 0, 4)
    between = boot.difference(np.where(half, values, np.nan), np.where(half, np.nan, values))
    assert within.standard_error is not None
    assert between.standard_error is not None
    assert between.standard_error > 5 * within.standard_error
    welch = np.sqrt(sum(np.var(level[::4][k::2], ddof=1) / 20 for k in (0, 1)))
    assert between.standard_error == pytest.approx(welch, rel=0.1)


def test_statistic_of_a_kappa() -> None:
    def kappa(s: Floats) -> Floats:
        both, first, second, n = s
        chance = (first * second + (n - first) * (n - second)) / n**2
        found: Floats = ((2 * both + n - first - second) / n - chance) / (1 - chance)
        return found

    rng = np.random.default_rng(6)
    first = (rng.random(100) < 0.4).astype(float)
    second = np.where(rng.random(100) < 0.8, first, 1 - first)
    columns = [first * second, first, second, np.ones(100)]
    boot = ClusterBootstrap(range(100), seed=0)
    found = boot.statistic(columns, kappa)
    from sklearn.metrics import cohen_kappa_score

    assert found.value == pytest.approx(cohen_kappa_score(first, second))
    low, high = ends(found)
    theirs = stats.bootstrap(
        (first, second), cohen_kappa_score, paired=True, vectorized=False, n_resamples=300, method="BCa",
        rng=np.random.default_rng(0),
    ).confidence_interval  # fmt: skip
    assert (low, high) == pytest.approx(tuple(theirs), abs=0.05)
    perfect = boot.statistic([first, first, first, np.ones(100)], kappa)
    assert (perfect.value, perfect.low, perfect.high) == (1.0, None, None)
    assert perfect.method == "no interval: no cluster makes a difference"
    bounded = boot.statistic([first, first, first, np.ones(100)], kappa, bounds=(-1, 1))
    assert ends(bounded) == pytest.approx((1 - 2 * (1 - 0.025 ** (1 / 100)), 1))


def test_statistic_that_is_not_defined() -> None:
    boot = ClusterBootstrap([0, 0, 1, 2], seed=0)
    assert boot.statistic([[1, 1, 1, 1], [0, 0, 0, 0]], lambda s: s[0] / s[1]).method == "not defined on these rows"
    assert boot.statistic([[0, 0, 0, 0]], lambda s: s[0]).method == "no rows"
    single = boot.statistic([[1, 2, np.nan, np.nan], [1, 1, 1, 1]], lambda s: s[0] / s[1])
    assert (single.value, single.n, single.method) == (1.5, 2, "no interval: one cluster")
    # Without cluster 2 nothing is left to divide by: no left-one-out value, so no BCa.
    lone = boot.statistic([[1, 0, 1, 1], [0, 0, 0, 4]], lambda s: s[0] / s[1])
    assert lone.method == "percentile bootstrap over clusters, 2000 draws"
    assert lone.standard_error is None


def test_estimates_survive_being_stored() -> None:
    found = ClusterBootstrap([0, 1], seed=0).mean([0.2, 0.4])
    assert found.standard_error is not None
    assert Estimate(**found.as_json()) == found
    older = {name: value for name, value in found.as_json().items() if name not in ("standard_error", "design_effect")}
    assert Estimate(**older).standard_error is None
