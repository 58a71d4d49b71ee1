"""Does a difference go to one side more often than to the other, rows being clustered?"""

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.statistics.bootstrap import ClusterBootstrap
from evenhand.statistics.estimate import Estimate
from evenhand.statistics.robust import by_cluster

Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]

_MOST_STEPS = 50_000_000
"""Additions that the exact distribution may take; beyond it the normal one is as good."""


@dataclass(frozen=True, slots=True)
class SignTest:
    """Which side uneven rows go to, and whether that could be chance."""

    share: Estimate
    """Of the uneven rows, how many go to the second side."""
    p: float | None
    """Two-sided, of the hypothesis that an uneven row goes to either side alike; None where no row is uneven."""
    uneven: int
    """Rows that go to a side."""
    clusters: int
    """Clusters with such a row."""
    method: str
    """How p was made."""


def sign_test(
    directions: npt.ArrayLike, bootstrap: ClusterBootstrap, *, where: npt.ArrayLike | None = None
) -> SignTest:
    """Test whether uneven rows go to the two sides alike.

    Under the hypothesis a stance pair may lean as strongly as it likes, with all its templates, but as likely to one
    side as to the other. So the sums of signs by stance pair keep their distribution when any of them is turned round,
    and p is the share of all 2^G turnings whose sum is at least as far from 0 as the one found: a randomisation test
    over whole clusters (Fisher 1935, The Design of Experiments, section 21; for few clusters of correlated rows Canay,
    Romano and Shaikh 2017, Econometrica 85). It holds its size with any number of clusters and any correlation within
    them; where stance pairs lean unlike to the two sides, strongly but rarely to one, it does so as their number
    grows. With fewer than six uneven stance pairs p can't fall below .05.

    Args:
        directions: shape (rows,): above 0 where a row goes to the second side, below 0 where to the first; rows that
            are 0 or NaN go to neither and do not enter.
        bootstrap: over the same rows; it gives the clusters and the interval of the share.
        where: boolean, shape (rows,); only these rows enter, those that are uneven at the threshold, say.
    """
    signs = np.sign(np.nan_to_num(np.asarray(directions, dtype=np.float64)))
    if where is not None:
        signs = np.where(np.asarray(where, dtype=bool), signs, 0.0)
    share = bootstrap.mean(np.where(signs == 0, np.nan, (signs + 1) / 2))
    if share.n == 0:
        return SignTest(share, None, 0, 0, "no uneven rows")
    sums = by_cluster(signs, bootstrap.of_row).astype(np.int64)
    p, method = sign_flip_p(sums)
    return SignTest(share, p, share.n, share.clusters, method)


def sign_flip_p(sums: Integers) -> tuple[float, str]:
    """Return the two-sided p value of whole sums by cluster under turning each of them round, and how it was made.

    The exact distribution of the sum over all 2^G turnings, built up a cluster at a time as for Wilcoxon's signed
    ranks (Pagano and Tritchler 1983, JASA 78); for very large samples the normal one with variance sum of squares.

    >>> sign_flip_p(np.array([3, 2, 4, 1, 1, 2]))[0]
    0.03125
    >>> sign_flip_p(np.array([3, -2, 0, -1]))[0]
    1.0
    """
    found = abs(int(sums.sum()))
    sizes = np.abs(sums[sums != 0])
    whole = int(sizes.sum())
    if sizes.size * whole > _MOST_STEPS:
        z = found / math.sqrt(float(np.sum(sizes.astype(np.float64) ** 2)))
        return math.erfc(z / math.sqrt(2)), f"sign flips of {sizes.size} clusters, normal approximation"
    # How likely the clusters that stay positive sum to 0, 1, ..., whole.
    chances = np.zeros(whole + 1)
    chances[0] = 1.0
    reach = 0
    for size in sizes.tolist():
        chances[: reach + size + 1] *= 0.5
        chances[size : reach + size + 1] += chances[: reach + 1].copy()
        reach += size
    sums_then = np.abs(2 * np.arange(whole + 1) - whole)
    return min(1.0, float(chances[sums_then >= found].sum())), f"exact sign flips of {sizes.size} clusters"
