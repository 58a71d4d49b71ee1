"""What the order in which a grader saw the two responses did to its verdicts."""

import numpy as np

from evenhand.report import OrderFigure, Position
from evenhand.statistics import Estimate
from evenhand.studies.audit.arrays import SAME, BlockArrays, ByLabel, Floats
from evenhand.studies.audit.estimates import SIGNED, Estimates


def order_figures(measure: str, arrays: BlockArrays, estimates: Estimates) -> tuple[OrderFigure, ...]:
    """Return a measure of pairs as read in each order that was asked."""
    found = []
    for order in arrays.orders(measure):
        even = arrays.shown[measure, order]["C"]
        found.append(OrderFigure(measure, order, estimates.mean(even), estimates.rate(even)))
    return tuple(found)


def position(measure: str, arrays: BlockArrays, estimates: Estimates) -> Position:
    """Return what the order did to a measure of pairs; both figures need both orders."""
    orders = arrays.orders(measure)
    if not orders:
        missing = Estimate.missing("derived from single responses, which stand in no order")
        return Position(measure, missing, missing)
    if len(orders) < 2:
        missing = Estimate.missing("needs both orders")
        return Position(measure, missing, missing)
    ab, ba = arrays.shown[measure, "ab"], arrays.shown[measure, "ba"]
    return Position(measure, estimates.mean(same_verdict(ab, ba)), estimates.mean(place_effect(ab, ba), SIGNED))


def place_effect(ab: ByLabel, ba: ByLabel) -> Floats:
    """Return P(first shown better) - P(second shown better) a pair, averaged over both orders.

    Labels are mapped back: in the order a, b the first shown is a, and in the order b, a it is b. What the responses
    deserve cancels.
    """
    return ((ab["A"] - ab["B"]) + (ba["B"] - ba["A"])) / 2


def same_verdict(ab: ByLabel, ba: ByLabel) -> Floats:
    """Return 1 where the likeliest label is the same in both orders, 0 where not, NaN where one could not be read.

    Labels that are equally likely are a verdict of their own, so that an exchange of a and b can't change the result.
    """
    one, other = np.stack([ab[label] for label in ab]), np.stack([ba[label] for label in ab])
    unknown = np.isnan(one).any(axis=0) | np.isnan(other).any(axis=0)
    top = [values >= values.max(axis=0) - SAME for values in (one, other)]
    return np.where(unknown, np.nan, (top[0] == top[1]).all(axis=0).astype(np.float64))
