"""CSV as spreadsheets save it: with commas, in much of Europe with semicolons, pasted with tabs."""

import csv
from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from _csv import Reader

DELIMITERS = ",;\t"
"""What may stand between cells; the header tells which."""
_LARGEST_CELL = 2**31 - 1  # What a C long holds on every platform; the csv module's own limit is 128 kB.
_HINT = "sep="


def spreadsheet_reader(file: TextIO, *, strict: bool = True) -> "Reader":
    r"""Return a reader of the rows from the header on; a line ``sep=;`` before it, as Excel knows it, is no row.

    Args:
        file: opened with ``newline=""``.
        strict: raise ``csv.Error`` for what is no CSV, instead of guessing.

    >>> import io
    >>> list(spreadsheet_reader(io.StringIO('id;"a, b"\r\n1;x\r\n')))
    [['id', 'a, b'], ['1', 'x']]
    """
    csv.field_size_limit(max(csv.field_size_limit(), _LARGEST_CELL))
    first = file.readline()
    hint = first.strip().lower()
    if hint.startswith(_HINT) and len(hint) <= len(_HINT) + 1:
        delimiter = first.rstrip("\r\n")[len(_HINT) :] or ","
        return csv.reader(file, delimiter=delimiter, strict=strict)
    lines: Iterator[str] = chain([first] if first else [], file)
    return csv.reader(lines, delimiter=_delimiter(first), strict=strict)


def _delimiter(header: str) -> str:
    """Return what stands between the cells of a header: the commonest outside quotation marks, else the comma."""
    bare = "".join(header.split('"')[::2])
    return max(DELIMITERS, key=bare.count)
