"""Rating runs by scripted graders whose ratings differ from output to output and mean nothing."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from conftest import ScriptedModel, position, reply
from evenhand.instruments import Request
from evenhand.models import Model, ModelRole
from evenhand.readings import Reply
from evenhand.studies.rate import run as rate_run

_KEYS = (("chosen_rating", "rejected_rating"), ("rejected_rating", "chosen_rating"), ("first_rating", "second_rating"))


def by_hash(request: Request) -> Reply:
    """Rate by the hash of what is asked."""
    text = request.messages[-1].content if request.messages else request.prompt
    values = [str(byte % 11) for byte in hashlib.sha256(text.encode()).digest()[:2]]
    keys = next((keys for keys in _KEYS if all(key in text for key in keys)), ("rating",))
    pieces = [piece for key, value in zip(keys, values, strict=False) for piece in (f', "{key}": ', value)]
    return reply(*(position(piece, 1.0) for piece in ["{" + pieces[0][2:], *pieces[1:], "}"]), finish="stop")


def open_graders(patch: pytest.MonkeyPatch) -> None:
    """Let rating runs find such a grader under every name."""

    def found(name: str, role: ModelRole, watch: object = None, settings: object = None) -> Model:
        return ScriptedModel(by_hash, name=name)

    patch.setattr(rate_run, "open_model", found)


def preferences(path: Path, count: int = 30, names: Sequence[str] = ("prompt", "chosen", "rejected")) -> Path:
    rows = [dict(zip(names, (f"Ask {n}?", f"Good {n}.", f"Bad {n}"), strict=True)) for n in range(count)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def questions(path: Path, *texts: str) -> Path:
    path.write_text("\n".join(texts or ("Is it polite?", "Is it short?")) + "\n", "utf-8")
    return path
