"""Rows of a gold file: every fault is an error, since a label that is dropped in silence moves a figure."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand.errors import InputError
from evenhand.pairs.preferences.records import read_records


@dataclass(frozen=True, slots=True)
class GoldRow:
    """A row with its place; `row` as a spreadsheet or an editor counts."""

    source: str
    row: int
    values: Mapping[str, Any]

    def text(self, column: str) -> str:
        """Return a text; raises `InputError` where there is none, or where it is blank."""
        value = self.values.get(column)
        if isinstance(value, str) and value.strip():
            return value
        raise self.error("is empty" if value in (None, "") or isinstance(value, str) else "is not text", column)

    def optional(self, column: str) -> str:
        """Return a short value as text, empty where there is none."""
        value = self.values.get(column)
        return "" if value is None else str(value).strip()

    def label(self, column: str, meanings: Mapping[str, str]) -> str:
        """Return what a label means; raises `InputError` for one that has no meaning."""
        found = self.optional(column)
        if found not in meanings:
            raise self.error(f"is {found!r}" if found else "is empty", column, f"use {', '.join(meanings)}")
        return meanings[found]

    def optional_label(self, column: str, meanings: Mapping[str, str]) -> str | None:
        """Return what a label means, None where there is none."""
        return self.label(column, meanings) if self.optional(column) else None

    def error(self, problem: str, column: str, way_out: str = "fill the cell or remove the row") -> InputError:
        """Return an error at a place of this row."""
        return InputError(problem, source=self.source, row=self.row, field=column, way_out=way_out)


def gold_rows(path: Path, columns: Collection[str] = ()) -> Iterator[GoldRow]:
    """Yield the rows of a file; raises `InputError` for a row that can't be read or a column that is not there."""
    empty = True
    for record in read_records(path):
        if record.values is None:
            problem = record.problem.message if record.problem else "can't be read"
            raise InputError(problem, source=path.name, row=record.row, way_out="correct the row or remove it")
        missing = [column for column in columns if column not in record.values]
        if missing:
            raise InputError(
                f"lacks the column{'s' if len(missing) > 1 else ''} {', '.join(missing)}"
                f" (it has: {', '.join(map(str, record.values))})",
                source=path.name,
                row=record.row,
                way_out="check that it is the right file, or rename the columns",
            )
        empty = False
        yield GoldRow(path.name, record.row, record.values)
    if empty:
        raise InputError("has no rows", source=path.name, way_out="give at least one labelled row")
