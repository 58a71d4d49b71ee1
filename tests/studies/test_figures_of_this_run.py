"""Figures that lie in a run folder are shown beside the run that they were made from, and beside no other."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner

from audit_runs import MIXED, declines_right, open_scripted, pairs_file, plan, scripted, sees_refusals
from conftest import ScriptedModel, read_json
from evenhand.cli.report import report_command
from evenhand.errors import InputError
from evenhand.execution import RunFolder
from evenhand.execution.shards import list_shards, write_shard
from evenhand.studies.audit import audit
from evenhand.studies.audit.plan import AnalysisPlan, GradingPlan
from evenhand.studies.corrected import correct_run
from evenhand.studies.effects import effects
from evenhand.studies.fit import fit
from evenhand.studies.label_run import LabelPlan, write_label_sheet
from evenhand.studies.rate import RatePlan, rate
from evenhand.studies.regrade import RegradePlan, regrade
from evenhand.studies.report import report
from evenhand.studies.resummarize import resummarize
from evenhand.studies.score import ScorePlan, forecast_score
from hashing_grader import open_graders, preferences, questions
from label_sheets import by_text, fill


@pytest.fixture
def rated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RatePlan:
    """A run of ratings with effects and a fit."""
    open_graders(monkeypatch)
    made = RatePlan(
        pairs=str(preferences(tmp_path / "pairs.jsonl")),
        questions=str(questions(tmp_path / "q.txt")),
        graders=("grader",),
        leak_sample=0,
        out=tmp_path / "run",
    )
    rate(made)
    effects(made.out, draws=100)
    fit(made.out)
    return made


def page(folder: Path) -> str:
    return report([folder], with_reader=False).page()


def _again(plan: RatePlan) -> None:
    rate(plan)


def _other_questions(plan: RatePlan) -> None:
    questions(Path(plan.questions), "Is it true?")
    rate(plan)


def _other_pairs(plan: RatePlan) -> None:
    preferences(Path(plan.pairs), 25)
    rate(plan)


def _in_other_shards(plan: RatePlan) -> None:
    """As a run on a cluster leaves its tables."""
    folder = RunFolder(plan.out)
    tables = {
        name: [write_shard(plan.out / name, "one", pl.read_parquet(plan.out / f"{name}.parquet").head(20))]
        for name in ("pairs", "ratings")
    }
    list_shards(folder, tables)


@pytest.mark.parametrize("change", [_other_questions, _other_pairs, _in_other_shards])
def test_effects_and_specs_of_other_ratings_are_not_shown(rated: RatePlan, change: Callable[[RatePlan], None]) -> None:
    assert "spec.json" in page(rated.out)
    change(rated)
    with pytest.raises(InputError, match=r"effects.json: was made from other .*(ratings|questions).*evenhand effects"):
        page(rated.out)
    new = ScorePlan(rated.out, Path(rated.pairs), rated.out / "scores", grader="grader")
    with pytest.raises(InputError, match=r"spec.json: was fitted to other .*evenhand fit"):
        forecast_score(new)
    effects(rated.out, draws=100)
    shown = page(rated.out)
    assert "The scoring spec (spec.json) is left out: it was fitted to other" in shown
    assert 'data-file="spec.json"' not in shown
    (remark,) = report([rated.out], with_reader=False).remarks
    assert f"evenhand fit {rated.out}" in remark
    said = CliRunner().invoke(report_command, [str(rated.out), "--format", "json"], catch_exceptions=False)
    assert "(spec.json) is left out" in said.stderr
    assert "spec.json" not in (rated.out / "report.json").read_text("utf-8")


def test_the_same_run_once_more_leaves_its_figures_valid(rated: RatePlan) -> None:
    before = page(rated.out)
    _again(rated)
    assert page(rated.out) == before
    assert report([rated.out], with_reader=False).remarks == ()


def test_a_spec_that_is_named_by_itself_is_taken_as_it_is(rated: RatePlan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evenhand.studies.score.open_model", lambda name, *_: ScriptedModel(None, name=name))
    _other_questions(rated)
    outputs = Path(rated.pairs).with_name("outputs.jsonl")
    outputs.write_text(json.dumps({"prompt": "Ask?", "response": "Good."}) + "\n", "utf-8")
    if any(one["weight"] for one in read_json(rated.out / "spec.json")["questions"]):
        assert forecast_score(ScorePlan(rated.out / "spec.json", outputs, rated.out / "scores")).calls > 0


def test_figures_of_an_earlier_version_are_shown_with_a_remark(rated: RatePlan) -> None:
    for name, keys in (("effects.json", ["made_from"]), ("spec.json", ["provenance"])):
        values = read_json(rated.out / name)
        for key in keys:
            values[key] = {}
        if name == "effects.json":
            del values["made_from"]
        (rated.out / name).write_text(json.dumps(values), "utf-8")
    found = report([rated.out], with_reader=False)
    assert [remark.split(" ")[1] for remark in found.remarks] == ["effects.json", "spec.json"]
    assert all(f"{remark[1:]}." in found.page() for remark in found.remarks)
    assert 'data-file="spec.json"' in found.page()


@pytest.fixture
def corrected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An audit with shares that labels correct."""
    known = {"subject": scripted(declines_right, "subject")}
    known |= {name: ScriptedModel(sees_refusals, name=name) for name in ("grader", "other")}
    open_scripted(monkeypatch, known)
    audit(plan(tmp_path, pairs_file(tmp_path, MIXED * 3), draws=100))
    run = tmp_path / "run"
    correct_run(run, fill(write_label_sheet(LabelPlan(run, 40, seed=1, out=tmp_path / "labels.csv")), by_text))
    return run


def _threshold(run: Path) -> None:
    resummarize(run, AnalysisPlan(threshold=0.3))


def _positive(run: Path) -> None:
    resummarize(run, AnalysisPlan(positive=("refusal=No",)))


def _unit(run: Path) -> None:
    resummarize(run, AnalysisPlan(unit="topic"))


def _regraded(run: Path) -> None:
    regrade(RegradePlan(run, GradingPlan(("other",), instruments="compact")))


def _other_audit(run: Path) -> None:
    audit(plan(run.parent, pairs_file(run.parent, MIXED), draws=100))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (_threshold, "the threshold 0.5 and not 0.3"),
        (_positive, "another setting of positive"),
        (_unit, "another setting of unit"),
        (_regraded, "other judgments"),
        (_other_audit, "other judgments"),
    ],
)
def test_corrected_shares_of_another_summary_are_left_out(
    corrected: Path, change: Callable[[Path], None], why: str
) -> None:
    assert 'data-file="corrected.json"' in page(corrected)
    change(corrected)
    shown = page(corrected)
    assert 'data-file="corrected.json"' not in shown
    assert why in shown
    (remark,) = report([corrected], with_reader=False).remarks
    assert f"evenhand summarize {corrected} --labels" in remark
    sheet = corrected.parent / "filled.csv"
    correct_run(corrected, sheet)
    assert 'data-file="corrected.json"' in page(corrected)
    assert report([corrected], with_reader=False).remarks == ()


def test_corrected_shares_of_an_earlier_version_are_shown_with_a_remark(corrected: Path) -> None:
    values = read_json(corrected / "corrected.json")
    del values["analysis"], values["judgments_sha256"]
    (corrected / "corrected.json").write_text(json.dumps(values), "utf-8")
    found = report([corrected], with_reader=False)
    assert 'data-file="corrected.json"' in found.page()
    assert found.remarks[0].startswith("what corrected.json was made from is not recorded")
    _threshold(corrected)
    assert 'data-file="corrected.json"' not in page(corrected)


def _without(table: str, column: str) -> Callable[[Path], None]:
    def drop(run: Path) -> None:
        pl.read_parquet(run / table).drop(column).write_parquet(run / table)

    return drop


def _with_ratings(run: Path) -> None:
    (run / "ratings.parquet").write_bytes((run / "judgments.parquet").read_bytes())
    (run / "questions.json").write_text("[]", "utf-8")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (_with_ratings, "holds files of an audit and of a rating run"),
        (_without("pairs.parquet", "side_a"), "pairs.parquet: has no column side_a"),
        (_without("responses.parquet", "letter"), "responses.parquet: has no column letter"),
        (_without("judgments.parquet", "order"), "judgments.parquet: has no column order"),
    ],
)
def test_a_folder_of_two_kinds_of_run_is_refused(corrected: Path, change: Callable[[Path], None], problem: str) -> None:
    change(corrected)
    with pytest.raises(InputError, match=problem) as caught:
        report([corrected])
    assert caught.value.way_out


@pytest.mark.parametrize(("table", "column"), [("pairs.parquet", "tie"), ("ratings.parquet", "order")])
def test_tables_of_another_kind_beside_ratings_are_refused(rated: RatePlan, table: str, column: str) -> None:
    values: dict[str, Any] = read_json(rated.out / "effects.json")
    _without(table, column)(rated.out)
    (rated.out / "effects.json").write_text(json.dumps(values | {"made_from": {}}), "utf-8")
    with pytest.raises(InputError, match=f"{table}: has no column {column}"):
        report([rated.out])
