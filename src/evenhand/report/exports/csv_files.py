"""A report's tables as CSV (RFC 4180), a file each: no cell of theirs is a formula to a spreadsheet."""

import csv
import io

from evenhand.report.exports.material import ExportFile, Material
from evenhand.report.exports.numbers import NumberTable, Value, as_numbers
from evenhand.report.exports.placed import placed_tables
from evenhand.report.exports.spreadsheet_cells import guarded


def csv_files(material: Material) -> tuple[ExportFile, ...]:
    """Return a file a table, each with the mark by which a spreadsheet knows UTF-8."""
    return tuple(
        ExportFile(f"{placed.name}.csv", csv_text(as_numbers(placed, material.saved)).encode("utf-8-sig"))
        for placed in placed_tables(material.sections)
    )


def csv_text(table: NumberTable) -> str:
    """Return a table as CSV: commas, CRLF, quotes where a cell needs them."""
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\r\n")
    writer.writerow([guarded(name) for name in table.columns])
    writer.writerows([_cell(value) for value in row] for row in table.rows)
    return file.getvalue()


def _cell(value: Value) -> str:
    if value is None:
        return ""
    return guarded(value) if isinstance(value, str) else repr(value)
