"""Charts of a comparison of configurations."""

from collections.abc import Iterator

from evenhand.report.charts.chart import Row, chart, intervals, named, values
from evenhand.report.charts.forest import Line, Mark, forest
from evenhand.report.charts.frame import SHARES, around_zero
from evenhand.report.charts.labels import percents
from evenhand.report.compare_summary import ComparedBlock, ComparedFigure, Comparison
from evenhand.report.figure_texts import DIRECTIONS, measure_name
from evenhand.report.page.blocks import Chart, Shown
from evenhand.report.page.figures import NONE, chance, points, share, whole

_OTHERS = {
    "cells.helped_both.rate": "Helped both",
    "cells.helped_neither.rate": "Helped neither",
    "even_handedness.mean": "Even-handed, mean probability",
}


def compared_chart(comparison: Comparison, block: int, measure: str, *, prefix: str = "") -> Chart | None:
    """Return a measure's rate by configuration: of pairs, and of the responses to each side."""
    graded = comparison.blocks[block]
    found = list(_rates(graded, measure))
    lines: list[Line] = []
    rows: list[Row] = []
    spoken = []
    for number, figure, name in found:
        if len(found) > 1:
            lines.append(Line(name))
        for place, (configuration, one) in enumerate(zip(comparison.names, figure.estimates, strict=True)):
            at = f"blocks/{block}/figures/{number}/estimates/{place}"
            lines.append(Line(configuration, (one,), percents(one), f"{one.n:,}", indent=len(found) > 1))
            rows.append((name, configuration, whole(one.n, f"{at}/n"), share(one, at)))
            spoken.append((f"{name}, {configuration}", f"{percents(one)} percent"))
    if not any(figure is not None and figure.value is not None for line in lines for figure in line.figures):
        return None
    rate = f"rate at {comparison.analysis.threshold:g}"
    return chart(
        f"{prefix}configurations-{measure.replace('_', '-')}-{block + 1}",
        f"{measure_name(measure)} by configuration",
        spoken,
        forest(lines, SHARES, said=f"{rate} [95% interval]", counted="n"),
        (("Figure", "Configuration", "n", rate.capitalize()), rows),
        note=f"On the shared pairs that could be read of each configuration. {_said_of(comparison, graded)} Two"
        " intervals that overlap don't say that there is no difference: see the paired differences.",
        before=f"Points with intervals of the {rate}, a row a configuration.",
    )


def changes_chart(comparison: Comparison, block: int, *, prefix: str = "") -> Chart | None:
    """Return each configuration's paired differences from the baseline: a forest."""
    graded = comparison.blocks[block]
    several = len(comparison.configurations) > 2
    lines: list[Line] = []
    rows: list[Row] = []
    spoken = []
    for number, figure in enumerate(graded.figures):
        name = _changed(figure.name, graded)
        if name is None or not any(change.difference.value is not None for change in figure.changes):
            continue
        if several:
            lines.append(Line(name))
        for place, change in enumerate(figure.changes):
            one, at = change.difference, f"blocks/{block}/figures/{number}/changes/{place}"
            said = percents(one, signed=True)
            lines.append(Line(change.configuration if several else name, (one,), said, f"{one.n:,}", indent=several))
            rows.append(
                (
                    *(name, change.configuration, whole(one.n, f"{at}/difference/n")),
                    *(share(one, f"{at}/difference", signed=True), chance(change.adjusted, f"{at}/adjusted")),
                    NONE if change.detectable is None else Shown(points(change.detectable), f"{at}/detectable"),
                )
            )
            spoken.append((f"{name}, {change.configuration}" if several else name, f"{said} percentage points"))
    if not rows:
        return None
    ends = values(*(figure for line in lines for figure in line.figures))
    p = "p, adjusted" if several else "p"
    minus = "the baseline" if several else named(comparison.baseline)
    return chart(
        f"{prefix}differences-{block + 1}",
        "Paired differences from the baseline",
        spoken,
        forest(
            lines,
            around_zero(ends, "percentage points"),
            mark=Mark(0),
            said="difference [95% interval]",
            counted="n",
            ends=("less", "more than the baseline"),
        ),
        (("Figure", "Configuration", "n", f"Minus {minus}", p, "Least that would show"), rows),
        note=f"Pair by pair, the configuration minus the baseline, {named(comparison.baseline)}."
        f" Least that would show: in four cases of five, in percentage points. {_said_of(comparison, graded)}",
        before="Points with intervals around 0, which is no difference.",
    )


def _rates(block: ComparedBlock, measure: str) -> Iterator[tuple[int, ComparedFigure, str]]:
    for number, figure in enumerate(block.figures):
        match figure.name.split("."):
            case [found, "rate"] if found == measure:
                yield number, figure, "pairs"
            case [found, side, "rate"] if found == measure and side in (block.first, block.second):
                yield number, figure, f"responses to {side}"


def _changed(name: str, block: ComparedBlock) -> str | None:
    """Return what a figure is called in the forest of differences; None where it is left to the tables."""
    if name in _OTHERS:
        return _OTHERS[name]
    match name.split("."):
        case [measure, "rate"]:
            return measure_name(measure)
        case [measure, "direction", "mean"]:
            return f"{DIRECTIONS.get(measure, measure).capitalize()}, {block.second} - {block.first}"
        case [measure, side, "rate"] if side in (block.first, block.second):
            return f"{measure_name(measure)}, {side}"
    return None


def _said_of(comparison: Comparison, block: ComparedBlock) -> str:
    graded = f"Graded by {named(block.grader)} with the instruments {named(block.instruments)}."
    return f"{graded} {intervals(comparison.analysis)}"
