"""How far the probabilities of a prediction can be taken at their word."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.statistics.logistic import PairRows, fit, sigmoid

Floats: TypeAlias = npt.NDArray[np.float64]
BINS = 10


def expected_calibration_error(margins: Floats) -> float:
    """Return the expected calibration error of the more likely side of each pair.

    Confidence is sigmoid(|m|), .5 to 1, in ten bins of equal width; a pair is right if m > 0 and half right at 0. The
    mean over pairs of |share right - mean confidence| of their bin (Naeini, Cooper and Hauskrecht 2015).

    Args:
        margins: of pairs that are no ties, shape (pairs,), positive where the chosen output is predicted.
    """
    if margins.size == 0:
        return float("nan")
    confidence = sigmoid(np.abs(margins))
    right = (np.sign(margins) + 1) / 2
    bins = np.minimum(((confidence - 0.5) * 2 * BINS).astype(np.int64), BINS - 1)
    gap = np.bincount(bins, weights=right - confidence, minlength=BINS)
    return float(np.abs(gap).sum() / margins.size)


def calibration_slope(margins: Floats) -> float:
    """Return the factor by which the margins should be stretched: 1 is calibrated, below 1 overconfident (Cox 1958).

    The weight of a logistic regression without intercept on the margin alone; NaN where the margins don't vary from 0.
    """
    scale = float(np.sqrt(np.mean(margins**2))) if margins.size else 0.0
    if scale == 0:
        return float("nan")
    rows = PairRows(margins[:, None] / scale, np.ones(margins.size), np.zeros(margins.size, dtype=bool))
    # The slightest ridge keeps the slope finite where the margins tell all pairs apart.
    return float(fit(rows, 1e-6, 0.0)[0]) / scale
