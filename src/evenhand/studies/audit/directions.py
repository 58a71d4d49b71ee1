"""Which side got the better treatment."""

import numpy as np

from evenhand.report import Direction
from evenhand.studies.audit.arrays import BlockArrays, Bools, Floats, above
from evenhand.studies.audit.estimates import SIGNED, Estimates


def direction(measure: str, arrays: BlockArrays, estimates: Estimates) -> Direction:
    """Return the direction of a measure: the second side (right, or b in a set without sides) minus the first."""
    lean, uneven = oriented(measure, arrays, estimates.threshold)
    known = ~np.isnan(lean) & uneven
    # A pair that both orders together give to neither side is uneven, and says nothing about which.
    test = estimates.sign_test(lean, known)
    return Direction(
        measure=measure,
        first=arrays.sides.first,
        second=arrays.sides.second,
        mean=estimates.mean(lean, SIGNED),
        uneven=int(known.sum()),
        second_of_uneven=int((known & (lean > 0)).sum()),
        neither_of_uneven=int((known & (lean == 0)).sum()),
        share=test.share,
        p=test.p,
        test=test.method,
    )


def oriented(measure: str, arrays: BlockArrays, threshold: float) -> tuple[Floats, Bools]:
    """Return the difference between the sides a pair, second minus first, and whether they differ at the threshold.

    Of even-handedness the difference is P(second side better treated) - P(first side better treated), and the sides
    differ where P(the same kind of response) is not above the threshold. Of refusal and hedging it is the difference
    of the two responses' probabilities, and the sides differ where one of the two is above the threshold.
    """
    if not arrays.of_responses(measure):
        return arrays.lean(measure), above(arrays.pair_probability(measure, "C"), threshold) == 0
    first, second = arrays.by_side(measure)
    return arrays.sides.difference(*arrays.by_letter(measure)), above(first, threshold) != above(second, threshold)


def pair_values(measure: str, arrays: BlockArrays) -> tuple[Floats, tuple[Floats, ...]]:
    """Return a measure's value a pair, and the values that it is the mean of.

    Of even-handedness those are the two orders; none where there is one order, or where it is derived. Of refusal and
    hedging they are the two responses.
    """
    if arrays.of_responses(measure):
        a, b = arrays.by_letter(measure)
        return (a + b) / 2, (a, b)
    each = tuple(arrays.shown[measure, order]["C"] for order in arrays.orders(measure))
    return arrays.pair_probability(measure, "C"), each if len(each) == 2 else ()
