"""Maps from a grader's score to a probability that can be taken at its word, as plain numbers."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.errors import InputError
from evenhand.statistics.detection import Floats, scored_rows

_NEAREST = 1e-6
"""Scores nearer to 0 or 1 than this are taken to be this near: their log odds would be endless."""
_STEPS = 100
_SAME = 1e-9
FEWEST_FOR_PLATT = 20
FEWEST_FOR_ISOTONIC = 1000
FEWEST_OF_A_CLASS_FOR_ISOTONIC = 100


class MapKind(StrEnum):
    """How scores become probabilities."""

    NONE = "none"
    PLATT = "platt"
    ISOTONIC = "isotonic"


@dataclass(frozen=True, slots=True)
class PlattMap:
    """p = 1 / (1 + exp(-(slope x + intercept))) with x the log odds of the score."""

    slope: float
    intercept: float
    labels: int
    """On how many labels it was fitted."""
    positives: int

    def probabilities(self, scores: npt.ArrayLike) -> Floats:
        """Map scores within 0 and 1, any shape; NaN stays NaN."""
        margins = self.slope * _log_odds(np.asarray(scores, dtype=np.float64)) + self.intercept
        return np.asarray((1 + np.tanh(margins / 2)) / 2, dtype=np.float64)

    def as_json(self) -> dict[str, Any]:
        """Return plain values; ``map_from_json`` takes them back."""
        return {
            "kind": "platt",
            "slope": self.slope,
            "intercept": self.intercept,
            "labels": self.labels,
            "positives": self.positives,
        }


@dataclass(frozen=True, slots=True)
class IsotonicMap:
    """A line through points that never falls; flat beyond the first and the last."""

    scores: tuple[float, ...]
    """In rising order."""
    values: tuple[float, ...]
    """The probability at each of the scores."""
    labels: int
    positives: int

    def probabilities(self, scores: npt.ArrayLike) -> Floats:
        """Map scores, any shape; NaN stays NaN."""
        return np.asarray(np.interp(np.asarray(scores, dtype=np.float64), self.scores, self.values), dtype=np.float64)

    def as_json(self) -> dict[str, Any]:
        """Return plain values; ``map_from_json`` takes them back."""
        return {
            "kind": "isotonic",
            "scores": list(self.scores),
            "values": list(self.values),
            "labels": self.labels,
            "positives": self.positives,
        }


CalibrationMap: TypeAlias = PlattMap | IsotonicMap


def map_from_json(values: Mapping[str, Any], *, source: str = "") -> CalibrationMap:
    """Return the map that ``as_json`` gave, before or after it was written as JSON.

    Raises:
        InputError: another kind of map, missing or impossible numbers.

    >>> fitted = PlattMap(1.5, -0.2, 40, 20)
    >>> map_from_json(fitted.as_json()) == fitted
    True
    """
    kind = values.get("kind")
    try:
        labels, positives = int(values["labels"]), int(values["positives"])
        if kind == "platt":
            slope, intercept = float(values["slope"]), float(values["intercept"])
            _check_finite(slope, intercept)
            return PlattMap(slope, intercept, labels, positives)
        if kind == "isotonic":
            points = tuple(float(score) for score in values["scores"])
            heights = tuple(float(value) for value in values["values"])
            _check_points(points, heights)
            return IsotonicMap(points, heights, labels, positives)
    except (KeyError, TypeError, ValueError) as error:
        what = f"lacks {error}" if isinstance(error, KeyError) else str(error)
        raise InputError(f"no calibration map: {what}", source=source, way_out="fit the calibration again") from error
    raise InputError(
        f"a calibration map of the kind {kind!r}", source=source, field="kind", way_out='use "platt" or "isotonic"'
    )


def _check_finite(*numbers: float) -> None:
    if not all(math.isfinite(number) for number in numbers):
        raise ValueError("a number is not finite")


def _check_points(points: tuple[float, ...], heights: tuple[float, ...]) -> None:
    _check_finite(*points, *heights)
    if not points or len(points) != len(heights):
        raise ValueError(f"{len(points)} scores for {len(heights)} values")
    rising = all(first < second for first, second in pairwise(points))
    level = all(first <= second for first, second in pairwise(heights))
    if not (rising and level and all(0 <= height <= 1 for height in heights)):
        raise ValueError("scores must rise, and values must not fall and stay within 0 and 1")


def suitable_map(positive: npt.ArrayLike) -> MapKind:
    """Return which map so many labels can carry.

    None with fewer than 20 labels of the rarer class: Platt's map has two parameters, and a logistic
    regression wants ten outcomes for each (Peduzzi and others 1996, Journal of Clinical Epidemiology 49); a threshold
    is all that such labels can place. Isotonic from 1,000 labels on, 100 of them of the rarer class: below that it
    overfits, and Platt's map is the better one (Niculescu-Mizil and Caruana 2005, Predicting Good Probabilities with
    Supervised Learning, section 5, who find isotonic ahead from about a thousand cases on).

    Args:
        positive: people's labels; NaN does not count.

    >>> suitable_map([0, 1] * 10), suitable_map([0, 1] * 20), suitable_map([0, 1] * 500)
    (<MapKind.NONE: 'none'>, <MapKind.PLATT: 'platt'>, <MapKind.ISOTONIC: 'isotonic'>)
    """
    label = np.asarray(positive, dtype=np.float64)
    label = label[~np.isnan(label)]
    rarer = int(min((label == 1).sum(), (label == 0).sum()))
    if rarer < FEWEST_FOR_PLATT:
        return MapKind.NONE
    if label.size >= FEWEST_FOR_ISOTONIC and rarer >= FEWEST_OF_A_CLASS_FOR_ISOTONIC:
        return MapKind.ISOTONIC
    return MapKind.PLATT


def fit_map(scores: npt.ArrayLike, positive: npt.ArrayLike, kind: MapKind | None = None) -> CalibrationMap | None:
    """Fit a map of the kind given, or of the one that the labels can carry; None where that is none.

    Arguments as for ``fit_platt``.
    """
    kind = suitable_map(positive) if kind is None else kind
    if kind is MapKind.PLATT:
        return fit_platt(scores, positive)
    return fit_isotonic(scores, positive) if kind is MapKind.ISOTONIC else None


def fit_platt(scores: npt.ArrayLike, positive: npt.ArrayLike) -> PlattMap:
    """Fit Platt's map: a logistic regression of the label on the log odds of the score.

    The labels are taken as (P + 1) / (P + 2) and 1 / (N + 2) for P positive and N other rows (Platt 1999), which keeps
    the slope finite where the score tells all rows apart. Fitted by Newton's method with backtracking (Lin, Lin and
    Weng 2007, A Note on Platt's Probabilistic Outputs for Support Vector Machines).

    Args:
        scores: within 0 and 1, shape (rows,); NaN where unknown.
        positive: people's label, shape (rows,); NaN where unknown.

    Raises:
        InputError: see ``scored_rows``; labels of one class only; scores outside 0 and 1.
    """
    rows, _ = scored_rows(scores, positive)
    positives, others = _both_classes(rows.positive)
    if rows.scores.min() < 0 or rows.scores.max() > 1:
        raise InputError("scores outside 0 and 1", field="scores", way_out="give probabilities")
    x = _log_odds(rows.scores)
    # About its mean and in units of its spread the problem is the same, and the steps are good ones.
    centre, spread = float(x.mean()), float(x.std())
    if spread <= _SAME:
        # Scores that are all the same differ from their mean by rounding alone.
        x, centre, spread = np.zeros_like(x), 0.0, 1.0
    design = np.stack([(x - centre) / spread, np.ones_like(x)])
    target = np.where(rows.positive, (positives + 1) / (positives + 2), 1 / (others + 2))
    weights = _newton(design, target)
    slope = float(weights[0]) / spread
    return PlattMap(slope, float(weights[1]) - slope * centre, positives + others, positives)


def _newton(design: Floats, target: Floats) -> Floats:
    """Return the weights that minimise the log loss against targets between 0 and 1."""

    def loss(w: Floats) -> float:
        margins = w @ design
        return float(np.sum(np.logaddexp(0, margins) - target * margins))

    weights = np.zeros(design.shape[0])
    value = loss(weights)
    for _ in range(_STEPS):
        p = (1 + np.tanh(weights @ design / 2)) / 2
        gradient = design @ (p - target)
        if float(np.abs(gradient).max()) <= 1e-10 * target.size:
            break
        # The least of ridges, for scores that are all the same.
        curvature = (design * (p * (1 - p))) @ design.T + 1e-12 * np.eye(design.shape[0])
        step = np.linalg.solve(curvature, gradient)
        stride = 1.0
        while stride > 1e-10 and loss(weights - stride * step) > value - 1e-4 * stride * float(gradient @ step):
            stride /= 2
        weights = weights - stride * step
        value = loss(weights)
    return weights


def fit_isotonic(scores: npt.ArrayLike, positive: npt.ArrayLike) -> IsotonicMap:
    """Fit the never-falling map with the least squared error, by pooling adjacent violators.

    Ayer and others 1955, Annals of Mathematical Statistics 26; for graders Zadrozny and Elkan 2002. Rows with the same
    score are one point first. Between points the map is a straight line.

    Args:
        scores: shape (rows,), on any scale; NaN where unknown.
        positive: people's label, shape (rows,); NaN where unknown.

    Raises:
        InputError: see ``scored_rows``; labels of one class only.

    >>> fit_isotonic([0.1, 0.2, 0.3, 0.4], [0, 1, 0, 1]).values
    (0.0, 0.5, 0.5, 1.0)
    """
    rows, _ = scored_rows(scores, positive)
    positives, others = _both_classes(rows.positive)
    points, of_row = np.unique(rows.scores, return_inverse=True)
    sums = np.bincount(of_row, weights=rows.positive.astype(np.float64))
    counts = np.bincount(of_row)
    blocks: list[tuple[float, int, int]] = []
    """Sum of labels, rows and points of each block."""
    for total, count in zip(sums.tolist(), counts.tolist(), strict=True):
        block = (total, count, 1)
        while blocks and blocks[-1][0] * block[1] >= block[0] * blocks[-1][1]:
            before = blocks.pop()
            block = (before[0] + block[0], before[1] + block[1], before[2] + block[2])
        blocks.append(block)
    ends: list[tuple[float, float]] = []
    place = 0
    for total, count, width in blocks:
        # The two ends of a block say all: what lies between is as high.
        for end in dict.fromkeys((place, place + width - 1)):
            ends.append((float(points[end]), total / count))
        place += width
    return IsotonicMap(
        tuple(score for score, _ in ends), tuple(value for _, value in ends), positives + others, positives
    )


def _both_classes(positive: npt.NDArray[np.bool_]) -> tuple[int, int]:
    positives = int(positive.sum())
    others = int(positive.size) - positives
    if not positives or not others:
        raise InputError(
            f"{positives} positive and {others} other labels",
            field="positive",
            way_out="label answers of both classes, or use a threshold without a map",
        )
    return positives, others


def _log_odds(scores: Floats) -> Floats:
    near = np.clip(scores, _NEAREST, 1 - _NEAREST)
    return np.asarray(np.log(near) - np.log1p(-near), dtype=np.float64)
