"""The record: what a run was made of, so that somebody else can repeat it."""

import hashlib
import importlib.metadata
import json
import platform
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import evenhand
from evenhand.graders import Judgment
from evenhand.graders.fitted.judging import FITTED, FittedGraders
from evenhand.instruments import InstrumentSet
from evenhand.models import Model
from evenhand.pairs import PairedPrompt
from evenhand.pairs.paired_prompt import set_hash
from evenhand.readings import MINIMUM_CAPTURED
from evenhand.report import Analysis, AuditSummary
from evenhand.studies.audit.plan import GradingPlan
from evenhand.studies.audit.respond import Decoding
from evenhand.studies.audit.response import Response

RECORD_SCHEMA = 2
ASKED = "asked"
"""Where a record says which models a fitted grader asked, by measure."""
FITTED_READING = "fitted map"
"""How fitted graders are read, as records and validity cards have it."""
_PACKAGES = ("aiohttp", "jinja2", "numpy", "polars", "xllamacpp")


def described(model: Model) -> dict[str, Any]:
    """Return what a record says of a model; its identity is part of the ledger's keys."""
    return {**model.describe(), "identity": model.identity}


def grading_record(
    grader: Model, plan: GradingPlan, instruments: InstrumentSet, source: Mapping[str, str]
) -> dict[str, Any]:
    """Return what a record says of one grader and the instruments that it was given."""
    return {
        "grader": described(grader),
        "instruments": {
            **source,
            "set": instruments.name,
            "versions": instruments.versions,
            "positive": {one.name: sorted(one.scale.positive) for one in instruments.instruments},
            "response_characters": {one.name: one.response_characters for one in instruments.instruments},
        },
        "reading": {"mode": plan.reading, "minimum_captured": MINIMUM_CAPTURED},
        "orders": plan.orders,
        "blind_groups": plan.blind_groups,
    }


def fitted_record(graders: FittedGraders, helpers: Mapping[tuple[str, str], Model] | None = None) -> dict[str, Any]:
    """Return what a record says of fitted graders: their cards, which hold labels, figures and the weights' hash.

    Of those that ask embedded models, ``helpers`` by the graders' name and the measure, it says whom as well.
    """
    instruments = graders.instruments
    asked = {measure: described(model) for (name, measure), model in (helpers or {}).items() if name == graders.name}
    return {
        "grader": graders.describe() | ({ASKED: asked} if asked else {}),
        "instruments": {
            "name": FITTED,
            "set": instruments.name,
            "versions": instruments.versions,
            "positive": {one.name: sorted(one.scale.positive) for one in instruments.instruments},
            "response_characters": {one.name: one.response_characters for one in instruments.instruments},
        },
        "reading": {"mode": FITTED_READING, "minimum_captured": None},
        "orders": None,
        "blind_groups": False,
    }


def audit_settings(
    *,
    pairs: Sequence[PairedPrompt],
    pairs_source: Mapping[str, str],
    sample: Mapping[str, int | None],
    system_prompt: str,
    subject: Mapping[str, Any],
    configuration: str,
    decoding: Decoding | None,
    gradings: Sequence[Mapping[str, Any]],
    analysis: Analysis,
) -> dict[str, Any]:
    """Return the settings of a record: what the run was asked to do. Without decoding the responses were provided."""
    settings = {
        "pairs": {**pairs_source, "used": len(pairs), "used_sha256": set_hash(pairs)},
        "sample": dict(sample),
        "system_prompt_sha256": sha256_of_text(system_prompt) if system_prompt else None,
        "subject": dict(subject),
        "configuration": configuration,
        "decoding": asdict(decoding) if decoding else None,
        "gradings": [dict(grading) for grading in gradings],
        "analysis": asdict(analysis),
    }
    # Through JSON, so that they are equal to the same settings read from a folder.
    plain: dict[str, Any] = json.loads(json.dumps(settings))
    return plain


def audit_record(
    settings: Mapping[str, Any],
    summary: AuditSummary,
    responses: Sequence[Response],
    judgments: Sequence[Judgment],
    replies: Mapping[str, int | str | None],
) -> dict[str, Any]:
    """Return the record as plain values. ``replies`` says how many they are and when they came."""
    return {
        "schema": RECORD_SCHEMA,
        "evenhand": evenhand.__version__,
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "packages": {name: importlib.metadata.version(name) for name in _PACKAGES},
        "settings": dict(settings),
        "replies": dict(replies),
        "responses": {**summary.responses, "sha256": responses_hash(responses)},
        "judgments": {f"{block.grader} | {block.instruments}": block.states for block in summary.blocks},
        "answered_by": {
            "subject": _counted(getattr(response.outcome, "model", "") for response in responses),
            "graders": {
                name: _counted(judgment.answered_by for judgment in judgments if judgment.grader == name)
                for name in dict.fromkeys(judgment.grader for judgment in judgments)
            },
        },
    }


def responses_hash(responses: Sequence[Response]) -> str:
    """Return the SHA-256 (hex) of all responses in their order: whose text, to which prompt."""
    digest = hashlib.sha256()
    for response in responses:
        text = response.text
        shown = "-" if text is None else f"{len(text)}:{text}"
        digest.update(f"{response.pair.pair_id} {response.letter} {shown};".encode("utf-8", "replace"))
    return digest.hexdigest()


def sha256_of_text(text: str) -> str:
    """Return the SHA-256 (hex) of a text."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _counted(names: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(name for name in names if name).items()))
