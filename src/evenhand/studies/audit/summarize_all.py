"""One summary for all that graders found in a run, whatever sets of instruments they were given."""

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.graders import Judgment
from evenhand.instruments import InstrumentSet
from evenhand.pairs import PairedPrompt
from evenhand.report import Analysis, AuditSummary
from evenhand.studies.audit.graded import Graded
from evenhand.studies.audit.grader_agreement import agreement_in_run
from evenhand.studies.audit.response import Response
from evenhand.studies.audit.summarize import summarize_graded
from evenhand.studies.audit.validity import quoted_cards


def summarize_all(
    pairs: Sequence[PairedPrompt],
    responses: Sequence[Response],
    judgments: Sequence[Judgment],
    sets: Sequence[InstrumentSet],
    *,
    subject: str,
    configuration: str,
    analysis: Analysis,
    gradings: Sequence[Mapping[str, Any]] = (),
) -> AuditSummary:
    """Return a run's summary, a block a grader and set of instruments, in the order of the judgments.

    ``gradings`` is what the record says of the graders; their validity cards are quoted from there.
    """
    by_name = {one.name: one for one in sets}
    found: dict[tuple[str, str], list[Judgment]] = {}
    for judgment in judgments:
        found.setdefault((judgment.grader, judgment.instruments), []).append(judgment)
    quoted = {(one["grader"]["name"], one["instruments"]["set"]): quoted_cards(one) for one in gradings}
    graded = [
        Graded(grader, by_name[name], these, quoted.get((grader, name), ())) for (grader, name), these in found.items()
    ]
    return summarize_graded(
        pairs,
        responses,
        graded,
        subject=subject,
        analysis=analysis,
        configuration=configuration,
        agreement=agreement_in_run(pairs, graded, subject=subject, analysis=analysis),
    )
