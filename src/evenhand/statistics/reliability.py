"""Does the same question give the same answer twice?"""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.statistics.estimate import LEVEL, Estimate
from evenhand.statistics.student_t import two_sided_quantile

Floats: TypeAlias = npt.NDArray[np.float64]
_FEWEST = 3
_NO_ERROR = 1e-9


def correlation(x: Floats, y: Floats, clusters: npt.NDArray[np.int64], *, centred: bool = True) -> Estimate:
    """Estimate Pearson's correlation over the rows on which both are known, with an interval robust to clusters.

    The interval is on Fisher's scale, atanh(r) +- t s, where s comes from the influence of each row on r,
    a b - r (a^2 + b^2) / 2 with a and b the standardised values, summed within clusters (Devlin, Gnanadesikan and
    Kettenring 1975), and t has G - 1 degrees of freedom.

    Args:
        x: shape (rows,), NaN where unknown.
        y: the same shape.
        clusters: the cluster of each row, as numbers from 0.
        centred: whether the means are taken off. Without it the correlation is that of rows signed at random.
    """
    both = ~(np.isnan(x) | np.isnan(y))
    x, y, clusters = x[both], y[both], clusters[both]
    n = x.size
    count = int(np.count_nonzero(np.bincount(clusters)))
    if n < _FEWEST or count < _FEWEST:
        return Estimate.missing(f"fewer than {_FEWEST} pairs were rated both times", n=n, clusters=count)
    # Indexing has copied them, so they may be changed.
    a, b = x, y
    if centred:
        a -= x.mean()
        b -= y.mean()
    spread_a, spread_b = float(np.sqrt(np.mean(a * a))), float(np.sqrt(np.mean(b * b)))
    if spread_a == 0 or spread_b == 0:
        return Estimate.missing("the ratings do not vary", n=n, clusters=count)
    a /= spread_a
    b /= spread_b
    r = float(np.clip(np.mean(a * b), -1, 1))
    if 1 - abs(r) < 1e-12:
        return Estimate(r, r, r, n, count, "the two are the same on every pair")
    influence = np.bincount(clusters, weights=a * b - r * (a * a + b * b) / 2)
    error = float(np.sqrt(count / (count - 1) * (influence @ influence))) / n / (1 - r * r)
    if error < _NO_ERROR:
        # On a handful of rows every influence may happen to be 0, which is no certainty.
        return Estimate(r, None, None, n, count, "no interval: no row moves it")
    reach = two_sided_quantile(LEVEL, count - 1) * error
    low, high = np.tanh([np.arctanh(r) - reach, np.arctanh(r) + reach])
    return Estimate(r, float(low), float(high), n, count, "Fisher's scale, cluster-robust")


def spearman_brown(reliability: float, times: float) -> float:
    """Return the reliability of the mean of ``times`` parallel measurements (Spearman 1910; Brown 1910).

    A reliability at or below 0 stays as it is: the formula means nothing there.

    >>> round(spearman_brown(0.5, 2), 3), spearman_brown(-0.2, 2)
    (0.667, -0.2)
    """
    if reliability <= 0:
        return reliability
    return times * reliability / (1 + (times - 1) * reliability)


def lengthened(estimate: Estimate, times: float) -> Estimate:
    """Apply ``spearman_brown`` to an estimate and to its interval, which it keeps in order."""
    if estimate.value is None:
        return estimate
    low, high = (None if end is None else spearman_brown(end, times) for end in (estimate.low, estimate.high))
    method = f"Spearman-Brown to {times:g}; {estimate.method}"
    return Estimate(spearman_brown(estimate.value, times), low, high, estimate.n, estimate.clusters, method)


def same_sign(x: Floats, y: Floats) -> Floats:
    """Return 1 a row where x and y are above, at or below 0 alike, 0 where not, NaN where one is unknown."""
    unknown = np.isnan(x) | np.isnan(y)
    return np.where(unknown, np.nan, (np.sign(x) == np.sign(y)).astype(np.float64))


def intraclass(counts: Floats, sums: Floats, squares: Floats) -> tuple[float, float]:
    """Return the reliability of a single repeat and the mean number of repeats, from sums a unit.

    One-way random effects, ICC(1) = (MSB - MSW) / (MSB + (k - 1) MSW), k the adjusted mean group size (Shrout and
    Fleiss 1979; unequal sizes as in Donner 1986). NaN where fewer than three units have two repeats or nothing varies.

    Args:
        counts: repeats a unit, shape (units,).
        sums: of the values a unit.
        squares: of the squared values a unit.
    """
    use = counts >= 2
    k, total, square = counts[use], sums[use], squares[use]
    units, n = k.size, float(k.sum())
    if units < _FEWEST:
        return float("nan"), float("nan")
    within = float(np.maximum(square - total**2 / k, 0).sum()) / (n - units)
    between = float((total**2 / k).sum() - total.sum() ** 2 / n) / (units - 1)
    size = (n - float((k**2).sum()) / n) / (units - 1)
    whole = between + (size - 1) * within
    if whole <= 0:
        return float("nan"), float("nan")
    return float((between - within) / whole), n / units
