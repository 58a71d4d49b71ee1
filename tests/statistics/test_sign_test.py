"""The clustered sign test: exact where it can be counted, and of its size where rows are alike within clusters."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evenhand.statistics import ClusterBootstrap
from evenhand.statistics.sign_test import sign_flip_p, sign_test

SUMS = st.lists(st.integers(-9, 9), min_size=1, max_size=9)


@given(SUMS)
def test_p_against_all_turnings(sums: list[int]) -> None:
    found = abs(sum(sums))
    turned = [
        abs(sum(s * sign for s, sign in zip(sums, signs, strict=True))) for signs in product((1, -1), repeat=len(sums))
    ]
    p, method = sign_flip_p(np.array(sums))
    assert p == pytest.approx(np.mean([one >= found for one in turned]))
    assert method == f"exact sign flips of {np.count_nonzero(sums)} clusters"


@given(SUMS, st.randoms(use_true_random=False))
def test_neither_order_nor_side_matters(sums: list[int], random: object) -> None:
    assert hasattr(random, "shuffle")
    p = sign_flip_p(np.array(sums))
    shuffled = list(sums)
    random.shuffle(shuffled)
    assert sign_flip_p(np.array(shuffled))[0] == pytest.approx(p[0])
    assert sign_flip_p(-np.array(sums)) == p
    assert sign_flip_p(np.array([*sums, 0])) == p


@given(st.lists(st.sampled_from([-1, 1]), min_size=1, max_size=60))
def test_with_a_row_a_cluster_it_is_the_binomial_test(signs: list[int]) -> None:
    found = sign_test(signs, ClusterBootstrap(range(len(signs)), seed=0, draws=2))
    assert found.p == pytest.approx(stats.binomtest(signs.count(1), len(signs)).pvalue)


def test_very_many_clusters() -> None:
    rng = np.random.default_rng(0)
    sums = rng.integers(-30, 31, 10_000)
    p, method = sign_flip_p(sums)
    assert method == f"sign flips of {np.count_nonzero(sums)} clusters, normal approximation"
    few = sums[:1500]
    exact, how = sign_flip_p(few)
    assert "exact" in how
    assert exact == pytest.approx(2 * stats.norm.sf(abs(few.sum()) / np.sqrt(np.sum(few**2))), abs=0.005)
    assert p == pytest.approx(2 * stats.norm.sf(abs(sums.sum()) / np.sqrt(np.sum(sums.astype(float) ** 2))))


def test_what_it_reports() -> None:
    directions = [0.4, 0.2, -0.1, 0.0, np.nan, 0.3, 0.9, -0.2]
    boot = ClusterBootstrap(["a", "a", "b", "b", "c", "c", "d", "e"], seed=0)
    found = sign_test(directions, boot)
    assert (found.uneven, found.clusters) == (6, 5)
    assert found.share == boot.mean([1, 1, 0, np.nan, np.nan, 1, 1, 0])
    # Sums 2, -1, 1, 1, -1: of the 32 turnings all but those with sum 0 reach 2.
    turned = [abs(2 * s[0] + sum(s[1:])) for s in product((1, -1), repeat=5)]
    assert found.p == pytest.approx(np.mean([one >= 2 for one in turned]))
    fewer = sign_test(directions, boot, where=[True, False, False, True, True, True, False, False])
    assert (fewer.uneven, fewer.clusters) == (2, 2)
    assert fewer.p == pytest.approx(0.5)
    none = sign_test([0, np.nan], ClusterBootstrap([0, 1], seed=0))
    assert (none.p, none.uneven, none.share.value, none.method) == (None, 0, None, "no uneven rows")


def test_all_to_one_side() -> None:
    """One stance pair with all its templates is one observation; eight are eight."""
    one = sign_test(np.ones(9), ClusterBootstrap([0] * 9, seed=0))
    assert (one.p, one.share.value, one.share.low) == (1.0, 1.0, None)
    eight = sign_test(-np.ones(72), ClusterBootstrap(np.repeat(np.arange(8), 9).tolist(), seed=0))
    assert eight.p == pytest.approx(2 / 2**8)
    assert (eight.share.value, eight.share.low, eight.share.high) == pytest.approx((0, 0, 0.3694), abs=5e-5)


@pytest.mark.parametrize("clusters", [5, 12, 40, 150])
@pytest.mark.parametrize("icc", [0.0, 0.3, 0.8])
def test_size(clusters: int, icc: float) -> None:
    """No lean: 5% or fewer are found, however alike the templates of a stance pair, few rows a cluster being uneven."""
    rng = np.random.default_rng(1)
    trials = 1000
    shape = (trials, clusters)
    share = np.full(shape, 0.5) if icc == 0 else rng.beta(0.5 * (1 - icc) / icc, 0.5 * (1 - icc) / icc, shape)
    uneven = rng.binomial(9, 0.35, shape)
    sums = 2 * rng.binomial(uneven, share) - uneven
    found = np.mean([sign_flip_p(row)[0] <= 0.05 for row in sums])
    assert found <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / trials)
    if clusters >= 40:
        assert found >= 0.03
        as_if_independent = 2 * stats.norm.sf(np.abs(sums.sum(axis=1)) / np.sqrt(uneven.sum(axis=1)))
        if icc == 0.8:
            assert np.mean(as_if_independent <= 0.05) > 0.2


def test_size_where_few_stance_pairs_lean_strongly() -> None:
    """A sixth of the stance pairs all to the right, the rest a little to the left: no lean over rows."""
    rng = np.random.default_rng(2)
    share = np.where(rng.random((1500, 60)) < 1 / 6, 1.0, 0.4)
    sums = 2 * rng.binomial(9, share) - 9
    assert 0.03 <= np.mean([sign_flip_p(row)[0] <= 0.05 for row in sums]) <= 0.065


def test_a_lean_is_found() -> None:
    rng = np.random.default_rng(3)
    share = rng.beta(0.65 * 4, 0.35 * 4, (300, 100))
    sums = 2 * rng.binomial(5, share) - 5
    assert np.mean([sign_flip_p(row)[0] <= 0.05 for row in sums]) > 0.95
