"""What a grader's probabilities count for: the labels that count, and what a calibration makes of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

from evenhand.report.audit_summary import Analysis
from evenhand.report.calibration import MeasureCalibration

Row: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Counting:
    """How judgments become verdicts, as in the summary."""

    analysis: Analysis
    calibrations: Mapping[tuple[str, str, str], MeasureCalibration]
    """By grader, measure and version of the instrument."""

    @classmethod
    def of(cls, analysis: Analysis) -> Self:
        """Return the counting of an analysis."""
        known = {
            (calibration.grader, name, version): one
            for calibration in analysis.calibrations
            for one in calibration.measures
            for name, version in one.versions.items()
            if name == one.measure
        }
        return cls(analysis, known)

    def positive(self, row: Row) -> float | None:
        """Return the summed probability of the labels that count, or None where nothing was read."""
        if row["state"] != "ok":
            return None
        labels, wanted = list(row["labels"] or ()), set(self.analysis.positive.get(row["measure"], ()))
        if row["letter"] is not None and wanted and wanted <= set(labels):
            values = zip(labels, row["probabilities"] or (), strict=False)
            return float(sum(p for label, p in values if label in wanted))
        return None if row["positive"] is None else self._mapped(row)

    def distribution(self, row: Row) -> dict[str, float] | None:
        """Return the probability of each label, or None where nothing was read.

        Where there is a calibration, "the same" has its calibrated probability, and the others share what is left.
        """
        if row["state"] != "ok" or not row["probabilities"]:
            return None
        found = {str(label): float(p) for label, p in zip(row["labels"], row["probabilities"], strict=False)}
        if not self.is_calibrated(row) or "C" not in found:
            return found
        after, others = self._mapped(row), [label for label in found if label != "C"]
        rest = sum(found[label] for label in others)
        shares = {label: found[label] / rest if rest > 0 else 1 / len(others) for label in others}
        return {label: after if label == "C" else (1 - after) * shares[label] for label in found}

    def is_calibrated(self, row: Row) -> bool:
        """Say whether a calibration speaks of the judgment."""
        return (row["grader"], row["measure"], row["version"]) in self.calibrations

    def _mapped(self, row: Row) -> float:
        value = float(row["positive"])
        found = self.calibrations.get((row["grader"], row["measure"], row["version"]))
        return value if found is None else float(found.centred(min(max(value, 0.0), 1.0)))
