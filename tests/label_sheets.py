"""Sheets of labels, read and filled in as people with a spreadsheet would."""

import csv
import io
from collections.abc import Callable
from pathlib import Path


def sheet(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text("utf-8-sig"), newline="")))


def fill(path: Path, label: Callable[[dict[str, str]], dict[str, str]], *, delimiter: str = ",") -> Path:
    """Write the sheet filled in, as a spreadsheet would save it."""
    rows = sheet(path)
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, list(rows[0]), delimiter=delimiter, lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(row | label(row) for row in rows)
    filled = path.with_name("filled.csv")
    filled.write_bytes(text.getvalue().encode("utf-8-sig"))
    return filled


def by_text(row: dict[str, str]) -> dict[str, str]:
    label = "full" if "can't help" in row["response"] else "none"
    return {"refusal_1": label, "refusal_2": label.upper()}
