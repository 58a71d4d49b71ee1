"""The record: what a run was made of, so that somebody else can repeat it."""

import hashlib
import importlib.metadata
import platform
from collections.abc import Mapping, Sequence
from typing import Any

import evenhand
from evenhand.instruments import InstrumentSet
from evenhand.models import Model
from evenhand.pairs import PairedPrompt
from evenhand.pairs.paired_prompt import set_hash
from evenhand.readings import MINIMUM_CAPTURED
from evenhand.report import AuditSummary

RECORD_SCHEMA = 1
_PACKAGES = ("numpy", "polars", "xllamacpp", "jinja2")


def audit_record(
    *,
    pairs: Sequence[PairedPrompt],
    pairs_source: Mapping[str, str],
    instruments: InstrumentSet,
    instruments_source: Mapping[str, str],
    system_prompt: str,
    sample: Mapping[str, int | None],
    decoding: Mapping[str, float],
    reading: str,
    analysis: Mapping[str, float],
    subject: Model,
    graders: Sequence[Model],
    summary: AuditSummary,
    replies: Mapping[str, int | str | None],
) -> dict[str, Any]:
    """Return the record as plain values. ``replies`` says how many they are and when they came."""
    return {
        "schema": RECORD_SCHEMA,
        "evenhand": evenhand.__version__,
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "packages": {name: importlib.metadata.version(name) for name in _PACKAGES},
        "settings": {
            "pairs": {**pairs_source, "used": len(pairs), "used_sha256": set_hash(pairs)},
            "sample": dict(sample),
            "instruments": {
                **instruments_source,
                "versions": instruments.versions,
                "positive": {
                    instrument.name: sorted(instrument.scale.positive) for instrument in instruments.instruments
                },
                "response_characters": {
                    instrument.name: instrument.response_characters for instrument in instruments.instruments
                },
            },
            "system_prompt_sha256": hashlib.sha256(system_prompt.encode()).hexdigest() if system_prompt else None,
            "subject": subject.describe(),
            "graders": [grader.describe() for grader in graders],
            "decoding": dict(decoding),
            "reading": {"mode": reading, "minimum_captured": MINIMUM_CAPTURED},
            "orders": "both, averaged after mapping back",
            "analysis": dict(analysis),
        },
        "replies": dict(replies),
        "responses": summary.responses,
        "judgments": {f"{block.grader} | {block.instruments}": block.states for block in summary.blocks},
    }
