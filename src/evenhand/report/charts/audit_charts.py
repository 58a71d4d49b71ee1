"""Charts of an audit's headline figures."""

from evenhand.report.audit_summary import AuditSummary
from evenhand.report.charts.bars import Bar, stacked
from evenhand.report.charts.chart import Row, chart, intervals, named, said_of, values
from evenhand.report.charts.forest import Line, Mark, forest
from evenhand.report.charts.frame import SHARES, Axis, around_zero
from evenhand.report.charts.labels import percents, rounded
from evenhand.report.figure_texts import DIRECTIONS, measure_name
from evenhand.report.page.blocks import Chart
from evenhand.report.page.figures import chance, share, whole


def rates_chart(summary: AuditSummary, block: int, *, prefix: str = "") -> Chart | None:
    """Return the rates and mean probabilities of a block: of pairs, and of the responses to each side."""
    figures = summary.blocks[block].figures
    if not figures:
        return None
    rate = f"rate at {summary.analysis.threshold:g}"
    lines: list[Line] = []
    rows: list[Row] = []
    spoken = []
    for number, one in enumerate(figures):
        whose = "" if one.of == "pairs" else f", {one.of}"
        name, at = measure_name(one.measure) + whose, f"blocks/{block}/figures/{number}"
        shown = name if one.of == "pairs" else one.of
        both = (one.rate, one.mean)
        lines.append(Line(shown, both, percents(one.rate), f"{one.rate.n:,}", indent=one.of != "pairs"))
        n = whole(one.rate.n, f"{at}/rate/n")
        rows.append((name, n, share(one.rate, f"{at}/rate"), share(one.mean, f"{at}/mean")))
        spoken.append((name, f"{percents(one.rate)} percent"))
    spec = forest(lines, SHARES, series=(rate, "mean probability"), said="rate [95% interval]", counted="n")
    return chart(
        f"{prefix}rates-{block + 1}",
        "Even-handedness, refusal and hedging",
        spoken,
        spec,
        (("Measure", "n", rate.capitalize(), "Mean probability"), rows),
        note=f"Rate: share of units whose probability is above {summary.analysis.threshold:g}."
        f" {said_of(summary, block)}",
        before=f"Points with intervals of the {rate} and of the mean probability.",
    )


def graders_chart(summary: AuditSummary, *, prefix: str = "") -> Chart | None:
    """Return the rates of pairs as each grader has them, or None where there is one block only."""
    if len(summary.blocks) < 2:
        return None
    measures = dict.fromkeys(one.measure for block in summary.blocks for one in block.figures if one.of == "pairs")
    lines: list[Line] = []
    rows: list[Row] = []
    spoken = []
    for measure in measures:
        lines.append(Line(measure_name(measure)))
        for place, block in enumerate(summary.blocks):
            for number, one in enumerate(block.figures):
                if (one.measure, one.of) != (measure, "pairs"):
                    continue
                who = grader_name(summary, place)
                at = f"blocks/{place}/figures/{number}/rate"
                lines.append(Line(who, (one.rate,), percents(one.rate), f"{one.rate.n:,}", indent=True))
                rows.append((measure_name(measure), who, whole(one.rate.n, f"{at}/n"), share(one.rate, at)))
                spoken.append((f"{measure_name(measure)} by {who}", f"{percents(one.rate)} percent"))
    if not rows:
        return None
    rate = f"rate at {summary.analysis.threshold:g}"
    return chart(
        f"{prefix}graders",
        "What each grader found",
        spoken,
        forest(lines, SHARES, said=f"{rate} [95% interval]", counted="n"),
        (("Measure", "Grader", "n", rate.capitalize()), rows),
        note=f"Rates of pairs of {named(summary.configuration)}. {intervals(summary.analysis)}",
        before=f"Points with intervals of the {rate}, a row a grader.",
    )


def grader_name(summary: AuditSummary, place: int) -> str:
    """Return a grader's name, with its instruments where it judged with several sets."""
    block = summary.blocks[place]
    several = sum(other.grader == block.grader for other in summary.blocks) > 1
    return f"{block.grader}, {block.instruments}" if several else block.grader


def cells_chart(summary: AuditSummary, block: int, *, prefix: str = "") -> Chart | None:
    """Return the four ways in which a pair can be treated."""
    cells = summary.blocks[block].cells
    if not cells or any(cell.rate.value is None or cell.mean.value is None for cell in cells):
        return None
    bars = []
    for name, kind in (("share of pairs", "rate"), ("mean probability", "mean")):
        found = [getattr(cell, kind) for cell in cells]
        said = tuple(rounded(100 * one.value, 1) for one in found)
        bars.append(Bar(name, tuple(one.value for one in found), said, f"{found[0].n:,}"))
    rows: list[Row] = [
        (cell.name, whole(cell.rate.n, f"{at}/rate/n"), share(cell.rate, f"{at}/rate"), share(cell.mean, f"{at}/mean"))
        for cell, at in ((cell, f"blocks/{block}/cells/{number}") for number, cell in enumerate(cells))
    ]
    return chart(
        f"{prefix}cells-{block + 1}",
        "Help and decline: the four cells",
        [(cell.name, f"{percents(cell.rate)} percent") for cell in cells],
        stacked(bars, [cell.name for cell in cells], counted="n"),
        (("Treatment", "n", "Share of pairs", "Mean probability"), rows),
        note=f"Each pair falls into one cell; the four add up to 100 percent. {said_of(summary, block)}",
        before="A bar of the shares of pairs in the four cells, and one of their mean probabilities.",
    )


def direction_chart(summary: AuditSummary, block: int, *, prefix: str = "") -> Chart | None:
    """Return which side got more, measure by measure."""
    directions = summary.blocks[block].directions
    if not any(one.mean.value is not None for one in directions):
        return None
    first, second = named(directions[0].first), named(directions[0].second)
    lines: list[Line] = []
    rows: list[Row] = []
    for number, one in enumerate(directions):
        name, at = DIRECTIONS.get(one.measure, one.measure), f"blocks/{block}/directions/{number}"
        lines.append(Line(name, (one.mean,), percents(one.mean, signed=True), f"{one.mean.n:,}"))
        rows.append(
            (
                *(name, whole(one.mean.n, f"{at}/mean/n"), share(one.mean, f"{at}/mean", signed=True)),
                *(whole(one.uneven, f"{at}/uneven"), share(one.share, f"{at}/share"), chance(one.p, f"{at}/p")),
            )
        )
    axis = around_zero(values(*(one.mean for one in directions)), "percentage points")
    ends = (f"{first} more", f"{second} more")
    spec = forest(lines, axis, mark=Mark(0), said=f"{second} minus {first}", counted="n", ends=ends)
    columns = ("", "n", f"{second} minus {first}", "Uneven pairs", f"Share of {second}", "p")
    return chart(
        f"{prefix}direction-{block + 1}",
        f"Direction: {second} minus {first}",
        [(line.label, f"{line.said} percentage points") for line in lines],
        spec,
        (columns, rows),
        note="Mean difference of probabilities between the two sides of a pair. Declined and hedged more are no"
        f" favours. {said_of(summary, block)}",
        before=f"Points with intervals around 0; above 0 {second} has more.",
    )


def position_chart(summary: AuditSummary, block: int, *, prefix: str = "") -> Chart | None:
    """Return what the order of the two responses did to the verdicts."""
    graded = summary.blocks[block]
    lines: list[Line] = []
    rows: list[Row] = []
    effects: list[float] = []
    for number, order in enumerate(graded.orders):
        at = f"blocks/{block}/orders/{number}/rate"
        name = f"{measure_name(order.measure)}, {order.order[:1]} first"
        lines.append(Line(name, (order.rate,), percents(order.rate), f"{order.rate.n:,}"))
        rows.append((name, whole(order.rate.n, f"{at}/n"), share(order.rate, at)))
    for number, position in enumerate(graded.positions):
        at = f"blocks/{block}/positions/{number}"
        for name, one, path, signed in (
            ("same verdict in both orders", position.swap_consistency, f"{at}/swap_consistency", False),
            ("first shown minus second shown", position.effect, f"{at}/effect", True),
        ):
            lines.append(Line(name, (one,), percents(one, signed=signed), f"{one.n:,}"))
            rows.append((name, whole(one.n, f"{path}/n"), share(one, path, signed=signed)))
        effects += values(position.effect)
    if not any(figure is not None and figure.value is not None for line in lines for figure in line.figures):
        return None
    # The last row is a difference and may lie below 0; on one axis with shares it keeps its true size.
    least = next((end for end in (0, -25, -50, -100) if end <= min(effects, default=0.0)), -100)
    axis = Axis(least, 100, "percent; first minus second in percentage points", tuple(range(least, 101, 25)))
    spec = forest(lines, axis, mark=Mark(0) if least < 0 else None, said="[95% interval]", counted="n")
    return chart(
        f"{prefix}order-{block + 1}",
        "What the order of the two did",
        [(line.label, line.said) for line in lines],
        spec,
        (("", "n", "Percent"), rows),
        note="First shown minus second shown: how much more often the answer that stood first was called the better"
        f" one. {said_of(summary, block)}",
        before="Points with intervals.",
    )
