"""Figures over clustered rows, with intervals that resample whole clusters."""

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from statistics import NormalDist
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.statistics.estimate import LEVEL, Estimate
from evenhand.statistics.robust import by_cluster, design_effect, numbered, ratio_error
from evenhand.statistics.student_t import two_sided_quantile

__all__ = ["LEVEL", "ClusterBootstrap", "Kind"]

Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]
Kind: TypeAlias = Literal["bca", "percentile"]
Bounds: TypeAlias = tuple[float, float]

_NORMAL = NormalDist()
_TAIL = (1 - LEVEL) / 2
_Z = _NORMAL.inv_cdf(1 - _TAIL)
_ROUNDING = 1e-12
_NO_DIFFERENCE = "no interval: no cluster makes a difference"
FEW = 50
"""With fewer clusters BCa intervals are widened; from here on the difference is below 4% of their length."""


class ClusterBootstrap:
    """One set of resamples of clusters, used for every figure of a table so that figures can be set side by side.

    The clusters are drawn with replacement as often as there are clusters, rows staying with theirs (Davison and
    Hinkley 1997, Bootstrap Methods and their Application, section 3.8, strategy 1). Rows of one cluster share
    their stance pair, so an interval that drew rows one by one would be too narrow.

    The interval is, by ``kind``:

    * ``bca``, bias-corrected and accelerated (Efron 1987; Efron and Tibshirani 1993, An Introduction to the Bootstrap,
      equations 14.9 to 14.15): the quantiles of the draws at Phi(z0 + (z0 + z) / (1 - a (z0 + z))), with z0 from the
      share of draws below the value, ties counting half, and a = sum d^3 / (6 (sum d^2)^1.5), d the deviations of the
      values with one cluster left out from their mean. z is 1.96; with fewer than 50 clusters t sqrt(G / (G - 1)), as
      Hesterberg (2014, What Teachers Should Know about the Bootstrap) widens percentile intervals.
    * ``percentile``: the quantiles of the draws at 2.5% and 97.5%.

    BCa is the default because of what 95% intervals of a rate covered in simulations (4,000 data sets each, 9 rows a
    cluster, intra-cluster correlation .3; docs/statistics-intervals.md has the whole table):

    ========  ====  ==========  ====
    clusters  rate  percentile  BCa
    ========  ====  ==========  ====
    150       .50   94.9        95.0
    150       .95   93.9        94.9
    150       .99   87.3        91.1
    50        .95   90.2        92.4
    20        .90   89.1        93.5
    20        .95   86.4        90.5
    ========  ====  ==========  ====
    """

    def __init__(self, clusters: Sequence[Hashable], *, seed: int, draws: int = 2000, kind: Kind = "bca") -> None:
        """Prepare resamples.

        Args:
            clusters: the cluster of each row, shape (rows,).
            seed: of the random draws; the same seed gives the same intervals.
            draws: how many resamples.
            kind: of interval.
        """
        self._of_row = numbered(clusters)
        self._count = int(self._of_row.max()) + 1 if self._of_row.size else 0
        self.draws = draws
        self.kind: Kind = kind
        rng = np.random.default_rng(seed)
        equal = np.full(max(self._count, 1), 1 / max(self._count, 1))
        self._weights: Floats = rng.multinomial(self._count, equal, size=draws).astype(np.float64)

    @property
    def of_row(self) -> Integers:
        """The cluster of each row as a number from 0, shape (rows,)."""
        return self._of_row

    def mean(
        self, values: npt.ArrayLike, *, where: npt.ArrayLike | None = None, bounds: Bounds | None = None
    ) -> Estimate:
        """Estimate the mean of a value over rows, each row counting the same.

        Args:
            values: shape (rows,); rows that are NaN do not enter.
            where: boolean, shape (rows,); only these rows enter.
            bounds: the least and the largest value that a row could have, (-1, 1) for a difference of probabilities.
                It is used where all rows, or the means of all clusters, are the same. The interval then says how far
                the mean could be if another value had been missed: with r = 1 - .025^(1/G), from v - r (v - least) to
                v + r (largest - v). At an end of the bounds it is the exact binomial interval for G observations.

        Returns:
            The mean with its interval, cluster-robust standard error and design effect. With one cluster there is no
            interval; nor is there without bounds where the bootstrap can't see any variation, because all rows or the
            means of all clusters are the same. Where every row is 0, or every row is 1, the interval is, without bounds
            too, the exact one (Clopper and Pearson 1934) for as many independent observations as there are clusters;
            the standard error is then unknown.
        """
        data = np.asarray(values, dtype=np.float64)
        return self.ratio(data, np.where(np.isnan(data), np.nan, 1.0), where=where, bounds=bounds)

    def ratio(
        self,
        numerator: npt.ArrayLike,
        denominator: npt.ArrayLike,
        *,
        where: npt.ArrayLike | None = None,
        bounds: Bounds | None = None,
    ) -> Estimate:
        """Estimate sum of ``numerator`` over sum of ``denominator``: a weighted mean, a share given something.

        For example the share that goes to the left given uneven, P(left and uneven) over P(uneven) summed over rows.

        Args:
            numerator: shape (rows,).
            denominator: the same shape, not negative. Rows where it is 0 do not count; rows where either is NaN do
                not enter.
            where: as for ``mean``.
            bounds: as for ``mean``, of the ratio of a row.
        """
        x, u = np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64)
        use = ~(np.isnan(x) | np.isnan(u)) & (u > 0)
        if where is not None:
            use &= np.asarray(where, dtype=bool)
        x, u, of_row = x[use], u[use], self._of_row[use]
        n, clusters = int(x.size), int(np.unique(of_row).size)
        if n == 0:
            return Estimate.missing("no rows")
        value = float(x.sum() / u.sum())
        if clusters == 1:
            return Estimate(value, None, None, n, clusters, "no interval: one cluster")
        shares = x / u
        if np.ptp(shares) <= _ROUNDING * max(1.0, abs(value)):
            value = float(shares[0])
            if bounds is None and value in (0.0, 1.0):
                bounds = (0.0, 1.0)
            return _without_variation(value, bounds, n, clusters) or Estimate(
                value, None, None, n, clusters, "no interval: every row is the same"
            )
        sums, counts = by_cluster(x, of_row, self._count), by_cluster(u, of_row, self._count)
        drawn, drawn_counts = self._resampled([sums, counts])
        seen, held = drawn_counts > 0, counts > 0
        if bool(np.all(_level_with(sums[held] / counts[held], value))):
            # Rows differ, but every cluster has the same mean, and so has every resample.
            return _without_variation(value, bounds, n, clusters) or Estimate(
                value, None, None, n, clusters, _NO_DIFFERENCE
            )
        low, high, method = self._interval(
            value, drawn[seen] / drawn_counts[seen], (sums.sum() - sums[held]) / (counts.sum() - counts[held])
        )
        error = ratio_error(sums, counts, clusters)
        effect = None if error is None else design_effect(error, x, u)
        return Estimate(value, low, high, n, clusters, method, error, effect)

    def difference(self, first: npt.ArrayLike, second: npt.ArrayLike, *, bounds: Bounds | None = None) -> Estimate:
        """Estimate the mean of ``first`` over its rows minus the mean of ``second`` over its rows.

        The rows of the two may differ (the pairs of one kind and of another) or be the same; either way clusters that
        they share are resampled together. Mask rows with NaN. For a difference row by row use ``mean``.

        Args:
            first: shape (rows,); rows that are NaN do not enter its mean.
            second: the same shape.
            bounds: the least and the largest difference there could be; see ``mean``.
        """
        columns: list[Floats] = []
        for values in (first, second):
            data = np.asarray(values, dtype=np.float64)
            known = ~np.isnan(data)
            columns += [np.where(known, data, 0.0), known.astype(np.float64)]
        return self.statistic(columns, lambda s: s[0] / s[1] - s[2] / s[3], bounds=bounds)

    def statistic(
        self,
        columns: Sequence[npt.ArrayLike],
        function: Callable[[Floats], Floats],
        *,
        where: npt.ArrayLike | None = None,
        bounds: Bounds | None = None,
    ) -> Estimate:
        """Estimate a function of sums over rows: a kappa, a difference of two means, a share of a share.

        Args:
            columns: k arrays of shape (rows,), whose sums the function takes. Rows where one is NaN do not enter; rows
                where all are 0 do not count.
            function: takes the k sums as an array of shape (k, m), m resamples side by side, and returns shape (m,).
                Where it isn't finite (a share of nothing) the resample is left out.
            where: boolean, shape (rows,); only these rows enter.
            bounds: the least and the largest value of the figure; see ``mean``. Without them there is no interval where
                no cluster makes a difference.

        Returns:
            The figure and its interval; the standard error is the jackknife's over clusters, sqrt((G - 1) / G sum d^2)
            (Efron and Tibshirani 1993, equation 11.5), and there is no design effect.
        """
        table = np.stack([np.asarray(column, dtype=np.float64) for column in columns], axis=1)
        use = ~np.isnan(table).any(axis=1) & (table != 0).any(axis=1)
        if where is not None:
            use &= np.asarray(where, dtype=bool)
        table, of_row = table[use], self._of_row[use]
        n, clusters = int(use.sum()), int(np.unique(of_row).size)
        if n == 0:
            return Estimate.missing("no rows")
        sums = np.stack([by_cluster(column, of_row, self._count) for column in table.T])
        whole = sums.sum(axis=1, keepdims=True)
        held = np.bincount(of_row, minlength=self._count) > 0
        with np.errstate(divide="ignore", invalid="ignore"):
            value = float(function(whole)[0])
            drawn = function(self._resampled(sums))
            left_out = function(whole - sums[:, held])
        if not np.isfinite(value):
            return Estimate.missing("not defined on these rows", n=n, clusters=clusters)
        if clusters == 1:
            return Estimate(value, None, None, n, clusters, "no interval: one cluster")
        drawn = drawn[np.isfinite(drawn)]
        if drawn.size == 0 or bool(np.all(_level_with(drawn, value))):
            return _without_variation(value, bounds, n, clusters) or Estimate(
                value, None, None, n, clusters, _NO_DIFFERENCE
            )
        low, high, method = self._interval(value, drawn, left_out)
        return Estimate(value, low, high, n, clusters, method, _jackknife_error(left_out))

    def _resampled(self, sums: Iterable[Floats]) -> Floats:
        """Return the sums over each resample, shape (columns, draws), from those by cluster."""
        # Column by column: the product of two matrices would start the threads of the linear algebra library, which
        # on busy cores cost ten times what they save.
        return np.stack([self._weights @ column for column in sums])

    def _interval(self, value: float, drawn: Floats, left_out: Floats) -> tuple[float, float, str]:
        """Return the interval and how it was made: the percentile one where there is no BCa, the value without one of
        the clusters being undefined."""
        kind = self.kind if np.all(np.isfinite(left_out)) else "percentile"
        clusters = left_out.size
        few = kind == "bca" and clusters < FEW
        reach = _expanded(clusters) if few else _Z
        levels = _bca_levels(value, drawn, left_out, reach) if kind == "bca" else (_TAIL, 1 - _TAIL)
        low, high = np.quantile(drawn, levels)
        return float(low), float(high), self._method(kind) + (f", widened for {clusters} clusters" if few else "")

    def _method(self, kind: Kind) -> str:
        return f"{'BCa' if kind == 'bca' else kind} bootstrap over clusters, {self.draws} draws"


def _expanded(clusters: int) -> float:
    """Return how many standard deviations of the draws a 95% interval over few clusters must reach.

    The draws are narrower than the truth by sqrt((G - 1) / G), and t stands for z: t sqrt(G / (G - 1)) (Hesterberg
    2014, What Teachers Should Know about the Bootstrap, on expanded percentile intervals).

    >>> round(_expanded(20), 2)
    2.15
    """
    return two_sided_quantile(LEVEL, clusters - 1) * math.sqrt(clusters / (clusters - 1))


def _bca_levels(value: float, drawn: Floats, left_out: Floats, reach: float) -> tuple[float, float]:
    """Return the levels at which BCa reads the draws; see ``ClusterBootstrap``."""
    level_with = _level_with(drawn, value)
    below = float(np.mean(np.where(level_with, 0.5, drawn < value)))
    # Beyond half a draw from either end the draws say nothing.
    nearest = 0.5 / drawn.size
    bias = _NORMAL.inv_cdf(min(max(below, nearest), 1 - nearest))
    deviations = left_out.mean() - left_out
    squares = float(deviations @ deviations)
    acceleration = float(np.sum(deviations**3)) / (6 * squares**1.5) if squares > 0 else 0.0

    def adjusted(z: float) -> float:
        stretch = 1 - acceleration * (bias + z)
        if stretch <= 0:
            return float(bias + z > 0)
        return _NORMAL.cdf(bias + (bias + z) / stretch)

    return adjusted(-reach), adjusted(reach)


def _jackknife_error(left_out: Floats) -> float | None:
    """Return the standard error from the values with one cluster left out; None where one of them is undefined."""
    if not np.all(np.isfinite(left_out)):
        return None
    clusters = left_out.size
    return float(np.sqrt((clusters - 1) / clusters * np.sum((left_out - left_out.mean()) ** 2))) or None


def _level_with(drawn: Floats, value: float) -> npt.NDArray[np.bool_]:
    """Return which draws are the value but for rounding: the same sums in another order differ in the last bits."""
    found: npt.NDArray[np.bool_] = np.abs(drawn - value) <= _ROUNDING * max(1.0, abs(value))
    return found


def _without_variation(value: float, bounds: Bounds | None, n: int, clusters: int) -> Estimate | None:
    """Return the estimate where all rows, or all clusters, are the same; None where the bounds don't help.

    >>> found = _without_variation(1.0, (0.0, 1.0), 8, 8)
    >>> round(found.low, 4), found.high
    (0.6306, 1.0)
    """
    if bounds is None or not bounds[0] <= value <= bounds[1]:
        return None
    reach = 1 - _TAIL ** (1 / clusters)
    low, high = value - reach * (value - bounds[0]), value + reach * (bounds[1] - value)
    how = "exact binomial" if value in bounds else "exact bound"
    return Estimate(value, low, high, n, clusters, f"{how} on {clusters} clusters (no variation)")
