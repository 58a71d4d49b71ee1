"""Means of clustered rows, with percentile intervals that resample whole clusters."""

from collections.abc import Hashable, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.statistics.estimate import Estimate

LEVEL = 0.95
Floats: TypeAlias = npt.NDArray[np.float64]


class ClusterBootstrap:
    """One set of resamples of clusters, used for every figure of a table so that figures can be set side by side.

    The clusters are drawn with replacement as often as there are clusters, rows staying with theirs (Davison and
    Hinkley 1997, Bootstrap Methods and their Application, section 3.8, strategy 1). Rows of one cluster share
    their stance pair, so an interval that drew rows one by one would be too narrow.
    """

    def __init__(self, clusters: Sequence[Hashable], *, seed: int, draws: int = 2000) -> None:
        """Prepare resamples.

        Args:
            clusters: the cluster of each row, shape (rows,).
            seed: of the random draws; the same seed gives the same intervals.
            draws: how many resamples.
        """
        names = {name: index for index, name in enumerate(dict.fromkeys(clusters))}
        self._of_row = np.array([names[name] for name in clusters], dtype=np.int64)
        self._count = len(names)
        self.draws = draws
        rng = np.random.default_rng(seed)
        equal = np.full(max(self._count, 1), 1 / max(self._count, 1))
        self._weights: Floats = rng.multinomial(self._count, equal, size=draws).astype(np.float64)

    def mean(self, values: npt.ArrayLike, *, where: npt.ArrayLike | None = None) -> Estimate:
        """Estimate the mean of a value over rows, each row counting the same.

        Args:
            values: shape (rows,); rows that are NaN do not enter.
            where: boolean, shape (rows,); only these rows enter.

        Returns:
            The mean and its percentile interval. With one cluster there is no interval. Where the bootstrap can't
            see any variation because every row is 0, or every row is 1, the interval is the exact one (Clopper and
            Pearson 1934) for as many independent observations as there are clusters.
        """
        data = np.asarray(values, dtype=np.float64)
        use = ~np.isnan(data)
        if where is not None:
            use &= np.asarray(where, dtype=bool)
        n = int(use.sum())
        if n == 0:
            return Estimate.missing("no rows")
        rows, of_row = data[use], self._of_row[use]
        value = float(rows.mean())
        clusters = int(np.unique(of_row).size)
        if clusters == 1:
            return Estimate(value, None, None, n, clusters, "no interval: one cluster")
        if np.all(rows == rows[0]) and rows[0] in (0.0, 1.0):
            low, high = _exact_at_the_edge(float(rows[0]), clusters)
            return Estimate(value, low, high, n, clusters, f"exact binomial on {clusters} clusters (no variation)")
        sums = np.bincount(of_row, weights=rows, minlength=self._count)
        counts = np.bincount(of_row, minlength=self._count).astype(np.float64)
        drawn = self._weights @ counts
        seen = drawn > 0
        means = (self._weights @ sums)[seen] / drawn[seen]
        low, high = (float(bound) for bound in np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]))
        return Estimate(value, low, high, n, clusters, f"percentile bootstrap over clusters, {self.draws} draws")


def _exact_at_the_edge(value: float, n: int) -> tuple[float, float]:
    """Return the Clopper-Pearson interval for 0 of n or n of n.

    >>> [round(bound, 4) for bound in _exact_at_the_edge(1.0, 8)]
    [0.6306, 1.0]
    """
    reach = ((1 - LEVEL) / 2) ** (1 / n)
    return (reach, 1.0) if value == 1.0 else (0.0, 1 - reach)
