"""Rank correlations against SciPy and plain loops."""

import math
import random
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from evenhand.statistics.rank_correlation import EXACT, RankCorrelation, kendall, spearman

VALUE = st.integers(-3, 3).map(float)
POINTS = st.lists(st.tuples(VALUE, VALUE), min_size=3, max_size=30)
FEW = st.lists(st.tuples(VALUE, VALUE), min_size=3, max_size=5)


def split(points: list[tuple[float, float]]) -> tuple[list[float], list[float]]:
    x, y = ([point[axis] for point in points] for axis in (0, 1))
    assume(len(set(x)) > 1 and len(set(y)) > 1)
    return x, y


@given(POINTS)
def test_values_against_scipy(points: list[tuple[float, float]]) -> None:
    x, y = split(points)
    assert spearman(x, y).value == pytest.approx(stats.spearmanr(x, y).statistic)
    assert kendall(x, y).value == pytest.approx(stats.kendalltau(x, y).statistic)


@given(st.lists(st.tuples(VALUE, VALUE), min_size=EXACT + 1, max_size=30))
def test_p_values_of_many_against_scipy(points: list[tuple[float, float]]) -> None:
    x, y = split(points)
    assert spearman(x, y).p == pytest.approx(stats.spearmanr(x, y).pvalue, abs=1e-9)
    assert kendall(x, y).p == pytest.approx(stats.kendalltau(x, y, method="asymptotic").pvalue)


@given(FEW)
@settings(max_examples=40)
def test_p_values_of_few_against_a_loop_over_orders(points: list[tuple[float, float]]) -> None:
    x, y = split(points)
    for ours, theirs in ((spearman, stats.spearmanr), (kendall, stats.kendalltau)):
        seen = abs(theirs(x, y).statistic)
        as_far = [abs(theirs(x, order).statistic) >= seen - 1e-9 for order in permutations(y)]
        assert ours(x, y).p == pytest.approx(np.mean(as_far))


@pytest.mark.parametrize("n", [3, 5, 7, 8])
def test_p_of_kendall_is_the_exact_one_where_nothing_is_tied(n: int) -> None:
    rng = np.random.default_rng(n)
    for _ in range(20):
        x, y = rng.random(n), rng.random(n)
        assert kendall(x, y).p == pytest.approx(stats.kendalltau(x, y, method="exact").pvalue)


@given(st.lists(st.tuples(VALUE, VALUE), min_size=3, max_size=12))
def test_kendall_counts_pairs(points: list[tuple[float, float]]) -> None:
    x, y = split(points)
    signs = [(np.sign(a[0] - b[0]), np.sign(a[1] - b[1])) for a, b in combinations(zip(x, y, strict=True), 2)]
    untied = math.sqrt(sum(s != 0 for s, _ in signs) * sum(s != 0 for _, s in signs))
    assert kendall(x, y).value == pytest.approx(sum(s * t for s, t in signs) / untied)


@given(st.lists(st.tuples(VALUE, VALUE), min_size=3, max_size=7), st.randoms())
@settings(max_examples=40)
def test_symmetric_and_blind_to_scale_and_order(points: list[tuple[float, float]], chance: random.Random) -> None:
    x, y = split(points)
    moved = list(zip(x, y, strict=True))
    chance.shuffle(moved)
    for figure in (spearman, kendall):
        found = figure(x, y)
        turned = figure(x, [-value for value in y])
        assert found.value is not None
        assert -1 <= found.value <= 1
        assert figure(y, x) == found
        assert figure(np.exp(x), 7 * np.array(y) + 2) == found
        assert figure(*zip(*moved, strict=True)) == found
        assert turned.value == pytest.approx(-found.value)
        assert turned.p == pytest.approx(found.p)


@pytest.mark.parametrize("n", range(3, 12))
def test_same_order_is_one(n: int) -> None:
    rng = np.random.default_rng(n)
    x = rng.permutation(n).astype(np.float64)
    for figure in (spearman, kendall):
        same, opposite = figure(x, x**3), figure(x, -x)
        assert (same.value, opposite.value) == (1.0, -1.0)
        assert same.p == opposite.p
        assert same.p is not None
        if n <= EXACT:
            assert same.p == pytest.approx(2 / math.factorial(n))
            assert same.method == f"exact, over all {math.factorial(n):,} orders"
        else:
            assert same.p < 0.001


def test_exact_p_is_uniform_enough_without_association() -> None:
    """Under no association at most one in twenty is below .05, and with seven points nearly so many."""
    rng = np.random.default_rng(3)
    for figure in (spearman, kendall):
        small = [(figure(rng.random(7), rng.random(7)).p or 0) <= 0.05 for _ in range(600)]
        assert 0.02 <= np.mean(small) <= 0.07


def test_unknown_figures_do_not_enter() -> None:
    for figure in (spearman, kendall):
        found = figure([0.9, 0.8, float("nan"), 0.5, 0.1], [0.9, 0.7, 0.6, 0.2, float("nan")])
        assert found == figure([0.9, 0.8, 0.5], [0.9, 0.7, 0.2])
        assert found.n == 3


def test_not_defined_says_why() -> None:
    for figure in (spearman, kendall):
        assert figure([0.9, 0.8], [0.9, 0.7]) == RankCorrelation(None, None, 2, "fewer than 3 configurations")
        assert figure([], []) == RankCorrelation(None, None, 0, "fewer than 3 configurations")
        assert figure([0.9, 0.9, 0.9], [0.9, 0.7, 0.1]).value is None
        assert figure([0.9, 0.7, 0.1], [0.9, 0.9, 0.9]).method == "the figures of one grader are all the same"
