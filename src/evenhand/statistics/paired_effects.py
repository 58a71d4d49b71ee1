"""From ratings of the two outputs of a pair to the values whose means are reported."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]

SAME = 1e-9
"""Two mean ratings nearer than this are equal: sums of the same numbers in another order may differ in the last bit."""


def difference(chosen: Floats, rejected: Floats) -> Floats:
    """Return chosen minus rejected, exactly 0 where they are equal but for rounding, NaN where one is unknown."""
    found = chosen - rejected
    found[np.abs(found) < SAME] = 0.0
    return found


def chosen_higher(differences: Floats, within: float = 0.0) -> Floats:
    """Return 1 where the chosen output is rated higher, .5 where equal, 0 where lower; NaN stays.

    Differences smaller than ``within`` are equal. Expected values are hardly ever the same to the last digit, so
    without it the noise of two outputs of which a question holds equally little would count as full wins and losses.

    The mean over pairs is P(chosen higher) + 0.5 P(equal), the probability of superiority of paired data (Agresti 1980;
    Vargha and Delaney 2000).

    >>> chosen_higher(np.array([2.0, 0.0, -1.0, np.nan])).tolist()
    [1.0, 0.5, 0.0, nan]
    >>> chosen_higher(np.array([2.0, 0.3, -0.5]), within=0.5).tolist()
    [1.0, 0.5, 0.0]
    """
    return (np.sign(np.where(np.abs(differences) < within, 0.0, differences)) + 1) / 2


def or_none(value: float) -> float | None:
    """Return a number that JSON can hold: None for NaN."""
    return None if np.isnan(value) else float(value)


def order_effect(chosen_first: Floats, rejected_first: Floats) -> Floats:
    """Return how much higher an output is rated in first place than in second, a pair.

    With d the difference chosen minus rejected in each order: half of d(chosen first) - d(rejected first). What the
    outputs deserve cancels.
    """
    return (chosen_first - rejected_first) / 2


def log_length_ratio(chosen: npt.ArrayLike, rejected: npt.ArrayLike) -> Floats:
    """Return log((1 + chosen length) / (1 + rejected length)); the 1 keeps empty outputs finite."""
    return np.log1p(np.asarray(chosen, dtype=np.float64)) - np.log1p(np.asarray(rejected, dtype=np.float64))


def label_swap(
    chosen_called_chosen: Floats,
    chosen_called_rejected: Floats,
    rejected_called_chosen: Floats,
    rejected_called_rejected: Floats,
) -> Floats:
    """Return how much higher the same output is rated when it is called CHOSEN, a pair.

    The mean over the outputs of the pair that were rated under both names; NaN where neither was.
    """
    moves = np.stack([chosen_called_chosen - chosen_called_rejected, rejected_called_chosen - rejected_called_rejected])
    known = ~np.isnan(moves)
    counts = known.sum(axis=0)
    sums = np.where(known, moves, 0.0).sum(axis=0)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
