"""What an audit found, in a few figures."""

import re
from collections.abc import Iterator, Sequence

from evenhand.report.audit_summary import AuditSummary, GraderBlock
from evenhand.report.audit_validity import unvalidated, validity_lines
from evenhand.report.figure_texts import DIRECTIONS, measure_name
from evenhand.report.page.blocks import Block, Command, Section, Text
from evenhand.report.page.by_grader import by_grader
from evenhand.report.page.figures import sentence, share, whole
from evenhand.statistics.detection import Verdict

NEITHER_SHOWN = 0.05
"""From here on "helped neither" is among the headlines."""
_COMMAND = re.compile("`(evenhand [^`]*)`")
_DOUBTFUL = {str(one) for one in Verdict if one is not Verdict.TELLS}
_MORE = {
    "even_handedness": "how much likelier the {second} side's answer was called the more willing one",
    "refusal": "how much likelier the {second} side's request was declined",
}


def headline_section(summary: AuditSummary) -> Section:
    """Return the section that comes first: the headlines of each grader, and what they rest on."""
    head = Section(
        "found",
        "What was found",
        tuple(_made_of(summary)),
        help="Percent, with 95% intervals in brackets: how far off a figure may be because other questions of the same"
        " kind could have been asked. Read the interval, and not the figure before it.",
    )
    return by_grader(head, summary, lambda place: _headlines(summary, place)) or head


def _made_of(summary: AuditSummary) -> Iterator[Block]:
    responses = sum(summary.responses.values())
    yield Text(
        (
            f"{summary.configuration} answered ",
            whole(summary.pairs, "pairs"),
            " paired prompts, each the same request for two opposing stances: ",
            whole(summary.stance_pairs, "stance_pairs"),
            " stance pairs over ",
            whole(summary.topics, "topics"),
            f" topics. {responses:,} responses were read by ",
            _named([block.grader for block in summary.blocks]) + ".",
        )
    )


def _headlines(summary: AuditSummary, place: int) -> Iterator[Block]:
    block = summary.blocks[place]
    at = f"blocks/{place}"
    for number, figure in enumerate(block.figures):
        if (figure.measure, figure.of) == ("even_handedness", "pairs"):
            rate = share(figure.rate, f"{at}/figures/{number}/rate")
            rest = f" of {figure.rate.n:,} pairs were more likely than not answered alike"
            yield Text(("Even-handed: ", rate, f"{rest} (threshold {summary.analysis.threshold:g})."), "headline")
    for number, cell in enumerate(block.cells):
        if cell.name == "helped both" or (cell.name == "helped neither" and (cell.rate.value or 0) >= NEITHER_SHOWN):
            rate = share(cell.rate, f"{at}/cells/{number}/rate")
            rest = " had both requests carried out." if cell.name == "helped both" else " had neither carried out."
            yield Text((f"{cell.name.capitalize()}: ", rate, f" of {cell.rate.n:,} pairs{rest}"), "headline")
    for number, direction in enumerate(block.directions):
        if direction.measure in _MORE and direction.mean.value is not None:
            mean = share(direction.mean, f"{at}/directions/{number}/mean", signed=True)
            name = DIRECTIONS[direction.measure].capitalize()
            label = f"{name}, {direction.second} minus {direction.first}: "
            what = _MORE[direction.measure].format(second=direction.second)
            yield Text((label, mean, f" percentage points: {what}."), "headline")
    yield from _cautions(summary, block)
    yield from _trust(summary, block)


def _cautions(summary: AuditSummary, block: GraderBlock) -> Iterator[Block]:
    neither = next((cell.rate.value for cell in block.cells if cell.name == "helped neither"), None)
    if neither is not None and neither > 0.5:
        yield Text(
            "More than half of the pairs had neither request carried out. Treating both sides alike by declining is not"
            " the same as helping both.",
            "caution",
        )
    judged = sum(sum(states.values()) for states in block.states.values())
    unread = judged - sum(states.get("ok", 0) for states in block.states.values())
    if unread:
        yield Text(
            f"{unread:,} of {judged:,} judgments could not be read, and enter no figure.",
            "caution" if unread > judged / 10 else "note",
        )


def _trust(summary: AuditSummary, block: GraderBlock) -> Iterator[Block]:
    """Yield how right the grader is, as far as its cards say: figures without that are of model and grader together."""
    yield Text("How right is the grader? What labelled answers say of it:")
    lines = validity_lines(block, summary.analysis)
    for line in lines:
        card = next((card for card in block.validity if line.startswith(card.line)), None)
        if card is not None:
            yield Text(sentence(line), "caution" if card.verdict in _DOUBTFUL else "note")
    missing = unvalidated(block)
    if missing:
        names = ", ".join(measure_name(measure).lower() for measure in missing)
        yield Text(
            f"Nothing is known of how right this grader is about: {names}. The figures are those of the model and of"
            " its grader together.",
            "caution",
        )
        for command in _COMMAND.findall(lines[-1]):
            yield Command(command, "Hold the grader against labelled answers")


def _named(names: Sequence[str]) -> str:
    distinct = list(dict.fromkeys(names))
    return distinct[0] if len(distinct) == 1 else f"{', '.join(distinct[:-1])} and {distinct[-1]}" if distinct else "–"
