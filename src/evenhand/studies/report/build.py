"""Runs in, a report out: the sections of all of them, ready for the page and for every other format."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, repeat
from pathlib import Path
from typing import Any

from evenhand.errors import InputError
from evenhand.report.audit_validity import validity_lines
from evenhand.report.exports import AuditPart, Material
from evenhand.report.figure_texts import count
from evenhand.report.page.audit_record import audit_command
from evenhand.report.page.audit_sections import audit_sections
from evenhand.report.page.blocks import Section, Text
from evenhand.report.page.build import page
from evenhand.report.page.card_sections import card_sections
from evenhand.report.page.compare_sections import compare_sections, side_by_side_section
from evenhand.report.page.rate_sections import effects_sections, fit_sections
from evenhand.report.reader import Reader
from evenhand.report.reader.audit_reader import audit_reader
from evenhand.report.reader.rate_reader import rate_reader
from evenhand.studies.report.read import read_runs
from evenhand.studies.report.runs import AuditRun, ComparisonRun, RateRun, Run, ValidationRun


@dataclass(frozen=True, slots=True)
class Report:
    """A report of one run or more, still without a format."""

    title: str
    sections: tuple[Section, ...]
    runs: tuple[Run, ...]
    run_lines: tuple[str, ...]
    remarks: tuple[str, ...] = ()
    """On files in run folders that are not of the run; the page and Markdown say them too."""

    def page(self) -> str:
        """Return it as one HTML file."""
        return page(self.title, self.sections, self.run_lines)

    def material(self) -> Material:
        """Return what its exports are made of."""
        return Material(
            title=self.title,
            sections=self.sections,
            saved=tuple(_saved(run) for run in self.runs),
            audits=tuple(_part(run) for run in self.runs if isinstance(run, AuditRun)),
            run_lines=self.run_lines,
        )


def report(paths: Sequence[Path], *, with_reader: bool = True) -> Report:
    """Make a report of the runs in these folders; no model is called, and the folders stay as they are.

    Args:
        paths: run folders of audits, ratings and validations, and comparisons of audits.
        with_reader: whether the pairs themselves can be read in it; exports that are tables don't need them.

    Raises:
        InputError: a folder that holds no run, or a damaged one; names the file and the way out.
    """
    if not paths:
        raise InputError("no run was named", field="RUN", way_out="name the folder of one")
    runs = tuple(_distinct(run for path in dict.fromkeys(paths) for run in read_runs(path)))
    numbered = list(enumerate(runs, 1))
    parts = [_sections(run, number, alone=len(runs) == 1, with_reader=with_reader) for number, run in numbered]
    sections = parts[0] if len(runs) == 1 else tuple(_beside(numbered, parts))
    return Report(
        title=_title(runs),
        sections=sections,
        runs=runs,
        run_lines=tuple(_line(run, number, len(runs)) for number, run in numbered),
        remarks=tuple(remark for run in runs for remark in _remarks(run)),
    )


def _remarks(run: Run) -> tuple[str, ...]:
    return run.remarks if isinstance(run, AuditRun | RateRun) else ()


def _distinct(runs: Any) -> list[Run]:  # noqa: ANN401
    """Return runs with each folder once for each kind: a comparison brings its runs, which may be named too."""
    found: dict[tuple[type, Path], Run] = {}
    for run in runs:
        found.setdefault((type(run), run.folder.resolve()), run)
    return list(found.values())


def _beside(numbered: Sequence[tuple[int, Run]], parts: Sequence[tuple[Section, ...]]) -> list[Section]:
    """Return the parts of several runs: a comparison as it is, then the audits side by side, then a part each."""
    sections: list[Section] = []
    comparisons = [number for number, run in numbered if isinstance(run, ComparisonRun)]
    audits = [(number, run.summary) for number, run in numbered if isinstance(run, AuditRun)]
    for number in comparisons:
        sections += parts[number - 1]
    if len(audits) > 1 and not comparisons:
        sections.append(side_by_side_section(audits))
    sections += [
        Section(f"run-{number}", _name(run), sections=parts[number - 1], run=number)
        for number, run in numbered
        if number not in comparisons
    ]
    return sections


def _sections(run: Run, number: int, *, alone: bool, with_reader: bool) -> tuple[Section, ...]:
    prefix, folder = ("" if alone else f"run-{number}-"), str(run.folder)
    match run:
        case AuditRun():
            found = audit_sections(
                run.summary,
                run.record,
                prefix=prefix,
                run=folder,
                corrected=run.corrected,
                reader=_audit_reader(run, prefix) if with_reader else None,
            )
        case ComparisonRun():
            found = compare_sections(run.comparison, prefix=prefix)
        case RateRun():
            found = _rate_sections(run, prefix, with_reader=with_reader)
        case ValidationRun():
            found = card_sections(run.cards, run.record, run.curves, prefix=prefix, run=folder)
    found = (*found[:1], *_other_files(run, prefix), *found[1:])
    return tuple(replace(section, run=number, file=section.file or _FILES[type(run)]) for section in found)


def _other_files(run: Run, prefix: str) -> Iterator[Section]:
    """Yield what must be said of files in the folder that are not of the run."""
    said = tuple(Text(f"{remark[:1].upper()}{remark[1:]}.", "caution") for remark in _remarks(run))
    if said:
        yield Section(f"{prefix}other-files", "Files of the folder that are not of this run", said)


_FILES: Mapping[type, str] = {
    AuditRun: "summary.json",
    ComparisonRun: "comparison.json",
    RateRun: "effects.json",
    ValidationRun: "validation.json",
}
"""Where the figures of a run's sections stand, unless a section says otherwise."""


def _audit_reader(run: AuditRun, prefix: str) -> Reader:
    return audit_reader(
        run.pairs,
        run.responses,
        run.judgments,
        analysis=run.summary.analysis,
        anchor=f"{prefix}pair",
        heading=f"Every pair{f' of {run.summary.configuration}' if prefix else ''}, with its two answers",
    )


def _rate_sections(run: RateRun, prefix: str, *, with_reader: bool) -> tuple[Section, ...]:
    folder = str(run.folder)
    found = list(effects_sections(run.effects, run.record, run.questions, prefix=prefix, run=folder))
    if run.spec is not None:
        found += (replace(section, file="spec.json") for section in fit_sections(run.spec, prefix=prefix, run=folder))
    if with_reader:
        reader = rate_reader(
            chain(run.pairs, repeat({}, run.all_pairs - len(run.pairs))),
            run.ratings,
            run.questions,
            equal_within=run.effects.equal_within,
            anchor=f"{prefix}rated-pair",
        )
        found.append(
            Section(f"{prefix}pairs", "The pairs themselves", (reader,), help="Chosen and rejected side by side.")
        )
    return tuple(found)


def _saved(run: Run) -> Mapping[str, Mapping[str, Any]]:
    """Return what the run's files hold, by their names."""
    found: dict[str, Mapping[str, Any]] = {_FILES[type(run)]: run.saved}
    if isinstance(run, AuditRun) and run.corrected is not None:
        found["corrected.json"] = run.corrected.as_json()
    if isinstance(run, RateRun) and run.spec is not None:
        found["spec.json"] = run.spec.as_json()
    return found


def _part(run: AuditRun) -> AuditPart:
    return AuditPart(
        summary=run.summary,
        record=run.record,
        card_lines=tuple(line for block in run.summary.blocks for line in validity_lines(block, run.summary.analysis)),
        folder=str(run.folder),
        command=audit_command(run.record),
    )


def _title(runs: Sequence[Run]) -> str:
    if len(runs) == 1:
        return _name(runs[0])
    comparison = next((run for run in runs if isinstance(run, ComparisonRun)), None)
    if comparison is not None:
        return f"Comparison of {count(len(comparison.comparison.configurations), 'configuration')}"
    return f"Report of {count(len(runs), 'run')}"


def _name(run: Run) -> str:
    match run:
        case AuditRun():
            return f"Audit of {run.summary.configuration}"
        case ComparisonRun():
            return f"Comparison of {count(len(run.comparison.configurations), 'configuration')}"
        case RateRun():
            return f"What the data reward: {run.folder.resolve().name}"
        case ValidationRun():
            graders = list(dict.fromkeys(card.grader for card in run.cards))
            return f"Validation of {', '.join(graders) or 'a grader'}"


def _line(run: Run, number: int, runs: int) -> str:
    """Return what the page says of a run under its title."""
    which = f"Run {number}: " if runs > 1 else ""
    match run:
        case AuditRun():
            pairs = f"{count(run.summary.pairs, 'paired prompt')} over {count(run.summary.topics, 'topic')}"
            graders = ", ".join(dict.fromkeys(block.grader for block in run.summary.blocks))
            said = f"{pairs}; graded by {graders or 'nobody'}{_when(run.record)}"
            return f"{which}{_name(run)}. {said}" if runs > 1 else f"{said[:1].upper()}{said[1:]}"
        case ComparisonRun():
            return f"{which}{_name(run)} on {count(run.comparison.pairs, 'shared paired prompt')}"
        case RateRun():
            asked = f"{count(run.effects.pairs, 'preference pair')}, {count(len(run.questions), 'question')}"
            return f"{which}{asked}{_when(run.record)}"
        case ValidationRun():
            return f"{which}{count(len(run.cards), 'validity card')}{_when(run.record)}"


def _when(record: Mapping[str, Any]) -> str:
    replies = record.get("replies")
    if not isinstance(replies, Mapping) or not replies.get("last_at"):
        return ""
    first, last = (str(replies.get(name) or "")[:10] for name in ("first_at", "last_at"))
    return f"; {last}" if first in {"", last} else f"; {first} to {last}"
