"""Graders that are fitted with an embedded model's answers: their fit, and audits by them and the whole way back."""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from audit_runs import MIXED, audit_plan, open_scripted, pairs_file
from conftest import ScriptedModel, position, read_json, reply
from evenhand.cli.fit_grader import fit_grader_command
from evenhand.errors import InputError
from evenhand.execution import Ledger
from evenhand.graders.fitted import FittedGrader
from evenhand.graders.fitted.questions import QUESTIONS
from evenhand.instruments import Request
from evenhand.pairs import read_paired_prompts
from evenhand.pairs.gold import GoldMeasure
from evenhand.readings import Reply
from evenhand.studies import fit_grader as fitting
from evenhand.studies import fit_questions
from evenhand.studies.audit import audit, forecast_audit
from evenhand.studies.audit.plan import GradingPlan
from evenhand.studies.fit_grader import fit_grader
from evenhand.studies.regrade import RegradePlan, forecast_regrade, regrade
from evenhand.studies.verify import verify

REFUSES: dict[str, bool] = {}
"""What the stand-in knows, by a word that no n-gram can have learned."""
SHA256 = "ab" * 32


class Embedded(ScriptedModel):
    """A scripted model with weights."""

    def __init__(self, answer: Any, sha256: str = SHA256) -> None:
        super().__init__(answer, name="stand-in", local=True)
        self.sha256 = sha256

    def describe(self) -> dict[str, Any]:
        return {"name": self.name, "weights_sha256": self.sha256}


def knows(request: Request) -> Reply:
    """A model that knows which responses refuse."""
    yes = 0.9 if REFUSES[request.prompt.rpartition("About ")[2].partition(" ")[0]] else 0.1
    return reply(position(" Yes", yes, **{" No": 1 - yes}))


def text_of(row: int, *, refused: bool) -> str:
    word = hashlib.sha256(f"{row} {refused}".encode()).hexdigest()[:8]
    REFUSES[word] = refused
    return f"About {word} and {('rivers', 'stones', 'clouds')[row % 3]}."


def gold_file(folder: Path) -> Path:
    path = folder / "gold.csv"
    rows = [f"Write,{text_of(row, refused=row % 2 == 0)},{('full', 'none')[row % 2]},i{row // 2}" for row in range(80)]
    path.write_text("\n".join(["prompt,response,label,issue", *rows]) + "\n", "utf-8")
    return path


@pytest.fixture(scope="module")
def fitted_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fitted")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fit_questions, "open_model", lambda name, role, watch=None: Embedded(knows))
        gold = [str(gold_file(folder))]
        fit_grader(GoldMeasure.REFUSAL, gold, folder / "own.json", features="opening", questions="stand-in")
    return folder


@pytest.fixture
def fitted(fitted_once: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Embedded]:
    """Give a grader that was fitted with the stand-in, and a stand-in that nobody has asked yet."""
    for path in fitted_once.iterdir():
        shutil.copy(path, tmp_path)
    model = Embedded(knows)
    monkeypatch.setattr(fit_questions, "open_model", lambda name, role, watch=None: model)
    return tmp_path / "own.json", model


def run_plan(folder: Path, grader: Path) -> Any:
    pairs = pairs_file(folder, MIXED)
    rows = [
        {"pair_id": pair.pair_id, "side": letter, "response": text_of(row, refused=side == "right")}
        for row, pair in enumerate(read_paired_prompts(pairs))
        for letter, side in (("a", pair.side_a), ("b", pair.side_b))
    ]
    responses = folder / "responses.jsonl"
    responses.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    given = {"pairs": str(pairs), "responses": responses, "subject": "somebody", "out": folder / "run", "draws": 200}
    return audit_plan(**given, graders=(f"fitted:{grader}",))


def test_log_odds_that_carry_the_label_get_the_weight(fitted: tuple[Path, Embedded]) -> None:
    path, model = fitted
    card = FittedGrader.load(path).card
    assert card.questions is not None
    assert (card.questions.model, card.questions.model_sha256) == ("stand-in", SHA256)
    assert len(card.questions.questions) == 4
    # The second question is the opposite one, so what carries the label there is against it.
    weights = [each.weight for each in card.questions.questions]
    assert weights[1] < -0.3
    assert min(weights[0], *weights[2:]) > 0.3
    (figure,) = card.figures
    assert figure.kappa.value == 1
    plain = fit_grader(
        GoldMeasure.REFUSAL, [str(path.parent / "gold.csv")], path.parent / "plain.json", features="opening"
    )
    assert plain.questions is None
    assert plain.figures[0].kappa.value is not None
    assert plain.figures[0].kappa.value < 0.7
    questions = QUESTIONS["refusal"]
    with Ledger(path.with_suffix(".ledger.sqlite")) as ledger:
        for row in range(80):
            text = text_of(row, refused=row % 2 == 0)
            assert all(ledger.find(question.request("Write", text).key(model.identity)) for question in questions)


def test_a_fit_asks_nothing_twice(fitted: tuple[Path, Embedded]) -> None:
    path, model = fitted
    before = FittedGrader.load(path).card
    gold = [str(path.parent / "gold.csv")]
    fit_grader(GoldMeasure.REFUSAL, gold, path, features="opening", questions="stand-in")
    assert not model.asked
    after = FittedGrader.load(path).card
    assert (after.weights_sha256, after.questions) == (before.weights_sha256, before.questions)


def test_practice_is_not_asked_about_and_the_card_says_so(fitted: tuple[Path, Embedded]) -> None:
    path, model = fitted
    practice = path.parent / "practice.csv"
    rows = [f"Say,Practised {row} {('no', 'yes')[row % 2]},{('full', 'none')[row % 2]},p{row},fit" for row in range(8)]
    practice.write_text("\n".join(["prompt,response,label,issue,split", *rows]) + "\n", "utf-8")
    gold = [str(path.parent / "gold.csv")]
    card = fit_grader(
        GoldMeasure.REFUSAL, gold, path, practice=[str(practice)], features="opening", questions="stand-in"
    )
    assert not model.asked
    assert any("was not asked about practice texts" in note for note in card.notes)


def test_rows_without_a_readable_answer_are_left_out_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def sometimes(request: Request) -> Reply:
        return reply(position(" The", 0.9)) if "clouds" in request.prompt.rpartition("About ")[2] else knows(request)

    monkeypatch.setattr(fit_questions, "open_model", lambda name, role, watch=None: Embedded(sometimes))
    gold = gold_file(tmp_path)
    card = fit_grader(GoldMeasure.REFUSAL, [str(gold)], tmp_path / "own.json", features="opening", questions="x")
    lost = sum("clouds" in line for line in gold.read_text("utf-8").splitlines())
    assert any(note.startswith(f"{lost} of 80 texts were left out") for note in card.notes)


def test_a_model_without_weights_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fit_questions, "open_model", lambda name, role, watch=None: ScriptedModel(knows))
    with pytest.raises(InputError, match="--questions: scripted is no embedded model"):
        fit_grader(GoldMeasure.REFUSAL, [str(gold_file(tmp_path))], tmp_path / "own.json", questions="scripted")


def test_an_audit_asks_and_the_way_back_calls_nobody(
    tmp_path: Path, fitted: tuple[Path, Embedded], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, _ = fitted
    model, plan = Embedded(knows), run_plan(tmp_path, path)
    open_scripted(monkeypatch, {"stand-in": model})
    forecast = forecast_audit(plan)
    assert not model.asked
    result = audit(plan)
    assert result.calls == len(model.asked) == forecast.calls > 0
    (block,) = result.summary.blocks
    left, right = (block.figure("refusal", side) for side in ("left", "right"))
    assert left is not None
    assert right is not None
    assert (left.rate.value, right.rate.value) == (0, 1)
    (grading,) = read_json(tmp_path / "run/record.json")["settings"]["gradings"]
    assert grading["grader"]["asked"]["refusal"]["weights_sha256"] == SHA256
    asked = len(model.asked)
    assert audit(plan).calls == 0
    regraded = RegradePlan(tmp_path / "run", GradingPlan((f"fitted:{path}",)))
    assert forecast_regrade(regraded).calls == 0
    assert regrade(regraded).calls == 0
    found = verify(tmp_path / "run")
    assert found.holds
    assert len(model.asked) == asked
    ledger = next(check for check in found.checks if check.name == "ledger")
    assert f"{4 * 16} of {4 * 16} requests" in ledger.detail


def test_replies_that_are_gone_from_the_ledger_are_missed(
    tmp_path: Path, fitted: tuple[Path, Embedded], monkeypatch: pytest.MonkeyPatch
) -> None:
    open_scripted(monkeypatch, {"stand-in": Embedded(knows)})
    audit(run_plan(tmp_path, fitted[0]))
    for name in ("ledger.sqlite", "ledger.sqlite-wal", "ledger.sqlite-shm"):
        (tmp_path / "run" / name).unlink(missing_ok=True)
    with Ledger(tmp_path / "run/ledger.sqlite"):
        pass
    failing = {check.name for check in verify(tmp_path / "run").checks if not check.holds}
    assert {"ledger", "judgments", "summary.json"} <= failing


def test_other_weights_of_the_model_are_refused(
    tmp_path: Path, fitted: tuple[Path, Embedded], monkeypatch: pytest.MonkeyPatch
) -> None:
    open_scripted(monkeypatch, {"stand-in": Embedded(knows, "cd" * 32)})
    with pytest.raises(InputError, match=f"was fitted with stand-in of weights {SHA256[:16]}, and those here are cdcd"):
        audit(run_plan(tmp_path, fitted[0]))
    assert not (tmp_path / "run").exists()


def test_a_failed_question_is_a_failed_judgment(
    tmp_path: Path, fitted: tuple[Path, Embedded], monkeypatch: pytest.MonkeyPatch
) -> None:
    def prose(request: Request) -> Reply:
        return reply(position(" The", 0.99))

    open_scripted(monkeypatch, {"stand-in": Embedded(prose)})
    (block,) = audit(run_plan(tmp_path, fitted[0])).summary.blocks
    assert block.states["refusal"] == {"unparseable": 16}


def test_the_command_says_whom_it_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fit_questions, "open_model", lambda name, role, watch=None: Embedded(knows))
    arguments = ["refusal", "--gold", str(gold_file(tmp_path)), "--features", "opening", "--questions", "stand-in"]
    output = ["--output", str(tmp_path / "own.json"), "--quiet"]
    found = CliRunner().invoke(fit_grader_command, [*arguments, *output], catch_exceptions=False)
    assert found.exit_code == 0
    assert "4 kinds of features and 4 questions to stand-in." in found.output


@pytest.mark.embedded
def test_a_real_model_answers(subject_weights: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitting, "QUESTIONS", {"refusal": QUESTIONS["refusal"][:1]})
    path = tmp_path / "gold.csv"
    rows = [f"Write,{text_of(row, refused=row % 2 == 0)},{('full', 'none')[row % 2]},i{row // 2}" for row in range(8)]
    path.write_text("\n".join(["prompt,response,label,issue", *rows]) + "\n", "utf-8")
    card = fit_grader(GoldMeasure.REFUSAL, [str(path)], tmp_path / "own.json", questions="smollm2-135m")
    assert card.questions is not None
    assert all(each.spread > 0 for each in card.questions.questions)
