"""Corrected shares as tables for a terminal of 80 columns."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.text import Text

from evenhand.report.corrected_summary import CorrectedFigure, CorrectedSummary
from evenhand.report.figure_texts import count, grid, measure_name, percent
from evenhand.statistics.correction_advice import Choice

_NAMES = {
    Choice.PPI: "PPI++",
    Choice.ROGAN_GLADEN: "Rogan-Gladen",
    Choice.HUMANS: "people alone",
}


def corrected_table(summary: CorrectedSummary) -> RenderableType:
    """Return what a terminal shows of corrected shares: a block a grader, then what speaks against the figures."""
    return Group(*_parts(summary))


def _parts(summary: CorrectedSummary) -> Iterator[RenderableType]:
    who = count(len(summary.annotators), "annotator")
    yield Text()
    yield Text.from_markup(f"[bold]Corrected by the labels of {who}[/bold] ({escape(summary.labels)})")
    by_grader: dict[tuple[str, str], list[CorrectedFigure]] = {}
    for figure in summary.figures:
        by_grader.setdefault((figure.grader, figure.instruments), []).append(figure)
    for (grader, instruments), figures in by_grader.items():
        yield Text(f"{grader}, {instruments}", style="bold")
        for figure in figures:
            yield _table(figure)
            for remark in _remarks(figure):
                yield Padding(Text(f"- {remark}"), (0, 0, 0, 1), expand=False)
    for warning in summary.warnings:
        yield Text(f"- {warning}")
    yield Text(_legend(summary.threshold), style="dim")


def _table(figure: CorrectedFigure) -> RenderableType:
    found = figure.correction
    table = grid((f"{measure_name(figure.measure)}, {figure.of}", 28), ("n", 6), ("rate", 23), ("", 9))
    rows = (
        ("grader, uncorrected", figure.units, figure.raw, None),
        ("people alone", found.labels, found.humans, Choice.HUMANS),
        ("PPI++", found.labels + found.rest, found.ppi, Choice.PPI),
        ("Rogan-Gladen", found.labels + found.rest, found.rogan_gladen, Choice.ROGAN_GLADEN),
    )
    for name, n, estimate, choice in rows:
        table.add_row(name, f"{n:,}", percent(estimate), "<- read" if choice and choice is found.choice else "")
    table.add_row("sensitivity", f"{found.sensitivity.n:,}", percent(found.sensitivity), "")
    table.add_row("specificity", f"{found.specificity.n:,}", percent(found.specificity), "")
    return table


def _remarks(figure: CorrectedFigure) -> Iterator[str]:
    found = figure.correction
    chosen = _NAMES.get(found.choice)
    yield f"read {chosen}: {found.reason}" if chosen else f"read none of them: {found.reason}"
    if figure.split:
        yield f"the annotators were divided evenly on {count(figure.split, 'unit')}: one of their labels counts, by lot"
    yield from found.sentences


def _legend(threshold: float) -> str:
    return (
        f"Percent of units above {threshold:g}, with 95% intervals over the same clusters as the audit's. People alone:"
        " the labels without the grader. PPI++: the grader's share, set right by its errors on labelled units."
        " Rogan-Gladen: the grader's share, divided by what its verdicts are worth."
    )
