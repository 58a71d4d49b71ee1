"""Do two graders put the same few configurations into the same order?"""

import math
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.statistics.ranks import average_ranks
from evenhand.statistics.student_t import two_sided_p

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]

FEWEST = 3
"""Two points lie in the same or in the opposite order, and say nothing else."""
EXACT = 8
"""Up to so many points all orders are tried: 8! = 40,320."""


@dataclass(frozen=True, slots=True)
class RankCorrelation:
    """A rank correlation with the two-sided p value of no association, or the reason why there is none."""

    value: float | None
    """From -1 to 1; None where it is not defined."""
    p: float | None
    n: int
    """Points for which both figures are known."""
    method: str
    """How p was made; where there is no value, why."""


def spearman(x: npt.ArrayLike, y: npt.ArrayLike) -> RankCorrelation:
    """Return Spearman's rho: Pearson's correlation of the ranks, equal values sharing the mean of theirs.

    Spearman (1904). p with up to ``EXACT`` points is the share of all orders of y whose |rho| is at least that seen;
    with more it is from t = rho sqrt((n - 2) / (1 - rho^2)) on n - 2 degrees of freedom (Kendall and Stuart 1973,
    section 31.18).

    Args:
        x: one grader's figure for each configuration, shape (n,), NaN where unknown.
        y: the other grader's, in the same order.

    >>> spearman([0.97, 0.95, 0.66, 0.89], [0.94, 0.96, 0.71, 0.90]).value
    0.8
    """
    known = _known(x, y)
    if isinstance(known, RankCorrelation):
        return known
    # Twice the rank, off its mean, is a whole number, so that equal correlations compare equal.
    n = known[0].size
    a, b = (np.rint(2 * average_ranks(values) - (n + 1)).astype(np.int64) for values in known)
    together = int(a @ b)
    rho = together / math.sqrt(int(a @ a) * int(b @ b))
    if n <= EXACT:
        orders = _orders(n)
        return RankCorrelation(rho, float(np.mean(np.abs(b[orders] @ a) >= abs(together))), n, _exact(n))
    rest = 1 - rho * rho
    p = 0.0 if rest <= 0 else two_sided_p(rho * math.sqrt((n - 2) / rest), n - 2)
    return RankCorrelation(rho, p, n, f"Student's t, {n - 2} degrees of freedom")


def kendall(x: npt.ArrayLike, y: npt.ArrayLike) -> RankCorrelation:
    """Return Kendall's tau-b: concordant minus discordant pairs, over the geometric mean of the untied ones.

    Kendall (1945). p with up to ``EXACT`` points is the share of all orders of y whose |tau| is at least that seen;
    with more it is from the normal distribution, the variance corrected for ties (Kendall 1970, chapter 4).

    Args:
        x: one grader's figure for each configuration, shape (n,), NaN where unknown.
        y: the other grader's, in the same order.

    >>> round(kendall([0.97, 0.95, 0.66, 0.89], [0.94, 0.96, 0.71, 0.90]).value or 0, 4)
    0.6667
    """
    known = _known(x, y)
    if isinstance(known, RankCorrelation):
        return known
    a, b = (np.sign(values[:, None] - values[None, :]).astype(np.int64) for values in known)
    n = a.shape[0]
    # Every pair is counted from both sides, so that sums are twice what the formula names.
    together = int((a * b).sum())
    tau = together / math.sqrt(int((a * a).sum()) * int((b * b).sum()))
    if n <= EXACT:
        i, j = np.triu_indices(n, 1)
        orders = _orders(n)
        permuted = 2 * (b[orders[:, i], orders[:, j]] @ a[i, j])
        return RankCorrelation(tau, float(np.mean(np.abs(permuted) >= abs(together))), n, _exact(n))
    tied_a, tied_b = (np.unique(values, return_counts=True)[1].astype(np.int64) for values in known)
    z = together / 2 / math.sqrt(_kendall_variance(tied_a, tied_b, n))
    return RankCorrelation(tau, math.erfc(abs(z) / math.sqrt(2)), n, "normal approximation, corrected for ties")


def _kendall_variance(t: Ints, u: Ints, n: int) -> float:
    """Return the variance of concordant minus discordant pairs, t and u the sizes of the groups of equal values."""

    def fives(sizes: Ints | int) -> int:
        return int(np.sum(sizes * (sizes - 1) * (2 * sizes + 5)))

    def pairs(sizes: Ints) -> int:
        return int(np.sum(sizes * (sizes - 1)))

    def triples(sizes: Ints) -> int:
        return int(np.sum(sizes * (sizes - 1) * (sizes - 2)))

    return (
        (fives(n) - fives(t) - fives(u)) / 18
        + triples(t) * triples(u) / (9 * n * (n - 1) * (n - 2))
        + pairs(t) * pairs(u) / (2 * n * (n - 1))
    )


def _known(x: npt.ArrayLike, y: npt.ArrayLike) -> tuple[Floats, Floats] | RankCorrelation:
    """Return the points for which both figures are known, or what stands in the way."""
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    both = ~(np.isnan(a) | np.isnan(b))
    a, b = a[both], b[both]
    n = a.size
    if n < FEWEST:
        return RankCorrelation(None, None, n, f"fewer than {FEWEST} configurations")
    if np.all(a == a[0]) or np.all(b == b[0]):
        return RankCorrelation(None, None, n, "the figures of one grader are all the same")
    return a, b


@cache
def _orders(n: int) -> Ints:
    return np.array(list(permutations(range(n))), dtype=np.int64)


def _exact(n: int) -> str:
    return f"exact, over all {math.factorial(n):,} orders"
