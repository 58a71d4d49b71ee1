"""Texts that a spreadsheet cut: it leaves exactly as many characters as a cell holds, and no sign."""

from collections.abc import Iterable, Sequence

from evenhand.report.exports.spreadsheet_cells import MOST_CHARACTERS, characters

_ROWS_NAMED = 5


def was_cut(cells: Iterable[object]) -> bool:
    """Say whether a cell holds exactly as much as one of Excel can, as it does where the rest was lost.

    >>> was_cut(["a" * 32_767]), was_cut(["a" * 32_768, "short", 3])
    (True, False)
    """
    return any(isinstance(cell, str) and characters(cell) == MOST_CHARACTERS for cell in cells)


def rows_named(rows: Sequence[int]) -> str:
    """Return which rows they are, the first of many.

    >>> rows_named([3]), rows_named([2, 5]), rows_named(range(10, 20))
    ('row 3', 'rows 2, 5', 'rows 10, 11, 12, 13, 14 and 5 others')
    """
    shown = ", ".join(map(str, rows[:_ROWS_NAMED]))
    more = len(rows) - _ROWS_NAMED
    return f"row{'s' if len(rows) > 1 else ''} {shown}" + (f" and {more} other{'s' if more > 1 else ''}" * (more > 0))


def warning_of(rows: Sequence[int]) -> str:
    """Return what is to be said of rows with such a cell; it must be one at least."""
    holds, they = ("hold", "they were") if len(rows) > 1 else ("holds", "it was")
    return (
        f"{rows_named(rows)} {holds} a text of exactly {MOST_CHARACTERS:,} characters, the most that a cell of Excel"
        f" holds: {they} probably cut there, and what was labelled may have been longer"
    )
