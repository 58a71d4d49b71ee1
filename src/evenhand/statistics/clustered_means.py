"""Means of many columns over the same clustered rows, from a few clusters to millions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.statistics.bootstrap import LEVEL, ClusterBootstrap
from evenhand.statistics.estimate import Estimate
from evenhand.statistics.student_t import two_sided_p, two_sided_quantile

Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]

MOST_RESAMPLED = 20_000
"""Over more clusters than this the normal approximation takes the place of the bootstrap: the two agree there, and the
resamples would no longer fit into memory."""

_ROUNDING = 1e-12


class ClusteredMeans:
    """Intervals and tests for the mean of a column, rows of one cluster staying together.

    Up to ``MOST_RESAMPLED`` clusters the interval is the percentile one of ``ClusterBootstrap`` with the same draws for
    every column; above, mean +- 1.96 standard errors that are robust to clusters (Liang and Zeger 1986; G / (G - 1) for
    few clusters: Cameron and Miller 2015, A Practitioner's Guide to Cluster-Robust Inference, equation 11).
    """

    def __init__(
        self, clusters: npt.ArrayLike, *, seed: int, draws: int = 2000, most_resampled: int = MOST_RESAMPLED
    ) -> None:
        """Prepare.

        Args:
            clusters: the cluster of each row, shape (rows,), anything that numpy can sort.
            seed: of the resamples.
            draws: how many resamples.
            most_resampled: above this many clusters the normal approximation is taken.
        """
        names, of_row = np.unique(np.asarray(clusters), return_inverse=True)
        self._of_row: Integers = of_row.astype(np.int64)
        self._count = int(names.size)
        self._columns = (
            _ColumnBootstrap(self._of_row.tolist(), seed=seed, draws=draws)
            if 0 < self._count <= most_resampled
            else None
        )

    def means(self, columns: Floats, *, bounds: tuple[float, float] | None = None) -> tuple[Estimate, ...]:
        """Estimate the mean of each column over its rows that are not NaN.

        Args:
            columns: shape (rows, columns).
            bounds: the least and the largest value that a row could have. Where all rows of a column, or the means of
                all its clusters, are the same, the interval says, instead of being a point, how far the mean could be
                if another value had been missed: with r = 1 - .025^(1/G), from v - r (v - least) to
                v + r (largest - v). At an end of the bounds it is the exact binomial interval for G observations
                (Clopper and Pearson 1934). Without bounds there is then none.
        """
        found = [self._reduce(columns[:, index]) for index in range(columns.shape[1])]
        resampled = self._columns.intervals(found) if self._columns else [None] * len(found)
        return tuple(
            self._estimate(column, interval, bounds) for column, interval in zip(found, resampled, strict=True)
        )

    def mean(self, values: Floats, *, bounds: tuple[float, float] | None = None) -> Estimate:
        """Estimate the mean of one column, shape (rows,); see ``means``."""
        return self.means(values[:, None], bounds=bounds)[0]

    def p_value(self, values: Floats, null: float) -> float:
        """Return the two-sided p value of the hypothesis that the mean of ``values`` is ``null``; NaN if untestable.

        t = (mean - null) / cluster-robust standard error, on G - 1 degrees of freedom. Where no row varies, the exact
        sign test over clusters, 2 x .5^G (and 1 if all rows are at the null).
        """
        column = self._reduce(values)
        if column.clusters < 2:
            return float("nan")
        if column.constant:
            return 1.0 if column.mean == null else min(1.0, 2 * 0.5**column.clusters)
        if column.level:
            return float("nan")
        return two_sided_p((column.mean - null) / column.error, column.clusters - 1)

    def _reduce(self, values: Floats) -> "_Column":
        use = ~np.isnan(values)
        whole = bool(use.all())
        rows = values if whole else values[use]
        of_row = self._of_row if whole else self._of_row[use]
        n = int(rows.size)
        counts = np.bincount(of_row, minlength=self._count).astype(np.float64)
        clusters = int(np.count_nonzero(counts))
        if n == 0:
            return _Column(counts, counts, 0, 0, float("nan"), float("nan"), constant=False, level=False)
        sums: Floats = np.bincount(of_row, weights=rows, minlength=self._count).astype(np.float64)
        mean = float(sums.sum() / n)
        constant = bool(np.all(rows == rows[0]))
        error, level = float("nan"), constant
        if clusters > 1:
            left = sums - counts * mean
            level = level or bool(np.all(np.abs(left) <= _ROUNDING * counts * max(1.0, abs(mean))))
            error = float(np.sqrt(clusters / (clusters - 1) * (left @ left)) / n)
        return _Column(sums, counts, n, clusters, float(rows[0]) if constant else mean, error, constant, level)

    def _estimate(
        self, column: "_Column", interval: tuple[float, float] | None, bounds: tuple[float, float] | None
    ) -> Estimate:
        n, clusters, value = column.n, column.clusters, column.mean
        if n == 0:
            return Estimate.missing("no rows")
        if clusters == 1:
            return Estimate(value, None, None, n, clusters, "no interval: one cluster")
        if column.level:
            if bounds is None:
                return Estimate(value, None, None, n, clusters, "no interval: no cluster makes a difference")
            reach = 1 - ((1 - LEVEL) / 2) ** (1 / clusters)
            low, high = value - reach * (value - bounds[0]), value + reach * (bounds[1] - value)
            return Estimate(value, low, high, n, clusters, f"no variation: exact bound on {clusters} clusters")
        if interval is not None and self._columns is not None:
            return Estimate(
                value, *interval, n, clusters, f"percentile bootstrap over clusters, {self._columns.draws} draws"
            )
        reach = two_sided_quantile(LEVEL, clusters - 1) * column.error
        return Estimate(value, value - reach, value + reach, n, clusters, "cluster-robust normal approximation")


@dataclass(frozen=True, slots=True)
class _Column:
    """What is needed of a column: its sums and counts a cluster."""

    sums: Floats
    counts: Floats
    n: int
    clusters: int
    mean: float
    error: float
    """Cluster-robust standard error of the mean; NaN with one cluster."""
    constant: bool
    """Whether all rows are the same."""
    level: bool
    """Whether the clusters' means are all the same, so that no resample differs."""


class _ColumnBootstrap(ClusterBootstrap):
    """The resamples of ``ClusterBootstrap`` put to all columns in one product."""

    def intervals(self, columns: Sequence[_Column]) -> list[tuple[float, float] | None]:
        """Return the percentile interval of each column, None where it has no rows."""
        if not columns:
            return []
        # ClusterBootstrap numbers the clusters in the order in which they come up, and so must the sums.
        sums = self._weights @ self._renumbered([column.sums for column in columns])
        counts = self._weights @ self._renumbered([column.counts for column in columns])
        found: list[tuple[float, float] | None] = []
        for index, column in enumerate(columns):
            seen = counts[:, index] > 0
            if column.n == 0 or not seen.any():
                found.append(None)
                continue
            means = sums[seen, index] / counts[seen, index]
            low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
            found.append((float(low), float(high)))
        return found

    def __init__(self, clusters: Sequence[int], *, seed: int, draws: int) -> None:
        super().__init__(clusters, seed=seed, draws=draws, kind="percentile")
        self._order = np.fromiter(dict.fromkeys(clusters), dtype=np.int64)

    def _renumbered(self, by_cluster: Sequence[Floats]) -> Floats:
        return np.stack(by_cluster, axis=1)[self._order]
