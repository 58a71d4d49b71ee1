"""Student's t distribution: the two numbers that tests and intervals over few clusters need."""

import math
from functools import lru_cache
from statistics import NormalDist

_AS_NORMAL = 2000
"""From this many degrees of freedom on the normal distribution stands in; there p differs by less than 1%."""
_TINY = 1e-300


def two_sided_p(t: float, degrees: float) -> float:
    """Return P(|T| > |t|) for Student's t with ``degrees`` degrees of freedom.

    The regularised incomplete beta function I_x(degrees / 2, 1 / 2) at x = degrees / (degrees + t^2) (Abramowitz and
    Stegun 1964, 26.7.1), by its continued fraction (26.5.8).

    >>> round(two_sided_p(2.228, 10), 4)
    0.05
    """
    if math.isinf(t):
        return 0.0
    if degrees >= _AS_NORMAL:
        return math.erfc(abs(t) / math.sqrt(2))
    whole = degrees + t * t
    return _incomplete_beta(degrees / whole, t * t / whole, degrees / 2, 0.5)


@lru_cache(maxsize=1024)
def two_sided_quantile(level: float, degrees: float) -> float:
    """Return the t with P(|T| <= t) = ``level``.

    >>> round(two_sided_quantile(0.95, 10), 3), round(two_sided_quantile(0.95, 1e6), 3)
    (2.228, 1.96)
    """
    if degrees >= _AS_NORMAL:
        return NormalDist().inv_cdf((1 + level) / 2)
    low, high = 0.0, 1.0
    while two_sided_p(high, degrees) > 1 - level:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if two_sided_p(middle, degrees) > 1 - level else (low, middle)
    return (low + high) / 2


def _incomplete_beta(x: float, rest: float, a: float, b: float) -> float:
    """Return I_x(a, b); ``rest`` is 1 - x, which may be too near 0 to be had from x."""
    if x <= 0 or rest <= 0:
        return float(rest <= 0)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(rest))
    # The fraction converges quickly on this side of the mean only; the other side is its complement.
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(x, a, b) / a
    return 1 - front * _fraction(rest, b, a) / b


def _fraction(x: float, a: float, b: float) -> float:
    """Return the continued fraction by Lentz's method."""
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, 10_000):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / (1 + term * d or _TINY)
            c = 1 + term / c or _TINY
            value *= c * d
        if abs(c * d - 1) < 1e-14:
            break
    return value
