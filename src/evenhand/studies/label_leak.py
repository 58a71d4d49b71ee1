"""What changes when a grader is told which output was chosen."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.report.effects_summary import Leak
from evenhand.statistics.clustered_means import ClusteredMeans
from evenhand.statistics.estimate import Estimate
from evenhand.statistics.multiplicity import q_values
from evenhand.statistics.paired_effects import chosen_higher, label_swap
from evenhand.studies.rating_matrices import Ratings
from evenhand.studies.rating_run import RatingRun
from evenhand.studies.run_pairs import RunPairs

Floats: TypeAlias = npt.NDArray[np.float64]

LEAK_SIZE = 0.02
"""A leak of up to two points of P(chosen higher) is not flagged, however surely it is not 0."""
_FIRST, _SECOND = ["chosen_first"], ["rejected_first"]
_CENTRES = (0.5, 0.5, 0.0, 0.0)
_BOUNDS = ((0.0, 1.0), (0.0, 1.0), (-1.0, 1.0), (-10.0, 10.0))


def told_protocols(run: RatingRun, grader: str, protocol: str) -> tuple[str, ...]:
    """Return the protocols that a leak is measured by, beside the one that does not tell; empty if it was not."""
    there = run.protocols(grader)
    if protocol not in {"blind", "single"} or "labelled" not in there or not run.questions:
        return ()
    return ("labelled", "label_swap") if "label_swap" in there else ("labelled",)


class LeakFigures:
    """Gathers, question by question, what changes when a grader is told the labels."""

    def __init__(
        self,
        blind: Ratings,
        told: Sequence[Ratings],
        directions: Sequence[str | None],
        pairs: RunPairs,
        means: ClusteredMeans,
        *,
        within: float,
    ) -> None:
        """Take the ratings of the protocols: the one that does not tell, and those of ``told_protocols``."""
        self._blind, self._directions, self._pairs, self._means, self._within = blind, directions, pairs, means, within
        self._told = told[0] if told else None
        self._swapped = told[1] if len(told) > 1 else None
        self.orders: tuple[str, ...] = ()
        self.remarks: list[str] = []
        self._each: list[tuple[tuple[Estimate, ...], float]] = []
        if self._told is None:
            self.remarks.append("label leak was not measured: it takes the blind and the labelled protocol")
            return
        self._whole = [_MeanOverQuestions(len(pairs), centre) for centre in _CENTRES]
        self.orders = tuple(sorted(set(blind.orders) & set(self._told.orders)))
        if not self.orders:
            self.remarks.append(
                "blind and labelled share no order: the leak holds, beside the label, what the order does"
            )
        self._exchanges_places = self._swapped is not None and not set(self._told.orders) & set(self._swapped.orders)
        if self._exchanges_places and not blind.both_orders():
            self.remarks.append(
                "exchanging the labels exchanges the places too; without blind ratings in both orders the two can't be"
                " told apart, and there is no label swap"
            )

    def add(self, index: int) -> None:
        """Take up a question; in their order."""
        if self._told is None:
            return
        rows = self._rows(self._told, index)
        self._each.append((self._estimates(rows), self._means.p_value(rows[2], 0.0)))
        # Turned round, a question of which less is better leaks in the same direction as the others.
        sign = -1.0 if self._directions[index] == "lower" else 1.0
        for part, row in zip(self._whole, rows, strict=True):
            part.add(row, sign)

    def figures(self) -> tuple[Leak | None, list[Leak | None]]:
        """Return the leak over all questions and that of each; None where it was not measured."""
        if self._told is None:
            return None, [None] * len(self._directions)
        q_of = q_values([p for _, p in self._each])
        each = [_leak(found, q, turned=False) for (found, _), q in zip(self._each, q_of, strict=True)]
        return _leak(self._estimates([part.mean() for part in self._whole]), None, turned=True), list(each)

    def _rows(self, told: Ratings, index: int) -> tuple[Floats, ...]:
        """Return values a pair: superiority blind, labelled, their difference, and the move of the label swap."""
        orders = self.orders or None
        first = np.where(self._pairs.tie, np.nan, self._blind.differences(index, orders))
        second = np.where(self._pairs.tie, np.nan, told.differences(index, orders))
        both = ~(np.isnan(first) | np.isnan(second))
        without, having = (np.where(both, chosen_higher(gap, self._within), np.nan) for gap in (first, second))
        return without, having, having - without, self._moves(told, index)

    def _moves(self, told: Ratings, index: int) -> Floats:
        """Return how much higher an output is rated for being called CHOSEN, a pair."""
        moves = _MeanOverQuestions(len(self._pairs), 0.0)
        if self._swapped is None:
            return moves.mean()
        for order in sorted(set(told.orders) & set(self._swapped.orders)):
            moves.add(_exchanged(told, self._swapped, [order], [order], index), 1.0)
        if self._exchanges_places and self._blind.both_orders():
            both = _exchanged(told, self._swapped, _FIRST, _SECOND, index)
            # Who is called CHOSEN stands first: what the place alone does, without a name, is taken off.
            moves.add(both - _exchanged(self._blind, self._blind, _FIRST, _SECOND, index), 1.0)
        return moves.mean()

    def _estimates(self, rows: Sequence[Floats]) -> tuple[Estimate, ...]:
        return tuple(self._means.mean(row, bounds=bound) for row, bound in zip(rows, _BOUNDS, strict=True))


def _exchanged(one: Ratings, other: Ratings, orders: Sequence[str], other_orders: Sequence[str], index: int) -> Floats:
    """Return what an output gains by what the chosen one is given in ``one``, and the rejected one in ``other``."""
    chosen, rejected = one.output_means(index, orders)
    chosen_then, rejected_then = other.output_means(index, other_orders)
    return label_swap(chosen, chosen_then, rejected_then, rejected)


def _leak(found: Sequence[Estimate], q_value: float | None, *, turned: bool) -> Leak:
    blind, labelled, leak, swap = found
    flagged = (
        leak.value is not None
        and leak.low is not None
        and leak.high is not None
        and abs(leak.value) > LEAK_SIZE
        and (leak.low > 0 or leak.high < 0)
        and (turned or (q_value is not None and q_value < 0.05))
    )
    return Leak(blind, labelled, leak, q_value, swap, flagged)


class _MeanOverQuestions:
    """The mean over questions of the values a pair, turned round their centre where the sign is -1."""

    def __init__(self, pairs: int, centre: float) -> None:
        self._total, self._count, self._centre = np.zeros(pairs), np.zeros(pairs, dtype=np.uint16), centre

    def add(self, row: Floats, sign: float) -> None:
        known = ~np.isnan(row)
        self._total[known] += self._centre + sign * (row[known] - self._centre)
        self._count += known

    def mean(self) -> Floats:
        return np.where(self._count > 0, self._total / np.maximum(self._count, 1), np.nan)
