"""What an export is made of, and what it comes to."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evenhand.report.audit_summary import AuditSummary
from evenhand.report.page.blocks import Section


@dataclass(frozen=True, slots=True)
class AuditPart:
    """One audit of those that a report is about."""

    summary: AuditSummary
    record: Mapping[str, Any]
    """``record.json`` as it was read."""
    card_lines: tuple[str, ...] = ()
    """How far each grader can be trusted, a line a measure; empty where no card is known."""
    folder: str = "RUN"
    """The run folder as the user named it: for the commands that repeat and check it."""
    command: str = ""
    """The command that makes the run again."""


@dataclass(frozen=True, slots=True)
class Material:
    """All that a report says, before it has a format."""

    title: str
    sections: tuple[Section, ...]
    saved: tuple[Mapping[str, Any], ...] = ()
    """What each run saved, in the order of the runs: the values of its files, by their names (``summary.json``). There
    the ``path`` of a ``Shown`` leads: figures that are found are exported as numbers with their interval, others as
    the text that is shown."""
    audits: tuple[AuditPart, ...] = ()
    """The audits among the runs: what a system card and an annex are about."""
    run_lines: tuple[str, ...] = ()
    """What a page says at its foot: versions, folders."""


@dataclass(frozen=True, slots=True)
class ExportFile:
    """A file that an export consists of."""

    name: str
    """Fit for any file system; of a format that is one file, the user names it instead."""
    content: bytes
