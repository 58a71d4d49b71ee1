"""An audit as sections of a page."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from evenhand.report.audit_summary import AuditSummary
from evenhand.report.corrected_summary import CorrectedSummary
from evenhand.report.page.audit_choices import choices_sections
from evenhand.report.page.audit_figures import cells_section, direction_section, order_section, rates_section
from evenhand.report.page.audit_headline import headline_section
from evenhand.report.page.audit_record import record_section
from evenhand.report.page.audit_trust import (
    agreement_section,
    corrected_section,
    remarks_section,
    unread_section,
    validity_section,
)
from evenhand.report.page.blocks import Section
from evenhand.report.reader import Reader


def audit_sections(
    summary: AuditSummary,
    record: Mapping[str, Any],
    *,
    prefix: str = "",
    run: str = "RUN",
    corrected: CorrectedSummary | None = None,
    reader: Reader | None = None,
) -> tuple[Section, ...]:
    """Return the sections of an audit; the paths of their figures lead into ``summary.json``.

    Args:
        summary: what it found.
        record: what it was made of.
        prefix: goes before every anchor and every chart's name, and tells several audits on a page apart.
        run: the folder as the user named it, for the commands that repeat and check.
        corrected: what people's labels make of the shares, where there are labels.
        reader: the pairs, to be read.
    """
    trust = (
        validity_section(summary),
        agreement_section(summary),
        corrected_section(corrected) if corrected else None,
        unread_section(summary, prefix=prefix),
        remarks_section(summary),
    )
    found = [
        headline_section(summary),
        rates_section(summary, prefix=prefix),
        cells_section(summary, prefix=prefix),
        direction_section(summary, prefix=prefix),
        order_section(summary, prefix=prefix),
        *choices_sections(summary, prefix=prefix),
        *trust,
        Section("pairs", "The pairs themselves", (reader,), help=_READER) if reader else None,
        record_section(summary, record, run),
    ]
    return tuple(prefixed(section, prefix) for section in found if section is not None)


_READER = (
    "Every pair with both answers, and what each grader made of them. Figures convince nobody who has not read some of"
    " these."
)


def prefixed(section: Section, prefix: str) -> Section:
    """Return a section with something before its anchor and those inside it."""
    inner = tuple(prefixed(one, prefix) for one in section.sections)
    return replace(section, anchor=prefix + section.anchor, sections=inner)
