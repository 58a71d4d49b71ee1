"""An audit's summary as tables for a terminal of 80 columns."""

from collections.abc import Iterable, Iterator

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.text import Text

from evenhand.report.agreement_table import agreement_tables
from evenhand.report.audit_sensitivity_table import sensitivity_tables
from evenhand.report.audit_summary import AuditSummary, Direction, GraderBlock
from evenhand.report.audit_validity import validity_lines
from evenhand.report.figure_texts import DIRECTIONS, count, grid, measure_name, p_text, percent

_NOT_OK = ("abstained", "unparseable", "truncated", "unanswered", "declined", "failed")
_NEITHER_SHOWN = 0.05
"""From here on "helped neither" stands right under the headline."""
_FIRST = 22
_INTERVALS = {"bca": "BCa bootstrap", "percentile": "percentile bootstrap"}
_UNITS = {"stance": "stance pairs", "topic": "topics"}


def audit_table(summary: AuditSummary) -> RenderableType:
    """Return what a terminal shows of an audit: a block a grader, then the remarks."""
    named = summary.configuration if summary.configuration != summary.subject else ""
    parts: list[RenderableType] = [
        Text.from_markup(f"[bold]Audit of {escape(summary.subject)}[/bold]" + (f" ({escape(named)})" if named else "")),
        Text(
            f"{count(summary.pairs, 'paired prompt')} over {count(summary.stance_pairs, 'stance pair')} and"
            f" {count(summary.topics, 'topic')}; {_responses(summary.responses)}"
        ),
    ]
    for block in summary.blocks:
        parts += _block(summary, block)
    parts += agreement_tables(summary.agreement, summary.analysis.threshold)
    parts += [Text(f"- {remark}") for remark in summary.remarks]
    parts += [Text(), Text(_legend(summary), style="dim")]
    return Group(*parts)


def _block(summary: AuditSummary, block: GraderBlock) -> Iterator[RenderableType]:
    yield Text()
    how = (
        ", which is fitted to labels and asks no model"
        if block.fitted
        else f" with the instruments {block.instruments}"
    )
    yield Text.assemble((f"Graded by {block.grader}", "bold"), how)
    yield from _figures(summary, block)
    yield from _orders(block)
    yield from _cells(block)
    if block.directions:
        yield from _directions(block.directions)
    yield from sensitivity_tables(block)
    yield Text()
    yield from _listed((*_readable(block), *block.remarks))
    yield Text("How right the grader is, by its validity cards", style="bold")
    yield from _listed(validity_lines(block, summary.analysis))


def _listed(lines: Iterable[str]) -> Iterator[RenderableType]:
    for line in lines:
        yield Padding(Text(f"- {line}"), (0, 0, 0, 1), expand=False)


def _figures(summary: AuditSummary, block: GraderBlock) -> Iterator[RenderableType]:
    table = grid(("", 22), ("n", 5), ("mean P", 23), (f"rate at {summary.analysis.threshold:g}", 23))
    for figure in block.figures:
        name = measure_name(figure.measure) if figure.of == "pairs" else f"  {figure.of}"
        table.add_row(name, f"{figure.mean.n}", percent(figure.mean), percent(figure.rate))
        if figure.measure == "even_handedness":
            neither = next((cell for cell in block.cells if cell.name == "helped neither"), None)
            if neither is not None and (neither.rate.value or 0) >= _NEITHER_SHOWN:
                table.add_row(
                    Text("  but helped neither", style="italic"),
                    f"{neither.rate.n}",
                    percent(neither.mean),
                    percent(neither.rate),
                )
    yield table


def _orders(block: GraderBlock) -> Iterator[RenderableType]:
    if not block.orders:
        for position in block.positions:
            yield Text.assemble(("Order of the two".ljust(_FIRST), "bold"), f" - {position.effect.method}")
        return
    table = grid(("Order of the two", 22), ("n", 5), ("mean P", 23), ("rate", 23))
    for figure in block.orders:
        first = figure.order[0]
        table.add_row(f"Even-handed, {first} first", f"{figure.mean.n}", percent(figure.mean), percent(figure.rate))
    for position in block.positions:
        effect, same = position.effect, position.swap_consistency
        if same.value is None:
            table.add_row("  same verdict in both", "", "", f"- {same.method}")
            table.add_row("  first minus second", "", f"- {effect.method}", "")
            continue
        table.add_row("  same verdict in both", f"{same.n}", "", percent(same))
        table.add_row("  first minus second", f"{effect.n}", percent(effect, signed=True), "")
    yield table


def _cells(block: GraderBlock) -> Iterator[RenderableType]:
    if not block.cells:
        return
    table = grid(("Help / decline", 22), ("n", 5), ("mean P", 23), ("rate", 23))
    for cell in block.cells:
        table.add_row(cell.name, f"{cell.mean.n}", percent(cell.mean), percent(cell.rate))
    yield table


def _directions(directions: tuple[Direction, ...]) -> Iterator[RenderableType]:
    first, second = directions[0].first, directions[0].second
    table = grid(
        ("Direction", 14),
        ("n", 5),
        (f"{second} minus {first}", 23),
        ("uneven", 6),
        (f"share of {second}", 20),
        ("p", 5),
    )
    for direction in directions:
        table.add_row(
            DIRECTIONS.get(direction.measure, direction.measure),
            f"{direction.mean.n}",
            percent(direction.mean, signed=True),
            f"{direction.uneven}",
            percent(direction.share),
            p_text(direction.p),
        )
    yield table


def _readable(block: GraderBlock) -> Iterator[str]:
    for measure, states in block.states.items():
        bad = [f"{states[state]} {state}" for state in _NOT_OK if states.get(state)]
        if bad:
            total = sum(states.values())
            yield f"{measure}: {', '.join(bad)} of {total} judgments; they enter no figure"
    if not any(states.get(state) for states in block.states.values() for state in _NOT_OK):
        total = sum(states.get("ok", 0) for states in block.states.values())
        yield f"all {total} judgments could be {'worked out' if block.fitted else 'read'}"
    masses = ", ".join(f"{measure} {mass:.0%}" for measure, mass in block.captured.items())
    if masses:
        yield f"the grader's probability that fell on valid answers: {masses}"
    elif block.fitted:
        yield "the grader's probability that fell on valid answers: - (weights gave it, and no question was asked)"
    in_orders = {figure.measure for figure in block.orders}
    for direction in block.directions:
        if direction.neither_of_uneven:
            why = (
                "once both orders are averaged"
                if direction.measure in in_orders
                else "since both are as likely to be the better treated one"
            )
            yield (
                f"{direction.measure}: {direction.neither_of_uneven} of {direction.uneven} uneven pairs go to neither"
                f" side {why}; the share is over the others"
            )


def _legend(summary: AuditSummary) -> str:
    analysis = summary.analysis
    return (
        f"Percent, with 95% intervals: {_INTERVALS[analysis.interval]}, {analysis.draws:,} draws that resample"
        f" {_UNITS[analysis.unit]}. mean P: mean probability that the grader gave. rate: share of units above"
        f" {analysis.threshold:g}; of a pair, the mean of its two values is compared (each value: both are, and the"
        " results averaged). share, p: of the uneven pairs that go to a side; clustered sign test of one half."
        " detectable: the difference between two configurations that these pairs would show in four cases of five."
    )


def _responses(counts: dict[str, int]) -> str:
    cut = counts.get("cut", 0)
    given = counts.get("complete", 0) + cut
    missing = sum(counts.values()) - given
    return (
        f"{count(given, 'response')}"
        + (f", {cut:,} of them cut at the token limit" if cut else "")
        + (f"; {missing:,} more without a text" if missing else "")
    )
