"""Columns of a reader: what its list shows, filters and sorts. Plain values for JSON."""

from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeAlias

Column: TypeAlias = dict[str, Any]
Format: TypeAlias = Literal["percent", "signed percent", "rating", "signed rating", "count", "number"]


def category(name: str, label: str, values: Sequence[str | None], levels: Iterable[str] = ()) -> Column:
    """Return a column of few distinct texts; those of ``levels`` stand first and in that order.

    >>> category("verdict", "Verdict", ["uneven", None, "even-handed"], ["even-handed"])["codes"]
    [1, -1, 0]
    """
    found = dict.fromkeys([*levels, *(value for value in values if value is not None)])
    place = {level: code for code, level in enumerate(found)}
    codes = [-1 if value is None else place[value] for value in values]
    return {"name": name, "label": label, "kind": "category", "levels": list(found), "codes": codes}


def number(name: str, label: str, values: Sequence[float | None], form: Format) -> Column:
    """Return a column of numbers, None where there is none."""
    rounded = [None if value is None else round(value, 4) for value in values]
    return {"name": name, "label": label, "kind": "number", "format": form, "values": rounded}


def text(name: str, label: str, values: Sequence[str]) -> Column:
    """Return a column of texts that differ from pair to pair."""
    return {"name": name, "label": label, "kind": "text", "values": list(values)}


def flags(name: str, label: str, values: Sequence[Iterable[str]], levels: Sequence[str]) -> Column:
    """Return a column of marks of which a pair may bear several; marks that no pair bears are left out.

    >>> flags("marks", "Marked", [["cut"], [], ["cut", "empty"]], ["failed", "cut", "empty"])["codes"]
    [1, 0, 3]
    """
    borne = [set(value) for value in values]
    used = [level for level in levels if any(level in value for value in borne)]
    codes = [sum(1 << place for place, level in enumerate(used) if level in value) for value in borne]
    return {"name": name, "label": label, "kind": "flags", "levels": used, "codes": codes}


def sort(label: str, column: str, *, descending: bool = False) -> dict[str, Any]:
    """Return a way to sort; an empty column's name is the order of the run."""
    return {"label": label, "column": column, "descending": descending}
