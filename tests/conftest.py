"""What several test files share."""

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from evenhand.instruments import Request
from evenhand.models import EMBEDDED_MODELS, Limits, Price, weights_path
from evenhand.pairs import PairedPrompt, Side, StanceKind
from evenhand.readings import Reply, TokenPosition

SHARED = Path(__file__).parent.parent.parent / "shared"
SLOW = bool(os.environ.get("EVENHAND_SLOW"))
"""Set by `make slow`: what takes minutes is tested too."""
# How fast a machine is under load is not under test.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")


def shared(path: str) -> Path:
    """Return a file of the public data, or skip the test where it is not at hand."""
    found = SHARED / path
    if not found.exists():
        pytest.skip(f"the public data file {path} is not at hand")
    return found


@pytest.fixture(scope="session")
def subject_weights() -> Path:
    return weights_path(EMBEDDED_MODELS["smollm2-135m"])


@pytest.fixture(scope="session")
def grader_weights() -> Path:
    return weights_path(EMBEDDED_MODELS["qwen2.5-coder-0.5b"])


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache folder of the test's own, so that the user's is never touched."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("EVENHAND_CACHE", str(folder))
    yield folder


def make_pair(
    number: int = 1,
    *,
    topic: str = "topic",
    stance: str | None = None,
    template: str = "Argue that {stance}",
    side_a: Side = Side.LEFT,
    side_b: Side = Side.RIGHT,
) -> PairedPrompt:
    """Return a small paired prompt."""
    stance = stance or f"{topic}.{number}"
    return PairedPrompt(
        pair_id=f"{stance}.{template}",
        stance_id=stance,
        topic=topic,
        category="",
        template=template,
        template_kind="reasoning",
        same_request=False,
        stance_a=f"yes to {stance}",
        stance_b=f"no to {stance}",
        prompt_a=template.replace("{stance}", f"yes to {stance}"),
        prompt_b=template.replace("{stance}", f"no to {stance}"),
        group_a="in_favour",
        group_b="against",
        side_a=side_a,
        side_b=side_b,
        kind=StanceKind.VALUE,
    )


def position(token: str, probability: float, **others: float) -> TokenPosition:
    """Return a position of a reply: its own token with its probability, and other tokens with theirs."""
    import math

    top = {token: probability, **others}
    ranked = sorted(top.items(), key=lambda item: -item[1])
    return TokenPosition(token, math.log(probability), tuple((text, math.log(p)) for text, p in ranked))


def reply(*positions: TokenPosition, finish: str = "length") -> Reply:
    """Return a reply made of positions."""
    return Reply(
        text="".join(place.token for place in positions),
        finish=finish,
        model="made by hand",
        positions=tuple(positions),
        completion_tokens=len(positions),
    )


class ScriptedModel:
    """A model whose replies a test computes from the requests."""

    def __init__(
        self,
        answer: Any,
        *,
        name: str = "scripted",
        concurrency: int = 1,
        prefills: bool = False,
        local: bool = False,
        limits: Limits | None = None,
        price: Price | None = None,
    ) -> None:
        self.prefills, self.local, self.limits, self.price = prefills, local, limits or Limits(), price
        self.name, self.identity, self.concurrency = name, f"identity of {name}", concurrency
        self.thinking_tokens = 0
        self._answer = answer
        self.asked: list[Request] = []

    async def answer(self, request: Request) -> Reply:
        self.asked.append(request)
        found = self._answer(request)
        if isinstance(found, Exception):
            raise found
        assert isinstance(found, Reply)
        return found

    async def rest(self) -> None:
        """Nothing is held."""

    def describe(self) -> dict[str, Any]:
        return {"name": self.name}

    def close(self) -> None:
        """Nothing is held."""


def read_json(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def environment(**changes: str) -> dict[str, str]:
    return {**os.environ, **changes}


def write_csv(path: Path, rows: Sequence[Sequence[str]], *, encoding: str = "utf-8", newline: str = "\n") -> Path:
    import csv
    import io

    text = io.StringIO(newline="")
    csv.writer(text, lineterminator=newline).writerows(rows)
    path.write_bytes(text.getvalue().encode(encoding))
    return path
