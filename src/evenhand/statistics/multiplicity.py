"""Many tests at once."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]


def benjamini_hochberg(p_values: npt.ArrayLike) -> Floats:
    """Return the q value of each p value: the smallest false discovery rate at which it would be called a discovery.

    q(i) = min over j >= i of p(j) m / j, the p values in rising order (Benjamini and Hochberg 1995; as adjusted
    values Yekutieli and Benjamini 1999). NaN is no test: it stays NaN and doesn't count in m.

    >>> benjamini_hochberg([0.01, 0.04, 0.03, float("nan")]).round(3).tolist()
    [0.03, 0.04, 0.04, nan]
    """
    p = np.asarray(p_values, dtype=np.float64)
    q = np.full(p.shape, np.nan)
    tested = np.flatnonzero(~np.isnan(p))
    if tested.size == 0:
        return q
    order = tested[np.argsort(p[tested], kind="stable")]
    scaled = p[order] * tested.size / np.arange(1, tested.size + 1)
    q[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    return q


def q_values(p_values: Sequence[float | None]) -> list[float | None]:
    """Return the q value of each p value, None where there is no test (None or NaN)."""
    q = benjamini_hochberg([np.nan if p is None else p for p in p_values])
    return [None if np.isnan(value) else float(value) for value in q]
