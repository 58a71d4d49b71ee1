"""What a report is made of: one kind of value for each kind of run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from evenhand.report import AuditSummary
from evenhand.report.compare_summary import Comparison
from evenhand.report.corrected_summary import CorrectedSummary
from evenhand.report.effects_summary import EffectsSummary
from evenhand.report.scoring_spec import ScoringSpec
from evenhand.report.validity_card import ValidityCard
from evenhand.statistics.thresholds import ThresholdPoint


@dataclass(frozen=True, slots=True)
class AuditRun:
    """A folder of ``evenhand audit``."""

    folder: Path
    record: Mapping[str, Any]
    summary: AuditSummary
    saved: Mapping[str, Any]
    """``summary.json`` as it was read."""
    corrected: CorrectedSummary | None
    pairs: Sequence[Mapping[str, Any]]
    responses: Sequence[Mapping[str, Any]]
    judgments: Sequence[Mapping[str, Any]]
    remarks: tuple[str, ...] = ()
    """On files of the folder that are not of this run, or may not be."""


@dataclass(frozen=True, slots=True)
class ComparisonRun:
    """A ``comparison.json``; the runs that it compares are runs of their own."""

    folder: Path
    comparison: Comparison
    saved: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RateRun:
    """A folder of ``evenhand rate`` with its effects."""

    folder: Path
    record: Mapping[str, Any]
    effects: EffectsSummary
    saved: Mapping[str, Any]
    spec: ScoringSpec | None
    questions: Sequence[Mapping[str, Any]]
    pairs: Sequence[Mapping[str, Any]]
    """Those whose texts can be read; of many, the first."""
    all_pairs: int
    """How many there are."""
    ratings: Sequence[Mapping[str, Any]]
    remarks: tuple[str, ...] = ()
    """On files of the folder that are not of this run, or may not be."""


@dataclass(frozen=True, slots=True)
class ValidationRun:
    """A folder of ``evenhand validate``."""

    folder: Path
    cards: Sequence[ValidityCard]
    record: Mapping[str, Any]
    saved: Mapping[str, Any]
    curves: Sequence[Sequence[ThresholdPoint]]


Run: TypeAlias = AuditRun | ComparisonRun | RateRun | ValidationRun
