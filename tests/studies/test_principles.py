"""Preference data whose preferred side follows known principles, rated by graders whose ability is known."""

from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import ScriptedModel, position, reply, shared
from evenhand.instruments import Request
from evenhand.models import Model, ModelRole
from evenhand.readings import Reply
from evenhand.report.effects_summary import EffectsSummary
from evenhand.studies.effects import effects
from evenhand.studies.rate import RatePlan, rate
from evenhand.studies.rate import run as rate_run

QUESTIONS = Path(__file__).parent.parent.parent / "bench" / "principles.yaml"


SAYS: dict[str, Callable[[str], bool]] = {
    "about a cat": lambda text: "cat" in text.replace("educat", ""),
    "blue": lambda text: "blue" in text,
    "lemon": lambda text: "lemon" in text,
    "true": lambda text: "paris" not in text or "washington" in text,
    "asked for": lambda text: "travel" not in text and "paris" not in text,
    "glad to help": lambda text: ("of course" in text or "happy" in text or "!" in text) and "guess" not in text,
}
"""What a grader that can read says to the questions that are about a principle; it has no opinion on the others."""


def holds(question: str, output: str) -> bool | None:
    return next((says(output.lower()) for part, says in SAYS.items() if part in question), None)


def answer(request: Request, *, by_label: bool) -> Reply:
    last = request.prompt.rsplit("Input: ", maxsplit=1)[1]
    question = last.rsplit("Question: ", maxsplit=1)[1].split("\n", maxsplit=1)[0]
    label, output = last.split("\nOutput", maxsplit=1)[1].split(": ", maxsplit=1)
    found = holds(question, output.rsplit("\nQuestion: ", maxsplit=1)[0])
    p = 0.5 if found is None else 0.95 if found else 0.05
    if by_label:
        p = {" (CHOSEN)": 0.9, " (REJECTED)": 0.1}.get(label, 0.5)
    return reply(position(" Yes", p, **{" No": 1 - p}))


def measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, *, by_label: bool = False) -> EffectsSummary:
    def open_scripted(asked: str, role: ModelRole, watch: object = None, settings: object = None) -> Model:
        return ScriptedModel(lambda request: answer(request, by_label=by_label), name=asked)

    monkeypatch.setattr(rate_run, "open_model", open_scripted)
    path = shared(f"preferences/icai/{name}.csv")
    plan = RatePlan(str(path), str(QUESTIONS), ("able",), tmp_path / "run", instrument="compact", leak_sample=30)
    assert rate(plan).pairs == 30
    return effects(tmp_path / "run", cluster="pair")


@pytest.mark.parametrize(
    ("name", "principles"),
    [
        ("synthetic_data_orthogonal_adcbg", {"about_a_cat", "picks_blue", "picks_lemon"}),
        ("synthetic_data_aligned_vqvtb", {"is_true", "on_topic", "willing"}),
    ],
)
def test_an_able_grader_finds_the_principles_and_leaks_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, principles: set[str]
) -> None:
    (block,) = measured(tmp_path, monkeypatch, name).blocks
    value = {q.question: q.effect.superiority for q in block.questions}
    ranked = sorted(value, key=lambda question: -abs((value[question].value or 0.5) - 0.5))
    assert set(ranked[:3]) == principles
    for question in principles:
        low = value[question].low
        assert low is not None
        assert low > 0.5
    assert block.leak is not None
    assert block.leak.leak.value == pytest.approx(0)
    assert not block.leak.flagged


def test_a_grader_that_reads_the_label_alone_finds_nothing_and_is_flagged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (block,) = measured(tmp_path, monkeypatch, "synthetic_data_orthogonal_adcbg", by_label=True).blocks
    assert {q.effect.superiority.value for q in block.questions} == {0.5}
    assert block.leak is not None
    assert block.leak.leak.value == pytest.approx(0.5)
    assert block.leak.swap.value == pytest.approx(8)
    assert block.leak.flagged
    assert all(q.leak is not None and q.leak.flagged for q in block.questions)
