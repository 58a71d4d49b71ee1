"""Audits by fitted graders: no call, their own instruments, their weights in the record, and the whole way back."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from audit_runs import MIXED, audit_plan, declines_right, open_scripted, pairs_file, scripted, sees_refusals
from conftest import ScriptedModel, read_json
from evenhand.errors import InputError
from evenhand.graders.fitted import BUILTIN_GRADERS, FittedGrader
from evenhand.graders.fitted.judging import FittedGraders
from evenhand.models import ModelRole
from evenhand.pairs import read_paired_prompts
from evenhand.report.forecast_table import forecast_notes
from evenhand.studies.audit import audit, forecast_audit
from evenhand.studies.audit import run as audit_run
from evenhand.studies.audit.plan import AnalysisPlan, GradingPlan
from evenhand.studies.audit.saved_run import read_saved_run
from evenhand.studies.compare import compare
from evenhand.studies.regrade import RegradePlan, forecast_regrade, regrade
from evenhand.studies.resummarize import resummarize
from evenhand.studies.verify import verify
from evenhand.studies.watch import UnwatchedStudy

REFUSED = "I'm sorry, but I can't help with that request."
HELPED = "There are three good reasons. First, schools need money. Second, roads do, too. Third, it is fair to all."
DATA = Path(audit_run.__file__).parents[2] / "graders" / "fitted" / "data"


@pytest.fixture(autouse=True)
def no_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever opens a model without need fails."""

    def opened(name: str, role: ModelRole, watch: object = None, settings: object = None) -> None:
        raise AssertionError(f"{name} was opened")

    monkeypatch.setattr(audit_run, "open_model", opened)


def provided(folder: Path) -> dict[str, Any]:
    """Return what a plan says of pairs and of responses that decline the right."""
    pairs = pairs_file(folder, MIXED)
    rows = [
        {"pair_id": pair.pair_id, "side": letter, "response": REFUSED if side == "right" else HELPED}
        for pair in read_paired_prompts(pairs)
        for letter, side in (("a", pair.side_a), ("b", pair.side_b))
    ]
    responses = folder / "responses.jsonl"
    responses.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    return {"pairs": str(pairs), "responses": responses, "subject": "somebody"}


def fitted_plan(folder: Path, *graders: str, **changes: Any) -> Any:
    return audit_plan(**{**provided(folder), "graders": graders, "out": folder / "run", "draws": 200, **changes})


def own_grader(folder: Path, *, part: str = "refusal") -> Path:
    """Copy a packaged grader, as a file of the user's."""
    for ending in ("json", "npz"):
        shutil.copy(DATA / f"{part}.{ending}", folder / f"own.{ending}")
    return folder / "own.json"


def test_all_packaged_graders_together_judge_without_a_model_or_instruments(tmp_path: Path) -> None:
    result = audit(fitted_plan(tmp_path, "fitted:builtin", instruments="no such set"))
    assert (result.calls, result.replies, result.cost) == (0, 0, 0)
    (block,) = result.summary.blocks
    assert (block.grader, block.instruments, block.fitted) == ("fitted:builtin", "fitted", True)
    assert {figure.measure for figure in block.figures} == {"even_handedness", *BUILTIN_GRADERS}
    left, right = (block.figure("refusal", side) for side in ("left", "right"))
    assert left is not None
    assert right is not None
    assert (left.rate.value, right.rate.value) == (0, 1)
    even = block.figure("even_handedness")
    assert even is not None
    assert even.rate.value == 0
    judged = pl.read_parquet(tmp_path / "run/judgments.parquet")
    assert judged["key"].null_count() == judged["captured"].null_count() == len(judged)
    assert not block.captured
    assert [position.effect.value for position in block.positions] == [None]


def test_a_second_run_leaves_the_same_bytes(tmp_path: Path) -> None:
    plan = fitted_plan(tmp_path, "fitted:builtin")
    names = ("summary.json", "record.json", "judgments.parquet", "instruments.json")
    said: list[str] = []

    class Watch(UnwatchedStudy):
        def say(self, text: str) -> None:
            said.append(text)

    found = []
    for _ in range(2):
        audit(plan, Watch())
        found.append([(tmp_path / "run" / name).read_bytes() for name in names])
    assert found[0] == found[1]
    assert not any("other settings" in text for text in said)


def test_the_record_holds_weights_cards_and_labels(tmp_path: Path) -> None:
    audit(fitted_plan(tmp_path, "fitted:refusal"))
    (grading,) = read_json(tmp_path / "run/record.json")["settings"]["gradings"]
    card = FittedGrader.load("fitted:refusal").card
    assert grading["grader"]["fitted"] == [json.loads(json.dumps(card.as_json()))]
    assert card.weights_sha256 in grading["grader"]["identity"]
    assert grading["grader"]["fitted"][0]["sources"]
    assert [card["measure"] for card in grading["validity"]][-1] == "refusal"
    assert grading["instruments"]["versions"] == FittedGraders.load("fitted:refusal").instruments.versions


def test_what_a_run_holds_follows_from_the_weights(tmp_path: Path) -> None:
    audit(fitted_plan(tmp_path, "fitted:builtin"))
    found = verify(tmp_path / "run")
    assert found.holds
    assert next(check for check in found.checks if check.name == "weights of fitted:builtin").holds
    judged = tmp_path / "run/judgments.parquet"
    table = pl.read_parquet(judged)
    turned = pl.when(pl.col("measure") == "refusal").then(pl.col("probabilities").list.reverse())
    table.with_columns(turned.otherwise(pl.col("probabilities")).alias("probabilities")).write_parquet(judged)
    differing = {check.name for check in verify(tmp_path / "run").checks if not check.holds}
    assert differing == {"judgments"}


def test_weights_that_are_not_those_of_the_record_are_told(tmp_path: Path) -> None:
    own = own_grader(tmp_path)
    audit(fitted_plan(tmp_path, f"fitted:{own}"))
    assert verify(tmp_path / "run").holds
    own_grader(tmp_path, part="hedging")
    (check,) = [one for one in verify(tmp_path / "run").checks if not one.holds]
    assert check.name == f"weights of fitted:{own}"
    recorded = FittedGrader.load("fitted:refusal").card.weights_sha256[:12]
    assert f"refusal none, recorded {recorded}" in check.detail
    assert "taken as they were saved" in check.detail
    own.unlink()
    (check,) = [one for one in verify(tmp_path / "run").checks if not one.holds]
    assert "could not be loaded" in check.detail
    assert "there is no such file" in check.detail


def test_graders_of_both_kinds_stand_side_by_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    models = {name: scripted(answer, name) for name, answer in (("s", declines_right), ("g", sees_refusals))}
    open_scripted(monkeypatch, models)
    pairs = pairs_file(tmp_path, MIXED)
    given = {"pairs": str(pairs), "subject": "s", "out": tmp_path / "run", "instruments": "compact", "draws": 200}
    result = audit(audit_plan(graders=("fitted:builtin", "g", "fitted:builtin"), **given))
    assert [(block.grader, block.instruments) for block in result.summary.blocks] == [
        ("g", "compact"),
        ("fitted:builtin", "fitted"),
    ]
    assert {one.measure for one in result.summary.agreement} == {"even_handedness", "refusal", "hedging"}
    assert not any(one.one_family for one in result.summary.agreement)
    assert verify(tmp_path / "run").holds
    assert resummarize(tmp_path / "run", AnalysisPlan()) == result.summary


def test_other_answers_count_where_a_set_has_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_scripted(monkeypatch, {"s": scripted(declines_right, "s"), "g": scripted(sees_refusals, "g")})
    given = {"pairs": str(pairs_file(tmp_path, MIXED)), "subject": "s", "out": tmp_path / "run", "draws": 200}
    plan = audit_plan(graders=("g", "fitted:builtin"), positive=("refusal=3,4,5",), **given)
    result = audit(plan)
    assert [block.positive["refusal"] for block in result.summary.blocks] == [("3", "4", "5"), ("Yes",)]


def test_grading_again_adds_fitted_graders_and_replaces_their_own(tmp_path: Path) -> None:
    audit(fitted_plan(tmp_path, "fitted:hedging"))
    run, own = tmp_path / "run", own_grader(tmp_path)
    result = regrade(RegradePlan(run, GradingPlan((f"fitted:{own}",))))
    assert [block.grader for block in result.summary.blocks] == ["fitted:hedging", f"fitted:{own}"]
    assert verify(run).holds
    own_grader(tmp_path, part="hedging")
    result = regrade(RegradePlan(run, GradingPlan((str(own),))))
    assert [{figure.measure for figure in block.figures} for block in result.summary.blocks] == [{"hedging"}] * 2
    assert [one.one_family for one in result.summary.agreement] == [True]
    assert [one.name for one in read_saved_run(run).sets] == ["fitted:hedging", f"fitted:{own}"]
    assert verify(run).holds


def test_a_forecast_has_no_calls(tmp_path: Path) -> None:
    plan = fitted_plan(tmp_path, "fitted:builtin")
    forecast = forecast_audit(plan)
    assert (forecast.calls, forecast.stages) == (0, ())
    assert list(forecast_notes(forecast)) == ["no model is asked: a run calls no model"]
    assert not (tmp_path / "run").exists()
    audit(plan)
    assert forecast_regrade(RegradePlan(tmp_path / "run", GradingPlan(("fitted:refusal",)))).calls == 0


def test_runs_are_compared_by_fitted_graders(tmp_path: Path) -> None:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        audit(fitted_plan(tmp_path / name, "fitted:builtin"))
    comparison = compare([tmp_path / "one/run", tmp_path / "other/run"])
    (block,) = comparison.blocks
    rate = next(figure for figure in block.figures if figure.name == "even_handedness.rate")
    assert [estimate.value for estimate in rate.estimates] == [0, 0]
    assert not any("fitted" in one.name for one in comparison.settings)


def test_runs_without_a_common_grader_are_told_the_command_for_it(tmp_path: Path) -> None:
    for name, grader in (("one", "fitted:refusal"), ("other", "fitted:hedging")):
        (tmp_path / name).mkdir()
        audit(fitted_plan(tmp_path / name, grader))
    with pytest.raises(InputError) as raised:
        compare([tmp_path / "one/run", tmp_path / "other/run"])
    assert f"`evenhand regrade {tmp_path / 'other/run'} --grader fitted:refusal`" in str(raised.value)


def test_other_weights_are_a_difference_of_settings(tmp_path: Path) -> None:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        audit(fitted_plan(tmp_path / name, f"fitted:{own_grader(tmp_path)}"))
    record = tmp_path / "other/run/record.json"
    values = read_json(record)
    (grading,) = values["settings"]["gradings"]
    grading["grader"]["identity"] = grading["instruments"]["versions"]["refusal"] = "of other weights"
    record.write_text(json.dumps(values), "utf-8")
    comparison = compare([tmp_path / "one/run", tmp_path / "other/run"])
    named = [one.name for one in comparison.settings]
    assert any(name.endswith("what its name stands for") for name in named)
    assert any(name.endswith("refusal instrument") for name in named)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "fitted:nothing",
            "there is no fitted grader 'fitted:nothing'. The way out: use fitted:builtin, fitted:refusal",
        ),
        ("fitted:", "there is no fitted grader"),
        ("fitted:nowhere/own.json", "own.json: there is no such file. The way out: a fitted grader is X.json with"),
    ],
)
def test_errors_name_the_way_out(tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        audit(fitted_plan(tmp_path, name))
    assert not (tmp_path / "run").exists()


def test_weights_beside_another_card_are_refused(tmp_path: Path) -> None:
    own = own_grader(tmp_path)
    shutil.copy(DATA / "hedging.npz", tmp_path / "own.npz")
    with pytest.raises(InputError, match="the weights are not those of the card"):
        audit(fitted_plan(tmp_path, f"fitted:{own}"))


def test_a_prompt_file_that_is_called_fitted_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_scripted(monkeypatch, {"g": ScriptedModel(sees_refusals, name="g")})
    prompts = tmp_path / "fitted.yaml"
    plan = fitted_plan(tmp_path, "g", "fitted:builtin", instruments=str(prompts))
    monkeypatch.setattr(
        audit_run, "load_instruments", lambda name: (FittedGraders.load("fitted:builtin").instruments, {"name": name})
    )
    with pytest.raises(InputError, match="give the prompt file another name"):
        audit(plan)
