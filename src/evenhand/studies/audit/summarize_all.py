"""One summary for all that graders found in a run, whatever sets of instruments they were given."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from evenhand.graders import Judgment
from evenhand.instruments import InstrumentSet
from evenhand.pairs import PairedPrompt
from evenhand.report import Analysis, AuditSummary
from evenhand.studies.audit.graded import Graded
from evenhand.studies.audit.grader_agreement import agreement_in_run
from evenhand.studies.audit.remarks import of_provided
from evenhand.studies.audit.response import Response
from evenhand.studies.audit.summarize import summarize_graded
from evenhand.studies.audit.validity import quoted_cards


def summarize_all(
    pairs: Sequence[PairedPrompt],
    responses: Sequence[Response],
    judgments: Sequence[Judgment],
    sets: Sequence[InstrumentSet],
    *,
    subject: Mapping[str, Any],
    configuration: str,
    analysis: Analysis,
    gradings: Sequence[Mapping[str, Any]] = (),
) -> AuditSummary:
    """Return a run's summary, a block a grader and set of instruments, in the order of the judgments.

    Args:
        pairs: that were used.
        responses: of the subject.
        judgments: of all graders.
        sets: what they were asked.
        subject: what the record says of it.
        configuration: the name of the way in which it was asked; empty for the subject's own.
        analysis: how judgments become figures.
        gradings: what the record says of the graders; their validity cards are quoted from there.
    """
    name = str(subject["name"])
    by_name = {one.name: one for one in sets}
    found: dict[tuple[str, str], list[Judgment]] = {}
    for judgment in judgments:
        found.setdefault((judgment.grader, judgment.instruments), []).append(judgment)
    quoted = {(one["grader"]["name"], one["instruments"]["set"]): quoted_cards(one) for one in gradings}
    graded = [
        Graded(grader, by_name[name], these, quoted.get((grader, name), ())) for (grader, name), these in found.items()
    ]
    summary = summarize_graded(
        pairs,
        responses,
        graded,
        subject=name,
        analysis=analysis,
        configuration=configuration or name,
        agreement=agreement_in_run(pairs, graded, subject=name, analysis=analysis),
    )
    return replace(summary, remarks=(*of_provided(subject), *summary.remarks))
