"""What can be wrong with a row of preference data, said and counted instead of dropped."""

from dataclasses import dataclass
from enum import StrEnum


class ProblemKind(StrEnum):
    """The kinds of fault that a row may have."""

    UNREADABLE = "unreadable"
    """The row is not JSON, not CSV, or not an object with columns."""
    MISSING_COLUMN = "missing_column"
    """The row lacks a column that its format needs."""
    NULL = "null"
    """There is a null where text or a preference should be."""
    WRONG_TYPE = "wrong_type"
    """There is a boolean, a number or a structure where text should be."""
    UNKNOWN_PREFERENCE = "unknown_preference"
    """The preference joins to neither output and is no tie."""
    NO_SHARED_PROMPT = "no_shared_prompt"
    """Two conversations part before any turn that could be answered."""
    DAMAGED_TEXT = "damaged_text"
    """Characters that no text can hold (a NUL, half a surrogate pair, bytes that are not UTF-8) were replaced."""
    CONTRADICTING_SCORES = "contradicting_scores"
    """The rejected output has the higher score."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault of one row."""

    row: int
    """As an editor or a spreadsheet counts: the line of a JSONL file, the row of a CSV file whose header is row 1,
    the place from 1 in a JSON list or a Parquet file."""
    kind: ProblemKind
    message: str
    lost: bool = True
    """The row gave no pair; False where it gave one in spite of the fault."""


class RowFaultError(Exception):
    """A row can't become a pair; raised by what reads fields and caught where rows are read."""

    def __init__(self, kind: ProblemKind, message: str) -> None:
        self.kind, self.message = kind, message
        super().__init__(message)
