"""From a file, or from rows that are already at hand, to preference pairs."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

from evenhand.errors import InputError
from evenhand.pairs.fit_text import fit, unfit
from evenhand.pairs.preference_pair import PreferencePair, text_id
from evenhand.pairs.preferences.columns import Columns, columns_format
from evenhand.pairs.preferences.detect import detect, listed, named_format, require_columns
from evenhand.pairs.preferences.format import Format, Sample, columns_of
from evenhand.pairs.preferences.problem import Problem, ProblemKind, RowFaultError
from evenhand.pairs.preferences.records import Record, read_records
from evenhand.pairs.preferences.row import Comparison, Row

SAMPLE_ROWS = 200
"""How many rows are looked at before a format is settled."""


@dataclass(frozen=True, slots=True)
class RowOutcome:
    """What became of one row."""

    row: int
    pairs: tuple[PreferencePair, ...]
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class PreferenceStream:
    """The rows of a source as they come; they can be gone through once."""

    source: str
    format: str
    reason: str
    """What told the format."""
    outcomes: Iterator[RowOutcome]


@dataclass(frozen=True, slots=True)
class PreferenceSet:
    """The pairs of a source, and the faults of its rows."""

    source: str
    format: str
    reason: str
    rows: int
    pairs: tuple[PreferencePair, ...]
    problems: tuple[Problem, ...]


def read_preferences(path: Path, *, format: str | None = None, columns: Columns | None = None) -> PreferenceSet:
    """Read a file of preference pairs into memory; see ``stream_preferences``."""
    return collected(stream_preferences(path, format=format, columns=columns))


def stream_preferences(path: Path, *, format: str | None = None, columns: Columns | None = None) -> PreferenceStream:
    """Read a file of preference pairs row by row.

    Args:
        path: JSON lines, JSON, CSV or Parquet, each also gzipped.
        format: one of ``FORMATS``; None to tell it from the columns.
        columns: the columns of a file in no known format, instead of a format.

    A row that can't become a pair becomes a ``Problem``. What is wrong with the file as a whole is an ``InputError``:
    no row that can be read, no known format, a column that is not there, a preference that joins to nothing in any of
    the first 200 rows.
    """
    return stream_of_records(read_records(path), source=path.name, format=format, columns=columns)


def stream_of_records(
    records: Iterable[Record],
    *,
    source: str,
    format: str | None = None,
    columns: Columns | None = None,
) -> PreferenceStream:
    """Make pairs of raw rows as ``stream_preferences`` does; ``records_of`` makes raw rows of plain objects."""
    rest = iter(records)
    first = list(islice(rest, SAMPLE_ROWS))
    sample = [record.values for record in first if record.values is not None]
    if not first:
        raise InputError("has no rows", source=source, way_out="give at least one pair")
    if not sample:
        problem = first[0].problem
        raise InputError(
            f"has no row that can be read: {problem.message if problem else ''}",
            source=source,
            row=first[0].row,
            way_out="check that the file is what its ending says",
        )
    chosen, reason = _choose(sample, source, format, columns)
    seen: Counter[str] = Counter()
    outcomes = [_outcome(record, chosen, seen) for record in first]
    _refuse_what_fits_nowhere(outcomes, chosen, columns_of(sample), source)
    return PreferenceStream(
        source, chosen.name, reason, chain(outcomes, (_outcome(record, chosen, seen) for record in rest))
    )


def collected(stream: PreferenceStream) -> PreferenceSet:
    """Return all of a stream."""
    pairs: list[PreferencePair] = []
    problems: list[Problem] = []
    rows = 0
    for outcome in stream.outcomes:
        rows += 1
        pairs += outcome.pairs
        problems += outcome.problems
    return PreferenceSet(stream.source, stream.format, stream.reason, rows, tuple(pairs), tuple(problems))


def _choose(sample: Sample, source: str, name: str | None, columns: Columns | None) -> tuple[Format, str]:
    if columns is not None and (columns.named() or columns.values is not None):
        if name is not None:
            raise InputError(
                "a format and columns are given", field="--format", way_out="give one or the other, not both"
            )
        require_columns(columns.named(), sample, source)
        return columns_format(columns, sample, source), "its columns were named"
    if name is not None:
        return named_format(name, sample, source), "it was named"
    return detect(sample, source)


def _refuse_what_fits_nowhere(outcomes: list[RowOutcome], chosen: Format, columns: list[str], source: str) -> None:
    """Raise where every row of the sample that could be read lacks a column, or its preference joins to nothing."""
    faults = [problem for outcome in outcomes for problem in outcome.problems if problem.kind != ProblemKind.UNREADABLE]
    whole = {ProblemKind.MISSING_COLUMN, ProblemKind.UNKNOWN_PREFERENCE}
    if any(outcome.pairs for outcome in outcomes) or {fault.kind for fault in faults} - whole or not faults:
        return
    raise InputError(
        f"gives no pair in the format {chosen.name}: {faults[0].message} (there are the columns {listed(columns)})",
        source=source,
        row=faults[0].row,
        way_out="check what the preference refers to, name another --format, or name the columns and --values",
    )


def _outcome(record: Record, chosen: Format, seen: Counter[str]) -> RowOutcome:
    if record.values is None:
        return RowOutcome(record.row, (), (record.problem,) if record.problem else ())
    row = Row(record.row, record.values)
    try:
        comparisons = list(chosen.read(row))
    except RowFaultError as fault:
        return RowOutcome(record.row, (), (Problem(record.row, fault.kind, fault.message),))
    pairs: list[PreferencePair] = []
    problems: list[Problem] = []
    metadata = {fit(name): fit(text) for name, text in row.metadata().items()}
    for comparison in comparisons:
        problems += _remarks(record.row, comparison)
        pairs.append(_pair(comparison, metadata, seen))
    return RowOutcome(record.row, tuple(pairs), tuple(problems))


def _remarks(row: int, comparison: Comparison) -> Iterator[Problem]:
    damaged = sum(unfit(text) for text in (comparison.input, comparison.a, comparison.b))
    if damaged:
        replaced = "a character that no text can hold was" if damaged == 1 else f"{damaged} such characters were"
        yield Problem(
            row, ProblemKind.DAMAGED_TEXT, f"{replaced} replaced by U+FFFD (NUL, or not Unicode text)", lost=False
        )
    if comparison.remark:
        yield Problem(row, *comparison.remark, lost=False)


def _pair(comparison: Comparison, metadata: dict[str, str], seen: Counter[str]) -> PreferencePair:
    given, a, b = (fit(text) for text in (comparison.input, comparison.a, comparison.b))
    by = comparison.preference
    chosen, rejected = (b, a) if by.winner == "b" else (a, b)
    tie = by.winner == "tie"
    # In a tie neither order means anything, so the id must not depend on it.
    content = text_id("tie", given, *sorted((a, b))) if tie else text_id("preferred", given, chosen, rejected)
    seen[content] += 1
    pair_id = content if seen[content] == 1 else f"{content}-{seen[content]}"
    # Without an input nothing says that two pairs belong together; those over the same outputs do.
    input_id = text_id(given) if given else text_id("no input", *sorted((a, b)))
    strength = None if tie else by.strength
    return PreferencePair(pair_id, input_id, given, chosen, rejected, tie, strength, metadata)
