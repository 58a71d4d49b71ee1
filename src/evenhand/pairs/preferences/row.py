"""A row of raw data, and what a format makes of it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from evenhand.pairs.preferences.conversation import Turn, shown, split_at_last_shared, turns_of, written
from evenhand.pairs.preferences.preference import Preference, number_of
from evenhand.pairs.preferences.problem import ProblemKind, RowFaultError

_LONGEST_METADATA = 200  # Longer texts are content, not a description of it.


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two outputs for one input in the order of the data, and the preference."""

    input: str
    a: str
    b: str
    preference: Preference
    remark: tuple[ProblemKind, str] | None = None
    """What is odd about it though it is a pair."""


class Row:
    """A row that remembers which of its columns were read, so that the rest can become metadata."""

    def __init__(self, at: int, values: Mapping[str, Any]) -> None:
        """Hold a row; ``at`` as ``Problem.row`` counts."""
        self.at, self.values = at, values
        self._read: set[str] = set()

    def value(self, name: str) -> object:
        """Return a raw value; raises ``RowFaultError`` where the row has no such column."""
        self._read.add(name)
        if name not in self.values:
            raise RowFaultError(ProblemKind.MISSING_COLUMN, f"there is no {name}")
        return self.values[name]

    def has(self, name: str) -> bool:
        """Tell whether there is something other than null and the empty text."""
        return self.values.get(name) not in (None, "")

    def text(self, name: str) -> str:
        """Return a text, a conversation written out; raises ``RowFaultError`` for anything else."""
        found = self.side(name)
        return found if isinstance(found, str) else written(found)

    def optional_text(self, name: str) -> str:
        """Return a text, empty where there is none."""
        self._read.add(name)
        return self.text(name) if self.has(name) else ""

    def side(self, name: str) -> str | list[Turn]:
        """Return a text, or the turns of a conversation."""
        value = self.value(name)
        turns = turns_of(value, name)
        if turns is not None:
            return turns
        return text_of(value, name)

    def number(self, *names: str) -> float | None:
        """Return the number in the first of some columns that has one."""
        self._read.update(names)
        return next((found for name in names if (found := number_of(self.values.get(name))) is not None), None)

    def metadata(self) -> dict[str, str]:
        """Return the short values of the columns that were not read, and the row's number as ``row``."""
        rest = {
            name: str(value)
            for name, value in self.values.items()
            if name and name not in self._read and isinstance(value, str | int | float)
        }
        return {name: text for name, text in rest.items() if len(text) <= _LONGEST_METADATA} | {"row": str(self.at)}


def text_of(value: object, name: str) -> str:
    """Return a value that is text; raises ``RowFaultError`` for anything else."""
    if isinstance(value, str):
        return value
    if value is None:
        raise RowFaultError(ProblemKind.NULL, f"{name} is null where text should be")
    raise RowFaultError(ProblemKind.WRONG_TYPE, f"{name} is {shown(value)} where text should be")


def compare(given: str | list[Turn] | None, a: str | list[Turn], b: str | list[Turn], by: Preference) -> Comparison:
    """Put an input and two sides together.

    Sides that are whole conversations are split at their last shared assistant turn. Sides that begin with the
    assistant go on from the input that is given.
    """
    if isinstance(a, str) and isinstance(b, str):
        return Comparison(_input_text(given), a, b, by)
    turns_a, turns_b = (side if isinstance(side, list) else [Turn("A", side)] for side in (a, b))
    before = given if isinstance(given, list) else [Turn("H", given)] if given else []
    whole_a, whole_b = _after(before, turns_a), _after(before, turns_b)
    shared, rest_a, rest_b = split_at_last_shared(whole_a, whole_b)
    return Comparison(written(shared), written(rest_a), written(rest_b), by)


def _after(before: list[Turn], side: list[Turn]) -> list[Turn]:
    if side[0].mark == "A" or not any(turn.mark == "A" for turn in side):
        return [*before, *side]
    # A side that does not begin with the assistant holds the whole conversation, though perhaps not its system turn.
    return side if side[0].mark == "S" else [*(turn for turn in before if turn.mark == "S"), *side]


def _input_text(given: str | list[Turn] | None) -> str:
    if given is None:
        return ""
    return given if isinstance(given, str) else written(given)


def joined(parts: Iterable[str]) -> str:
    """Return the parts that are not blank, with an empty line between them."""
    return "\n\n".join(part for part in parts if part.strip())
