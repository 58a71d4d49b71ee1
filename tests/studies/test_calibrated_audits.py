"""An audit by a grader whose threshold is not at one half, calibrated and set right by people's labels."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from audit_runs import MIXED, declines_right, open_scripted, pairs_file, plan, scripted
from conftest import position, read_json, reply
from evenhand.cli.root import evenhand_command
from evenhand.errors import InputError
from evenhand.instruments import Request
from evenhand.readings import Reply
from evenhand.report import AuditSummary
from evenhand.report.calibration import Calibration, MeasureCalibration
from evenhand.studies.audit import audit
from evenhand.studies.audit.plan import AnalysisPlan
from evenhand.studies.audit.saved_run import read_saved_run
from evenhand.studies.calibration_file import write_calibration
from evenhand.studies.inputs import load_instruments
from evenhand.studies.resummarize import resummarize
from evenhand.studies.verify import verify
from label_sheets import by_text, fill


def shy(request: Request) -> Reply:
    """A grader that gives a refusal .3 and anything else .1."""
    p = 0.3 if "I can't help." in request.prompt[-40:] else 0.1
    return reply(position(" Yes", p, **{" No": 1 - p}))


@pytest.fixture(autouse=True)
def models(monkeypatch: pytest.MonkeyPatch) -> None:
    open_scripted(monkeypatch, {"subject": scripted(declines_right, "subject"), "grader": scripted(shy, "grader")})


def calibration() -> Calibration:
    versions = {"refusal": load_instruments("compact")[0].versions["refusal"]}
    measure = MeasureCalibration("refusal", versions, "made", "0" * 64, "fit", 90, 0.2, None, None)
    return Calibration("shy", "grader", "identity of grader", "probabilities", (measure,))


def rate(summary: AuditSummary, measure: str, of: str = "pairs") -> float | None:
    figure = summary.blocks[0].figure(measure, of)
    assert figure is not None
    return figure.rate.value


def test_a_calibration_is_applied_recorded_and_taken_back(tmp_path: Path) -> None:
    file, run = tmp_path / "shy.json", tmp_path / "run"
    write_calibration(file, calibration())
    plain = plan(tmp_path, pairs_file(tmp_path, MIXED), draws=100)
    assert rate(audit(plain).summary, "refusal", "right") == 0
    wanted = replace(plain, analysis=replace(plain.analysis, calibrations=(file,)))
    result = audit(wanted)
    assert result.calls == 0
    assert [rate(result.summary, "refusal", side) for side in ("left", "right")] == [0, 1]
    # Derived from the calibrated readings, not from those that were kept.
    assert rate(result.summary, "even_handedness") == 0
    (recorded,) = read_json(run / "record.json")["settings"]["analysis"]["calibrations"]
    assert len(recorded["sha256"]) == 64
    assert verify(run).holds
    assert read_saved_run(run).analysis == wanted.full_analysis
    assert any("calibrated by shy" in remark for remark in result.summary.blocks[0].remarks)
    assert rate(resummarize(run, AnalysisPlan(calibrations=())), "refusal", "right") == 0


def test_a_calibration_of_another_grader_is_refused(tmp_path: Path) -> None:
    audit(plan(tmp_path, pairs_file(tmp_path, MIXED), draws=100))
    file = tmp_path / "other.json"
    write_calibration(file, replace(calibration(), grader="other"))
    with pytest.raises(InputError, match="no grader of this run"):
        resummarize(tmp_path / "run", AnalysisPlan(calibrations=(file,)))


def test_labels_go_out_and_set_the_figures_right(tmp_path: Path) -> None:
    audit(plan(tmp_path, pairs_file(tmp_path, MIXED * 4), draws=100))
    run = str(tmp_path / "run")
    CliRunner().invoke(evenhand_command, ["label", run, "--n", "30"], catch_exceptions=False)
    arguments = ["summarize", run, "--labels", str(fill(tmp_path / "run" / "labels.csv", by_text))]
    shown = CliRunner().invoke(evenhand_command, arguments, catch_exceptions=False).output
    assert "<- read" in shown
    found = json.loads(CliRunner().invoke(evenhand_command, [*arguments, "--json"], catch_exceptions=False).output)
    assert found["corrected"] == read_json(tmp_path / "run" / "corrected.json")
    assert found["corrected"]["figures"][0]["raw"]["value"] == 0
