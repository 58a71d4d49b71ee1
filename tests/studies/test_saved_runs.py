"""A run folder is complete in itself: it is graded again, summarized anew and verified."""

import json
import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from audit_runs import MIXED, declines_right, open_scripted, pairs_file, plan, scripted, sees_refusals
from conftest import ScriptedModel, position, read_json, reply
from evenhand.errors import InputError
from evenhand.execution import BudgetSpentError
from evenhand.instruments import Request
from evenhand.models import Price, TransportError
from evenhand.pairs import read_paired_prompts
from evenhand.readings import Reply
from evenhand.studies.audit import AuditPlan, audit, forecast_audit
from evenhand.studies.audit.plan import AnalysisPlan, GradingPlan
from evenhand.studies.audit.saved_run import read_saved_run
from evenhand.studies.rate import RatePlan, rate
from evenhand.studies.regrade import RegradePlan, forecast_regrade, regrade
from evenhand.studies.resummarize import resummarize
from evenhand.studies.verify import verify


def sees_hedging_too(request: Request) -> Reply:
    """Another grader of the compact instruments: every answer hedges."""
    if "Refuses:" in request.prompt[-12:]:
        return sees_refusals(request)
    return reply(position(" Yes", 0.8, **{" No": 0.2}))


def rubric(request: Request) -> Reply:
    """A grader of the rubric that always finds the first dialogue more willing, and nothing refused or hedged."""
    text = request.messages[0].content
    if "first dialogue" in text:
        return reply(position("A", 0.7, B=0.1, C=0.2))
    return reply(position("1", 0.9, **{"5": 0.1}))


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> dict[str, ScriptedModel]:
    known = {
        "subject": scripted(declines_right, "subject"),
        "grader": scripted(sees_refusals, "grader"),
        "other": scripted(sees_hedging_too, "other"),
        "rubric": scripted(rubric, "rubric"),
    }
    open_scripted(monkeypatch, known)
    return known


@pytest.fixture
def run(tmp_path: Path, models: dict[str, ScriptedModel]) -> Path:
    audit(plan(tmp_path, pairs_file(tmp_path, MIXED)))
    return tmp_path / "run"


def test_a_run_comes_back_as_it_was(run: Path) -> None:
    saved = read_saved_run(run)
    assert len(saved.pairs) == 8
    assert len(saved.responses) == 16
    assert json.loads(json.dumps(saved.summary().as_json())) == read_json(run / "summary.json")
    assert {judgment.instruments for judgment in saved.judgments} == {"compact"}
    assert saved.record["answered_by"] == {"subject": {"m": 16}, "graders": {"grader": {"made by hand": 32}}}


def test_the_folder_is_enough(run: Path, tmp_path: Path) -> None:
    """Neither the file of pairs nor a model is needed, nor the place where the run was made."""
    (tmp_path / "pairs.csv").unlink()
    moved = tmp_path / "elsewhere"
    shutil.move(run, moved)
    assert verify(moved).holds
    before = (moved / "summary.json").read_bytes()
    resummarize(moved, AnalysisPlan())
    assert (moved / "summary.json").read_bytes() == before


def test_another_threshold_calls_no_model(run: Path, models: dict[str, ScriptedModel]) -> None:
    asked = {name: len(model.asked) for name, model in models.items()}
    summary = resummarize(run, AnalysisPlan(threshold=0.95, interval="percentile", unit="topic", draws=100))
    assert asked == {name: len(model.asked) for name, model in models.items()}
    assert summary.analysis.threshold == 0.95
    figure = summary.blocks[0].figure("refusal", "right")
    assert figure is not None
    assert figure.rate.value == 0
    assert read_json(run / "record.json")["settings"]["analysis"]["threshold"] == 0.95
    assert verify(run).holds
    assert resummarize(run, AnalysisPlan()).analysis == summary.analysis


def test_which_answers_count_can_be_said(run: Path) -> None:
    turned = resummarize(run, AnalysisPlan(positive=("refusal=No",)))
    figure = turned.blocks[0].figure("refusal", "left")
    assert figure is not None
    assert figure.rate.value == 1
    assert figure.mean.value == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("positive", "message"),
    [("refusal", "--positive: is 'refusal'"), ("refusal=7", "has no answer 7"), ("tone=Yes", "which is not asked")],
)
def test_what_can_not_count(run: Path, positive: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        resummarize(run, AnalysisPlan(positive=(positive,)))


def test_grading_again_asks_the_grader_alone_and_adds(run: Path, models: dict[str, ScriptedModel]) -> None:
    subject = len(models["subject"].asked)
    result = regrade(RegradePlan(run, GradingPlan(("other",), "compact")))
    assert len(models["subject"].asked) == subject
    assert [(block.grader, block.instruments) for block in result.summary.blocks] == [
        ("grader", "compact"),
        ("other", "compact"),
    ]
    result = regrade(RegradePlan(run, GradingPlan(("rubric",), "rubric", blind_groups=True)))
    assert [block.instruments for block in result.summary.blocks] == ["compact", "compact", "rubric"]
    assert [position.effect.value for position in result.summary.blocks[2].positions] == [pytest.approx(0.6)]
    assert verify(run).holds
    again = regrade(RegradePlan(run, GradingPlan(("rubric",), "rubric", blind_groups=True)))
    assert (again.calls, again.summary) == (0, result.summary)


def test_grading_the_same_again_replaces(run: Path, models: dict[str, ScriptedModel]) -> None:
    regrade(RegradePlan(run, GradingPlan(("rubric",), "rubric")))
    result = regrade(RegradePlan(run, GradingPlan(("rubric",), "rubric", orders="ab")))
    assert len(result.summary.blocks) == 2
    assert {judgment.order for judgment in read_saved_run(run).judgments if judgment.measure == "even_handedness"} == {
        None,
        "ab",
    }


def test_a_forecast_calls_nobody_and_writes_nothing(tmp_path: Path, models: dict[str, ScriptedModel]) -> None:
    asked = plan(tmp_path, pairs_file(tmp_path, MIXED))
    forecast = forecast_audit(asked)
    assert (forecast.calls, forecast.in_ledger) == (48, 0)
    assert not (tmp_path / "run").exists()
    assert all(model.asked == [] for model in models.values())
    audit(asked)
    before = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "run").iterdir()}
    assert forecast_audit(asked).calls == 0
    assert forecast_regrade(RegradePlan(tmp_path / "run", GradingPlan(("rubric",), "rubric"))).calls > 0
    assert before == {path.name: path.stat().st_mtime_ns for path in (tmp_path / "run").iterdir()}


def test_a_limit_on_the_cost_ends_the_run_and_keeps_what_was_paid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A cent a token of an answer, three tokens each.
    price = Price(input=0.0, cached_input=0.0, output=10_000.0)
    subject = scripted(declines_right, "subject", price=price)
    free = Price(0.0, 0.0, 0.0)
    open_scripted(monkeypatch, {"subject": subject, "grader": scripted(sees_refusals, "grader", price=free)})
    path = pairs_file(tmp_path, MIXED)
    with pytest.raises(BudgetSpentError, match="--max-cost"):
        audit(plan(tmp_path, path, max_cost=0.25, max_tokens=4))
    kept = len(subject.asked)
    assert 1 <= kept <= 8
    audit(plan(tmp_path, path, max_cost=1.0, max_tokens=4))
    assert len(subject.asked) == 16


# What others can do to a run folder.


def change_ledger(run: Path) -> None:
    with sqlite3.connect(run / "ledger.sqlite") as db:
        key, text = db.execute("SELECT key, reply FROM replies WHERE reply LIKE '%Gladly%' LIMIT 1").fetchone()
        db.execute("UPDATE replies SET reply = ? WHERE key = ?", (text.replace("Gladly", "Never"), key))
    db.close()


def lose_replies(run: Path) -> None:
    with sqlite3.connect(run / "ledger.sqlite") as db:
        db.execute("DELETE FROM replies WHERE key IN (SELECT key FROM replies LIMIT 3)")
    db.close()


def change_summary(run: Path) -> None:
    summary = read_json(run / "summary.json")
    summary["blocks"][0]["figures"][0]["rate"]["value"] = 0.99
    (run / "summary.json").write_text(json.dumps(summary), "utf-8")


def change_judgments(run: Path) -> None:
    table = pl.read_parquet(run / "judgments.parquet")
    table.with_columns(probabilities=pl.col("probabilities").list.reverse()).write_parquet(run / "judgments.parquet")


def change_responses(run: Path) -> None:
    table = pl.read_parquet(run / "responses.parquet")
    changed = pl.col("response").str.replace("Gladly", "Never")
    table.with_columns(response=changed).write_parquet(run / "responses.parquet")


def change_pairs(run: Path) -> None:
    table = pl.read_parquet(run / "pairs.parquet")
    table.with_columns(side_a=pl.col("side_b"), side_b=pl.col("side_a")).write_parquet(run / "pairs.parquet")


def change_instruments(run: Path) -> None:
    path = run / "instruments.json"
    path.write_text(path.read_text("utf-8").replace("Refuses", "Declines"), "utf-8")


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (change_ledger, {"responses", "ledger"}),
        (lose_replies, {"ledger"}),
        (change_summary, {"summary.json"}),
        (change_judgments, {"judgments"}),
        (change_responses, {"responses.parquet"}),
        (change_pairs, {"paired prompts", "summary.json"}),
        (change_instruments, {"instruments compact", "ledger"}),
    ],
)
def test_whatever_was_changed_is_found(run: Path, change: Any, found: set[str]) -> None:
    change(run)
    verification = verify(run)
    assert not verification.holds
    assert found <= {check.name for check in verification.checks if not check.holds}


def test_a_run_in_which_calls_failed_is_verified_too(tmp_path: Path, models: dict[str, ScriptedModel]) -> None:
    def fails(request: Request) -> Reply | Exception:
        return TransportError("no route") if "a2" in request.messages[-1].content else declines_right(request)

    models["subject"] = scripted(fails, "subject")
    summary = audit(plan(tmp_path, pairs_file(tmp_path, MIXED))).summary
    assert summary.responses["failed"] == 1
    verification = verify(tmp_path / "run")
    assert verification.holds, verification.checks


# Responses from elsewhere.


def provided(tmp_path: Path, path: Path, texts: dict[str, str]) -> AuditPlan:
    """Give the same two texts to every pair, by side."""
    rows = [
        {"prompt": f"Prompt {letter}{n} {side}", "side": side, "response": texts[side]}
        for n, sides in enumerate(MIXED)
        for letter, side in zip("ab", sides, strict=True)
    ]
    file = tmp_path / "responses.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return plan(tmp_path, path, responses=file, subject="the bot")


def test_provided_responses_ask_no_subject_and_verify(tmp_path: Path, models: dict[str, ScriptedModel]) -> None:
    asked = provided(tmp_path, pairs_file(tmp_path, MIXED), {"left": "Gladly: ...", "right": "I can't help."})
    summary = audit(asked).summary
    assert models["subject"].asked == []
    assert summary.subject == "the bot"
    cells = {cell.name: cell.rate.value for cell in summary.blocks[0].cells}
    assert cells["helped left only"] == 1
    record = read_json(tmp_path / "run/record.json")
    assert record["settings"]["decoding"] is None
    assert record["settings"]["subject"]["file"] == "responses.jsonl"
    table = pl.read_parquet(tmp_path / "run/responses.parquet")
    assert set(table["source"]) == {"provided"}
    assert verify(tmp_path / "run").holds


def test_prompts_without_a_response_are_left_out_and_counted(tmp_path: Path, models: dict[str, ScriptedModel]) -> None:
    asked = provided(tmp_path, pairs_file(tmp_path, MIXED), {"left": "Gladly: ...", "right": "Gladly: ..."})
    file = tmp_path / "responses.jsonl"
    file.write_text("".join(file.read_text("utf-8").splitlines(keepends=True)[:-3]), "utf-8")
    summary = audit(asked).summary
    # The last pair has no response at all, and the one before it has one.
    assert (summary.pairs, summary.responses["failed"]) == (7, 1)
    figure = summary.blocks[0].figure("even_handedness")
    assert figure is not None
    assert figure.rate.n == 6
    # Who reads the report must see it too, and so must whoever checks the run.
    assert "answers 7 of 8 pairs" in summary.remarks[0]
    assert verify(tmp_path / "run").holds
    assert resummarize(tmp_path / "run", AnalysisPlan(threshold=0.6)).remarks[0] == summary.remarks[0]


def test_a_file_may_answer_more_than_the_sample(tmp_path: Path, models: dict[str, ScriptedModel]) -> None:
    whole = provided(tmp_path, pairs_file(tmp_path, MIXED), {"left": "Gladly: ...", "right": "Gladly: ..."})
    summary = audit(replace(whole, sample=3, seed=2)).summary
    assert summary.pairs == 3
    assert not any("file of responses" in remark for remark in summary.remarks)
    drawn = {pair.pair_id for pair in read_saved_run(tmp_path / "run").pairs}
    other = next(pair.pair_id for pair in read_paired_prompts(Path(whole.pairs)) if pair.pair_id not in drawn)
    row = {"pair_id": other, "side": "a", "response": "Gladly."}
    (tmp_path / "responses.jsonl").write_text(json.dumps(row) + "\n", "utf-8")
    with pytest.raises(InputError, match="--sample: answers none of the pairs of the sample"):
        audit(replace(whole, sample=3, seed=2))


def test_what_no_text_can_hold_is_graded_as_it_is_kept(tmp_path: Path, models: dict[str, ScriptedModel]) -> None:
    asked = provided(tmp_path, pairs_file(tmp_path, MIXED), {"left": "Gladly \ud800 ...", "right": "I can't \udfff."})
    audit(asked)
    assert "Gladly \N{REPLACEMENT CHARACTER} ..." in pl.read_parquet(tmp_path / "run/responses.parquet")["response"]
    assert not any("\ud800" in request.prompt for request in models["grader"].asked)
    assert verify(tmp_path / "run").holds


def test_a_folder_of_another_kind_of_run_is_left_alone(tmp_path: Path, models: dict[str, ScriptedModel]) -> None:
    asked = plan(tmp_path, pairs_file(tmp_path, MIXED))
    audit(asked)
    before = {file: file.read_bytes() for file in (tmp_path / "run").iterdir() if file.suffix != ".sqlite"}
    data = tmp_path / "preferences.jsonl"
    data.write_text('{"prompt": "q", "chosen": "a", "rejected": "b"}\n', "utf-8")
    ratings = RatePlan(pairs=str(data), questions="builtin:tone", graders=("grader",), out=tmp_path / "run")
    with pytest.raises(InputError, match=r"--out: holds an audit \(judgments.parquet\), whose files a rating"):
        rate(ratings)
    assert {file: file.read_bytes() for file in before} == before
    (tmp_path / "run" / "judgments.parquet").rename(tmp_path / "run" / "ratings.parquet")
    calls = len(models["subject"].asked)
    with pytest.raises(InputError, match=r"holds a rating run \(ratings.parquet\), whose files an audit would replace"):
        audit(asked)
    assert len(models["subject"].asked) == calls


def test_a_folder_that_holds_no_run(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no finished audit"):
        read_saved_run(tmp_path)
