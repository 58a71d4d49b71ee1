"""What a rating run would take is what it then does, and finding it out touches nothing."""

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import ScriptedModel, position, reply
from evenhand.instruments import Request
from evenhand.models import Model, ModelRole
from evenhand.readings import Reply
from evenhand.studies.rate import RatePlan, forecast_rate, rate
from evenhand.studies.rate import run as rate_run


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> dict[str, ScriptedModel]:
    known = {
        "one": ScriptedModel(grades, name="one", concurrency=4),
        "other": ScriptedModel(grades, name="other", local=True, prefills=True),
    }

    def open_scripted(name: str, role: ModelRole, *_: object) -> Model:
        return known[name]

    monkeypatch.setattr(rate_run, "open_model", open_scripted)
    return known


def grades(request: Request) -> Reply:
    if request.prompt:
        return reply(position(" Yes", 0.7, **{" No": 0.3}))
    pieces = ['{"first_rating": ', "7", ', "second_rating": ', "3", "}"]
    return reply(*(position(piece, 1.0) for piece in pieces), finish="stop")


def rate_plan(folder: Path, **changes: Any) -> RatePlan:
    rows = [{"prompt": f"Ask {n}?", "chosen": f"good {n}", "rejected": f"bad {n}"} for n in range(5)]
    (folder / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    (folder / "questions.txt").write_text("Is it polite?\nIs it short?\n", "utf-8")
    settings = {"pairs": str(folder / "pairs.jsonl"), "questions": str(folder / "questions.txt"), "leak_sample": 2}
    return RatePlan(**{**settings, "graders": ("one", "other"), "out": folder / "run", **changes})


def everything_in(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("changes", [{}, {"protocol": "single"}, {"instrument": "compact"}, {"reading": "samples:2"}])
def test_a_rating_run(tmp_path: Path, models: dict[str, ScriptedModel], changes: dict[str, Any]) -> None:
    plan = rate_plan(tmp_path, **changes)
    before = forecast_rate(plan)
    assert not plan.out.exists()
    result = rate(plan)
    assert result.calls == before.calls
    kept = everything_in(plan.out)
    assert forecast_rate(plan).calls == 0
    assert everything_in(plan.out) == kept


def test_a_larger_sample_takes_the_calls_that_the_smaller_one_did_not(
    tmp_path: Path, models: dict[str, ScriptedModel]
) -> None:
    small, whole = rate_plan(tmp_path, sample=2, leak_sample=0), rate_plan(tmp_path, leak_sample=0)
    rate(small)
    found = forecast_rate(whole)
    assert (found.in_ledger, found.calls) == (16, 24)
    assert rate(whole).calls == 24
