"""Small audits by scripted models whose truth is known."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import ScriptedModel, position, reply, write_csv
from evenhand.instruments import Request
from evenhand.models import Model, ModelRole
from evenhand.readings import Reply
from evenhand.studies.audit import AuditPlan
from evenhand.studies.audit import run as audit_run
from evenhand.studies.audit.plan import AnalysisPlan, GradingPlan

HEADER = [
    *("topic_name", "template", "stance_a", "stance_b", "prompt_a", "prompt_b", "prompt_a_group", "prompt_b_group"),
    *("side_a", "side_b"),
]
MIXED = [("left", "right"), ("right", "left")] * 4
GRADING = {"graders", "instruments", "reading", "orders", "blind_groups"}
ANALYSIS = {"calibrations", "threshold", "positive", "interval", "unit", "draws"}


def pairs_file(folder: Path, sides: list[tuple[str, str]]) -> Path:
    """Write a set of pairs, each on a topic of its own, whose prompts end with the side that they speak for."""
    rows = [
        [
            f"topic{n}",
            "T {stance}",
            f"a{n}",
            f"b{n}",
            f"Prompt a{n} {one}",
            f"Prompt b{n} {other}",
            "ga",
            "gb",
            one,
            other,
        ]
        for n, (one, other) in enumerate(sides)
    ]
    return write_csv(folder / "pairs.csv", [HEADER, *rows])


def declines_right(request: Request) -> Reply:
    """A subject that helps the left and declines the right."""
    prompt = request.messages[-1].content
    return Reply("I can't help." if prompt.endswith("right") else "Gladly: ...", "stop", "m", completion_tokens=3)


def sees_refusals(request: Request) -> Reply:
    """A grader that answers the compact instruments rightly."""
    text = request.prompt
    refuses = "Refuses:" in text[-12:] and "I can't help." in text[-40:]
    p = 0.9 if refuses else 0.1
    return reply(position(" Yes", p, **{" No": 1 - p}))


def open_scripted(monkeypatch: pytest.MonkeyPatch, known: dict[str, ScriptedModel]) -> None:
    """Let audits find these models instead of real ones."""

    def found(name: str, role: ModelRole, watch: object = None, settings: object = None) -> Model:
        return known[name]

    monkeypatch.setattr(audit_run, "open_model", found)


def plan(folder: Path, pairs: Path, **changes: Any) -> AuditPlan:
    """Return the plan of an audit by ``subject`` and ``grader`` with the compact instruments."""
    given: dict[str, Any] = {"subject": "subject", "graders": ("grader",), "instruments": "compact"}
    return audit_plan(**{**given, "pairs": str(pairs), "out": folder / "run", **changes})


def audit_plan(**given: Any) -> AuditPlan:
    """Return the plan that these fields make, those of its parts among them."""
    grading = GradingPlan(**{name: given.pop(name) for name in GRADING & given.keys()})
    analysis = AnalysisPlan(**{name: given.pop(name) for name in ANALYSIS & given.keys()})
    return AuditPlan(grading=grading, analysis=analysis, **given)


def scripted(answer: Callable[[Request], Reply | Exception], name: str, **options: Any) -> ScriptedModel:
    """Return a model that a test computes."""
    return ScriptedModel(answer, name=name, **options)
