"""An audit from end to end, with scripted models whose truth is known and with real ones."""

import hashlib
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from audit_runs import MIXED, audit_plan, declines_right, open_scripted, pairs_file, plan, sees_refusals
from conftest import ScriptedModel, position, read_json, reply, shared
from evenhand.errors import InputError
from evenhand.instruments import Request
from evenhand.models import ContextOverflowError, Model, ModelRole, TransportError, open_model
from evenhand.readings import Reply
from evenhand.report import AuditSummary
from evenhand.studies.audit import audit
from evenhand.studies.audit import run as audit_run
from evenhand.studies.audit.plan import AnalysisPlan
from evenhand.studies.resummarize import resummarize
from evenhand.studies.watch import UnwatchedStudy


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> dict[str, ScriptedModel]:
    known: dict[str, ScriptedModel] = {}
    open_scripted(monkeypatch, known)
    return known


def figures(summary: AuditSummary) -> dict[str, float | None]:
    (block,) = summary.blocks
    found = {f"{f.measure}.{f.of}": f.rate.value for f in block.figures}
    found |= {cell.name: cell.rate.value for cell in block.cells}
    return found | {f"direction.{d.measure}": d.mean.value for d in block.directions}


def test_direction_is_by_side_and_not_by_place(tmp_path: Path, models: dict[str, ScriptedModel]) -> None:
    models |= {"subject": ScriptedModel(declines_right), "grader": ScriptedModel(sees_refusals, name="grader")}
    found = figures(audit(plan(tmp_path, pairs_file(tmp_path, MIXED))).summary)
    assert found["even_handedness.pairs"] == 0
    assert (found["refusal.left"], found["refusal.right"]) == (0, 1)
    assert found["helped left only"] == 1
    assert found["helped both"] == found["helped right only"] == found["helped neither"] == 0
    assert found["direction.refusal"] == pytest.approx(0.8)
    assert found["direction.even_handedness"] == pytest.approx(-0.8)
    assert found["direction.hedging"] == pytest.approx(0)


def test_exchanging_the_sides_flips_the_direction_and_nothing_else(
    tmp_path: Path, models: dict[str, ScriptedModel]
) -> None:
    models |= {"subject": ScriptedModel(declines_right), "grader": ScriptedModel(sees_refusals, name="grader")}
    (tmp_path / "one").mkdir()
    (tmp_path / "other").mkdir()
    summaries = []
    for folder in ("one", "other"):
        path = pairs_file(tmp_path / folder, MIXED)
        if folder == "other":
            # The same prompts in the same places, each coded as the other side.
            text = path.read_text().replace(",left,right", ",L,R").replace(",right,left", ",left,right")
            path.write_text(text.replace(",L,R", ",right,left"))
        summaries.append(figures(audit(plan(tmp_path / folder, path)).summary))
    one, other = summaries
    assert other["helped right only"] == one["helped left only"] == 1
    assert other["direction.even_handedness"] == pytest.approx(-(one["direction.even_handedness"] or 0))
    assert other["even_handedness.pairs"] == one["even_handedness.pairs"]


def test_a_model_that_declines_everything_shows_as_that(tmp_path: Path, models: dict[str, ScriptedModel]) -> None:
    refuses = Reply("I can't help.", "stop", "m", completion_tokens=3)
    models |= {"subject": ScriptedModel(lambda _: refuses), "grader": ScriptedModel(sees_refusals, name="grader")}
    result = audit(plan(tmp_path, pairs_file(tmp_path, MIXED)))
    found = figures(result.summary)
    assert (found["even_handedness.pairs"], found["helped neither"]) == (1, 1)
    assert any("helped neither side in 100% of the pairs" in r for r in result.summary.blocks[0].remarks)


def test_a_set_without_sides_is_reported_by_letter(tmp_path: Path, models: dict[str, ScriptedModel]) -> None:
    models |= {"subject": ScriptedModel(declines_right), "grader": ScriptedModel(sees_refusals, name="grader")}
    summary = audit(plan(tmp_path, pairs_file(tmp_path, [("none", "none")] * 4))).summary
    assert {f.of for f in summary.blocks[0].figures} == {"pairs", "a", "b"}
    assert summary.sided_pairs == 0


def test_pairs_without_sides_enter_only_the_figures_over_all_pairs(
    tmp_path: Path, models: dict[str, ScriptedModel]
) -> None:
    models |= {"subject": ScriptedModel(declines_right), "grader": ScriptedModel(sees_refusals, name="grader")}
    summary = audit(plan(tmp_path, pairs_file(tmp_path, [*MIXED, ("none", "none")]))).summary
    counts = {f"{f.measure}.{f.of}": f.mean.n for f in summary.blocks[0].figures}
    assert (counts["even_handedness.pairs"], counts["refusal.left"]) == (9, 8)
    assert any("1 pairs have no left and right side" in remark for remark in summary.remarks)


def test_second_run_makes_no_call_and_the_same_bytes(tmp_path: Path, models: dict[str, ScriptedModel]) -> None:
    models |= {"subject": ScriptedModel(declines_right), "grader": ScriptedModel(sees_refusals, name="grader")}
    path = pairs_file(tmp_path, MIXED)
    first = audit(plan(tmp_path, path))
    files = {name: (tmp_path / "run" / name).read_bytes() for name in ("summary.json", "record.json")}
    again = audit(plan(tmp_path, path))
    # A subject asked 16 times; a grader asked 2 questions about 2 distinct answers is asked 4 times.
    assert (first.calls, again.calls) == (20, 0)
    assert files == {name: (tmp_path / "run" / name).read_bytes() for name in files}
    assert AuditSummary.from_json(read_json(tmp_path / "run/summary.json")) == first.summary == again.summary


def test_what_goes_wrong_is_counted_by_state_and_never_scored(tmp_path: Path, models: dict[str, ScriptedModel]) -> None:
    def subject(request: Request) -> Reply | Exception:
        text = request.messages[-1].content
        if "a0" in text:
            return Reply("  ", "stop", "m", completion_tokens=1)
        if "a1" in text:
            return ContextOverflowError("too long")
        if "a2" in text:
            return Reply("Gladly", "length", "m", completion_tokens=9)
        return Reply(f"Gladly {text}", "stop", "m", completion_tokens=2)

    def grader(request: Request) -> Reply | Exception:
        if "a3" in request.prompt:
            return ContextOverflowError("too long for the grader")
        if "a4" in request.prompt:
            return reply(position("Well", 0.99))
        return sees_refusals(request)

    models |= {"subject": ScriptedModel(subject), "grader": ScriptedModel(grader, name="grader")}
    summary = audit(plan(tmp_path, pairs_file(tmp_path, [("left", "right")] * 8))).summary
    assert summary.responses == {"complete": 13, "cut": 1, "empty": 1, "unanswered": 0, "truncated": 1, "failed": 0}
    states = summary.blocks[0].states
    assert states["refusal"] == {"ok": 12, "truncated": 1, "unparseable": 1}
    assert states["even_handedness"] == {"ok": 4, "truncated": 1, "unparseable": 1}
    counts = {f"{f.measure}.{f.of}": f.mean.n for f in summary.blocks[0].figures}
    assert counts == {
        "even_handedness.pairs": 4,
        "refusal.pairs": 4,
        "refusal.left": 4,
        "refusal.right": 8,
        "hedging.pairs": 4,
        "hedging.left": 4,
        "hedging.right": 8,
    }
    table = pl.read_parquet(tmp_path / "run/judgments.parquet")
    assert (
        table.filter(pl.col("state") != "ok")["positive"].null_count() == table.filter(pl.col("state") != "ok").height
    )
    assert pl.read_parquet(tmp_path / "run/responses.parquet").filter(became="truncated")["reason"].to_list() == [
        "too long"
    ]


def test_the_commonest_reason_of_failures_is_said_and_follows_from_the_files(
    tmp_path: Path, models: dict[str, ScriptedModel]
) -> None:
    def subject(request: Request) -> Reply | Exception:
        text = request.messages[-1].content
        if "a0" in text or "a1" in text:
            return TransportError(f"no such model on this account {'x' * 300}")
        return TransportError("another") if "a2" in text else Reply(f"Gladly {text}", "stop", "m", completion_tokens=2)

    models |= {"subject": ScriptedModel(subject), "grader": ScriptedModel(sees_refusals, name="grader")}
    path = pairs_file(tmp_path, [("left", "right")] * 6)
    summary = audit(plan(tmp_path, path)).summary
    (remark,) = [text for text in summary.remarks if "not given: a call failed" in text]
    assert remark.startswith("3 responses")
    assert "(refused, 1 call: no such model on this account" in remark
    assert len(remark) < 300
    assert resummarize(tmp_path / "run", AnalysisPlan()).remarks == summary.remarks


def test_rubric_averages_both_orders(tmp_path: Path, models: dict[str, ScriptedModel]) -> None:
    """A grader that always prefers the first dialogue has no direction once both orders are averaged."""

    def first_is_better(request: Request) -> Reply:
        text = request.messages[0].content
        if "(A)" in text:
            return reply(position("(A", 0.7, **{"(B": 0.1, "(C": 0.2}))
        return reply(position("(", 1.0), position("1", 0.9, **{"5": 0.1}))

    models |= {"subject": ScriptedModel(declines_right), "grader": ScriptedModel(first_is_better, name="grader")}
    summary = audit(plan(tmp_path, pairs_file(tmp_path, MIXED), instruments="rubric")).summary
    found = figures(summary)
    assert found["direction.even_handedness"] == pytest.approx(0)
    even = next(f for f in summary.blocks[0].figures if f.measure == "even_handedness")
    assert even.mean.value == pytest.approx(0.2)
    assert summary.blocks[0].states["even_handedness"] == {"ok": 16}


def writes(request: Request) -> Reply:
    """A grader without probabilities, which writes a sentence before its verdict; one in four samples differs."""
    text = request.messages[0].content
    odd = request.seed % 4 == 3
    verdict = ("(A)" if odd else "(C)") if "(A)" in text else ("(1)" if odd else "(5)")
    return Reply(f"I have read both.\n\nAnswer: {verdict}", "stop", "m", completion_tokens=9)


@pytest.mark.parametrize(("reading", "even", "calls"), [("text", 1.0, 1), ("samples:4", 0.75, 4)])
def test_written_verdicts(
    tmp_path: Path, models: dict[str, ScriptedModel], reading: str, even: float, calls: int
) -> None:
    models |= {"subject": ScriptedModel(declines_right), "grader": ScriptedModel(writes, name="grader")}
    settings: dict[str, Any] = {"instruments": "rubric", "reading": reading}
    result = audit(plan(tmp_path, pairs_file(tmp_path, MIXED), **settings))
    (block,) = result.summary.blocks
    found = next(figure for figure in block.figures if figure.measure == "even_handedness")
    assert found.mean.value == pytest.approx(even)
    assert block.captured == {}
    assert any("read as written" in remark for remark in block.remarks)
    assert {request.top_logprobs for request in models["grader"].asked} == {0}
    # Sixteen pairs and orders; the refusals and hedges of two distinct texts to sixteen prompts.
    assert len(models["grader"].asked) == calls * (16 + 16 + 16)
    assert read_json(tmp_path / "run/record.json")["settings"]["gradings"][0]["reading"]["mode"] == reading
    assert pl.read_parquet(tmp_path / "run/judgments.parquet")["captured"].null_count() == 48
    assert audit(plan(tmp_path, pairs_file(tmp_path, MIXED), **settings)).calls == 0


def test_several_graders_give_a_block_each_and_one_named_twice_gives_one(
    tmp_path: Path, models: dict[str, ScriptedModel]
) -> None:
    models |= {name: ScriptedModel(sees_refusals, name=name) for name in ("one", "two", "three")}
    models["subject"] = ScriptedModel(declines_right)
    path = pairs_file(tmp_path, MIXED)
    summary = audit(plan(tmp_path, path, graders=("one",))).summary
    assert [block.grader for block in summary.blocks] == ["one"]
    result = audit(plan(tmp_path, path, graders=("one", "two", "three", "two")))
    assert [block.grader for block in result.summary.blocks] == ["one", "two", "three"]
    assert result.calls == 8


def test_a_system_prompt_is_sent_and_recorded_by_its_hash(tmp_path: Path, models: dict[str, ScriptedModel]) -> None:
    subject = ScriptedModel(declines_right)
    models |= {"subject": subject, "grader": ScriptedModel(sees_refusals, name="grader")}
    prompt = tmp_path / "system.txt"
    prompt.write_text("Be brief.\n", "utf-8")
    audit(plan(tmp_path, pairs_file(tmp_path, MIXED), system_prompt=prompt))
    assert {(m.role, m.content) for r in subject.asked for m in r.messages[:1]} == {("system", "Be brief.\n")}
    record = read_json(tmp_path / "run/record.json")
    assert record["settings"]["system_prompt_sha256"] == hashlib.sha256(b"Be brief.\n").hexdigest()


def test_other_settings_in_one_folder_are_said(tmp_path: Path, models: dict[str, ScriptedModel]) -> None:
    models |= {"subject": ScriptedModel(declines_right), "grader": ScriptedModel(sees_refusals, name="grader")}
    path = pairs_file(tmp_path, MIXED)
    audit(plan(tmp_path, path))
    said: list[str] = []

    class Watch(UnwatchedStudy):
        def say(self, text: str) -> None:
            said.append(text)

    audit(plan(tmp_path, path, threshold=0.6), Watch())
    assert len(said) == 1
    assert "other settings (analysis)" in said[0]


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"graders": ()}, "--grader: none was named"),
        ({"threshold": 1.0}, "--threshold: is 1"),
        ({"reading": "letters"}, "--reading: is 'letters'"),
        ({"reading": "text"}, "are read from probabilities alone"),
        ({"max_tokens": 0}, "--max-tokens: is 0"),
        ({"temperature": -1.0}, "--temperature: is -1"),
        ({"pairs": "builtin:mars"}, "no bundled set 'mars'"),
        ({"pairs": "absent.csv"}, "absent.csv: can't be read"),
        ({"instruments": "rubrik"}, "no instruments 'rubrik'"),
        ({"instruments": "absent.py"}, "absent.py: can't be read"),
        ({"subject": "gpt-5"}, "no model 'gpt-5'"),
        ({"graders": ("gpt-5",)}, "no model 'gpt-5'"),
        ({"system_prompt": Path("absent.txt")}, "--system-prompt: can't be read"),
        ({"sample": 10_000}, "a sample of 10000"),
    ],
)
def test_bad_plans_are_told_before_anything_is_made(tmp_path: Path, changes: dict[str, Any], what: str) -> None:
    settings: dict[str, Any] = {"pairs": "builtin:us", "subject": "smollm2-135m", "graders": ("smollm2-135m",)}
    with pytest.raises(InputError) as caught:
        audit(audit_plan(**{**settings, "instruments": "compact", "out": tmp_path / "run", **changes}))
    assert what in str(caught.value)
    assert not (tmp_path / "run").exists()


@pytest.mark.embedded
def test_real_models_on_the_published_pairs(tmp_path: Path, subject_weights: Path, grader_weights: Path) -> None:
    settings: dict[str, Any] = {
        "pairs": str(shared("published/eval_set.csv")),
        "sample": 3,
        "seed": 1,
        "subject": "smollm2-135m",
        "graders": ("qwen2.5-coder-0.5b", "smollm2-135m"),
        "instruments": "compact",
        "max_tokens": 40,
        "out": tmp_path / "run",
    }
    first = audit(audit_plan(**settings))
    assert [block.grader for block in first.summary.blocks] == ["qwen2.5-coder-0.5b", "smollm2-135m"]
    assert first.summary.responses["cut"] + first.summary.responses["complete"] == 6
    for block in first.summary.blocks:
        assert block.captured["refusal"] > 0.5
        assert block.states["refusal"] == {"ok": 6}
    before = (tmp_path / "run/summary.json").read_bytes()
    again = audit(audit_plan(**settings))
    assert again.calls == 0
    assert (tmp_path / "run/summary.json").read_bytes() == before
    record = read_json(tmp_path / "run/record.json")
    assert record["settings"]["pairs"]["sha256"].startswith("b02e49e2")
    assert record["settings"]["subject"]["weights_sha256"].startswith("b179c952")
    assert record["replies"]["count"] == first.replies == 6 + 2 * 12


@pytest.mark.embedded
def test_real_models_with_the_published_prompts(tmp_path: Path, subject_weights: Path, grader_weights: Path) -> None:
    result = audit(
        audit_plan(
            pairs=str(shared("published/eval_set.csv")),
            sample=1,
            seed=1,
            subject="smollm2-135m",
            graders=("qwen2.5-coder-0.5b",),
            instruments=str(shared("seeds/paired_prompts_graders.txt")),
            max_tokens=30,
            out=tmp_path / "run",
        )
    )
    (block,) = result.summary.blocks
    assert block.states == {"even_handedness": {"ok": 2}, "refusal": {"ok": 2}, "hedging": {"ok": 2}}
    assert all(mass > 0.3 for mass in block.captured.values())


@pytest.mark.embedded
def test_a_response_longer_than_the_graders_context_is_a_state(
    tmp_path: Path, grader_weights: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = Reply("word " * 9000, "stop", "m", completion_tokens=9000)

    def open_either(name: str, role: ModelRole, watch: Any = None, settings: Any = None) -> Model:
        return ScriptedModel(lambda _: long) if name == "subject" else open_model(name, role, watch)

    monkeypatch.setattr(audit_run, "open_model", open_either)
    path = pairs_file(tmp_path, [("left", "right")])
    result = audit(plan(tmp_path, path, graders=("qwen2.5-coder-0.5b",)))
    (block,) = result.summary.blocks
    # The refusal instrument says that it looks at an opening alone; the hedging one is shown the whole.
    assert block.states["hedging"] == {"truncated": 2}
    assert block.states["refusal"] == {"ok": 2}
    hedging = [f for f in block.figures if f.measure == "hedging"]
    assert all(f.mean.value is None for f in hedging)
    assert "tokens and the context" in json.dumps(
        pl.read_parquet(tmp_path / "run/judgments.parquet").filter(measure="hedging")["reason"].to_list()
    )
