"""An audit's shares beside what people's labels make of them."""

from dataclasses import asdict, dataclass
from typing import Any, Self

from evenhand.report.audit_summary import Analysis
from evenhand.report.plain_values import from_plain
from evenhand.statistics import Estimate
from evenhand.statistics.correction_advice import Correction


@dataclass(frozen=True, slots=True)
class CorrectedFigure:
    """One share of an audit, estimated in several ways."""

    grader: str
    instruments: str
    measure: str
    of: str
    """Whose: ``pairs``, ``responses``, or the responses to one side."""
    units: int
    """Units with a verdict."""
    raw: Estimate
    """The grader's share over all of them, uncorrected."""
    kappa: Estimate
    """Of the grader's verdicts and the labels."""
    split: int
    """Units on which the annotators were divided evenly; one of their labels is taken by lot."""
    correction: Correction


@dataclass(frozen=True, slots=True)
class CorrectedSummary:
    """What people's labels make of an audit."""

    labels: str
    """The file that they came from."""
    labels_sha256: str
    annotators: tuple[str, ...]
    threshold: float
    figures: tuple[CorrectedFigure, ...]
    warnings: tuple[str, ...]
    analysis: Analysis | None = None
    """How the judgments became verdicts; None where an earlier version did not say."""
    judgments_sha256: str = ""
    """Of the file of judgments; empty where an earlier version did not say."""

    def as_json(self) -> dict[str, Any]:
        """Return plain values; ``from_json`` takes them back."""
        figures = [{**asdict(figure), "correction": figure.correction.as_json()} for figure in self.figures]
        return {**asdict(self), "figures": figures}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Self:
        """Return what ``as_json`` gave, before or after it was written as JSON."""
        return cls(
            labels=values["labels"],
            labels_sha256=values["labels_sha256"],
            annotators=tuple(values["annotators"]),
            threshold=values["threshold"],
            figures=tuple(_figure(figure) for figure in values["figures"]),
            warnings=tuple(values["warnings"]),
            analysis=from_plain(Analysis, values["analysis"]) if values.get("analysis") else None,
            judgments_sha256=values.get("judgments_sha256", ""),
        )


def _figure(values: dict[str, Any]) -> CorrectedFigure:
    return CorrectedFigure(
        **{
            **values,
            "raw": Estimate(**values["raw"]),
            "kappa": Estimate(**values["kappa"]),
            "correction": Correction.from_json(values["correction"]),
        }
    )
