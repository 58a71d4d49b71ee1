"""A section that says the same of every grader: a part each, or none where there is one grader alone."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from evenhand.report.audit_summary import AuditSummary
from evenhand.report.page.blocks import Block, Section


def by_grader(section: Section, summary: AuditSummary, blocks_of: Callable[[int], Iterable[Block]]) -> Section | None:
    """Return a section with the blocks that each grader's place in the summary gives; None where none gives any."""
    found = [tuple(blocks_of(place)) for place in range(len(summary.blocks))]
    if not any(found):
        return None
    if len(found) == 1:
        return replace(section, blocks=section.blocks + found[0])
    parts = tuple(
        Section(f"{section.anchor}-{place + 1}", grader_heading(summary, place), blocks, listed=False)
        for place, blocks in enumerate(found)
        if blocks
    )
    return replace(section, sections=section.sections + parts)


def grader_heading(summary: AuditSummary, place: int) -> str:
    """Return what the part of a grader is called."""
    block = summary.blocks[place]
    return f"Graded by {block.grader} with the instruments {block.instruments}"
