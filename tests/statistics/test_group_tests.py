"""Tests of groups against brute force, and what they do when there is nothing to find."""

from itertools import combinations, product

import numpy as np
import pytest
from scipy import stats

from evenhand.statistics.group_tests import PERMUTATIONS, GroupTests, within_clusters_p


def test_whole_clusters_against_every_choice_of_clusters() -> None:
    rows = {0: [1, 1, 1], 1: [1, 1, 0], 2: [1, 0, 0], 3: [0, 0, 0], 4: [0, 0, 0], 5: [1, 0, 1], 6: [0, 0, 0]}
    clusters = [cluster for cluster, verdicts in rows.items() for _ in verdicts]
    verdicts = np.array([verdict for each in rows.values() for verdict in each], dtype=float)
    groups = ["mine" if cluster < 2 else "rest" for cluster in clusters]
    (p, other) = GroupTests(clusters, groups, seed=3).p_values(verdicts)

    def apart(chosen: tuple[int, ...]) -> float:
        inside = np.isin(clusters, chosen)
        return abs(float(verdicts[inside].mean() - verdicts[~inside].mean()))

    every = [apart(chosen) for chosen in combinations(rows, 2)]
    exact = np.mean([each >= apart((0, 1)) - 1e-9 for each in every])
    assert p == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / PERMUTATIONS))
    assert other == pytest.approx(p, abs=0.02)  # the complement, drawn as five clusters


def test_within_clusters_against_every_arrangement() -> None:
    verdicts, mine = [[1, 0, 0], [1, 1, 0], [0, 0], [1, 0, 0, 1]], [1, 1, 1, 2]
    rows = np.array([len(each) for each in verdicts])
    hits = np.array([sum(each) for each in verdicts])
    found = np.array([1, 1, 0, 2])
    choices = [list(combinations(each, size)) for each, size in zip(verdicts, mine, strict=True)]
    sums = np.array([sum(map(sum, choice)) for choice in product(*choices)])
    expected = np.mean(np.abs(sums - sums.mean()) >= abs(found.sum() - sums.mean()) - 1e-9)
    assert within_clusters_p(np.array(mine), found, rows, hits) == pytest.approx(expected)


def test_one_shared_cluster_is_fishers_exact_test_by_distance() -> None:
    p = within_clusters_p(np.array([9]), np.array([7]), np.array([20]), np.array([10]))
    distribution = stats.hypergeom(20, 10, 9)
    far = [k for k in range(10) if abs(k - 4.5) >= 2.5]
    assert p == pytest.approx(float(distribution.pmf(far).sum()))


def test_very_many_clusters_by_the_normal_distribution() -> None:
    ones = np.ones(6000, dtype=np.int64)
    positive = np.concatenate([np.ones(3200, dtype=np.int64), np.zeros(2800, dtype=np.int64)])
    p = within_clusters_p(ones, positive, 2 * ones, ones)
    assert p == pytest.approx(2 * stats.norm.sf(200 / np.sqrt(6000 / 4)), rel=1e-6)


def test_groups_that_cant_be_tested() -> None:
    clusters = [0, 0, 1, 1, 2, 2]
    verdicts = np.array([1.0, 0, 1, 1, np.nan, np.nan])
    # One cluster is no sample of clusters; a group of all rows has no rest; one of no known rows has nothing.
    assert GroupTests(clusters, ["x", "x", "y", "y", "z", "z"], seed=0).p_values(verdicts) == [None, None, None]
    assert GroupTests(clusters, ["x"] * 6, seed=0).p_values(verdicts) == [None]
    assert GroupTests([], [], seed=0).p_values(np.array([])) == []


def test_nothing_varies() -> None:
    tests = GroupTests([0, 0, 1, 1, 2, 2, 3, 3], list("xyxyxyxy"), seed=0)
    assert tests.p_values(np.ones(8)) == [1.0, 1.0]
    tests = GroupTests([0, 0, 1, 1, 2, 2, 3, 3], list("xxxxyyyy"), seed=0)
    assert tests.p_values(np.ones(8)) == [1.0, 1.0]


def test_a_rare_verdict_is_no_discovery() -> None:
    """Six of 1,350 verdicts are positive, none of them in one of nine groups: nothing is shown by that."""
    clusters = np.repeat(np.arange(150), 9).tolist()
    groups = np.tile(np.arange(9), 150)
    verdicts = np.zeros(1350)
    verdicts[np.flatnonzero(groups == 4)[:6]] = 1.0
    p = GroupTests(clusters, groups.tolist(), seed=0).p_values(verdicts)
    assert p[0] is not None
    assert p[0] == pytest.approx((8 / 9) ** 6 + stats.binom.sf(1, 6, 1 / 9))  # none of six, or two and more
    assert p[4] == pytest.approx(9.0**-6)  # all six in one group are


@pytest.mark.parametrize("crossed", [True, False])
def test_where_there_is_nothing_to_find_p_is_below_a_twentieth_in_a_twentieth_of_cases(crossed: bool) -> None:
    rng = np.random.default_rng(5)
    below = []
    for _ in range(150):
        clusters = np.repeat(np.arange(24), 6)
        chance = rng.beta(0.5, 2.0, 24)[clusters]
        groups = np.tile(np.arange(6), 24) if crossed else clusters // 4
        p = GroupTests(clusters.tolist(), groups.tolist(), seed=1).p_values((rng.random(144) < chance).astype(float))
        below += [each for each in p if each is not None]
    assert 0.02 < np.mean(np.array(below) < 0.05) < 0.06


def test_the_same_seed_gives_the_same() -> None:
    clusters = np.repeat(np.arange(12), 3).tolist()
    verdicts = (np.random.default_rng(0).random(36) < 0.4).astype(float)
    groups = [cluster // 4 for cluster in clusters]
    one, other = (GroupTests(clusters, groups, seed=7).p_values(verdicts) for _ in range(2))
    assert one == other
