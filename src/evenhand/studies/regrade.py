"""Grading again: the responses of a run put to other graders, or to the same with other instruments."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from evenhand.errors import InputError
from evenhand.execution import Budget, Ledger, RunFolder
from evenhand.execution.forecast import Forecast
from evenhand.studies.audit.plan import AnalysisPlan, GradingPlan
from evenhand.studies.audit.positive import check_positive
from evenhand.studies.audit.record import audit_record
from evenhand.studies.audit.run import AuditResult, Graders, open_graders
from evenhand.studies.audit.saved_run import SavedRun, read_saved_run, write_run
from evenhand.studies.audit.summarize_all import summarize_all
from evenhand.studies.audit.validity import with_validity
from evenhand.studies.calibration_file import check_calibrations
from evenhand.studies.carrier import Carrier
from evenhand.studies.forecast import ForecastCarrier
from evenhand.studies.inputs import load_model_settings
from evenhand.studies.watch import StudyWatch, UnwatchedStudy


@dataclass(frozen=True, slots=True)
class RegradePlan:
    """What to grade, and by whom."""

    run: Path
    grading: GradingPlan
    analysis: AnalysisPlan = field(default_factory=AnalysisPlan)
    max_cost: float | None = None
    models: Path | None = None


def regrade(plan: RegradePlan, watch: StudyWatch | None = None) -> AuditResult:
    """Grade the responses that lie in a run folder, and add what came of it to the folder.

    The subject is not asked. Judgments of other graders, or of the same with other instruments, stay; those of the same
    grader with the same set of instruments are replaced.
    """
    watch = watch or UnwatchedStudy()
    run = read_saved_run(plan.run)
    graders = _opened(plan, watch)
    records = with_validity(graders.records(), graders.cards)
    redone = {_block(grading) for grading in records}
    kept = [grading for grading in run.settings["gradings"] if _block(grading) not in redone]
    sets = {one.name: one for one in run.sets}
    for one in graders.sets:
        # Of fitted graders the set goes with the weights: who are redone with others leave none of it behind.
        if sets.get(one.name, one) != one and (
            one is graders.instruments or any(set_name == one.name for _, set_name in map(_block, kept))
        ):
            raise InputError(
                f"holds judgments with other instruments that are called {one.name} too",
                source=str(plan.run),
                field="--instruments",
                way_out="give the file of instruments another name, or make the audit anew in another folder",
            )
        sets[one.name] = one
    analysis = plan.analysis.over(run.analysis)
    check_positive(analysis.positive, list(sets.values()))
    gradings = [*kept, *records]
    check_calibrations(analysis.calibrations, gradings, analysis.positive)
    folder = RunFolder(plan.run)
    with Ledger(folder.ledger_path) as ledger:
        carry_out = Carrier(ledger, watch, Budget(plan.max_cost))
        new = graders.judge(run.pairs, run.responses, carry_out)
    judgments = [one for one in run.judgments if (one.grader, one.instruments) not in redone] + new
    summary = summarize_all(
        run.pairs,
        run.responses,
        judgments,
        tuple(sets.values()),
        subject=run.settings["subject"],
        configuration=run.configuration,
        analysis=analysis,
        gradings=gradings,
    )
    settings = {**run.settings, "gradings": gradings, "analysis": asdict(analysis)}
    record = audit_record(settings, summary, run.responses, judgments, _both(run, carry_out))
    write_run(
        folder,
        record=record,
        summary=summary,
        pairs=run.pairs,
        sets=tuple(sets.values()),
        system_prompt=run.system_prompt,
        responses=run.responses,
        judgments=judgments,
    )
    return AuditResult(summary, carry_out.calls, carry_out.replies, carry_out.found, carry_out.cost)


def forecast_regrade(plan: RegradePlan, watch: StudyWatch | None = None) -> Forecast:
    """Return what grading again would take. No model is called, and nothing is written."""
    run = read_saved_run(plan.run)
    with Ledger.peek(plan.run / "ledger.sqlite") as ledger:
        carry_out = ForecastCarrier(ledger)
        _opened(plan, watch or UnwatchedStudy()).ask(run.pairs, run.responses, carry_out)
    return carry_out.forecast


def _block(grading: Mapping[str, Any]) -> tuple[str, str]:
    return grading["grader"]["name"], grading["instruments"]["set"]


def _opened(plan: RegradePlan, watch: StudyWatch) -> Graders:
    return open_graders(plan.grading, load_model_settings(plan.models), watch)


def _both(run: SavedRun, carry_out: Carrier) -> dict[str, int | str | None]:
    """Return when the replies came that the folder's judgments rest on; the new ones count with the old."""
    old, new = run.record["replies"], carry_out.record()
    times = [str(part[name]) for part in (old, new) for name in ("first_at", "last_at") if part[name]]
    return {
        "count": int(old["count"]) + carry_out.calls,
        "first_at": min(times, default=None),
        "last_at": max(times, default=None),
    }
