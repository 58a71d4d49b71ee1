"""What a grader found, as arrays over pairs: one grader, one set of instruments, rows in the order of the pairs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from evenhand.graders import Judgment
from evenhand.graders.model_grader import BLIND_SUFFIX
from evenhand.instruments import Derivation
from evenhand.instruments.instrument import Order
from evenhand.pairs import PairedPrompt, Side
from evenhand.pairs.paired_prompt import Letter
from evenhand.readings import State

Floats: TypeAlias = npt.NDArray[np.float64]
Bools: TypeAlias = npt.NDArray[np.bool_]
ByLabel: TypeAlias = Mapping[str, Floats]

EVEN_HANDEDNESS = "even_handedness"
BLIND = EVEN_HANDEDNESS + BLIND_SUFFIX
"""Even-handedness graded with the group labels hidden."""
LETTERS: tuple[Letter, ...] = ("a", "b")
SAME = 1e-9
"""Probabilities nearer than this are equal: sums of the same numbers in another order may differ in the last bit."""


@dataclass(frozen=True, slots=True)
class Sides:
    """Which of the two stances is the first side and which the second: left and right, or a and b where no pair of
    the set has sides."""

    first: str
    second: str
    where: Bools
    """Pairs that have both sides, shape (pairs,)."""
    flip: Bools
    """Pairs whose stance a is the second side, shape (pairs,)."""

    @classmethod
    def of(cls, pairs: Sequence[PairedPrompt]) -> "Sides":
        """Return the sides of the pairs."""
        sided = np.array([pair.sided for pair in pairs], dtype=bool)
        if not sided.any():
            return cls("a", "b", np.ones(len(pairs), dtype=bool), np.zeros(len(pairs), dtype=bool))
        return cls("left", "right", sided, np.array([pair.side_a is Side.RIGHT for pair in pairs], dtype=bool))

    def split(self, a: Floats, b: Floats) -> tuple[Floats, Floats]:
        """Return values of a and b as those of the first and the second side; NaN where a pair has no sides."""
        first, second = np.where(self.flip, b, a), np.where(self.flip, a, b)
        return np.where(self.where, first, np.nan), np.where(self.where, second, np.nan)

    def difference(self, a: Floats, b: Floats) -> Floats:
        """Return the second side minus the first: 0 where equal but for rounding, NaN where a pair has no sides."""
        first, second = self.split(a, b)
        found = second - first
        return np.where(np.abs(found) < SAME, 0.0, found)


class _Row(NamedTuple):
    """What is needed of a judgment."""

    measure: str
    pair_id: str
    letter: Letter | None
    order: Order | None
    labels: Sequence[str]
    probabilities: Sequence[float] | None
    positive: frozenset[str] | float | None
    """The labels that count, or their summed probability where the labels are not known."""


@dataclass(frozen=True, slots=True)
class BlockArrays:
    """Probabilities over pairs, NaN where nothing was read. Whatever the order, "A" speaks of response a."""

    sides: Sides
    shown: Mapping[tuple[str, Order | None], ByLabel]
    """Of measures of pairs: by measure and order (None where it is derived), the probability of each label."""
    letters: Mapping[tuple[str, Letter], Floats]
    """Of measures of single responses: by measure and response, the probability of the positive labels."""

    @classmethod
    def from_judgments(
        cls,
        pairs: Sequence[PairedPrompt],
        judgments: Iterable[Judgment],
        *,
        positive: Mapping[str, Sequence[str]] | None = None,
        derivations: Sequence[Derivation] = (),
        orders: str = "both",
    ) -> "BlockArrays":
        """Lay judgments out.

        Args:
            pairs: the rows.
            judgments: of one grader with one set of instruments.
            positive: labels that count, by measure; a measure that isn't named keeps its scale's own.
            derivations: measures to compute from those of the single responses, in place of the judgments of theirs.
            orders: ``both``, ``ab`` or ``ba``; judgments in another order are left out.
        """
        wanted = {measure: frozenset(labels) for measure, labels in (positive or {}).items()}
        rows = (
            _Row(
                judgment.measure,
                judgment.pair_id,
                judgment.letter,
                judgment.order,
                judgment.scale.labels,
                judgment.reading.probabilities if judgment.reading.state is State.OK else None,
                wanted.get(judgment.measure, judgment.scale.positive),
            )
            for judgment in judgments
        )
        return _lay_out(pairs, rows, derivations, orders)

    @classmethod
    def from_table(
        cls,
        pairs: Sequence[PairedPrompt],
        judgments: pl.DataFrame,
        *,
        positive: Mapping[str, Sequence[str]] | None = None,
        orders: str = "both",
    ) -> "BlockArrays":
        """Lay rows of ``judgments.parquet`` out, those of one grader with one set of instruments.

        Of a measure that ``positive`` doesn't name the column ``positive`` is taken. Derived measures stay as they are.
        """
        wanted = {measure: frozenset(labels) for measure, labels in (positive or {}).items()}
        return _lay_out(pairs, _table_rows(judgments, wanted), (), orders)

    def orders(self, measure: str) -> tuple[Order, ...]:
        """Return the orders in which a measure of pairs was asked; none where it is derived or wasn't asked."""
        return tuple(order for order in ("ab", "ba") if (measure, order) in self.shown)

    def measured(self, measure: str) -> bool:
        """Say whether there are judgments of the measure, readable or not."""
        return any(name == measure for name, _ in (*self.shown, *self.letters))

    def of_responses(self, measure: str) -> bool:
        """Say whether a measure is one of single responses, and not of pairs."""
        return (measure, "a") in self.letters

    def pair_probability(self, measure: str, label: str) -> Floats:
        """Return P(label) a pair, averaged over the orders that were asked; NaN unless all of them could be read."""
        found = [by_label[label] for (name, _), by_label in self.shown.items() if name == measure]
        # Not np.mean: a + b is b + a to the last bit, so that an exchange of the orders changes nothing.
        return sum(found[1:], start=found[0]) / len(found)

    def lean(self, measure: str) -> Floats:
        """Return P(second side better treated) - P(first side better treated) of a measure of pairs."""
        return self.sides.difference(self.pair_probability(measure, "A"), self.pair_probability(measure, "B"))

    def by_side(self, measure: str) -> tuple[Floats, Floats]:
        """Return a measure of single responses for the first and the second side."""
        return self.sides.split(self.letters[measure, "a"], self.letters[measure, "b"])

    def by_letter(self, measure: str) -> tuple[Floats, Floats]:
        """Return a measure of single responses for a and for b, sides or not."""
        return self.letters[measure, "a"], self.letters[measure, "b"]


def above(values: Floats, threshold: float) -> Floats:
    """Return 1 where a value is above the threshold, 0 where not, NaN where it is unknown.

    A value that misses the threshold by rounding alone is at it, and not above.

    >>> above(np.array([0.4, 0.5, 0.6, np.nan]), 0.5).tolist()
    [0.0, 0.0, 1.0, nan]
    """
    return np.where(np.isnan(values), np.nan, (values > threshold + SAME).astype(np.float64))


def derived_labels(p: Floats, q: Floats) -> dict[str, Floats]:
    """Return P(A), P(B), P(C) of even-handedness where a was declined with probability p and b with q.

    The rule of ``evenhand.instruments.Derivation``, the two taken as independent given the texts.
    """
    return {"A": (1 - p) * q, "B": p * (1 - q), "C": p * q + (1 - p) * (1 - q)}


def _lay_out(
    pairs: Sequence[PairedPrompt], rows: Iterable[_Row], derivations: Sequence[Derivation], orders: str
) -> BlockArrays:
    place = {pair.pair_id: index for index, pair in enumerate(pairs)}
    shown: dict[tuple[str, Order | None], dict[str, Floats]] = {}
    letters: dict[tuple[str, Letter], Floats] = {}
    derived = {derivation.name for derivation in derivations}
    for row in rows:
        if row.measure in derived or (row.order is not None and orders not in ("both", row.order)):
            continue
        index = place[row.pair_id]
        if row.letter is not None:
            if (row.measure, row.letter) not in letters:
                letters |= {(row.measure, letter): np.full(len(pairs), np.nan) for letter in LETTERS}
            if row.probabilities is not None:
                letters[row.measure, row.letter][index] = _positive(row)
            continue
        key = (row.measure, row.order)
        if key not in shown:
            shown[key] = {label: np.full(len(pairs), np.nan) for label in row.labels}
        for label, probability in zip(row.labels, row.probabilities or (), strict=False):
            shown[key][label][index] = probability
    for derivation in derivations:
        if (derivation.from_instrument, "a") in letters:
            p, q = letters[derivation.from_instrument, "a"], letters[derivation.from_instrument, "b"]
            shown[derivation.name, None] = derived_labels(p, q)
    return BlockArrays(Sides.of(pairs), shown, letters)


def _positive(row: _Row) -> float:
    if isinstance(row.positive, frozenset):
        return sum(p for label, p in zip(row.labels, row.probabilities or (), strict=True) if label in row.positive)
    return float("nan") if row.positive is None else row.positive


def _table_rows(table: pl.DataFrame, wanted: Mapping[str, frozenset[str]]) -> Iterator[_Row]:
    columns = ("measure", "pair_id", "letter", "order", "labels", "probabilities", "positive")
    for values in table.select(columns).iter_rows():
        measure, pair_id, letter, order, labels, probabilities, positive = values
        yield _Row(measure, pair_id, letter, order, labels, probabilities, wanted.get(measure, positive))
