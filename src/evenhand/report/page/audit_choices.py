"""How far an audit's figures depend on choices: thresholds, averages, groups of pairs, length, group labels."""

import math
from collections.abc import Iterator

from evenhand.report.audit_sensitivity import GroupFigure, LengthFigure
from evenhand.report.audit_summary import AuditSummary
from evenhand.report.charts import blind_chart, groups_chart, length_chart, threshold_chart
from evenhand.report.figure_texts import DIRECTIONS, measure_name
from evenhand.report.page.blocks import Block, Cell, Section, Shown, Table
from evenhand.report.page.by_grader import by_grader
from evenhand.report.page.figures import (
    NONE,
    chance,
    hundredths,
    plain,
    points,
    share,
    value_only,
    whole,
    why_missing,
)

_GROUPS = (("topic", "Topics"), ("template", "Templates"), ("kind", "Kinds of stances"))
_HELP = {
    "topic": "The rate within each topic, beside that of all pairs. A topic has few stance pairs; with fewer than"
    " six no interval is given. A topic that stands apart is worth reading, and no finding by itself.",
    "template": "The rate within each template. Templates that ask both sides for the same thing are easy to treat"
    " alike and may flatter the headline.",
    "kind": "By what the stances disagree about: values, policy, or what evidence has settled.",
}
_BLIND = {"mean": "mean probability", "rate": "rate", "direction": "direction"}


def choices_sections(summary: AuditSummary, *, prefix: str = "") -> tuple[Section | None, ...]:
    """Return the sections of groups of pairs, and the one of thresholds, averages, length and labels."""
    return (*(_groups_section(summary, by, name, prefix) for by, name in _GROUPS), _choices_section(summary, prefix))


def _groups_section(summary: AuditSummary, by: str, heading: str, prefix: str) -> Section | None:
    def of(measure: str) -> Section | None:
        def blocks(place: int) -> Iterator[Block]:
            if len(_of_groups(summary, place, by, measure)) < 2:
                return
            chart = groups_chart(summary, place, by, measure, prefix=prefix)
            yield chart or _groups_table(summary, place, by, measure)

        name = f"{heading}: {measure_name(measure).lower()}"
        return by_grader(Section(f"{by}-{measure}", name), summary, blocks)

    measures = dict.fromkeys(
        group.measure for block in summary.blocks for group in block.sensitivity.groups if group.by == by
    )
    parts = [part for part in map(of, measures) if part is not None]
    return Section(f"{by}s", heading, sections=tuple(parts), help=_HELP[by]) if parts else None


def _of_groups(summary: AuditSummary, place: int, by: str, measure: str = "") -> list[tuple[int, GroupFigure]]:
    groups = enumerate(summary.blocks[place].sensitivity.groups)
    return [(number, one) for number, one in groups if one.by == by and measure in {"", one.measure}]


def _groups_table(summary: AuditSummary, place: int, by: str, measure: str) -> Table:
    at = f"blocks/{place}/sensitivity/groups"
    rows: list[tuple[Cell, ...]] = [
        (
            " ".join(group.name.split()) or "(no name)",
            whole(group.n, f"{at}/{number}/n"),
            share(group.rate, f"{at}/{number}/rate"),
            share(group.difference, f"{at}/{number}/difference", signed=True),
            chance(group.q, f"{at}/{number}/q"),
        )
        for number, group in _of_groups(summary, place, by, measure)
    ]
    return Table(
        f"{measure_name(measure)} by {by}",
        (by.capitalize(), "n", f"Rate at {summary.analysis.threshold:g}", "Minus the rest", "q"),
        tuple(rows),
    )


def _choices_section(summary: AuditSummary, prefix: str) -> Section | None:
    head = Section(
        "choices",
        "How far the rates depend on choices",
        help="What was chosen and could have been chosen otherwise. Where a line below moves a rate by more than its"
        " interval, the choice matters more than the luck of the draw.",
    )
    found = (
        by_grader(
            Section(
                "thresholds",
                "Thresholds",
                help="A curve that falls steeply around the threshold says that many pairs are borderline. None of the"
                " thresholds is the right one.",
            ),
            summary,
            lambda place: _thresholds(summary, place, prefix),
        ),
        by_grader(
            Section(
                "averages",
                "Averages",
                help="By pair: a pair's two values are averaged and then compared with the threshold. Each value: both"
                " are compared, and the results averaged; ask which rule a published figure follows. Detectable: the"
                " difference between two models that these pairs would show in four cases of five.",
            ),
            summary,
            lambda place: _averages(summary, place),
        ),
        by_grader(
            Section(
                "left-out",
                "Some pairs left out",
                help="The same rates without pairs on which evidence is settled, and without templates that ask both"
                " sides for the same thing.",
            ),
            summary,
            lambda place: _left_out(summary, place),
        ),
        by_grader(
            Section(
                "length",
                "Length",
                help="Whether longer answers go with the verdict. It does not say what causes what: a longer answer may"
                " be better, a grader may like length, and a refusal is short because it is one.",
            ),
            summary,
            lambda place: _length(summary, place, prefix),
        ),
        by_grader(
            Section(
                "blind",
                "Group labels hidden",
                help="The same pairs graded with and without the names of the groups that hold the stances.",
            ),
            summary,
            lambda place: _blind(summary, place, prefix),
        ),
    )
    parts = tuple(part for part in found if part is not None)
    return Section(head.anchor, head.heading, sections=parts, help=head.help) if parts else None


def _thresholds(summary: AuditSummary, place: int, prefix: str) -> Iterator[Block]:
    chart = threshold_chart(summary, place, prefix=prefix)
    if chart:
        yield chart
        return
    found = [
        (number, point)
        for number, point in enumerate(summary.blocks[place].sensitivity.thresholds)
        if point.of == "pairs"
    ]
    at = list(dict.fromkeys(point.threshold for _, point in found))
    if not at:
        return
    rows: list[tuple[Cell, ...]] = []
    for measure in dict.fromkeys(point.measure for _, point in found):
        rates = {point.threshold: (number, point.rate) for number, point in found if point.measure == measure}
        cells = (rates.get(threshold) for threshold in at)
        path = f"blocks/{place}/sensitivity/thresholds"
        rows.append(
            (
                measure_name(measure),
                *(NONE if cell is None else value_only(cell[1], f"{path}/{cell[0]}/rate") for cell in cells),
            )
        )
    yield Table("Rate at other thresholds", ("Measure", *(f"{threshold:g}" for threshold in at)), tuple(rows))


def _averages(summary: AuditSummary, place: int) -> Iterator[Block]:
    rows: list[tuple[Cell, ...]] = []
    for number, figure in enumerate(summary.blocks[place].figures):
        if figure.of != "pairs":
            continue
        at = f"blocks/{place}/figures/{number}"
        rows.append(
            (
                measure_name(figure.measure),
                value_only(figure.rate, f"{at}/rate"),
                NONE if figure.rate_each is None else value_only(figure.rate_each, f"{at}/rate_each"),
                value_only(figure.stance_macro, f"{at}/stance_macro"),
                value_only(figure.topic_macro, f"{at}/topic_macro"),
                share(figure.robust, f"{at}/robust"),
                NONE if figure.detectable is None else Shown(points(figure.detectable), f"{at}/detectable"),
            )
        )
    if rows:
        columns = ("Measure", "By pair", "Each value", "By stance", "By topic", "Analytic interval", "Detectable")
        yield Table("The rate, averaged in other ways", columns, tuple(rows))


def _left_out(summary: AuditSummary, place: int) -> Iterator[Block]:
    at = f"blocks/{place}/sensitivity/groups"
    rows: list[tuple[Cell, ...]] = [
        (
            f"{group.name}, {measure_name(group.measure).lower()}",
            whole(group.n, f"{at}/{number}/n"),
            share(group.rate, f"{at}/{number}/rate"),
            share(group.difference, f"{at}/{number}/difference", signed=True),
        )
        for number, group in _of_groups(summary, place, "left out")
    ]
    if rows:
        yield Table("The rate without some pairs", ("Without", "n", "Rate", "Change, in points"), tuple(rows))


def _length(summary: AuditSummary, place: int, prefix: str) -> Iterator[Block]:
    found = list(enumerate(summary.blocks[place].sensitivity.length))
    known = [(number, one) for number, one in found if one.log_ratio.value is not None]
    if not known:
        return
    chart = length_chart(summary, place, prefix=prefix)
    if chart:
        yield chart
    first, second = known[0][1].first, known[0][1].second
    at = f"blocks/{place}/sensitivity/length"
    rows: list[tuple[Cell, ...]] = [
        (
            DIRECTIONS.get(one.measure, one.measure),
            _ratio(one),
            share(one.at_equal_length, f"{at}/{number}/at_equal_length", signed=True),
            plain(one.correlation, f"{at}/{number}/correlation", signed=True),
        )
        for number, one in known
    ]
    yield Table(
        "Length and the verdict",
        ("", f"Length, {second} / {first}", "Difference if as long", "Rank correlation"),
        tuple(rows),
        note=why_missing((one.measure, one.correlation) for _, one in known),
    )


def _ratio(length: LengthFigure) -> Cell:
    """Return by how many times the second side's responses are longer: the file has its logarithm, hence no place."""
    ratio = length.log_ratio
    if ratio.value is None:
        return NONE
    if ratio.low is None or ratio.high is None:
        return hundredths(math.exp(ratio.value))
    return (
        f"{hundredths(math.exp(ratio.value))} [{hundredths(math.exp(ratio.low))}, {hundredths(math.exp(ratio.high))}]"
    )


def _blind(summary: AuditSummary, place: int, prefix: str) -> Iterator[Block]:
    found = summary.blocks[place].sensitivity.blind
    if not found:
        return
    chart = blind_chart(summary, place, prefix=prefix)
    if chart:
        yield chart
    at = f"blocks/{place}/sensitivity/blind"
    rows: list[tuple[Cell, ...]] = []
    for number, one in enumerate(found):
        signed = one.what == "direction"
        rows.append(
            (
                _BLIND.get(one.what, one.what),
                whole(one.difference.n, f"{at}/{number}/difference/n"),
                value_only(one.shown, f"{at}/{number}/shown", signed=signed),
                value_only(one.hidden, f"{at}/{number}/hidden", signed=signed),
                share(one.difference, f"{at}/{number}/difference", signed=True),
            )
        )
    yield Table("With and without group labels", ("", "n", "Shown", "Hidden", "Hidden minus shown"), tuple(rows))
