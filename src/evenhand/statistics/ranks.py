"""Figures that rest on order alone."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]

_PART = 200_000


def average_ranks(values: Floats) -> Floats:
    """Return the ranks 1..n, equal values sharing the mean of their ranks. Shape (n,), no NaN.

    >>> average_ranks(np.array([3.0, 1.0, 3.0])).tolist()
    [2.5, 1.0, 2.5]
    """
    order = np.argsort(values, kind="stable")
    arranged = values[order]
    starts = np.flatnonzero(np.concatenate([[True], arranged[1:] != arranged[:-1]])) if values.size else np.array([0])
    lengths = np.diff(np.append(starts, values.size))
    ranks = np.empty(values.size)
    ranks[order] = np.repeat(starts + (lengths + 1) / 2, lengths)
    return ranks


def area_under_curve(scores: Floats, positive: npt.NDArray[np.bool_]) -> float:
    """Return P(score of a positive > score of a negative) + 0.5 P(equal); NaN without both kinds.

    From the rank sum (Mann and Whitney 1947; Hanley and McNeil 1982).
    """
    n = int(positive.sum())
    m = positive.size - n
    if n == 0 or m == 0:
        return float("nan")
    return float((average_ranks(scores)[positive].sum() - n * (n + 1) / 2) / (n * m))


def signed_auc(margins: Floats) -> tuple[float, Floats]:
    """Return the area under the curve over randomly signed margins, averaged over all ways to sign them.

    A pair's margin m speaks for the chosen output. Signed at random, pairs with + are the positives with scores m and
    pairs with - the negatives with scores -m, so that the expected area is P(m_i > -m_j) + 0.5 P(m_i = -m_j) over
    i != j: the share of Walsh averages above 0 (Hodges and Lehmann 1963), which no seed can sway.

    Args:
        margins: shape (n,), n >= 2, no NaN.

    Returns:
        The area, and a value a pair whose mean is the area and whose variation over pairs gives its standard error
        (the projection of a U statistic: Hoeffding 1948).
    """
    n = margins.size
    order = np.argsort(margins, kind="stable")
    arranged = margins[order]
    projection = np.empty(n)
    # Of many millions one part after another, so that what is held beside them stays small.
    for start in range(0, n, _PART):
        part = arranged[start : start + _PART]
        # Queries in rising order keep the search inside the cache.
        turned = -part[::-1]
        below = np.searchsorted(arranged, turned, "left")[::-1]
        not_above = np.searchsorted(arranged, turned, "right")[::-1]
        over = (n - not_above) + 0.5 * (not_above - below)
        itself = (part > 0) + 0.5 * (part == 0)
        projection[order[start : start + _PART]] = (over - itself) / (n - 1)
    area = float(projection.mean())
    return area, 2 * projection - area
