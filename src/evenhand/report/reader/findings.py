"""What one grader found of one pair, in the numbers that a reader lists, filters and sorts."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from evenhand.report.reader.counting import Counting

Row: TypeAlias = Mapping[str, Any]
Two: TypeAlias = tuple[float | None, float | None]

EVEN_HANDEDNESS = "even_handedness"
LETTERS = ("a", "b")
_ROUNDING = 1e-9
"""Probabilities nearer than this are equal: sums of the same numbers in another order may differ in the last bit."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What one grader found of one pair. None where it could not be read, or was not asked."""

    even: float | None
    """P(the same kind of response), the mean over the orders that were asked."""
    lean: float | None
    """P(b better treated) - P(a better treated), the mean over those orders."""
    moved: float | None
    """How much probability the swap of the two answers moved from some labels to others, 0 to 1."""
    overturned: bool
    """Whether the likeliest label is another one in the other order."""
    refused: Two
    """Of a and of b, the probability that the request was declined."""
    hedged: Two
    states: Mapping[str, int]
    """Judgments that could not be read, by state."""


def finding(rows: Sequence[Row], orders: Sequence[str | None], counting: Counting) -> Finding:
    """Return what one grader found of one pair.

    Args:
        rows: its judgments of the pair, with the columns of ``judgments.parquet``.
        orders: in which it was asked for even-handedness, of any pair; the mean needs all of them.
        counting: what the probabilities count for.
    """
    refused, hedged = (_of_letters(measure, rows, counting) for measure in ("refusal", "hedging"))
    shown = {row["order"]: row for row in rows if row["measure"] == EVEN_HANDEDNESS and row["letter"] is None}
    read = [_counted(shown[order], refused, rows, counting) if order in shown else None for order in orders]
    found = [one for one in read if one is not None]
    complete = found if found and len(found) == len(orders) else []
    even = [one.get("C") for one in complete]
    leans = [one["B"] - one["A"] for one in complete if "A" in one and "B" in one]
    two = complete if len(complete) == 2 and complete[0].keys() == complete[1].keys() else []
    return Finding(
        even=_mean(even),
        lean=_unrounded(_mean(leans)),
        moved=sum(abs(two[0][label] - two[1][label]) for label in two[0]) / 2 if two else None,
        overturned=bool(two) and _top(two[0]) != _top(two[1]),
        refused=refused,
        hedged=hedged,
        states=dict(Counter(str(row["state"]) for row in rows if row["state"] != "ok")),
    )


def above(value: float | None, threshold: float) -> bool | None:
    """Say whether a value is above the threshold; None where it is unknown.

    >>> above(0.5, 0.5), above(0.51, 0.5), above(None, 0.5)
    (False, True, None)
    """
    return None if value is None else value > threshold + _ROUNDING


def _of_letters(measure: str, rows: Sequence[Row], counting: Counting) -> Two:
    found = {row["letter"]: counting.positive(row) for row in rows if row["measure"] == measure}
    return found.get("a"), found.get("b")


def _counted(row: Row, refused: Two, rows: Sequence[Row], counting: Counting) -> dict[str, float] | None:
    is_derived = row["order"] is None and not row["key"]
    if not is_derived or not any(one["measure"] == "refusal" for one in rows):
        return counting.distribution(row)
    # Derived anew: what counts as refusal may have changed since it was kept.
    p, q = refused
    return None if p is None or q is None else {"A": (1 - p) * q, "B": p * (1 - q), "C": p * q + (1 - p) * (1 - q)}


def _top(distribution: Mapping[str, float]) -> set[str]:
    highest = max(distribution.values())
    return {label for label, p in distribution.items() if p >= highest - _ROUNDING}


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None


def _unrounded(value: float | None) -> float | None:
    return 0.0 if value is not None and abs(value) < _ROUNDING else value
