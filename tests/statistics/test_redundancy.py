"""Rank correlations and clusters against SciPy."""

import numpy as np
import pytest
from scipy import stats
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from evenhand.statistics.redundancy import average_linkage, redundant_clusters, representative, spearman_matrix


def test_spearman_with_ties_and_holes() -> None:
    rng = np.random.default_rng(0)
    columns = rng.integers(0, 5, (80, 4)).astype(float)
    columns[:, 1] += columns[:, 0]
    columns[::7, 2] = np.nan
    found = spearman_matrix(columns)
    for i in range(4):
        for j in range(4):
            both = ~(np.isnan(columns[:, i]) | np.isnan(columns[:, j]))
            expected = stats.spearmanr(columns[both, i], columns[both, j]).statistic
            assert found[i, j] == pytest.approx(expected)


def test_what_does_not_vary_is_unknown_and_alone() -> None:
    columns = np.column_stack([np.ones(9), np.arange(9.0), -np.arange(9.0)])
    found = spearman_matrix(columns)
    assert np.isnan(found[0]).all()
    assert redundant_clusters(found, 0.3) == [[0], [1, 2]]


@pytest.mark.parametrize("seed", range(12))
def test_average_linkage_against_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.random((14, 2))
    distances = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
    for threshold in (0.1, 0.3, 0.6, 2.0):
        labels = fcluster(linkage(squareform(distances, checks=False), "average"), threshold, "distance")
        expected = sorted(np.flatnonzero(labels == label).tolist() for label in set(labels))
        assert average_linkage(distances, threshold) == expected


def test_representative() -> None:
    assert representative([0, 1, 2], [0.6, 0.0, None]) == 1
    assert representative([1, 2], [0.6, None, None]) == 1
    assert average_linkage(np.empty((0, 0)), 1.0) == []
