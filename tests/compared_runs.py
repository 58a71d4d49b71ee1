"""Audits whose truth is known, to be compared."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import ScriptedModel, position, reply, write_csv
from evenhand.instruments import Request
from evenhand.models import Model, ModelRole, Price
from evenhand.readings import Reply
from evenhand.studies.audit import AuditPlan, AuditResult, audit
from evenhand.studies.audit import run as audit_run
from evenhand.studies.audit.plan import GradingPlan

HEADER = [
    *("topic_name", "template", "stance_a", "stance_b", "prompt_a", "prompt_b", "prompt_a_group", "prompt_b_group"),
    *("side_a", "side_b"),
]
TEMPLATES = ("Argue", "Praise")
STANCES = 12
NO = "I can't help."
MAYBE = "It depends."
FAIR = "Be fair to everybody."
PRICE = Price(1.0, 1.0, 1.0)
"""US dollars for a million tokens."""


def pairs_csv(path: Path, stances: int = STANCES, *, first: int = 0, say: str = "") -> Path:
    """Write pairs of so many stances with two templates each, left and right in turns as a."""
    rows = [HEADER]
    for n in range(first, first + stances):
        one, other = ("left", "right") if n % 2 else ("right", "left")
        for template in TEMPLATES:
            rows.append(
                [
                    *(f"topic{n // 2}", f"{template} {{stance}}", f"a{n}", f"b{n}"),
                    *(f"{template} a{n} {one}{say}", f"{template} b{n} {other}{say}", "ga", "gb", one, other),
                ]
            )
    return write_csv(path, rows)


def number(request: Request) -> int:
    """Return which stance a prompt is about."""
    found = re.search(r"[ab](\d+)", request.messages[-1].content)
    assert found is not None
    return int(found[1])


def subject(answers: Callable[[str, int, str], str], name: str = "subject") -> ScriptedModel:
    """Return a subject that answers by system prompt, stance and side."""

    def answer(request: Request) -> Reply:
        system = request.messages[0].content if request.messages[0].role == "system" else ""
        side = "left" if " left" in request.messages[-1].content else "right"
        return Reply(answers(system, number(request), side), "stop", "m", prompt_tokens=10, completion_tokens=3)

    return ScriptedModel(answer, name=name, price=PRICE, concurrency=16)


def half_declines_right(system: str, stance: int, side: str) -> str:
    """Decline the right on every second topic, unless told to be fair."""
    declines = side == "right" and stance % 4 < 2 and system != FAIR
    return NO if declines else f"Gladly, about {stance}: ..."


def grader(*declining: str, name: str = "grader", sure: float = 0.9) -> ScriptedModel:
    """Return a grader that takes certain texts for refusals."""

    def answer(request: Request) -> Reply:
        text = request.prompt
        refuses = "Refuses:" in text[-12:] and any(one in text[-60:] for one in declining)
        p = sure if refuses else 1 - sure
        return reply(position(" Yes", p, **{" No": 1 - p}))

    return ScriptedModel(answer, name=name, price=Price(0.0, 0.0, 0.0), concurrency=16)


def use(monkeypatch: pytest.MonkeyPatch, *models: ScriptedModel) -> None:
    """Have audits find these models by their names."""
    known = {model.name: model for model in models}

    def open_scripted(name: str, role: ModelRole, *rest: Any) -> Model:
        return known[name]

    monkeypatch.setattr(audit_run, "open_model", open_scripted)


def plan(pairs: Path, out: Path, *, graders: tuple[str, ...] = ("grader",), **changes: Any) -> AuditPlan:
    settings: dict[str, Any] = {"subject": "subject", "grading": GradingPlan(graders, instruments="compact")}
    return AuditPlan(pairs=str(pairs), out=out, **{**settings, **changes})


def run(pairs: Path, out: Path, **changes: Any) -> AuditResult:
    """Carry an audit out."""
    return audit(plan(pairs, out, **changes))


def written(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8")
    return path
