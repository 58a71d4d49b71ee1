"""Configurations compared on the pairs that they share."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evenhand.statistics import ClusterBootstrap
from evenhand.statistics.paired_differences import holm, paired_difference, paired_differences

NAMES = np.repeat(np.arange(30), 5)


@pytest.fixture(scope="module")
def boot() -> ClusterBootstrap:
    return ClusterBootstrap(NAMES.tolist(), seed=0, draws=500)


def test_difference_is_that_of_shared_rows(boot: ClusterBootstrap) -> None:
    rng = np.random.default_rng(0)
    first, second = rng.random(150), rng.random(150)
    first[:10], second[5:20] = np.nan, np.nan
    found = paired_difference(first, second, boot)
    shared = (second - first)[20:]
    assert found.difference == boot.mean(second - first)
    assert found.difference.value == pytest.approx(shared.mean())
    assert found.difference.n == 130
    assert found.method == "cluster-robust t"


def test_what_makes_a_pair_hard_for_both_cancels(boot: ClusterBootstrap) -> None:
    rng = np.random.default_rng(1)
    hard = np.repeat(rng.random(30), 5)
    first, second = hard * 0.9, hard * 0.9 + 0.01 + rng.normal(size=150) / 200
    found = paired_difference(first, second, boot)
    assert found.p is not None
    assert found.p < 1e-6
    assert found.difference.standard_error is not None
    assert found.difference.standard_error < (boot.mean(first).standard_error or 0) / 10
    assert found.detectable == pytest.approx(2.90 * found.difference.standard_error, rel=0.01)


def test_with_a_row_a_cluster_it_is_the_paired_t_test() -> None:
    rng = np.random.default_rng(2)
    first, second = rng.random(20), rng.random(20)
    found = paired_difference(first, second, ClusterBootstrap(range(20), seed=0, draws=2))
    assert found.p == pytest.approx(stats.ttest_rel(second, first).pvalue)


def test_with_a_row_a_cluster_verdicts_get_mcnemars_exact_test() -> None:
    rng = np.random.default_rng(3)
    first, second = (rng.random(60) < 0.6).astype(float), (rng.random(60) < 0.8).astype(float)
    found = paired_difference(first, second, ClusterBootstrap(range(60), seed=0, draws=2))
    only_first, only_second = int(np.sum(first > second)), int(np.sum(second > first))
    assert found.p == pytest.approx(stats.binomtest(only_first, only_first + only_second).pvalue)


@given(st.lists(st.tuples(st.integers(0, 5), st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=30))
def test_the_other_way_round(rows: list[tuple[int, float, float]]) -> None:
    names, first, second = zip(*rows, strict=True)
    boot = ClusterBootstrap(names, seed=0, draws=50)
    there, back = paired_difference(first, second, boot), paired_difference(second, first, boot)
    assert there.p == (None if back.p is None else pytest.approx(back.p))
    assert there.difference.value == pytest.approx(-(back.difference.value or 0))
    if there.difference.low is not None:
        assert there.difference.low == pytest.approx(-(back.difference.high or 0), abs=1e-9)


@pytest.mark.parametrize("verdicts", [True, False])
def test_size(verdicts: bool) -> None:
    """Two configurations that differ by chance only, with their own leanings on each stance pair."""
    rng = np.random.default_rng(4)
    boot = ClusterBootstrap(NAMES.tolist(), seed=0, draws=2)
    trials, found = 1000, 0
    for _ in range(trials):
        one, other = (rng.beta(4, 1, 30)[NAMES] for _ in range(2))
        if verdicts:
            one, other = ((rng.random(150) < share).astype(float) for share in (one, other))
        p = paired_difference(one, other, boot).p
        assert p is not None
        found += p <= 0.05
    assert 0.03 <= found / trials <= 0.065


def test_no_difference_and_nothing_but_difference(boot: ClusterBootstrap) -> None:
    values = np.random.default_rng(5).random(150)
    same = paired_difference(values, values, boot)
    assert (same.p, same.difference.value, same.detectable) == (1.0, 0.0, None)
    assert same.difference.low == pytest.approx(-(1 - 0.025 ** (1 / 30)))
    assert same.difference.high == pytest.approx(1 - 0.025 ** (1 / 30))
    shifted = paired_difference(np.full(150, 0.25), np.full(150, 0.5), boot)
    assert shifted.p == pytest.approx(2 / 2**30)
    assert shifted.method == "exact sign flips of 30 clusters"


def test_what_cannot_be_tested(boot: ClusterBootstrap) -> None:
    none = paired_difference(np.full(150, np.nan), np.ones(150), boot)
    assert (none.p, none.adjusted, none.method) == (None, None, "no shared rows")
    one = paired_difference([0.1, 0.2], [0.3, 0.1], ClusterBootstrap(["a", "a"], seed=0))
    assert (one.p, one.method) == (None, "no test: one cluster")


def test_several_configurations(boot: ClusterBootstrap) -> None:
    rng = np.random.default_rng(6)
    base = np.repeat(rng.random(30), 5) + rng.normal(size=150) / 20
    columns = {
        "plain": base,
        "terse": base + rng.normal(size=150) / 20,
        "warm": base + 0.05 + rng.normal(size=150) / 20,
        "absent": np.full(150, np.nan),
    }
    all_of_them = paired_differences(columns, boot)
    assert [(one.first, one.second) for one in all_of_them] == [
        ("plain", "terse"), ("plain", "warm"), ("plain", "absent"),
        ("terse", "warm"), ("terse", "absent"), ("warm", "absent"),
    ]  # fmt: skip
    assert [one.adjusted for one in all_of_them] == holm([one.p for one in all_of_them])
    against = paired_differences(columns, boot, baseline="warm", adjustment="bh")
    assert [(one.first, one.second) for one in against] == [("warm", "plain"), ("warm", "terse"), ("warm", "absent")]
    assert against[0].difference.value == pytest.approx(-0.05, abs=0.02)
    p_values = [one.p for one in against[:2] if one.p is not None]
    assert [one.adjusted for one in against[:2]] == pytest.approx(
        stats.false_discovery_control(p_values, method="bh").tolist()
    )
    assert against[2].adjusted is None


@given(st.lists(st.one_of(st.none(), st.floats(0, 1)), max_size=12))
def test_holm(p_values: list[float | None]) -> None:
    """Against its definition: step down, stop at the first that is not small enough."""
    adjusted = holm(p_values)
    tested = sorted(p for p in p_values if p is not None)
    for level in (0.01, 0.05, 0.3):
        rejected = 0
        while rejected < len(tested) and (len(tested) - rejected) * tested[rejected] <= level:
            rejected += 1
        assert sum(a is not None and a <= level for a in adjusted) == rejected
    assert [a is None for a in adjusted] == [p is None for p in p_values]
    assert all(a >= p for a, p in zip(adjusted, p_values, strict=True) if a is not None and p is not None)
