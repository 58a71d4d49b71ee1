"""Tables as numbers: what was shown as `54.0% [50.2%, 57.9%]` becomes a value and the two ends of its interval."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from evenhand.report.exports.placed import Placed
from evenhand.report.page.blocks import Cell, Shown

Value: TypeAlias = str | int | float | None

UNITS_NOTE = (
    "Figures are as they were saved: shares from 0 to 1 and differences from -1 to 1, where a page shows percent and"
    " percentage points."
)
"""Goes with tables of numbers."""
_NOTHING = frozenset(("", "-", "\u2013", "\u2014"))
"""What is shown where there is no figure."""


@dataclass(frozen=True, slots=True)
class NumberTable:
    """A table whose figures are numbers; ``None`` is an empty cell."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]


@dataclass(frozen=True, slots=True)
class _Found:
    value: Value
    low: float | None = None
    high: float | None = None
    interval: bool = False


def as_numbers(placed: Placed, saved: Sequence[Mapping[str, Any]]) -> NumberTable:
    """Return a table with the numbers that its figures were made of, as far as they are found in what was saved.

    A column that shows estimates becomes three: the value under the column's name, and the ends of its interval under
    that name with ``low`` and ``high`` behind it (see ``UNITS_NOTE``). Where an estimate has no interval those two are
    empty, as a figure is that there is none of; a figure that is not found stays the text that is shown.
    """
    table = placed.table
    found = [[_found(cell, placed, saved) for cell in row] for row in table.rows]
    width = max([len(table.columns), *map(len, found)])
    wide = [any(row[place].interval for row in found if place < len(row)) for place in range(width)]
    names = [*table.columns, *("" for _ in range(width - len(table.columns)))]
    columns: list[str] = []
    for name, three in zip(names, wide, strict=True):
        columns += [name, f"{name} low".strip(), f"{name} high".strip()] if three else [name]
    rows = []
    for row in found:
        cells: list[Value] = []
        for place, three in enumerate(wide):
            one = row[place] if place < len(row) else _Found(None)
            cells += [one.value, one.low, one.high] if three else [one.value]
        rows.append(tuple(cells))
    return NumberTable(tuple(columns), tuple(rows))


def _found(cell: Cell, placed: Placed, saved: Sequence[Mapping[str, Any]]) -> _Found:
    if isinstance(cell, str):
        return _Found(_text(cell))
    value = _at(cell, placed, saved)
    if isinstance(value, Mapping) and {"value", "low", "high"} <= value.keys():
        numbers = [_number(value[name]) for name in ("value", "low", "high")]
        return _Found(_text(cell.text) if numbers[0] is None else numbers[0], numbers[1], numbers[2], interval=True)
    number = _number(value)
    return _Found(_text(cell.text) if number is None else number)


def _at(cell: Shown, placed: Placed, saved: Sequence[Mapping[str, Any]]) -> object:
    """Return what was saved where a figure points, or None where there is nothing."""
    run = cell.run or placed.run
    value: object = saved[run - 1].get(cell.file or placed.file) if 0 < run <= len(saved) else None
    for step in cell.path.split("/"):
        if isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(value, Sequence) and not isinstance(value, str) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


def _text(text: str) -> str | None:
    return None if text.strip() in _NOTHING else text


def _number(value: object) -> int | float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
