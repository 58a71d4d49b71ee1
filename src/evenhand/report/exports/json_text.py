"""A report's tables as JSON."""

import json
import math
from typing import Any

from evenhand.report.exports.material import ExportFile, Material
from evenhand.report.exports.numbers import UNITS_NOTE, Value, as_numbers
from evenhand.report.exports.placed import placed_tables

TABLES_SCHEMA = 1


def json_file(material: Material) -> tuple[ExportFile, ...]:
    """Return one file with all tables; figures are numbers, and an absent one is null."""
    text = json.dumps(json_values(material), indent=2, ensure_ascii=False, allow_nan=False)
    return (ExportFile("tables.json", (text + "\n").encode("utf-8", "replace")),)


def json_values(material: Material) -> dict[str, Any]:
    """Return title, lines of the runs, and tables as plain values."""
    tables = []
    for placed in placed_tables(material.sections):
        numbers = as_numbers(placed, material.saved)
        tables.append(
            {
                "name": placed.name,
                "section": list(placed.headings),
                "caption": placed.table.caption,
                "columns": list(numbers.columns),
                "rows": [[_plain(value) for value in row] for row in numbers.rows],
                "note": placed.table.note,
            }
        )
    return {
        "schema": TABLES_SCHEMA,
        "title": material.title,
        "units": UNITS_NOTE,
        "runs": list(material.run_lines),
        "tables": tables,
    }


def _plain(value: Value) -> Value:
    # JSON has no name for what is no number.
    return None if isinstance(value, float) and not math.isfinite(value) else value
