"""How good a prediction could be if what it rests on were measured without noise.

The model is Spearman's (1904): signed at random, a pair's margin m and the latent preference y behind people's choice
are jointly normal with correlation r, and noise in m attenuates it to r sqrt(reliability). What is right is an orthant
probability (Sheppard 1899):

    share of pairs with m on the chosen side            1/2 + arcsin(r) / pi
    area under the curve over randomly signed pairs     1/2 + 2 arcsin(r / sqrt 2) / pi

the second because the area is P(m1 + m2 > 0 | y1 > 0, y2 > 0), a probability of three normal variables of which y1
and y2 are independent. What people's own choices hold of chance stays in r: the ceiling is the grader's noise taken
away, not theirs.
"""

import math


def accuracy_without_noise(accuracy: float, reliability: float) -> float:
    """Return the share of right predictions at reliability 1; NaN where the reliability is not above 0.

    Args:
        accuracy: as measured, 0 to 1.
        reliability: of the margins signed at random.

    >>> round(accuracy_without_noise(0.75, 0.75), 3), accuracy_without_noise(0.5, 0.5)
    (0.804, 0.5)
    """
    return 0.5 + math.asin(_lifted(math.sin(math.pi * (accuracy - 0.5)), reliability)) / math.pi


def auc_without_noise(auc: float, reliability: float) -> float:
    """Return the area under the curve at reliability 1; see ``accuracy_without_noise``."""
    lifted = _lifted(math.sqrt(2) * math.sin(math.pi * (auc - 0.5) / 2), reliability)
    return 0.5 + 2 * math.asin(lifted / math.sqrt(2)) / math.pi


def _lifted(correlation: float, reliability: float) -> float:
    if not reliability > 0:
        return math.nan
    return max(-1.0, min(1.0, correlation / math.sqrt(min(reliability, 1.0))))
