"""Charts of what an audit's figures owe to choices."""

from evenhand.report.audit_sensitivity import GroupFigure
from evenhand.report.audit_summary import AuditSummary
from evenhand.report.charts.chart import Row, chart, named, said_of, values
from evenhand.report.charts.curves import Curve, Spot, curves, maximum
from evenhand.report.charts.forest import Line, Mark, forest
from evenhand.report.charts.frame import SHARES, Axis, around_zero
from evenhand.report.charts.labels import percents, rounded
from evenhand.report.figure_texts import DIRECTIONS, measure_name
from evenhand.report.page.blocks import Cell, Chart
from evenhand.report.page.figures import NONE, chance, plain, share, whole

MOST_GROUPS = 80
"""Rows of a forest; of more groups the ones with the lowest and the highest rates are drawn."""
_BY = {
    "topic": ("Topic", "Topics"),
    "template": ("Template", "Templates"),
    "kind": ("Kind of stances", "Kinds of stances"),
    "left out": ("Left out", "Without some of the pairs"),
}
_WHAT = {"mean": "mean probability", "rate": "rate", "direction": "direction"}


def threshold_chart(summary: AuditSummary, block: int, *, prefix: str = "") -> Chart | None:
    """Return the rates of pairs at other thresholds."""
    points = [
        (number, point)
        for number, point in enumerate(summary.blocks[block].sensitivity.thresholds)
        if point.of == "pairs" and point.rate.value is not None
    ]
    if not points:
        return None
    measures = list(dict.fromkeys(point.measure for _, point in points))
    thresholds = sorted({point.threshold for _, point in points})
    drawn = []
    cells: dict[tuple[float, str], Cell] = {}
    for measure in measures:
        spots = []
        for number, point in points:
            rate = point.rate
            if point.measure != measure or rate.value is None:
                continue
            low, high = (None if end is None else 100 * end for end in (rate.low, rate.high))
            spots.append(Spot(point.threshold, 100 * rate.value, low, high))
            path = f"blocks/{block}/sensitivity/thresholds/{number}/rate"
            cells[point.threshold, measure] = share(rate, path)
        drawn.append(Curve(measure_name(measure), tuple(spots)))
    rows: list[Row] = [(f"{at:g}", *(cells.get((at, measure), NONE) for measure in measures)) for at in thresholds]
    used = summary.analysis.threshold
    across = Axis(0.05, 0.95, "threshold", tuple(thresholds))
    spoken = [
        (curve.name, f"from {rounded(curve.spots[0].y, 1)} to {rounded(curve.spots[-1].y, 1)} percent")
        for curve in drawn
    ]
    top = maximum([spot.high or spot.y for curve in drawn for spot in curve.spots], scale=1)
    up = Axis(0, top, "rate, percent", tuple(top * quarter / 4 for quarter in range(5)))
    within = across.low <= used <= across.high
    return chart(
        f"{prefix}thresholds-{block + 1}",
        "Rates over thresholds",
        spoken,
        curves(drawn, across, up, at=used if within else None, said_at="threshold of the rates" if within else ""),
        (("Threshold", *(measure_name(measure) for measure in measures)), rows),
        note=f"The bands are 95% intervals. {said_of(summary, block)}",
        before=f"Curves of the rates of pairs as the threshold rises from {thresholds[0]:g} to {thresholds[-1]:g}.",
    )


def groups_chart(summary: AuditSummary, block: int, by: str, measure: str, *, prefix: str = "") -> Chart | None:
    """Return a measure's rate within each group of pairs: a forest, with the rate of all pairs as a line.

    Args:
        summary: of the audit.
        block: the grader's.
        by: ``topic``, ``template``, ``kind`` or ``left out``.
        measure: ``even_handedness``, ``refusal`` or ``hedging``.
        prefix: goes before the chart's name.
    """
    graded = summary.blocks[block]
    found = [
        (number, group)
        for number, group in enumerate(graded.sensitivity.groups)
        if (group.by, group.measure, group.of) == (by, measure, "pairs")
    ]
    if not any(group.rate.value is not None for _, group in found):
        return None
    found.sort(key=lambda one: 2.0 if one[1].rate.value is None else one[1].rate.value)
    one, many = _BY.get(by, (by, by))
    drawn = [group for _, group in found]
    note = said_of(summary, block)
    if len(drawn) > MOST_GROUPS:
        half = MOST_GROUPS // 2
        note = f"Drawn are the {half} lowest and the {half} highest of {len(drawn):,}; the table has all. {note}"
        drawn = [*drawn[:half], *drawn[-half:]]
    overall = graded.figure(measure)
    all_pairs = None if overall is None else overall.rate.value
    mark = None if all_pairs is None else Mark(100 * all_pairs, f"all pairs {rounded(100 * all_pairs, 1)}")
    lines = [Line(_named(group), (group.rate,), percents(group.rate), f"{group.n:,}") for group in drawn]
    rows = [_group_row(group, f"blocks/{block}/sensitivity/groups/{number}") for number, group in found]
    change = "Minus all pairs" if by == "left out" else "Minus the rest"
    return chart(
        f"{prefix}{by.replace(' ', '-')}-{measure.replace('_', '-')}-{block + 1}",
        f"{many}: {measure_name(measure).lower()}",
        [(_named(group), f"{percents(group.rate)} percent") for group in drawn],
        forest(lines, SHARES, mark=mark, said="rate [95% interval]", counted="n"),
        ((one, "n", "Rate", change, "q"), rows),
        note=f"Rates at {summary.analysis.threshold:g}, from the lowest. q: of no difference from the rest, adjusted"
        f" for the number of groups. {note}",
        before="Points with intervals, a row a group, from the lowest rate.",
    )


def _group_row(group: GroupFigure, at: str) -> Row:
    n, rate = whole(group.n, f"{at}/n"), share(group.rate, f"{at}/rate")
    return _named(group), n, rate, share(group.difference, f"{at}/difference", signed=True), chance(group.q, f"{at}/q")


def _named(group: GroupFigure) -> str:
    return group.name.replace("_", " ") if group.by == "kind" else group.name


def length_chart(summary: AuditSummary, block: int, *, prefix: str = "") -> Chart | None:
    """Return the differences between the sides as they are, and as they would be at equal length."""
    graded = summary.blocks[block]
    found = {one.measure: (number, one) for number, one in enumerate(graded.directions)}
    lines: list[Line] = []
    rows: list[Row] = []
    for number, length in enumerate(graded.sensitivity.length):
        place, direction = found.get(length.measure, (0, None))
        equal = length.at_equal_length
        name, at = DIRECTIONS.get(length.measure, length.measure), f"blocks/{block}/sensitivity/length/{number}"
        lines.append(
            Line(
                name,
                (None if direction is None else direction.mean, equal),
                percents(equal, signed=True),
                f"{equal.n:,}",
            )
        )
        found_cell = (
            NONE if direction is None else share(direction.mean, f"blocks/{block}/directions/{place}/mean", signed=True)
        )
        rows.append(
            (
                *(name, whole(equal.n, f"{at}/at_equal_length/n"), found_cell),
                share(equal, f"{at}/at_equal_length", signed=True),
                plain(length.correlation, f"{at}/correlation", signed=True),
            )
        )
    ends = values(*(figure for line in lines for figure in line.figures))
    if not ends:
        return None
    first, second = (named(side) for side in (graded.sensitivity.length[0].first, graded.sensitivity.length[0].second))
    spec = forest(
        lines,
        around_zero(ends, "percentage points"),
        series=("as found", "at equal length"),
        mark=Mark(0),
        said="at equal length",
        counted="n",
        ends=(f"{first} more", f"{second} more"),
    )
    return chart(
        f"{prefix}length-{block + 1}",
        f"Length: {second} minus {first} if both were equally long",
        [(line.label, f"at equal length {line.said} percentage points") for line in lines],
        spec,
        (("", "n", "As found", "At equal length", "Correlation with length"), rows),
        note=f"A regression on the log ratio of the two lengths; a correlation is no cause. {said_of(summary, block)}",
        before="Points with intervals, two a row: as found and at equal length.",
    )


def blind_chart(summary: AuditSummary, block: int, *, prefix: str = "") -> Chart | None:
    """Return the figures of the same pairs with and without the group labels."""
    blind = summary.blocks[block].sensitivity.blind
    if not any(one.shown.value is not None and one.hidden.value is not None for one in blind):
        return None
    lines: list[Line] = []
    rows: list[Row] = []
    for number, one in enumerate(blind):
        signed, at = one.what == "direction", f"blocks/{block}/sensitivity/blind/{number}"
        name = f"{measure_name(one.measure)}, {_WHAT.get(one.what, one.what)}"
        change = percents(one.difference, signed=True)
        lines.append(Line(name, (one.shown, one.hidden), change, f"{one.difference.n:,}"))
        rows.append(
            (
                *(name, whole(one.difference.n, f"{at}/difference/n")),
                share(one.shown, f"{at}/shown", signed=signed),
                share(one.hidden, f"{at}/hidden", signed=signed),
                share(one.difference, f"{at}/difference", signed=True),
            )
        )
    least = min(values(*(figure for line in lines for figure in line.figures)))
    low = 0 if least >= 0 else next(end for end in (-25, -50, -100) if end <= least)
    axis = Axis(low, 100, "percent; direction in percentage points", tuple(range(low, 101, 25)))
    spec = forest(lines, axis, series=("labels shown", "labels hidden"), said="hidden minus shown", counted="n")
    return chart(
        f"{prefix}blind-{block + 1}",
        "Group labels shown and hidden",
        [(line.label, f"hidden minus shown {line.said}") for line in lines],
        spec,
        (("", "n", "Labels shown", "Labels hidden", "Hidden minus shown"), rows),
        note=f"The same pairs, graded with and without the labels of the two groups. {said_of(summary, block)}",
        before="Points with intervals, two a row: with labels and without.",
    )
