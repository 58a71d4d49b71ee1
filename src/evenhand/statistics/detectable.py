"""How small a difference a sample of clusters can detect."""

import math

from evenhand.statistics.estimate import Estimate
from evenhand.statistics.student_t import two_sided_quantile

SIZE = 0.05
"""Of the two-sided test."""
POWER = 0.8
"""The probability with which the difference is found."""


def multiplier(clusters: int, *, size: float = SIZE, power: float = POWER) -> float:
    """Return how many standard errors a difference must be long to be found: t(1 - size / 2) + t(power).

    Both quantiles on G - 1 degrees of freedom (Bloom 1995, Minimum Detectable Effects, Evaluation Review 19; for
    clusters Bloom 2005, Learning More from Social Experiments, ch. 4). 2.80 where there are many clusters.

    >>> round(multiplier(10_000), 2), round(multiplier(10), 2)
    (2.8, 3.15)
    """
    degrees = clusters - 1
    return two_sided_quantile(1 - size, degrees) + two_sided_quantile(2 * power - 1, degrees)


def detectable(estimate: Estimate, *, size: float = SIZE, power: float = POWER) -> float | None:
    """Return the smallest difference from a fixed value that a test on this sample would find with ``power``.

    ``multiplier`` times the cluster-robust standard error of the estimate. Of a paired difference it is the smallest
    difference between the two configurations; of a rate the smallest distance from a value set beforehand, as far as
    the standard error there is the one at hand (see ``detectable_rates``). None without a standard error.
    """
    if estimate.standard_error is None or estimate.clusters < 2:
        return None
    return multiplier(estimate.clusters, size=size, power=power) * estimate.standard_error


def detectable_between(
    estimate: Estimate, *, correlation: float = 0.0, size: float = SIZE, power: float = POWER
) -> float | None:
    """Return the smallest difference to a second configuration, of which only this one has been measured.

    Var(difference) = 2 SE^2 (1 - correlation), the second being as variable as the first and graded on the same pairs
    (for evaluations Miller 2024, Adding Error Bars to Evals, on paired differences). None where that is more than 1,
    which no two rates can differ by.

    Args:
        estimate: of the first configuration.
        correlation: between the two configurations' means by stance pair. 0 is the cautious value.
        size: of the test.
        power: of the test.
    """
    alone = detectable(estimate, size=size, power=power)
    found = None if alone is None else alone * math.sqrt(2 * (1 - correlation))
    return found if found is None or found <= 1 else None


def planned_error(rate: float, *, rows: int, clusters: int, icc: float, size_variation: float = 0.0) -> float:
    """Return the standard error that a rate will have.

    sqrt(p (1 - p) D / n) with the design effect D = 1 + ((1 + cv^2) m - 1) ICC, m the mean number of rows a cluster
    (Kish 1965, Survey Sampling, section 5.4; for unequal clusters Eldridge, Ashby and Kerry 2006, International Journal
    of Epidemiology 35).

    Args:
        rate: expected, a share.
        rows: in all.
        clusters: among which the rows are shared.
        icc: intra-cluster correlation.
        size_variation: coefficient of variation of the number of rows a cluster, 0 where all have the same.

    >>> round(1.96 * 100 * planned_error(0.95, rows=1350, clusters=150, icc=0.2), 2)
    1.87
    """
    return math.sqrt(rate * (1 - rate) * _design_effect(rows, clusters, icc, size_variation) / rows)


def planned_difference_error(
    first: float,
    second: float,
    *,
    correlation: float,
    rows: int,
    clusters: int,
    icc: float,
    size_variation: float = 0.0,
) -> float:
    """Return the standard error that the difference of two rates over the same rows will have.

    Var(row) = p (1 - p) + q (1 - q) - 2 r sqrt(p (1 - p) q (1 - q)), the variance of a difference (Miller 2024, Adding
    Error Bars to Evals, on paired differences), times D / n; see ``planned_error``.

    Args:
        first: rate of one configuration, p.
        second: of the other, q.
        correlation: r, between the two verdicts on the same row.
        rows: shared.
        clusters: among which the rows are shared.
        icc: intra-cluster correlation of the differences.
        size_variation: as for ``planned_error``.
    """
    one, other = first * (1 - first), second * (1 - second)
    a_row = one + other - 2 * correlation * math.sqrt(one * other)
    return math.sqrt(a_row * _design_effect(rows, clusters, icc, size_variation) / rows)


def detectable_rates(
    value: float,
    *,
    rows: int,
    clusters: int,
    icc: float,
    size_variation: float = 0.0,
    size: float = SIZE,
    power: float = POWER,
) -> tuple[float | None, float | None]:
    """Return the nearest rates below and above a fixed value that a planned sample would tell from it.

    The p with |p - value| = ``multiplier`` times the standard error at p, since that is the one the test will use: a
    rate near 1 is the easier to measure the nearer it is. None where no such rate is between 0 and 1.

    >>> below, above = detectable_rates(0.95, rows=1350, clusters=150, icc=0.2)
    >>> round(below, 3), round(above, 3)
    (0.916, 0.971)
    """
    far = multiplier(clusters, size=size, power=power)

    def reached(rate: float) -> bool:
        error = planned_error(rate, rows=rows, clusters=clusters, icc=icc, size_variation=size_variation)
        return abs(rate - value) >= far * error

    found: list[float | None] = []
    for end in (0.0, 1.0):
        # Between the value, where nothing is reached, and the end, where all is, there is one crossing: the
        # difference grows in a straight line and the error is concave.
        near, reaching = value, end
        if end == value:
            found.append(None)
            continue
        for _ in range(60):
            middle = (near + reaching) / 2
            near, reaching = (near, middle) if reached(middle) else (middle, reaching)
        found.append(reaching)
    return found[0], found[1]


def _design_effect(rows: int, clusters: int, icc: float, size_variation: float) -> float:
    return max(0.0, 1 + ((1 + size_variation**2) * rows / clusters - 1) * icc)
