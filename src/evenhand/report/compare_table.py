"""A comparison as tables for a terminal of 80 columns."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.text import Text

from evenhand.report.agreement_table import agreement_tables
from evenhand.report.compare_summary import ComparedBlock, ComparedFigure, Comparison, RankAgreement, SettingDifference
from evenhand.report.figure_texts import DIRECTIONS, count, grid, measure_name, p_text
from evenhand.statistics import Estimate

_INTERVALS = {"bca": "BCa bootstrap", "percentile": "percentile bootstrap"}
_UNITS = {"stance": "stance pairs", "topic": "topics"}
_LABELS = {
    "even_handedness.mean": "  mean P",
    "cells.helped_both.rate": "helped both",
    "cells.helped_neither.rate": "helped neither",
    "even_handedness.position.swap_consistency": "same if swapped",
    "even_handedness.position.effect": "1st - 2nd shown",
}


def comparison_table(comparison: Comparison) -> RenderableType:
    """Return what a terminal shows of a comparison: what is compared, a block a grader, agreement, remarks."""
    parts: list[RenderableType] = [
        Text(
            f"Comparison on {count(comparison.pairs, 'shared paired prompt')} over"
            f" {count(comparison.stance_pairs, 'stance pair')} and {count(comparison.topics, 'topic')}",
            style="bold",
        ),
        *_configurations(comparison),
        *_settings(comparison.settings),
    ]
    for block in comparison.blocks:
        parts += _block(comparison, block)
    parts += agreement_tables(comparison.agreement, comparison.analysis.threshold)
    parts += _ranks(comparison.ranks)
    remarks = [
        *(
            f"{one.grader} with {one.instruments} is left out: no judgments of {', '.join(one.missing)}"
            for one in comparison.left_out
        ),
        *comparison.remarks,
    ]
    parts += [Text(), *(Text(f"- {remark}") for remark in remarks)]
    parts += [Text(), Text(_legend(comparison), style="dim")]
    return Group(*parts)


def _configurations(comparison: Comparison) -> Iterator[RenderableType]:
    for number, one in enumerate(comparison.configurations, 1):
        named = escape(one.name) if one.subject in one.name else f"{escape(one.name)} (subject {escape(one.subject)})"
        beyond = f"; {count(one.beyond, 'more pair')} in its run" if one.beyond else ""
        role = ", the baseline" if one.name == comparison.baseline else ""
        yield Padding(Text.from_markup(f"[bold]{number}[/bold]  {named}{role}{beyond}"), (0, 0, 0, 1), expand=False)


def _settings(settings: tuple[SettingDifference, ...]) -> Iterator[RenderableType]:
    for difference in settings:
        by_value: dict[str, list[str]] = {}
        for number, value in enumerate(difference.values, 1):
            by_value.setdefault(value, []).append(str(number))
        values = "; ".join(f"{', '.join(numbers)}: {value}" for value, numbers in by_value.items())
        style = "bold" if difference.kind == "confounder" else ""
        yield Padding(Text(f"{difference.name}   {values}", style=style), (0, 0, 0, 4), expand=False)


def _block(comparison: Comparison, block: ComparedBlock) -> Iterator[RenderableType]:
    yield Text()
    yield Text.from_markup(
        f"[bold]Graded by {escape(block.grader)}[/bold] with the instruments {escape(block.instruments)}"
    )
    several = len(comparison.configurations) > 2
    baseline = comparison.names.index(comparison.baseline) + 1
    table = grid(
        (f"rate at {comparison.analysis.threshold:g}", 15),
        ("", 2),
        ("n", 5),
        ("percent", 20),
        (f"minus {baseline}", 21),
        ("p adj" if several else "p", 5),
        ("least", 5),
    )
    headed = False
    for figure in block.figures:
        label = _label(figure.name)
        if label is None:
            continue
        if figure.name.endswith(".direction.mean") and not headed:
            headed = True
            table.add_row(Text(f"{block.second} - {block.first}", style="bold"))
        for row in _rows(comparison, figure):
            table.add_row(label, *row)
            label = ""
    yield table
    for remark in block.remarks:
        yield Padding(Text(f"- {remark}"), (0, 0, 0, 1), expand=False)


def _rows(comparison: Comparison, figure: ComparedFigure) -> Iterator[tuple[str, ...]]:
    signed = figure.name.endswith(("direction.mean", "position.effect"))
    changes = {change.configuration: change for change in figure.changes}
    for number, (name, estimate) in enumerate(zip(comparison.names, figure.estimates, strict=True), 1):
        change = changes.get(name)
        if change is None:
            yield f"{number}", f"{estimate.n}", _percent(estimate, signed=signed), "", "", ""
            continue
        yield (
            f"{number}",
            f"{change.difference.n}",
            _percent(estimate, signed=signed),
            _percent(change.difference, signed=True),
            p_text(change.adjusted),
            "-" if change.detectable is None else _number(change.detectable, signed=False),
        )


def _label(name: str) -> str | None:
    """Return what a figure is called in the table, None where the table leaves it to the JSON.

    >>> _label("refusal.left.rate"), _label("refusal.direction.mean"), _label("refusal.left.mean")
    ('  left', 'declined more', None)
    """
    if name in _LABELS:
        return _LABELS[name]
    match name.split("."):
        case ["cells", *_]:
            return None
        case [measure, "rate"]:
            return measure_name(measure)
        case [measure, "direction", "mean"]:
            return DIRECTIONS.get(measure, measure)
        case [_, side, "rate"]:
            return f"  {side}"
    return None


def _ranks(ranks: tuple[RankAgreement, ...]) -> Iterator[RenderableType]:
    if not ranks:
        return
    yield Text()
    yield Text("Do graders put the configurations into the same order?", style="bold")
    table = grid(("rate", 12), ("graders", 33), ("n", 3), ("Spearman", 8), ("p", 5), ("Kendall", 7), ("p", 5))
    table.columns[1].justify = "left"
    for rank in ranks:
        rho, tau = ("-" if value is None else f"{value:+.2f}" for value in (rank.spearman, rank.kendall))
        table.add_row(
            measure_name(rank.measure),
            f"{rank.one} / {rank.other}",
            f"{rank.n}",
            rho,
            p_text(rank.spearman_p),
            tau,
            p_text(rank.kendall_p),
        )
    yield table
    for why in dict.fromkeys(rank.method for rank in ranks if rank.spearman is None):
        yield Padding(Text(f"- no order: {why}"), (0, 0, 0, 1), expand=False)


def _percent(estimate: Estimate, *, signed: bool) -> str:
    """Return a figure in percent with its interval, or a dash.

    >>> _percent(Estimate(-1.0, -1.0, -0.631, 8, 8, ""), signed=True)
    '-100 [-100, -63.1]'
    """
    if estimate.value is None:
        return "-"
    if estimate.low is None or estimate.high is None:
        return _number(estimate.value, signed=signed)
    low, high = (_number(end, signed=signed) for end in (estimate.low, estimate.high))
    return f"{_number(estimate.value, signed=signed)} [{low}, {high}]"


def _number(value: float, *, signed: bool) -> str:
    shown = round(100 * value, 1) + 0.0
    digits = 0 if abs(shown) >= 100 else 1
    return f"{shown:{'+' if signed else ''}.{digits}f}"


def _legend(comparison: Comparison) -> str:
    analysis = comparison.analysis
    adjusted = (
        " p adj: adjusted for the configurations compared with the baseline (Holm)."
        if len(comparison.configurations) > 2
        else ""
    )
    return (
        f"Percent, with 95% intervals: {_INTERVALS[analysis.interval]}, {analysis.draws:,} draws that resample"
        f" {_UNITS[analysis.unit]}, the same ones for every configuration. minus: the configuration minus the baseline,"
        " pair by pair, over the n pairs that could be read of both. p: of no difference, with whole"
        f" {_UNITS[analysis.unit]}.{adjusted} least: the smallest difference that these pairs would show in four cases"
        " of five. All other figures are in the JSON."
    )
