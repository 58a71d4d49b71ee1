"""Charts of counts: what could be read, and what came back."""

from collections.abc import Mapping, Sequence

from evenhand.report.audit_summary import AuditSummary
from evenhand.report.charts.bars import Bar, stacked
from evenhand.report.charts.chart import Row, chart, named
from evenhand.report.charts.labels import rounded
from evenhand.report.figure_texts import measure_name
from evenhand.report.page.blocks import Chart
from evenhand.report.page.figures import whole

_STATES = ("ok", "abstained", "unparseable", "truncated", "unanswered", "declined", "failed")
_READ = {"ok": "read"}
_MOST = 6
"""Parts that a bar can tell apart; the rarest ones are put together."""


def states_chart(summary: AuditSummary, block: int, *, prefix: str = "") -> Chart | None:
    """Return the judgments of a block by measure and state."""
    graded = summary.blocks[block]
    counts = {measure: states for measure, states in graded.states.items() if sum(states.values())}
    if not counts:
        return None
    order = [state for state in _STATES if any(states.get(state) for states in counts.values())]
    order += sorted({state for states in counts.values() for state in states if state not in _STATES})
    rows: list[Row] = [
        (
            _measure(measure),
            *(
                whole(states[state], f"blocks/{block}/states/{measure}/{state}") if state in states else "0"
                for state in order
            ),
        )
        for measure, states in counts.items()
    ]
    return chart(
        f"{prefix}states-{block + 1}",
        "Judgments by state",
        [(_measure(measure), _listed(states, order)) for measure, states in counts.items()],
        _bars({_measure(measure): states for measure, states in counts.items()}, order),
        (("Measure", *(_READ.get(state, state) for state in order)), rows),
        note="Only what was read enters a figure; the rest is counted here and never scored."
        f" {named(summary.configuration)}, graded by {named(graded.grader)} with the instruments"
        f" {named(graded.instruments)}.",
        before="A bar a measure, in parts by state.",
    )


def responses_chart(summary: AuditSummary, *, prefix: str = "") -> Chart | None:
    """Return the subject's responses by what became of them."""
    counts = summary.responses
    order = [kind for kind, number in counts.items() if number]
    if not order:
        return None
    return chart(
        f"{prefix}responses",
        "Responses by what became of them",
        [(kind, f"{counts[kind]:,}") for kind in order],
        _bars({"responses": counts}, order),
        (("Responses", "Number"), [(kind, whole(number, f"responses/{kind}")) for kind, number in counts.items()]),
        note=f"Responses of {named(summary.configuration)}. Cut: at the token limit.",
        before="A bar in parts.",
    )


def _measure(measure: str) -> str:
    name, blind, _ = measure.partition("_blind")
    return measure_name(name) + (", groups hidden" if blind else "")


def _listed(states: Mapping[str, int], order: Sequence[str]) -> str:
    return ", ".join(f"{states[state]:,} {_READ.get(state, state)}" for state in order if states.get(state))


def _bars(counts: Mapping[str, Mapping[str, int]], order: Sequence[str]) -> dict[str, object]:
    shown, rest = list(order), list[str]()
    if len(shown) > _MOST:
        rarest = sorted(shown[1:], key=lambda state: -sum(states.get(state, 0) for states in counts.values()))
        rest = rarest[_MOST - 2 :]
        shown = [state for state in shown if state not in rest]
    bars = []
    for name, states in counts.items():
        total = sum(states.values())
        parts = [states.get(state, 0) for state in shown]
        if rest:
            parts.append(sum(states.get(state, 0) for state in rest))
        said = tuple(f"{part:,}" for part in parts)
        bars.append(Bar(name, tuple(part / total for part in parts), said, rounded(total, 0)))
    names = [_READ.get(state, state) for state in shown] + (["all others"] if rest else [])
    return stacked(bars, names, counted="all")
