"""An audit's summary as tables for a terminal of 80 columns."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from evenhand.report.audit_summary import AuditSummary, GraderBlock
from evenhand.statistics import Estimate

_MEASURES = {"even_handedness": "Even-handed", "refusal": "Refusal", "hedging": "Hedging"}
_STATES = ("ok", "abstained", "unparseable", "truncated", "declined", "failed")


def audit_table(summary: AuditSummary) -> RenderableType:
    """Return what a terminal shows of an audit: a block a grader, then the remarks."""
    parts: list[RenderableType] = [
        Text.from_markup(f"[bold]Audit of {escape(summary.subject)}[/bold]"),
        Text(
            f"{_count(summary.pairs, 'paired prompt')} over {_count(summary.stance_pairs, 'stance pair')} and"
            f" {_count(summary.topics, 'topic')}; {_responses(summary.responses)}"
        ),
    ]
    for block in summary.blocks:
        parts += _block(summary, block)
    parts += [Text(f"- {remark}") for remark in summary.remarks]
    parts.append(
        Text(
            "Percent, with 95% intervals that resample stance pairs. mean P: mean probability that the grader"
            f" gave. rate: share of units above {summary.threshold:g}.",
            style="dim",
        )
    )
    return Group(*parts)


def _block(summary: AuditSummary, block: GraderBlock) -> Iterator[RenderableType]:
    yield Text()
    yield Text.from_markup(
        f"[bold]Graded by {escape(block.grader)}[/bold] with the instruments {escape(block.instruments)}"
    )
    figures = _grid("", "n", "mean P", f"rate at {summary.threshold:g}")
    for figure in block.figures:
        name = _MEASURES.get(figure.measure, figure.measure)
        of = "" if figure.of == "pairs" else f", {figure.of}"
        figures.add_row(f"{name}{of}", str(figure.mean.n), percent(figure.mean), percent(figure.rate))
    yield figures
    if block.cells:
        cells = _grid("Help / decline", "n", "mean P", f"rate at {summary.threshold:g}")
        for cell in block.cells:
            cells.add_row(cell.name, str(cell.mean.n), percent(cell.mean), percent(cell.rate))
        yield cells
    if block.directions:
        first, second = block.directions[0].first, block.directions[0].second
        directions = _grid("Direction", "n", f"{second} minus {first}", f"uneven, of them {second}")
        for direction in block.directions:
            directions.add_row(
                _DIRECTIONS.get(direction.measure, direction.measure),
                str(direction.mean.n),
                percent(direction.mean, signed=True),
                f"{direction.uneven}, {direction.second_of_uneven}",
            )
        yield directions
    for remark in (*_unreadable(block), *block.remarks):
        yield Padding(Text(f"- {remark}"), (0, 0, 0, 1))


_DIRECTIONS = {"even_handedness": "better treated", "refusal": "declined more", "hedging": "hedged more"}


def percent(estimate: Estimate, *, signed: bool = False) -> str:
    """Return a figure in percent with its interval, or a dash where there is none.

    >>> percent(Estimate(0.875, 0.6, 1.0, 8, 8, "")), percent(Estimate.missing("no rows"))
    (' 87.5 [ 60.0, 100.0]', '-')
    """
    if estimate.value is None:
        return "-"
    form = "+6.1f" if signed else "5.1f"
    value = f"{100 * estimate.value:{form}}"
    if estimate.low is None or estimate.high is None:
        return f"{value} [no interval]"
    return f"{value} [{100 * estimate.low:{form}}, {100 * estimate.high:{form}}]"


def _grid(*headers: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold", title_justify="left")
    for index, header in enumerate(headers):
        if index == 0:
            table.add_column(header, width=22)
        elif header == "n":
            table.add_column(header, justify="right", width=4)
        else:
            table.add_column(header, justify="right", width=23)
    return table


def _unreadable(block: GraderBlock) -> Iterator[str]:
    for measure, states in block.states.items():
        bad = [f"{states[state]} {state}" for state in _STATES[1:] if states.get(state)]
        if bad:
            total = sum(states.values())
            yield f"{measure}: {', '.join(bad)} of {total} judgments; they enter no figure"
    if not any(states.get(state) for states in block.states.values() for state in _STATES[1:]):
        total = sum(states.get("ok", 0) for states in block.states.values())
        yield f"all {total} judgments could be read"
    masses = ", ".join(f"{measure} {mass:.0%}" for measure, mass in block.captured.items())
    if masses:
        yield f"the grader's probability that fell on valid answers: {masses}"


def _responses(counts: dict[str, int]) -> str:
    total = sum(counts.values())
    cut = counts.get("cut", 0)
    return f"{_count(total, 'response')}" + (f", {cut} of them cut at the token limit" if cut else "")


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
