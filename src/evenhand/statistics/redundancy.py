"""Which questions measure the same thing."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.statistics.ranks import average_ranks

Floats: TypeAlias = npt.NDArray[np.float64]
SAMPLE = 20_000
"""So many pairs are enough for rank correlations: the standard error is then below .007 (1 / sqrt(n))."""
_FEWEST = 3


def spearman_matrix(columns: Floats) -> Floats:
    """Return Spearman's rank correlation of every two columns over the rows on which both are known.

    Args:
        columns: shape (rows, columns), NaN where unknown.

    Returns:
        Shape (columns, columns); NaN where fewer than three rows are shared or a column does not vary.
    """
    count = columns.shape[1]
    known = ~np.isnan(columns)
    found = np.full((count, count), np.nan)
    ranks = [average_ranks(columns[known[:, j], j]) for j in range(count)]
    for i in range(count):
        for j in range(i, count):
            both = known[:, i] & known[:, j]
            if both.sum() < _FEWEST:
                continue
            if np.array_equal(known[:, i], known[:, j]):
                one, other = ranks[i], ranks[j]
            else:
                one, other = average_ranks(columns[both, i]), average_ranks(columns[both, j])
            found[i, j] = found[j, i] = _pearson(one, other)
    return found


def _pearson(x: Floats, y: Floats) -> float:
    a, b = x - x.mean(), y - y.mean()
    whole = float(np.sqrt((a @ a) * (b @ b)))
    return float(np.clip(a @ b / whole, -1, 1)) if whole > 0 else float("nan")


def average_linkage(distances: Floats, threshold: float) -> list[list[int]]:
    """Join clusters while the mean distance between the members of the two nearest is at most ``threshold``.

    Unweighted average linkage (Sokal and Michener 1958).

    Args:
        distances: shape (n, n), symmetric.
        threshold: the largest distance at which clusters are joined.

    Returns:
        The clusters as rising lists of indices, in the order of their first members.
    """
    clusters = [[index] for index in range(distances.shape[0])]
    between = distances.astype(np.float64).copy()
    np.fill_diagonal(between, np.inf)
    while len(clusters) > 1:
        i, j = sorted(int(index) for index in np.unravel_index(int(np.argmin(between)), between.shape))
        if between[i, j] > threshold:
            break
        one, other = len(clusters[i]), len(clusters[j])
        merged = (one * between[i] + other * between[j]) / (one + other)
        between[i], between[:, i] = merged, merged
        between[i, i] = np.inf
        between = np.delete(np.delete(between, j, 0), j, 1)
        clusters[i] += clusters.pop(j)
    return sorted(sorted(cluster) for cluster in clusters)


def redundant_clusters(correlations: Floats, threshold: float) -> list[list[int]]:
    """Cluster columns by average linkage on 1 - |rho|; an unknown rho is a distance of 1."""
    return average_linkage(1 - np.abs(np.nan_to_num(correlations, nan=0.0)), threshold)


def representative(cluster: Sequence[int], effects: Sequence[float | None]) -> int:
    """Return the member whose effect is farthest from .5; the first of equals, and of those without an effect."""

    def distance(index: int) -> tuple[float, int]:
        effect = effects[index]
        return (-1.0 if effect is None else abs(effect - 0.5), -index)

    return max(cluster, key=distance)
