"""How right the grader of a block is, in lines: quoted from its validity cards, or that there are none."""

from collections.abc import Iterator

from evenhand.report.audit_summary import Analysis, GraderBlock
from evenhand.report.quoted_card import QuotedCard

_SAME = 1e-9


def validity_lines(block: GraderBlock, analysis: Analysis) -> tuple[str, ...]:
    """Return a line for each measure of a block that a card is there for, and one for those without.

    A line says where the card speaks of another threshold or of other answers than the audit counts by.
    """
    return tuple(_lines(block, analysis))


def unvalidated(block: GraderBlock) -> tuple[str, ...]:
    """Return the measures of a block that no card speaks of."""
    quoted = {card.measure for card in block.validity}
    return tuple(measure for measure in _measures(block) if measure not in quoted)


def _measures(block: GraderBlock) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.measure for one in block.figures))


def _lines(block: GraderBlock, analysis: Analysis) -> Iterator[str]:
    for measure in _measures(block):
        for card in block.validity:
            if card.measure == measure:
                yield card.line + "".join(_otherwise(card, block, analysis))
    missing = unvalidated(block)
    if missing:
        yield f"{', '.join(missing)}: not validated here; `{_command(block)}` holds the grader against labels"


def _otherwise(card: QuotedCard, block: GraderBlock, analysis: Analysis) -> Iterator[str]:
    if abs(card.threshold - analysis.threshold) > _SAME:
        yield f"; at the threshold {card.threshold:g}, and not at {analysis.threshold:g}"
    if card.measure in analysis.positive:
        yield "; with the answers counting that usually do"
    if any(one.grader == block.grader and one.of(card.measure) is not None for one in analysis.calibrations):
        yield "; before its calibration"


def _command(block: GraderBlock) -> str:
    asked = "" if block.fitted else f" --instruments {block.instruments}"
    return f"evenhand validate --grader {block.grader}{asked} --gold builtin"
