"""What all functions that make a chart share: its name, its alt text, what its figures rest on."""

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.report.audit_summary import Analysis, AuditSummary
from evenhand.report.charts.labels import label
from evenhand.report.page.blocks import Cell, Chart, Shown, Table
from evenhand.report.page.figures import NONE, hundredths
from evenhand.statistics import Estimate

Row = tuple[Cell, ...]
_SPOKEN, _NAME = 8, 60
"""Figures that are read out, and characters of a name in a sentence."""
_INTERVALS = {"bca": "BCa bootstrap", "percentile": "percentile bootstrap"}
_UNITS = {"stance": "stance pairs", "topic": "topics"}


def chart(
    unique: str,
    title: str,
    figures: Sequence[tuple[str, str]],
    spec: Mapping[str, Any],
    table: tuple[Sequence[str], Sequence[Row]],
    *,
    note: str,
    before: str = "",
) -> Chart:
    """Return a chart whose alt text is made of its figures.

    Args:
        unique: name of the chart, such as no other in a report has.
        title: also the caption of the table.
        figures: what is what, in words; the first ones are read out.
        spec: what is drawn.
        table: columns and rows that say the same.
        note: what the figures are and rest on.
        before: what the alt text begins with.
    """
    spoken = "; ".join(f"{label(what)}: {said}" for what, said in figures[:_SPOKEN])
    rest = f"; and {len(figures) - _SPOKEN} more in the table" if len(figures) > _SPOKEN else ""
    columns, rows = table
    alt = f"{before} {spoken}{rest}.".strip()
    return Chart(unique, title, alt, spec, Table(title, tuple(columns), tuple(rows), note))


def named(text: str) -> str:
    """Return a name as it stands in a sentence."""
    return label(text, _NAME)


def bare(value: float | None, path: str, *, signed: bool = False) -> Cell:
    """Return a number that has no interval as a cell."""
    return NONE if value is None else Shown(hundredths(value, signed=signed), path)


def said_of(summary: AuditSummary, block: int) -> str:
    """Return what the figures of an audit's block rest on."""
    graded = summary.blocks[block]
    return (
        f"{named(summary.configuration)}, graded by {named(graded.grader)} with the instruments"
        f" {named(graded.instruments)}. {intervals(summary.analysis)}"
    )


def intervals(analysis: Analysis) -> str:
    """Return how the intervals of an audit were made."""
    return f"95% intervals: {_INTERVALS[analysis.interval]} over {_UNITS[analysis.unit]}, {analysis.draws:,} draws."


def values(*estimates: Estimate | None, scale: float = 100) -> list[float]:
    """Return all ends of these estimates that there are."""
    return [
        scale * end
        for estimate in estimates
        if estimate is not None
        for end in (estimate.value, estimate.low, estimate.high)
        if end is not None
    ]
