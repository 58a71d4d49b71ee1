"""The sensitivity panel of an audit as tables for a terminal of 80 columns."""

import math
from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from evenhand.report.audit_sensitivity import GroupFigure, LengthFigure, Sensitivity
from evenhand.report.audit_summary import Figure, GraderBlock
from evenhand.report.figure_texts import DIRECTIONS, count, grid, measure_name, p_text, percent, points
from evenhand.statistics import Estimate

FALSE_DISCOVERIES = 0.05
"""Groups are shown where q is below this."""
_MOST_GROUPS = 8


def sensitivity_tables(block: GraderBlock) -> Iterator[RenderableType]:
    """Yield what a terminal shows of a block's sensitivity."""
    panel = block.sensitivity
    of_pairs = [figure for figure in block.figures if figure.of == "pairs"]
    if not of_pairs:
        return
    yield Text()
    yield Text("How far the rates depend on choices", style="bold")
    yield from _thresholds(panel)
    yield from _averages(of_pairs)
    yield from _left_out(panel)
    yield from _groups(panel)
    yield from _length(panel)
    yield from _blind(panel)


def _thresholds(panel: Sensitivity) -> Iterator[RenderableType]:
    at = list(dict.fromkeys(point.threshold for point in panel.thresholds))
    if not at:
        return
    table = grid(("rate at threshold", 20), *((_short(threshold), 5) for threshold in at))
    series: dict[str, dict[float, Estimate]] = {}
    for point in panel.thresholds:
        if point.of == "pairs":
            series.setdefault(point.measure, {})[point.threshold] = point.rate
    for measure, rates in series.items():
        table.add_row(measure_name(measure), *(_value(rates[threshold]) for threshold in at))
    yield table


def _averages(figures: list[Figure]) -> Iterator[RenderableType]:
    table = grid(
        ("rate, averaged", 14),
        ("by pair", 7),
        ("each value", 10),
        ("by stance", 9),
        ("by topic", 8),
        ("analytic", 14),
        ("detectable", 10),
    )
    for figure in figures:
        table.add_row(
            measure_name(figure.measure),
            _value(figure.rate),
            "-" if figure.rate_each is None else _value(figure.rate_each),
            _value(figure.stance_macro),
            _value(figure.topic_macro),
            _interval(figure.robust),
            "-" if figure.detectable is None else points(figure.detectable),
        )
    yield table


def _left_out(panel: Sensitivity) -> Iterator[RenderableType]:
    rows = [group for group in panel.groups if group.by == "left out"]
    if not rows:
        return
    table = grid(("rate without", 16), ("", 11), ("n", 5), ("rate", 20), ("change", 23))
    table.columns[1].justify = "left"
    named = ""
    for row in rows:
        name, named = (row.name if row.name != named else ""), row.name
        table.add_row(name, measure_name(row.measure), f"{row.n}", percent(row.rate), _tight(row.difference))
    yield table


def _groups(panel: Sensitivity) -> Iterator[RenderableType]:
    groups = [group for group in panel.groups if group.by != "left out"]
    if not groups:
        return
    tested = [group for group in groups if group.q is not None]
    differ = sorted(
        (group for group in tested if group.q is not None and group.q < FALSE_DISCOVERIES),
        key=lambda group: (group.q or 0, -abs(group.difference.value or 0)),
    )
    numbers = ", ".join(
        count(len({group.name for group in groups if group.by == by}), by)
        for by in dict.fromkeys(group.by for group in groups)
    )
    if not differ:
        why = "none could be tested" if not tested else "none differs from the rest (q < .05)"
        yield Text(f"groups ({numbers}): {why}")
        return
    yield Text(f"groups that differ from the rest, q < .05 ({numbers})", style="bold")
    table = grid(("", 31), ("", 11), ("rate", 5), ("minus the rest", 23), ("q", 5))
    table.columns[1].justify = "left"
    for group in differ[:_MOST_GROUPS]:
        table.add_row(
            Text(f"{group.by} {_one_line(group)}"),
            measure_name(group.measure),
            _value(group.rate),
            _tight(group.difference),
            p_text(group.q),
        )
    yield table
    if len(differ) > _MOST_GROUPS:
        yield Text(f"and {len(differ) - _MOST_GROUPS} more in summary.json", style="dim")


def _length(panel: Sensitivity) -> Iterator[RenderableType]:
    known = [length for length in panel.length if length.log_ratio.value is not None]
    if not known:
        return
    first, second = known[0].first, known[0].second
    table = grid(("length", 14), (f"{second} / {first}", 18), ("difference if as long", 23), ("rank correlation", 20))
    for length in known:
        table.add_row(
            DIRECTIONS.get(length.measure, length.measure),
            _ratio(length),
            percent(length.at_equal_length, signed=True),
            _plain(length.correlation),
        )
    yield table


def _blind(panel: Sensitivity) -> Iterator[RenderableType]:
    if not panel.blind:
        return
    table = grid(("group labels", 14), ("n", 5), ("shown", 6), ("hidden", 6), ("hidden minus shown", 23))
    for blind in panel.blind:
        signed = blind.what == "direction"
        table.add_row(
            blind.what,
            f"{blind.difference.n}",
            _value(blind.shown, signed=signed),
            _value(blind.hidden, signed=signed),
            percent(blind.difference, signed=True),
        )
    yield table


def _value(estimate: Estimate, *, signed: bool = False) -> str:
    return "-" if estimate.value is None else points(estimate.value, signed=signed)


def _interval(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return "-"
    return f"[{points(estimate.low)}, {points(estimate.high)}]"


def _tight(estimate: Estimate) -> str:
    if estimate.value is None:
        return "-"
    if estimate.low is None or estimate.high is None:
        return f"{100 * estimate.value:+.1f}"
    return f"{100 * estimate.value:+.1f} [{100 * estimate.low:+.1f}, {100 * estimate.high:+.1f}]"


def _plain(estimate: Estimate) -> str:
    if estimate.value is None:
        return "-"
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:+.2f}"
    return f"{estimate.value:+.2f} [{estimate.low:+.2f}, {estimate.high:+.2f}]"


def _ratio(length: LengthFigure) -> str:
    """Return by how many times the second side's responses are longer, as a geometric mean."""
    ratio = length.log_ratio
    if ratio.value is None:
        return "-"
    if ratio.low is None or ratio.high is None:
        return f"{math.exp(ratio.value):.2f}"
    return f"{math.exp(ratio.value):.2f} [{math.exp(ratio.low):.2f}, {math.exp(ratio.high):.2f}]"


def _short(threshold: float) -> str:
    return f"{threshold:g}".removeprefix("0")


def _one_line(group: GroupFigure) -> str:
    return " ".join(group.name.split())
