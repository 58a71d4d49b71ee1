"""What changes when a grader is told which output was chosen."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.report.effects_summary import Leak
from evenhand.statistics.clustered_means import ClusteredMeans
from evenhand.statistics.multiplicity import q_values
from evenhand.statistics.paired_effects import chosen_higher, label_swap
from evenhand.studies.rating_matrices import RatingRun, Ratings, RunPairs

Floats: TypeAlias = npt.NDArray[np.float64]

LEAK_SIZE = 0.02
"""A leak of up to two points of P(chosen higher) is not flagged, however surely it is not 0."""


class LeakFigures:
    """What changes when a grader is told the labels."""

    def __init__(
        self, run: RatingRun, grader: str, protocol: str, pairs: RunPairs, means: ClusteredMeans, *, within: float
    ) -> None:
        self._within = within
        self._run, self._grader, self._protocol, self._pairs, self._means = run, grader, protocol, pairs, means
        self.orders: tuple[str, ...] = ()
        self.remarks: list[str] = []

    def figures(self, blind: Ratings) -> tuple[Leak | None, list[Leak | None]]:
        """Return the leak over all questions and that of each; None where it was not measured."""
        questions = self._run.questions
        there = self._run.protocols(self._grader)
        if self._protocol not in {"blind", "single"} or "labelled" not in there or not questions:
            self.remarks.append("label leak was not measured: it takes the blind and the labelled protocol")
            return None, [None] * len(questions)
        told = self._run.ratings(self._grader, "labelled", self._pairs)
        swapped = self._run.ratings(self._grader, "label_swap", self._pairs) if "label_swap" in there else None
        self.orders = tuple(sorted(set(blind.orders) & set(told.orders)))
        if not self.orders:
            self.remarks.append(
                "blind and labelled share no order: the leak holds, beside the label, what the order does"
            )
        rows = [self._rows(blind, told, swapped, index) for index in range(len(questions))]
        q_of = q_values([self._means.p_value(row[2], 0.0) for row in rows])
        each = [self._leak(row, q, turned=False) for row, q in zip(rows, q_of, strict=True)]
        # Turned round, a question of which less is better leaks in the same direction as the others.
        signs = np.array([-1.0 if question["direction"] == "lower" else 1.0 for question in questions])
        centres = (0.5, 0.5, 0.0, 0.0)
        whole = tuple(
            _mean_over_questions([row[part] for row in rows], signs, centre) for part, centre in enumerate(centres)
        )
        return self._leak(whole, None, turned=True), list(each)

    def _rows(self, blind: Ratings, told: Ratings, swapped: Ratings | None, index: int) -> tuple[Floats, ...]:
        """Return values a pair: superiority blind, labelled, their difference, and the move of the label swap."""
        orders = self.orders or None
        first = np.where(self._pairs.tie, np.nan, blind.differences(index, orders))
        second = np.where(self._pairs.tie, np.nan, told.differences(index, orders))
        both = ~(np.isnan(first) | np.isnan(second))
        without, having = (np.where(both, chosen_higher(gap, self._within), np.nan) for gap in (first, second))
        moves = [np.full(len(self._pairs), np.nan)]
        if swapped is not None:
            for order in sorted(set(told.orders) & set(swapped.orders)):
                (c_told, r_told), (c_swap, r_swap) = (part.output_means(index, [order]) for part in (told, swapped))
                moves.append(label_swap(c_told, c_swap, r_swap, r_told))
        return without, having, having - without, _mean_over_questions(moves, np.ones(len(moves)), 0.0)

    def _leak(self, rows: Sequence[Floats], q_value: float | None, *, turned: bool) -> Leak:
        bounds = ((0.0, 1.0), (0.0, 1.0), (-1.0, 1.0), (-10.0, 10.0))
        blind, labelled, leak, swap = (
            self._means.mean(row, bounds=bound) for row, bound in zip(rows, bounds, strict=True)
        )
        flagged = (
            leak.value is not None
            and leak.low is not None
            and leak.high is not None
            and abs(leak.value) > LEAK_SIZE
            and (leak.low > 0 or leak.high < 0)
            and (turned or (q_value is not None and q_value < 0.05))
        )
        return Leak(blind, labelled, leak, q_value, swap, flagged)


def _mean_over_questions(rows: Sequence[Floats], signs: Floats, centre: float) -> Floats:
    """Return the mean over questions of the values a pair, turned round their centre where the sign is -1."""
    total, count = np.zeros(rows[0].size), np.zeros(rows[0].size)
    for row, sign in zip(rows, signs, strict=True):
        known = ~np.isnan(row)
        total[known] += centre + sign * (row[known] - centre)
        count += known
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
