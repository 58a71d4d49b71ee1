"""From rows of ratings to arrays over pairs, a few questions at a time."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from evenhand.errors import InputError
from evenhand.readings import State
from evenhand.statistics.paired_effects import difference
from evenhand.studies.run_pairs import LEFT_OUT, UNKNOWN, RunPairs

Floats: TypeAlias = npt.NDArray[np.float64]
Counts: TypeAlias = npt.NDArray[np.uint16]
Integers: TypeAlias = npt.NDArray[np.int64]

BOTH_ORDERS = ("chosen_first", "rejected_first")
BLOCK_BYTES = 500_000_000
"""As many questions are read at once as their sums fit into this, and one at the least."""
_STATES = tuple(str(state) for state in State)
_OK, _ABSTAINED = _STATES.index("ok"), _STATES.index("abstained")
_SUMS, _REPEATS, _ABSTENTIONS = 2 * (8 + 2), 2 + 8 + 8, 2 * 2
"""Bytes a pair and question: of an order, of an order's repeats, and whatever the orders."""


@dataclass(frozen=True, slots=True)
class OrderSums:
    """Sums over the repeats of one order; each shape (questions, pairs)."""

    chosen: Floats
    rejected: Floats
    chosen_n: Counts
    rejected_n: Counts


@dataclass(frozen=True, slots=True)
class Repeats:
    """Sums of the differences of single repeats, for their reliability; each shape (questions, pairs)."""

    n: Counts
    sums: Floats
    squares: Floats


@dataclass(frozen=True, slots=True)
class RatingBlock:
    """The ratings of some questions that follow one another."""

    questions: range
    orders: dict[str, OrderSums]
    repeats: dict[str, Repeats]
    """By order; empty where nothing was asked more than once."""
    states: Integers
    """Ratings by question, side (chosen, rejected) and state, shape (questions, 2, states)."""
    abstained: tuple[Counts, Counts]
    """How often the grader could not say, of the chosen and of the rejected output; each shape (questions, pairs)."""


@dataclass(frozen=True, slots=True)
class Rated:
    """What was rated by one grader under one protocol, as a look through the tables shows."""

    orders: tuple[str, ...]
    repeated: bool
    """Whether anything was asked more than once."""


class Ratings:
    """What one grader rated under one protocol.

    Sums of all questions over all pairs would not fit into memory where there are many. So a block of questions is read
    when one of them is asked for, and let go when one of another block is: ask for questions in their order.
    """

    def __init__(
        self, read: Callable[[range], RatingBlock], rated: Rated, questions: int, pairs: int, *, block_bytes: int
    ) -> None:
        """Prepare.

        Args:
            read: returns the ratings of some questions.
            rated: what there is.
            questions: how many.
            pairs: how many.
            block_bytes: so much memory a block may take, though one question is the least.
        """
        self._read, self._rated, self._questions = read, rated, questions
        each = pairs * (len(rated.orders) * (_SUMS + _REPEATS * rated.repeated) + _ABSTENTIONS)
        self._at_once = max(1, block_bytes // max(each, 1))
        self._block: RatingBlock | None = None

    @property
    def orders(self) -> tuple[str, ...]:
        """The orders in which outputs were shown, sorted."""
        return self._rated.orders

    def both_orders(self) -> bool:
        """Whether outputs were shown in both orders."""
        return all(name in self.orders for name in BOTH_ORDERS)

    def output_means(self, question: int, orders: Sequence[str] | None = None) -> tuple[Floats, Floats]:
        """Return the mean rating of the chosen and of the rejected output over orders and repeats that are ok.

        Each of shape (pairs,), NaN where no rating is ok.
        """
        block, row = self._of(question)
        found = [block.orders[name] for name in (orders if orders is not None else self.orders)]
        return (
            _mean([part.chosen[row] for part in found], [part.chosen_n[row] for part in found]),
            _mean([part.rejected[row] for part in found], [part.rejected_n[row] for part in found]),
        )

    def differences(self, question: int, orders: Sequence[str] | None = None) -> Floats:
        """Return the mean rating of the chosen output minus that of the rejected one, shape (pairs,)."""
        return difference(*self.output_means(question, orders))

    def states_of(self, question: int, side: int) -> dict[str, int]:
        """Return how many ratings of the chosen (0) or the rejected (1) output are in each state."""
        block, row = self._of(question)
        return {name: int(count) for name, count in zip(_STATES, block.states[row, side], strict=True) if count}

    def abstained(self, question: int) -> tuple[Counts, Counts]:
        """Return how often the grader could not say, of the chosen and of the rejected output, each shape (pairs,)."""
        block, row = self._of(question)
        return block.abstained[0][row], block.abstained[1][row]

    def repeats(self, question: int) -> list[tuple[Counts, Floats, Floats]]:
        """Return, by order, number, sum and sum of squares of the differences of single repeats, each shape (pairs,).

        Empty where nothing was asked more than once.
        """
        block, row = self._of(question)
        return [(part.n[row], part.sums[row], part.squares[row]) for part in block.repeats.values()]

    def _of(self, question: int) -> tuple[RatingBlock, int]:
        if self._block is None or question not in self._block.questions:
            start = question - question % self._at_once
            self._block = None  # Let go before the next is read.
            self._block = self._read(range(start, min(start + self._at_once, self._questions)))
        return self._block, question - self._block.questions.start


def gathered(
    parts: Iterable[pl.DataFrame], rated: Rated, names: Sequence[str], *, questions: range, pairs: RunPairs, source: str
) -> RatingBlock:
    """Add rows of ratings up to sums a pair and question.

    Args:
        parts: rows of one grader, one protocol and these questions.
        rated: what there is of it.
        names: of these questions.
        questions: which they are of all.
        pairs: of the run; those that are left out are passed over.
        source: the run folder, for errors.
    """
    gather = _Gather(rated, questions, len(pairs))
    numbers = pl.Enum(list(names))
    for part in parts:
        row = pairs.places.find(part["pair_id"])
        if row.size and row.min() <= UNKNOWN:
            if (row == UNKNOWN).any():
                raise not_held("pair_id", source)
            part = part.filter(pl.Series(row != LEFT_OUT))  # noqa: PLW2901  (the part that counts)
            row = row[row != LEFT_OUT]
        gather.add(part, _codes(part["question"], numbers), row.astype(np.int64), source)
    return gather.block()


def not_held(field: str, source: str) -> InputError:
    """Return the error of ratings that speak of a question or a pair that the run does not have."""
    return InputError(
        "speaks of one that the run folder does not hold",
        source=source,
        field=field,
        way_out="run `evenhand rate` again",
    )


class _Gather:
    def __init__(self, rated: Rated, questions: range, pairs: int) -> None:
        self._questions = questions
        self._shape = (len(questions), pairs)
        self._orders = {name: self._sums() for name in rated.orders}
        self._repeats = {name: self._no_repeats() for name in rated.orders if rated.repeated}
        self._states = np.zeros(len(questions) * 2 * len(_STATES), dtype=np.int64)
        self._abstained = (self._counts(), self._counts())

    def add(self, rows: pl.DataFrame, question: Integers, pair: Integers, source: str) -> None:
        cell = question * self._shape[1] + pair
        values, fine = [], []
        for side, name in enumerate(("chosen", "rejected")):
            state = _codes(rows[f"{name}_state"], pl.Enum(_STATES))
            if state.size and state.min() < 0:
                raise InputError(
                    "holds a state that is none",
                    source=source,
                    field=f"{name}_state",
                    way_out=f"use {', '.join(_STATES)}",
                )
            value = rows[name].cast(pl.Float64).fill_null(float("nan")).to_numpy()
            self._states += np.bincount((question * 2 + side) * len(_STATES) + state, minlength=self._states.size)
            _add(self._abstained[side], cell[state == _ABSTAINED], 1)
            values.append(value)
            fine.append((state == _OK) & np.isfinite(value))
        order = _codes(rows.select(named_orders(pl.col("order")))["order"], pl.Enum(list(self._orders)))
        for number, (name, sums) in enumerate(self._orders.items()):
            here = order == number
            for total, count, value, ok in (
                (sums.chosen, sums.chosen_n, values[0], fine[0]),
                (sums.rejected, sums.rejected_n, values[1], fine[1]),
            ):
                use = here & ok
                cells = cell[use]
                _add(total, cells, value[use])
                _add(count, cells, 1)
            if self._repeats:
                both = here & fine[0] & fine[1]
                _add_repeats(self._repeats[name], cell[both], values[0][both] - values[1][both])

    def block(self) -> RatingBlock:
        states = self._states.reshape(self._shape[0], 2, len(_STATES))
        return RatingBlock(self._questions, self._orders, self._repeats, states, self._abstained)

    def _sums(self) -> OrderSums:
        return OrderSums(self._zeros(), self._zeros(), self._counts(), self._counts())

    def _no_repeats(self) -> Repeats:
        return Repeats(self._counts(), self._zeros(), self._zeros())

    def _zeros(self) -> Floats:
        return np.zeros(self._shape)

    def _counts(self) -> Counts:
        return np.zeros(self._shape, dtype=np.uint16)


def named_orders(order: pl.Expr) -> pl.Expr:
    """Return the orders with a name for that of outputs that were shown alone."""
    return order.fill_null("single")


def _codes(values: pl.Series, names: pl.Enum) -> Integers:
    """Return the place of each value among the names, -1 where it is none of them."""
    codes: Integers = values.cast(names, strict=False).to_physical().cast(pl.Int64).fill_null(-1).to_numpy()
    return codes


def _add_repeats(repeats: Repeats, cells: Integers, gap: Floats) -> None:
    _add(repeats.n, cells, 1)
    _add(repeats.sums, cells, gap)
    _add(repeats.squares, cells, gap**2)


def _add(total: npt.NDArray[Any], cells: Integers, values: Floats | int) -> None:
    np.add.at(total.reshape(-1), cells, np.asarray(values).astype(total.dtype))


def _mean(sums: Sequence[Floats], counts: Sequence[Counts]) -> Floats:
    total = np.sum(sums, axis=0) if len(sums) > 1 else sums[0]
    count = np.sum(counts, axis=0, dtype=np.int64) if len(counts) > 1 else counts[0]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(count > 0, total / count, np.nan)
