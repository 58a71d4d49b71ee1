"""What the list of a reader says of each pair, as one grader saw it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.report.reader import columns
from evenhand.report.reader.findings import EVEN_HANDEDNESS, Finding, Two, above

_VERDICTS = ("uneven", "even-handed", "not read")
_MEASURES = {EVEN_HANDEDNESS: "even-handedness", "refusal": "refusal", "hedging": "hedging"}


@dataclass(frozen=True, slots=True)
class Block:
    """What one grader found with one set of instruments."""

    measures: frozenset[str]
    """That were asked."""
    findings: tuple[Finding, ...]
    """A pair, in the order of the pairs."""


@dataclass(frozen=True, slots=True)
class Sides:
    """What the two sides are called: left and right, or a and b where no pair of the set has sides."""

    first: str
    second: str

    @classmethod
    def of(cls, pairs: Sequence[tuple[str, str]]) -> "Sides":
        """Return the names for pairs with these sides of a and b."""
        return cls("left", "right") if any(set(sides) == {"left", "right"} for sides in pairs) else cls("a", "b")

    def names(self, sides: tuple[str, str]) -> tuple[str, str] | None:
        """Return what a and b of one pair are called; None where it has no sides and others have."""
        if self.first == "a":
            return "a", "b"
        return sides if set(sides) == {"left", "right"} else None


def view(
    block: Block,
    names: Sides,
    *,
    sides: Sequence[tuple[str, str]],
    disagree: Sequence[Collection[str]],
    marks: Sequence[Collection[str]],
    threshold: float,
) -> dict[str, Any]:
    """Return the columns of one grader.

    Args:
        block: what it found.
        names: of the two sides.
        sides: of a and b, a pair.
        disagree: the measures about whose verdicts graders disagree, a pair.
        marks: of the answers themselves, a pair.
        threshold: a probability above it counts.
    """
    found = block.findings
    called = [names.names(one) for one in sides]
    found_columns = []
    if EVEN_HANDEDNESS in block.measures:
        verdicts = [_verdict(one, threshold) for one in found]
        leans = [
            None if one.lean is None or name is None else one.lean if name[1] == names.second else -one.lean
            for one, name in zip(found, called, strict=True)
        ]
        directions = [
            _direction(verdict, lean, name, names) for verdict, lean, name in zip(verdicts, leans, called, strict=True)
        ]
        found_columns += [
            columns.category("verdict", "Verdict", verdicts, _VERDICTS),
            columns.category("direction", "Direction", directions, _directions(names)),
            columns.number("even", "P(same kind of response)", [one.even for one in found], "percent"),
            columns.number("lean", f"Lean, {names.second} minus {names.first}", leans, "signed percent"),
            columns.number("moved", "Moved by the order", [one.moved for one in found], "percent"),
        ]
    if "refusal" in block.measures:
        help_given = [_help(one.refused, name, threshold) for one, name in zip(found, called, strict=True)]
        found_columns.append(columns.category("help", "Help", help_given, _helps(names)))
        found_columns.append(
            columns.number("refused", "P(declined), the higher", _highest(found, "refused"), "percent")
        )
    if "hedging" in block.measures:
        found_columns.append(columns.number("hedged", "P(hedged), the higher", _highest(found, "hedged"), "percent"))
    found_columns.append(_marks(found, disagree, marks, threshold))
    return {
        "columns": found_columns,
        "badge": "verdict" if EVEN_HANDEDNESS in block.measures else "help",
        "figure": "even" if EVEN_HANDEDNESS in block.measures else "refused",
        "figureName": "same" if EVEN_HANDEDNESS in block.measures else "declined",
        "tags": ["direction", "marks"],
    }


def disagreements(blocks: Sequence[Block], threshold: float) -> list[set[str]]:
    """Return the measures about whose verdicts graders disagree, a pair: those that could read it."""
    pairs = len(blocks[0].findings) if blocks else 0
    found: list[set[str]] = [set() for _ in range(pairs)]
    for pair in range(pairs):
        here = [block.findings[pair] for block in blocks]
        values = {
            EVEN_HANDEDNESS: [[one.even for one in here]],
            "refusal": [[one.refused[place] for one in here] for place in (0, 1)],
            "hedging": [[one.hedged[place] for one in here] for place in (0, 1)],
        }
        for measure, units in values.items():
            if any(len({above(value, threshold) for value in unit if value is not None}) > 1 for unit in units):
                found[pair].add(measure)
    return found


def _verdict(found: Finding, threshold: float) -> str:
    even = above(found.even, threshold)
    return "not read" if even is None else "even-handed" if even else "uneven"


def _direction(verdict: str, lean: float | None, called: tuple[str, str] | None, names: Sides) -> str:
    if verdict != "uneven":
        return verdict
    if called is None:
        return "a pair without sides"
    if lean is None:
        return "not read"
    if lean == 0:
        return "neither side"
    return f"{names.second if lean > 0 else names.first} better treated"


def _directions(names: Sides) -> tuple[str, ...]:
    return (f"{names.first} better treated", f"{names.second} better treated")


def _help(refused: Two, called: tuple[str, str] | None, threshold: float) -> str:
    a, b = (above(value, threshold) for value in refused)
    if a is None or b is None:
        return "not read"
    if a == b:
        return "helped neither" if a else "helped both"
    name = (called or ("a", "b"))[0 if b else 1]
    return f"helped {name} only"


def _helps(names: Sides) -> tuple[str, ...]:
    return ("helped both", f"helped {names.first} only", f"helped {names.second} only", "helped neither")


def _highest(found: Sequence[Finding], measure: str) -> list[float | None]:
    values = [[value for value in getattr(one, measure) if value is not None] for one in found]
    return [max(both) if both else None for both in values]


def _marks(
    found: Sequence[Finding], disagree: Sequence[Collection[str]], marks: Sequence[Collection[str]], threshold: float
) -> columns.Column:
    levels = [f"graders disagree on {name}" for name in _MEASURES.values()]
    levels += ["the order changes the verdict", "unreadable", "a request was declined", "an answer hedges"]
    levels += ["an answer is missing", "an answer was cut"]
    borne = []
    for one, other, answer in zip(found, disagree, marks, strict=True):
        here = [f"graders disagree on {name}" for measure, name in _MEASURES.items() if measure in other]
        here += ["the order changes the verdict"] if one.overturned else []
        here += ["unreadable"] if one.states else []
        here += ["a request was declined"] if any(above(p, threshold) for p in one.refused) else []
        here += ["an answer hedges"] if any(above(p, threshold) for p in one.hedged) else []
        borne.append([*here, *answer])
    return columns.flags("marks", "Marked", borne, levels)
