"""Another threshold, another statistic: the figures of a run worked out anew from its judgments."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from evenhand.execution import RunFolder, UnwritableError, keeping
from evenhand.report import AuditSummary
from evenhand.studies.audit.plan import AnalysisPlan
from evenhand.studies.audit.positive import check_positive
from evenhand.studies.audit.record import audit_record
from evenhand.studies.audit.saved_run import read_saved_run
from evenhand.studies.audit.summarize_all import summarize_all
from evenhand.studies.audit.validity import read_given_cards, with_validity
from evenhand.studies.calibration_file import check_calibrations


def resummarize(
    path: Path,
    analysis: AnalysisPlan,
    cards: Sequence[Path] = (),
    *,
    unkept: Callable[[UnwritableError], object] | None = None,
) -> AuditSummary:
    """Work out a run's summary anew and write it to its folder; no model is called, and the ledger is not looked at.

    Validity cards that are given are quoted in place of those that the record has. ``unkept`` is told where the summary
    can't be written, and it is returned all the same.
    """
    run = read_saved_run(path)
    wanted = analysis.over(run.analysis)
    gradings = run.settings["gradings"]
    if cards:
        gradings = with_validity(gradings, read_given_cards(cards), keep=True)
    check_positive(wanted.positive, run.sets)
    check_calibrations(wanted.calibrations, gradings, wanted.positive)
    summary = summarize_all(
        run.pairs,
        run.responses,
        run.judgments,
        run.sets,
        subject=run.settings["subject"],
        configuration=run.configuration,
        analysis=wanted,
        gradings=gradings,
    )
    settings = {**run.settings, "gradings": gradings, "analysis": asdict(wanted)}
    record = audit_record(settings, summary, run.responses, run.judgments, run.record["replies"])
    folder = RunFolder(path)
    with keeping(unkept):
        folder.write_json("summary.json", summary.as_json())
        folder.write_json("record.json", record)
    return summary
