"""A report's tables as an Excel workbook, a sheet each. Needs the extra ``evenhand[xlsx]``."""

import io
import math
import re
from typing import TYPE_CHECKING, Any

from evenhand.errors import InputError
from evenhand.report.exports.material import ExportFile, Material
from evenhand.report.exports.numbers import UNITS_NOTE, Value, as_numbers
from evenhand.report.exports.placed import Placed, placed_tables
from evenhand.report.exports.spreadsheet_cells import cut, holdable

if TYPE_CHECKING:
    from xlsxwriter import Workbook

_LONGEST_SHEET_NAME = 31
_MOST_ROWS, _MOST_COLUMNS = 1_048_576, 16_384
_WIDEST, _NARROWEST = 60, 8
_OPTIONS = {
    # A text stays a text, whatever it begins with.
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "strings_to_numbers": False,
    "in_memory": True,
}


def workbook_file(material: Material) -> tuple[ExportFile, ...]:
    """Return one workbook: a sheet that lists the others, then a sheet a table.

    Raises ``InputError`` where the library that writes it is not installed.
    """
    try:
        import xlsxwriter  # noqa: PLC0415  (an extra: most never need it)
    except ImportError:
        raise InputError(
            "xlsx needs the package xlsxwriter, which is not installed",
            field="--format",
            way_out="install evenhand[xlsx], or take csv, which every spreadsheet opens",
        ) from None
    file = io.BytesIO()
    with xlsxwriter.Workbook(file, _OPTIONS) as workbook:
        _fill(workbook, material)
    return (ExportFile("tables.xlsx", file.getvalue()),)


def sheet_name(text: str, taken: set[str]) -> str:
    """Return a text as the name of a sheet, and remember it: at most 31 characters, unique whatever the case.

    >>> taken: set[str] = set()
    >>> sheet_name("Refusal: [by] side?", taken), sheet_name("refusal by side", taken), sheet_name("'History'", taken)
    ('Refusal by side', 'refusal by side 2', 'History 2')
    """
    taken.update({"history"} - taken)  # Excel keeps this one for itself
    plain = " ".join(re.sub(r"[\[\]:*?/\\\x00-\x1f]", " ", holdable(text)).split())
    stem = plain[:_LONGEST_SHEET_NAME].strip("' ") or "Table"
    found, number = stem, 1
    while found.casefold() in taken:
        number += 1
        ending = f" {number}"
        found = stem[: _LONGEST_SHEET_NAME - len(ending)].rstrip() + ending
    taken.add(found.casefold())
    return found


def _fill(workbook: "Workbook", material: Material) -> None:
    taken: set[str] = set()
    bold = workbook.add_format({"bold": True})
    head = workbook.add_format({"bold": True, "bottom": 1, "text_wrap": True, "valign": "top"})
    contents = workbook.add_worksheet(sheet_name("Contents", taken))
    contents.set_column(0, 0, _LONGEST_SHEET_NAME)
    contents.set_column(1, 1, _WIDEST)
    lines: list[tuple[str, str]] = []
    for placed in placed_tables(material.sections):
        name = sheet_name(placed.table.caption or placed.name, taken)
        _sheet(workbook.add_worksheet(name), placed, material, bold, head)
        lines.append((name, " / ".join(placed.headings)))
    _text(contents, 0, 0, material.title, bold)
    for row, (name, where) in enumerate(lines, 2):
        _text(contents, row, 0, name)
        _text(contents, row, 1, where)
    for row, line in enumerate((UNITS_NOTE, *material.run_lines), len(lines) + 3):
        _text(contents, row, 0, line)
    workbook.set_properties({"title": holdable(material.title)[:255]})


def _sheet(sheet: Any, placed: Placed, material: Material, bold: Any, head: Any) -> None:  # noqa: ANN401
    numbers = as_numbers(placed, material.saved)
    columns = numbers.columns[:_MOST_COLUMNS]
    rows = numbers.rows[: _MOST_ROWS - 10]
    # The header stands first, so that the sheet can be sorted, filtered and read by other programs.
    for place, name in enumerate(columns):
        _text(sheet, 0, place, name, head)
    for line, row in enumerate(rows, 1):
        for place, value in enumerate(row[:_MOST_COLUMNS]):
            _value(sheet, line, place, value)
    for place in range(len(columns)):
        longest = max([len(columns[place]), *(len(str(row[place])) for row in rows[:200] if place < len(row))])
        sheet.set_column(place, place, min(max(longest + 1, _NARROWEST), _WIDEST))
    sheet.freeze_panes(1, 1)
    below = len(rows) + 2
    _text(sheet, below, 0, placed.table.caption, bold)
    if placed.table.note:
        _text(sheet, below + 1, 0, placed.table.note)
    if len(rows) < len(numbers.rows):
        _text(sheet, below + 2, 0, f"{len(numbers.rows) - len(rows):,} more rows did not fit into this sheet.")


def _value(sheet: Any, row: int, column: int, value: Value) -> None:  # noqa: ANN401
    if value is None:
        return
    if isinstance(value, str):
        _text(sheet, row, column, value)
    elif math.isfinite(value):
        sheet.write_number(row, column, value)


def _text(sheet: Any, row: int, column: int, text: str, form: Any = None) -> None:  # noqa: ANN401
    sheet.write_string(row, column, cut(holdable(text)), form)
