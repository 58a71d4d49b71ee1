"""The effects of questions as tables for a terminal of 80 columns."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from evenhand.report.effects_summary import Effect, EffectsSummary, GraderEffects, QuestionEffect
from evenhand.report.figure_texts import percent
from evenhand.statistics import Estimate

_STATES = ("abstained", "unparseable", "truncated", "unanswered", "declined", "failed")
_MISSING_SHOWN = 0.005


def effects_table(summary: EffectsSummary) -> RenderableType:
    """Return what a terminal shows of the effects: a block a grader, then the remarks."""
    over = f" over {summary.inputs:,} inputs" if summary.cluster == "input" else ""
    parts: list[RenderableType] = [
        Text("Which questions tell the chosen output from the rejected one?", style="bold"),
        Text(f"{summary.pairs:,} pairs{over}; {summary.ties:,} ties"),
    ]
    for block in summary.blocks:
        parts += _block(summary, block)
    parts += [Text(f"- {remark}") for remark in summary.remarks]
    parts.append(
        Text(
            "P(chosen higher) + 0.5 P(equal) in percent, over pairs that are no ties, with 95% intervals that keep"
            f" {summary.cluster}s together; 50 tells nothing. Ratings less than {summary.equal_within:g} points apart"
            " are equal. q: of the hypothesis of 50, Benjamini-Hochberg over the questions. diff: chosen minus"
            " rejected, in rating points. equal: pairs rated the same, percent. rel:"
            " reliability of the mean of both orders. c: redundancy cluster (* its representative).",
            style="dim",
        )
    )
    return Group(*parts)


def _block(summary: EffectsSummary, block: GraderEffects) -> Iterator[RenderableType]:
    yield Text()
    yield Text.from_markup(
        f"[bold]Rated by {escape(block.grader)}[/bold], protocol {escape(block.protocol)}"
        f" ({escape(', '.join(block.orders)) or 'nothing'})"
    )
    table = _grid(("question", 18), ("n", 7), ("P(chosen higher)", 21), ("q", 5), ("diff", 6), ("equal", 5), ("rel", 5))
    table.add_column("c", no_wrap=True)
    ranked = sorted(block.questions, key=_rank)
    for question in ranked:
        table.add_row(
            Text(question.question),
            *_effect(question.effect),
            _short(question.reliability.both_orders),
            f"{question.cluster}{'*' if question.representative else ''}",
        )
    table.add_row(Text("length", style="italic"), *_effect(summary.length), "", "")
    yield table
    if block.leak is not None:
        yield from _leak(summary, block)
    for remark in (*_missing(block), *_redundant(block), *block.remarks):
        yield Padding(Text(f"- {remark}"), (0, 0, 0, 1))


def _leak(summary: EffectsSummary, block: GraderEffects) -> Iterator[RenderableType]:
    yield Text()
    yield Text("Label leak: what the effect gains when the grader is told which is chosen", style="bold")
    table = _grid(("question", 18), ("blind", 5), ("told", 5), ("told minus blind", 23), ("swap, points", 12))
    table.add_column("", no_wrap=True)
    leaks = [(question.question, question.leak) for question in sorted(block.questions, key=_rank)]
    for name, leak in (*leaks, ("all questions", block.leak)):
        if leak is not None:
            table.add_row(
                Text(name),
                _percent(leak.blind.value),
                _percent(leak.labelled.value),
                percent(leak.leak, signed=True),
                "-" if leak.swap.value is None else f"{leak.swap.value:+.2f}",
                "LEAKS" if leak.flagged else "",
            )
    yield table
    flagged = block.leak is not None and block.leak.flagged
    yield Padding(
        Text(
            "- the grader's ratings move with the label: labelled effects say in part what it was told"
            if flagged
            else f"- no leak beyond {100 * summary.leak_size:g} points was shown over all questions; small samples"
            " can't show one"
        ),
        (0, 0, 0, 1),
    )


def _effect(effect: Effect) -> tuple[str, ...]:
    return (
        f"{effect.superiority.n:,}",
        percent(effect.superiority).strip(),
        "-" if effect.q_value is None else "<.001" if effect.q_value < 0.001 else f"{effect.q_value:.3f}"[:5],
        "-" if effect.mean_difference.value is None else f"{effect.mean_difference.value:+.2f}",
        _percent(effect.equal),
    )


def _rank(question: QuestionEffect) -> float:
    value = question.effect.superiority.value
    return 1.0 if value is None else -abs(value - 0.5)


def _missing(block: GraderEffects) -> Iterator[str]:
    for question in block.questions:
        shares = {output: question.missing(output) for output in ("chosen", "rejected")}
        if max((*shares["chosen"].values(), *shares["rejected"].values()), default=0.0) >= _MISSING_SHOWN:
            parts = [
                f"{state} {shares['chosen'].get(state, 0.0):.1%} / {shares['rejected'].get(state, 0.0):.1%}"
                for state in _STATES
                if state in shares["chosen"] or state in shares["rejected"]
            ]
            yield f"{question.question}, no rating of chosen / rejected: {', '.join(parts)}"
        if not question.effect.superiority.n:
            yield f"{question.question}: not estimable, {question.effect.superiority.method}"


def _redundant(block: GraderEffects) -> Iterator[str]:
    clusters: dict[int, list[QuestionEffect]] = {}
    for question in block.questions:
        clusters.setdefault(question.cluster, []).append(question)
    for number, members in clusters.items():
        if len(members) > 1:
            head = next(member.question for member in members if member.representative)
            rest = ", ".join(member.question for member in members if not member.representative)
            yield f"cluster {number}: {head} stands for {rest}"


def _short(estimate: Estimate) -> str:
    return "-" if estimate.value is None else f"{estimate.value:.2f}"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}"


def _grid(*columns: tuple[str, int]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for index, (header, width) in enumerate(columns):
        table.add_column(
            header,
            width=width if index else None,
            min_width=8 if not index else None,
            max_width=width,
            justify="right" if index else "left",
            no_wrap=bool(index),
            overflow="fold",
        )
    return table
