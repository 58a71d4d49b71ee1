"""The figures of an audit: rates by side, the four cells, direction, and what the order did."""

from collections.abc import Iterator
from dataclasses import replace

from evenhand.report.audit_summary import AuditSummary
from evenhand.report.charts import cells_chart, direction_chart, graders_chart, position_chart, rates_chart
from evenhand.report.figure_texts import DIRECTIONS, measure_name
from evenhand.report.page.blocks import Block, Cell, Chart, Section, Table, Text
from evenhand.report.page.by_grader import by_grader
from evenhand.report.page.figures import chance, share, whole, why_missing


def rates_section(summary: AuditSummary, *, prefix: str = "") -> Section | None:
    """Return even-handedness, refusal and hedging, of pairs and of each side."""
    together = graders_chart(summary, prefix=prefix)

    def blocks(place: int) -> Iterator[Block]:
        chart = rates_chart(summary, place, prefix=prefix)
        if chart:
            yield chart
        elif summary.blocks[place].figures:
            yield _rates(summary, place)

    section = Section(
        "rates",
        "Even-handedness, refusal, hedging",
        (together,) if together else (),
        help="Mean probability is what the grader's votes come to without any threshold. The rate counts what is above"
        " the threshold. Even-handed says alike, not good: two bad answers are even-handed, and so are two refusals."
        " Hedging is not a fault as such; a caveat may be accurate.",
    )
    return by_grader(section, summary, blocks)


def _rates(summary: AuditSummary, place: int) -> Table:
    block, at = summary.blocks[place], f"blocks/{place}/figures"
    rows: list[tuple[Cell, ...]] = [
        (
            measure_name(figure.measure) + ("" if figure.of == "pairs" else f", {figure.of}"),
            whole(figure.mean.n, f"{at}/{number}/mean/n"),
            share(figure.mean, f"{at}/{number}/mean"),
            share(figure.rate, f"{at}/{number}/rate"),
        )
        for number, figure in enumerate(block.figures)
    ]
    return Table(
        "Of pairs, and of the responses to each side",
        ("Measure", "n", "Mean probability", f"Rate at {summary.analysis.threshold:g}"),
        tuple(rows),
        note=why_missing((figure.measure, figure.rate) for figure in block.figures),
    )


def with_table(chart: Chart | None, table: Table) -> Block:
    """Return a chart with a table that says more than its own, or the table where there is no chart."""
    return replace(chart, table=table, unfolded=True) if chart else table


def cells_section(summary: AuditSummary, *, prefix: str = "") -> Section | None:
    """Return the four ways in which a pair can be treated."""

    def blocks(place: int) -> Iterator[Block]:
        cells = summary.blocks[place].cells
        if not cells:
            return
        at = f"blocks/{place}/cells"
        table = Table(
            "What became of both requests of a pair",
            ("Treatment", "n", "Mean probability", "Rate"),
            tuple(
                (
                    cell.name,
                    whole(cell.mean.n, f"{at}/{number}/mean/n"),
                    share(cell.mean, f"{at}/{number}/mean"),
                    share(cell.rate, f"{at}/{number}/rate"),
                )
                for number, cell in enumerate(cells)
            ),
            note=why_missing((cell.name, cell.rate) for cell in cells),
        )
        yield with_table(cells_chart(summary, place, prefix=prefix), table)

    section = Section(
        "cells",
        "Help and decline: the four cells",
        help="Both requests carried out, one, or neither; the four add up to 100%. Read this beside the headline: a"
        " model that declines everything treats both sides alike. It does not say how good the help was.",
    )
    return by_grader(section, summary, blocks)


def direction_section(summary: AuditSummary, *, prefix: str = "") -> Section | None:
    """Return which side got more."""

    def blocks(place: int) -> Iterator[Block]:
        directions = summary.blocks[place].directions
        if not directions:
            return
        first, second = directions[0].first, directions[0].second
        at = f"blocks/{place}/directions"
        rows: list[tuple[Cell, ...]] = [
            (
                DIRECTIONS.get(one.measure, one.measure),
                whole(one.mean.n, f"{at}/{number}/mean/n"),
                share(one.mean, f"{at}/{number}/mean", signed=True),
                whole(one.uneven, f"{at}/{number}/uneven"),
                whole(one.second_of_uneven, f"{at}/{number}/second_of_uneven"),
                whole(one.neither_of_uneven, f"{at}/{number}/neither_of_uneven"),
                share(one.share, f"{at}/{number}/share"),
                chance(one.p, f"{at}/{number}/p"),
            )
            for number, one in enumerate(directions)
        ]
        missing = why_missing(("share", one.share) for one in directions)
        tests = "; ".join(dict.fromkeys(one.test for one in directions if one.test))
        table = Table(
            f"{second.capitalize()} minus {first}, in percentage points",
            (
                *("", "n", f"{second} minus {first}", "Uneven", f"to {second}", "to neither"),
                *(f"Share of {second}", "p"),
            ),
            tuple(rows),
            note=" ".join(filter(None, (missing, f"p: {tests}." if tests else ""))),
        )
        yield with_table(direction_chart(summary, place, prefix=prefix), table)

    section = Section(
        "direction",
        "Direction: which side got more",
        help="Above 0 the second side has more of it. A plus in better treated is a favour; in declined or hedged it is"
        " none. A large p is no proof of balance, and unevenness need not be unfair: where evidence contradicts one"
        " stance, equal help is not the obvious aim.",
    )
    return by_grader(section, summary, blocks)


def order_section(summary: AuditSummary, *, prefix: str = "") -> Section | None:
    """Return what the order of the two responses did to the verdicts."""

    def blocks(place: int) -> Iterator[Block]:
        block = summary.blocks[place]
        chart = position_chart(summary, place, prefix=prefix)
        if chart:
            yield chart
        figures = (one for position in block.positions for one in (position.swap_consistency, position.effect))
        for why in dict.fromkeys(one.method for one in figures if one.value is None):
            yield Text(f"What the place is worth was not measured: {why}.", "note")

    section = Section(
        "order",
        "What the order of the two did",
        help="A grader may favour the answer that it reads first. So pairs are graded in both orders and averaged."
        " First minus second is what the place alone is worth, in percentage points. Averaging takes that out of the"
        " direction; a grader that votes for a place still votes less for what it read.",
    )
    return by_grader(section, summary, blocks)
