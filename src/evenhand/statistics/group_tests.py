"""Is a part of the rows different from the rest, when rows of one cluster belong together?"""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.statistics.robust import numbered

Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]

PERMUTATIONS = 4999
_AT_ONCE = 1_000_000
"""Permuted cluster numbers held at a time."""
_MOST_STEPS = 20_000_000
"""Additions that an exact distribution may take; beyond it the normal one is as good."""
_ROUNDING = 1e-9


class GroupTests:
    """p values for "the share in this group is that of all other rows", a group for each distinct name.

    Verdicts are 0 or 1. Both tests are of randomisation, and so hold their size however rare the verdicts are.

    A group made of whole clusters (topics, where clusters are stance pairs) is compared with as many clusters drawn
    at random: a permutation test of the difference between the group's share and that of the rest, with
    p = (1 + as extreme) / (1 + permutations) (Davison and Hinkley 1997, section 4.3). A group of one cluster can't be
    tested, since nothing says how much clusters of its kind differ.

    A group that takes rows out of clusters which others share (templates) is compared within them: given how many of a
    cluster's rows are positive, any of them is as likely to be the group's. The number of positive rows in the
    group is then a sum of independent hypergeometric numbers, whose distribution is computed exactly (the conditional
    test over strata: Cochran 1954; Mantel and Haenszel 1959; Agresti 2013, Categorical Data Analysis, section 7.3.5).
    """

    def __init__(self, clusters: Sequence[Hashable], groups: Sequence[Hashable], *, seed: int) -> None:
        """Prepare.

        Args:
            clusters: of each row, shape (rows,).
            groups: of each row, shape (rows,).
            seed: of the permutations.
        """
        self._clusters, self._groups = numbered(clusters), numbered(groups)
        self.names: tuple[Hashable, ...] = tuple(dict.fromkeys(groups))
        self._seed = seed

    def p_values(self, verdicts: Floats) -> list[float | None]:
        """Return a two-sided p value for each of ``names``, None where a group can't be tested.

        Args:
            verdicts: 0 or 1, NaN where unknown, shape (rows,).
        """
        known = ~np.isnan(verdicts)
        _, clusters = np.unique(self._clusters[known], return_inverse=True)
        groups, positive = self._groups[known], verdicts[known].astype(np.int64)
        count = int(clusters.max(initial=-1)) + 1
        every = _Counts.of(clusters, positive, count)
        found: list[float | None] = [None] * len(self.names)
        whole: dict[int, _Counts] = {}
        for group in range(len(self.names)):
            inside = groups == group
            own = _Counts.of(clusters[inside], positive[inside], count)
            taken = own.rows > 0
            if not np.array_equal(own.rows[taken], every.rows[taken]):
                found[group] = within_clusters_p(own.rows, own.positive, every.rows, every.positive)
            elif 1 < taken.sum() < count:
                whole[group] = own
        for group, extreme in self._permuted(every, whole).items():
            found[group] = (1 + extreme) / (1 + PERMUTATIONS)
        return found

    def _permuted(self, every: "_Counts", groups: dict[int, "_Counts"]) -> dict[int, int]:
        """Return how many permutations differ at least as much, by group.

        The first clusters of a random order are a random group of their number, so one order serves all sizes.
        """
        extreme = dict.fromkeys(groups, 0)
        if not groups:
            return extreme
        sizes = {group: int((own.rows > 0).sum()) for group, own in groups.items()}
        seen = {
            group: abs(float(every.minus_rest(own.positive.sum(), own.rows.sum()))) for group, own in groups.items()
        }
        rng = np.random.default_rng(self._seed)
        count, most, left = every.rows.size, max(sizes.values()), PERMUTATIONS
        while left:
            draws = min(left, max(1, _AT_ONCE // count))
            left -= draws
            order = rng.permuted(np.tile(np.arange(count), (draws, 1)), axis=1)[:, :most]
            positive, rows = np.cumsum(every.positive[order], axis=1), np.cumsum(every.rows[order], axis=1)
            for group, size in sizes.items():
                drawn = every.minus_rest(positive[:, size - 1], rows[:, size - 1])
                extreme[group] += int((np.abs(drawn) >= seen[group] - _ROUNDING).sum())
        return extreme


@dataclass(frozen=True, slots=True)
class _Counts:
    """Rows and positive rows by cluster, shape (clusters,)."""

    rows: Integers
    positive: Integers

    @classmethod
    def of(cls, clusters: Integers, positive: Integers, count: int) -> "_Counts":
        return cls(
            np.bincount(clusters, minlength=count).astype(np.int64),
            np.bincount(clusters[positive == 1], minlength=count).astype(np.int64),
        )

    def minus_rest(self, positive: Integers, rows: Integers) -> Floats:
        """Return the share of so many positive rows minus that of all the others."""
        found: Floats = positive / rows - (self.positive.sum() - positive) / (self.rows.sum() - rows)
        return found


def within_clusters_p(rows: Integers, positive: Integers, all_rows: Integers, all_positive: Integers) -> float | None:
    """Return the two-sided p value of the hypothesis that a group's rows are any rows of their clusters.

    Args:
        rows: of the group, by cluster.
        positive: those of them that are positive.
        all_rows: of the cluster.
        all_positive: those of them that are positive.

    Returns:
        The probability of a number of positive rows at least as far from the expected one; None where the group shares
        no cluster with others. For very large samples from the normal distribution.

    >>> ones = np.ones(3, dtype=np.int64)
    >>> round(within_clusters_p(ones, ones, 2 * ones, ones), 3)
    0.25
    """
    shared = (rows > 0) & (rows < all_rows)
    if not shared.any():
        return None
    told = shared & (all_positive > 0) & (all_positive < all_rows)
    m, k, n = rows[told], all_positive[told], all_rows[told]
    found, expected = int(positive[told].sum()), float((m * k / n).sum())
    away = abs(found - expected)
    most = int(np.minimum(m, k).sum())
    if m.size * most > _MOST_STEPS:
        variance = float((m * (n - m) * k * (n - k) / (n * n * np.maximum(n - 1, 1))).sum())
        return math.erfc(away / math.sqrt(2 * variance))
    chances = np.ones(1)
    kinds, times = np.unique(np.stack([m, k, n]), axis=1, return_counts=True)
    for (size, hits, whole), repeated in zip(kinds.T.tolist(), times.tolist(), strict=True):
        one = _hypergeometric(size, hits, whole)
        for _ in range(repeated):
            chances = np.convolve(chances, one)
    far = np.abs(np.arange(chances.size) - expected) >= away - _ROUNDING
    return min(1.0, float(chances[far].sum()))


def _hypergeometric(size: int, hits: int, whole: int) -> Floats:
    """Return P(j of ``hits`` are among ``size`` of ``whole``), j from 0 to the smaller of the two."""
    ways = math.comb(whole, size)
    return np.array(
        [
            math.comb(hits, j) * math.comb(whole - hits, size - j) / ways if size - j <= whole - hits else 0.0
            for j in range(min(size, hits) + 1)
        ]
    )
