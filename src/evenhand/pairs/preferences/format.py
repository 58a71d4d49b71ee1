"""What a format of preference data is: the columns that tell it, and how a row of it is read."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from evenhand.pairs.preferences.row import Comparison, Row

Sample: TypeAlias = Sequence[Mapping[str, Any]]
"""The first rows of a file that could be read."""


@dataclass(frozen=True, slots=True)
class Format:
    """A way to write preference pairs down."""

    name: str
    """What ``--format`` calls it."""
    title: str
    shapes: tuple[tuple[str, ...], ...]
    """The columns it needs; where there are several ways to write it, those of each."""
    read: Callable[[Row], Iterable[Comparison]]
    """Raises ``RowFaultError`` for a row that can't become a pair."""
    also: Callable[[Sample], str] | None = None
    """Looks at the values where columns alone do not tell; returns what it saw, or nothing if it is another format."""


def columns_of(sample: Sample) -> list[str]:
    """Return every column of some rows, in the order in which they first come."""
    return list(dict.fromkeys(name for values in sample for name in values))


def first_value(sample: Sample, name: str) -> object:
    """Return the first value of a column that is there and not null or empty."""
    return next((values[name] for values in sample if values.get(name) not in (None, "")), None)
