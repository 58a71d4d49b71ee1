"""Cluster-robust standard errors: the analytic cross-check on resampled intervals."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.statistics.estimate import LEVEL, Estimate
from evenhand.statistics.reliability import intraclass
from evenhand.statistics.student_t import two_sided_quantile

Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]
Scale: TypeAlias = Literal["plain", "logit"]

FEW_RARE = 10
"""With fewer rare outcomes than this (see ``rare_outcomes``) intervals for a rate cover less often than they say."""


def numbered(clusters: Sequence[Hashable]) -> Integers:
    """Number clusters from 0 in the order in which they come up; shape (rows,).

    Whatever groups rows by cluster goes through here, so that intervals, standard errors and tests can't part.
    """
    names = {name: index for index, name in enumerate(dict.fromkeys(clusters))}
    return np.fromiter((names[name] for name in clusters), dtype=np.int64, count=len(clusters))


def by_cluster(values: Floats, of_row: Integers, clusters: int = 0) -> Floats:
    """Sum values by cluster, shape (at least ``clusters``,)."""
    return np.bincount(of_row, weights=values, minlength=clusters).astype(np.float64)


def mean(
    values: npt.ArrayLike, clusters: Sequence[Hashable], *, where: npt.ArrayLike | None = None, scale: Scale = "plain"
) -> Estimate:
    """Estimate a mean over rows with its cluster-robust standard error and t interval.

    SE = sqrt(G / (G - 1) sum_c (sum of y - mean in c)^2) / n: Liang and Zeger 1986, for a regression on a constant
    alone, with the G / (G - 1) and the t on G - 1 degrees of freedom of Cameron and Miller 2015, A Practitioner's Guide
    to Cluster-Robust Inference, equation 11 and section VI.

    Args:
        values: shape (rows,); NaN does not enter.
        clusters: shape (rows,).
        where: boolean, shape (rows,); only these rows enter.
        scale: see ``interval``.

    Returns:
        The estimate with ``standard_error`` and ``design_effect``; no interval with one cluster, or where nothing
        varies.
    """
    data = np.asarray(values, dtype=np.float64)
    return ratio(data, np.where(np.isnan(data), np.nan, 1.0), clusters, where=where, scale=scale)


def ratio(
    numerator: npt.ArrayLike,
    denominator: npt.ArrayLike,
    clusters: Sequence[Hashable],
    *,
    where: npt.ArrayLike | None = None,
    scale: Scale = "plain",
) -> Estimate:
    """Estimate R = sum of ``numerator`` over sum of ``denominator`` with its cluster-robust standard error.

    SE = sqrt(G / (G - 1) sum_c (sum of x - R u in c)^2) / sum of u, by linearisation (Sarndal, Swensson and Wretman
    1992, Model Assisted Survey Sampling, section 5.6). Arguments as for ``mean``; rows where the denominator is 0 don't
    count.
    """
    x, u = np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64)
    use = ~(np.isnan(x) | np.isnan(u)) & ((x != 0) | (u != 0))
    if where is not None:
        use &= np.asarray(where, dtype=bool)
    x, u, of_row = x[use], u[use], numbered(clusters)[use]
    n, count = int(x.size), int(np.unique(of_row).size)
    whole = float(u.sum())
    if n == 0 or whole == 0:
        return Estimate.missing("no rows", n=n, clusters=count)
    sums, counts = by_cluster(x, of_row), by_cluster(u, of_row)
    error = ratio_error(sums, counts, count)
    value = float(x.sum() / whole)
    if error is None:
        why = "one cluster" if count == 1 else "no variation between clusters"
        return Estimate(value, None, None, n, count, f"no interval: {why}")
    found = Estimate(value, None, None, n, count, "", error, design_effect(error, x, u))
    low, high = interval(found, scale) or (None, None)
    how = "cluster-robust, t" if scale == "plain" else "cluster-robust on the logit scale, t"
    return replace(found, low=low, high=high, method=f"{how} on {count - 1} degrees of freedom")


def ratio_error(sums: Floats, counts: Floats, clusters: int) -> float | None:
    """Return the standard error of sum(sums) / sum(counts) from the sums by cluster; see ``ratio``.

    None with one cluster and where nothing varies between them: a standard error of 0 would claim certainty.

    >>> ratio_error(np.array([1.0, 0.0, 2.0]), np.array([2.0, 2.0, 2.0]), 3)
    0.28867513459481287
    """
    if clusters < 2:
        return None
    whole = counts.sum()
    left = sums - counts * (sums.sum() / whole)
    error = math.sqrt(clusters / (clusters - 1) * float(left @ left)) / abs(float(whole))
    return error if error > 1e-12 else None


def design_effect(error: float, numerator: Floats, denominator: Floats) -> float | None:
    """Return error^2 over the variance that the same ratio would have if rows were independent.

    Kish 1965, Survey Sampling, section 8.2. The other variance is that of ``ratio`` with every row its own cluster.
    Clusters of m alike rows whose correlation is r give about 1 + (m - 1) r.

    Args:
        error: cluster-robust standard error.
        numerator: shape (rows,), no NaN.
        denominator: the same shape; ones for a mean.
    """
    alone = ratio_error(numerator, denominator, numerator.size)
    return None if alone is None else (error / alone) ** 2


def interval(estimate: Estimate, scale: Scale = "plain") -> tuple[float, float] | None:
    """Return the analytic 95% interval of an estimate that has a standard error; None where there is none.

    ``plain``: value +- t SE with t on G - 1 degrees of freedom. ``logit``, for shares: the same for log(p / (1 - p)),
    whose standard error is SE / (p (1 - p)), mapped back (Korn and Graubard 1999, Analysis of Health Surveys;
    ``svyciprop(method="xlogit")`` in the R package survey). It stays within 0 and 1 and covers better near them.
    """
    value, error = estimate.value, estimate.standard_error
    if value is None or error is None or estimate.clusters < 2:
        return None
    reach = two_sided_quantile(LEVEL, estimate.clusters - 1) * error
    if scale == "plain":
        return value - reach, value + reach
    if not 0 < value < 1:
        return None
    centre, reach = math.log(value / (1 - value)), reach / (value * (1 - value))
    # tanh, because exp overflows where the reach is very long.
    return (1 + math.tanh((centre - reach) / 2)) / 2, (1 + math.tanh((centre + reach) / 2)) / 2


def rare_outcomes(estimate: Estimate) -> float | None:
    """Return of how many independent rare outcomes a share is worth: min(p, 1 - p) times the effective sample size.

    The effective sample size is p (1 - p) / SE^2 (Korn and Graubard 1998, Survey Methodology 24), so this is
    p (1 - p) min(p, 1 - p) / SE^2: 5% of 1,350 rows with a design effect of 4.2 are worth 16 outcomes, not 68. In
    simulations of BCa intervals (docs/statistics-intervals.md) it says better than the number of clusters when to
    trust one: with 10 or more they covered 93 to 97% where clusters were of one size and 92 to 96% where they were
    very uneven, with 2 to 5 as little as 87%. None without a standard error.
    """
    value, error = estimate.value, estimate.standard_error
    if value is None or error is None or not 0 < value < 1:
        return None
    return value * (1 - value) * min(value, 1 - value) / error**2


def intracluster_correlation(values: npt.ArrayLike, clusters: Sequence[Hashable]) -> float | None:
    """Estimate the intra-cluster correlation of a value: the analysis-of-variance estimator.

    (MSB - MSW) / (MSB + (k - 1) MSW) over clusters with two rows or more, k their adjusted mean size (Donner 1986,
    International Statistical Review 54; for shares Ridout, Demetrio and Firth 1999, Biometrics 55, where it
    is among the least biased). It can fall below 0. None where fewer than three clusters have two rows, or nothing
    varies.

    Args:
        values: shape (rows,); NaN does not enter.
        clusters: shape (rows,).
    """
    data = np.asarray(values, dtype=np.float64)
    use = ~np.isnan(data)
    rows, of_row = data[use], numbered(clusters)[use]
    if rows.size == 0:
        return None
    # About the mean: sums of squares far from 0 would lose the digits that differ.
    rows = rows - rows.mean()
    found, _ = intraclass(
        by_cluster(np.ones_like(rows), of_row), by_cluster(rows, of_row), by_cluster(rows * rows, of_row)
    )
    return None if math.isnan(found) else found
