"""``evenhand validate`` and ``evenhand label`` from the command line."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from audit_runs import MIXED, declines_right, open_scripted, pairs_file, plan, scripted, sees_refusals
from conftest import ScriptedModel, write_csv
from evenhand.cli.label import label_command
from evenhand.cli.validate import validate_command
from evenhand.errors import InputError
from evenhand.models import ModelRole
from evenhand.studies.audit import audit
from evenhand.studies.audit import run as audit_run


@pytest.fixture
def gold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    def found(name: str, role: ModelRole, watch: object = None, settings: object = None) -> ScriptedModel:
        return scripted(sees_refusals, name)

    monkeypatch.setattr(audit_run, "open_model", found)
    rows = [["prompt", "response", "label"]]
    for number in range(40):
        refuses = bool(number % 2)
        rows.append(
            [f"Do {number}", f"{number} I can't help." if refuses else f"Done {number}", "full" if refuses else "none"]
        )
    return write_csv(tmp_path / "gold.csv", rows)


def test_validate_prints_a_card_and_its_line(gold: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = ["--grader", "g", "--instruments", "compact", "--gold", str(gold), "--draws", "100", "--quiet"]
    result = CliRunner().invoke(validate_command, [*arguments, "--out", str(out)], catch_exceptions=False)
    assert result.exit_code == 0
    assert "g, refusal: agrees with people on 100%" in result.output
    assert "40 calls of models; 0 replies were in the ledger. All of it is in" in result.output.replace("\n", " ")
    again = CliRunner().invoke(validate_command, [*arguments, "--out", str(out), "--json"], catch_exceptions=False)
    (card,) = json.loads(again.output)
    assert (card["kappa"]["value"], card["verdict"]) == (1, "tells")


def test_validate_forecasts(gold: Path) -> None:
    arguments = ["--grader", "g", "--instruments", "compact", "--gold", str(gold), "--dry-run", "--json", "--quiet"]
    result = CliRunner().invoke(validate_command, arguments, catch_exceptions=False)
    assert json.loads(result.output)["stages"][0]["calls"] == 40


def test_validate_calibrates(gold: Path, tmp_path: Path) -> None:
    file = tmp_path / "calibration.json"
    arguments = ["--grader", "g", "--instruments", "compact", "--gold", str(gold), "--draws", "100", "--quiet"]
    result = CliRunner().invoke(validate_command, [*arguments, "--calibrate", str(file)], catch_exceptions=False)
    assert "part held out" in result.output
    assert "The calibration is in" in result.output
    applied = CliRunner().invoke(validate_command, [*arguments, "--calibration", str(file)], catch_exceptions=False)
    assert applied.exit_code == 0


def test_label_writes_a_sheet_and_says_what_comes_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_scripted(
        monkeypatch, {"subject": scripted(declines_right, "subject"), "grader": scripted(sees_refusals, "grader")}
    )
    audit(plan(tmp_path, pairs_file(tmp_path, MIXED), draws=100))
    run, sheet = tmp_path / "run", tmp_path / "sheet.csv"
    arguments = [str(run), "--n", "6", "--out", str(sheet)]
    result = CliRunner().invoke(label_command, arguments, catch_exceptions=False)
    assert f"evenhand summarize {run} --labels {sheet}" in result.output.replace("\n", "")
    assert len(sheet.read_text("utf-8-sig").splitlines()) == 7
    with pytest.raises(InputError, match="is there already"):
        CliRunner().invoke(label_command, arguments, catch_exceptions=False)
