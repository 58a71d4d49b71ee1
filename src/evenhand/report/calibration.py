"""A grader's calibration: where its threshold belongs, and what its probabilities are worth."""

from dataclasses import asdict, dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.statistics.calibration_maps import map_from_json

Floats: TypeAlias = npt.NDArray[np.float64]

CALIBRATION_SCHEMA = 1


@dataclass(frozen=True, slots=True)
class MeasureCalibration:
    """What was fitted for one measure of one instrument."""

    measure: str
    versions: dict[str, str]
    """Of the instruments that it was fitted for, by name; another wording needs another calibration."""
    gold: str
    gold_sha256: str
    split: str
    n: int
    """Labelled items that it was fitted to."""
    threshold: float
    """On the mapped probability: a unit counts where it is above."""
    threshold_low: float | None
    threshold_high: float | None
    map: dict[str, Any] = field(default_factory=dict)
    """Plain numbers that ``map_from_json`` takes; empty where the labels carry a threshold and no map."""

    def __post_init__(self) -> None:
        if not 0 < self.threshold < 1:
            raise ValueError(f"the threshold of {self.measure} is {self.threshold:g}, and not between 0 and 1")
        if self.map:
            map_from_json(self.map)

    def mapped(self, probabilities: npt.ArrayLike) -> Floats:
        """Return the share of people that would say so, as fitted; the probabilities themselves without a map."""
        p = np.asarray(probabilities, dtype=np.float64)
        return map_from_json(self.map).probabilities(p) if self.map else p

    def centred(self, probabilities: npt.ArrayLike) -> Floats:
        """Return mapped probabilities, stretched so that one half is where the threshold was.

        Below the threshold in one straight line from 0 to one half, above it in another from one half to 1. So every
        figure at the threshold one half is the figure at the fitted threshold.

        >>> one = MeasureCalibration("refusal", {}, "xstest", "", "fit", 100, 0.2, None, None)
        >>> one.centred([0.0, 0.1, 0.2, 0.6, 1.0]).tolist()
        [0.0, 0.25, 0.5, 0.75, 1.0]
        """
        p, t = self.mapped(probabilities), self.threshold
        found: Floats = np.where(p <= t, 0.5 * p / t, 0.5 + 0.5 * (p - t) / (1 - t))
        return np.where(np.isnan(p), np.nan, np.clip(found, 0.0, 1.0))


@dataclass(frozen=True, slots=True)
class Calibration:
    """What was fitted for one grader."""

    name: str
    grader: str
    identity: str
    """Of the grader, as it is part of the ledger's keys: weights, provider and all that shapes an answer."""
    reading: str
    measures: tuple[MeasureCalibration, ...]
    lines: tuple[str, ...] = ()
    """The validity cards of labels that it was not fitted to, in a line each."""
    sha256: str = ""
    """Of the file that it was read from; empty where it was not."""
    schema: int = CALIBRATION_SCHEMA

    def of(self, measure: str) -> MeasureCalibration | None:
        """Return what was fitted for a measure, or None."""
        return next((one for one in self.measures if one.measure == measure), None)

    def as_json(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)
