"""How far a grader's probabilities can be taken at their word: Brier score, calibration error, reliability curve."""

from dataclasses import asdict, dataclass
from typing import Any, Literal, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.errors import InputError
from evenhand.statistics.bootstrap import ClusterBootstrap
from evenhand.statistics.detection import Floats, Integers, ScoredRows, scored_rows, share
from evenhand.statistics.estimate import Estimate

Binning: TypeAlias = Literal["width", "mass"]
BINS = 10


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """The rows to which a grader gave about the same probability."""

    low: float
    """Least probability in the bin."""
    high: float
    mean: float
    """Of the probabilities."""
    observed: Estimate
    """Share of positive rows, with its interval."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """How a grader's probabilities compare to the shares that people found."""

    brier: Estimate
    """Mean of (p - y)^2: 0 is perfect, and always to say the base rate b gives b (1 - b)."""
    brier_of_base_rate: float | None
    """What it would be if the grader always said the share of positive rows."""
    width_error: Estimate
    """Expected calibration error over bins of equal width."""
    mass_error: Estimate
    """The same over bins of equal numbers of rows."""
    width_error_by_chance: float | None
    """What ``width_error`` would be on average if the probabilities were right; see ``error_by_chance``."""
    mass_error_by_chance: float | None
    curve: tuple[ReliabilityBin, ...]
    """By bins of equal numbers of rows, from the least probability to the largest."""

    def as_json(self) -> dict[str, Any]:
        """Return plain values; ``from_json`` takes them back."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Self:
        """Return what ``as_json`` gave, before or after it was written as JSON."""
        curve = tuple(
            ReliabilityBin(**{**found, "observed": Estimate(**found["observed"])}) for found in values["curve"]
        )
        figures = {name: Estimate(**values[name]) for name in ("brier", "width_error", "mass_error")}
        return cls(**{**values, **figures, "curve": curve})


def calibration(
    probabilities: npt.ArrayLike,
    positive: npt.ArrayLike,
    *,
    bins: int = BINS,
    bootstrap: ClusterBootstrap | None = None,
) -> Calibration:
    """Return every figure of this page.

    Args:
        probabilities: P(positive), shape (rows,), within 0 and 1, NaN where the grader could not be read.
        positive: people's label; see ``scored_rows``.
        bins: for the calibration errors and the curve.
        bootstrap: prepared for the clusters of the rows, for intervals.

    Raises:
        InputError: see ``scored_rows``; probabilities outside 0 and 1.
    """
    rows, _ = _probable_rows(probabilities, positive, bootstrap)
    base = float(rows.positive.mean()) if rows.scores.size else None
    chances = {
        kind: error_by_chance(rows.scores, _bins(rows.scores, bins, kind)) if rows.scores.size else None
        for kind in ("width", "mass")
    }
    return Calibration(
        brier_score(probabilities, positive, bootstrap),
        None if base is None else base * (1 - base),
        calibration_error(probabilities, positive, bins=bins, binning="width", bootstrap=bootstrap),
        calibration_error(probabilities, positive, bins=bins, binning="mass", bootstrap=bootstrap),
        chances["width"],
        chances["mass"],
        reliability_curve(probabilities, positive, bins=bins, binning="mass", bootstrap=bootstrap),
    )


def brier_score(
    probabilities: npt.ArrayLike, positive: npt.ArrayLike, bootstrap: ClusterBootstrap | None = None
) -> Estimate:
    """Estimate the mean of (p - y)^2 (Brier 1950, Monthly Weather Review 78). Arguments as for ``calibration``.

    >>> round(brier_score([0.9, 0.2], [1, 0]).value, 3)
    0.025
    """
    rows, use = _probable_rows(probabilities, positive, bootstrap)
    squares = np.full(use.size, np.nan)
    squares[use] = (rows.scores - rows.positive) ** 2
    if bootstrap is not None:
        return bootstrap.mean(squares, bounds=(0.0, 1.0))
    return share(squares[use], rows.of_row)


def calibration_error(
    probabilities: npt.ArrayLike,
    positive: npt.ArrayLike,
    *,
    bins: int = BINS,
    binning: Binning = "width",
    bootstrap: ClusterBootstrap | None = None,
) -> Estimate:
    """Estimate the expected calibration error: the mean over rows of |share positive - mean p| of their bin.

    Naeini, Cooper and Hauskrecht 2015. Absolute values do not cancel, so a perfectly calibrated grader has an
    error above 0 too: compare ``error_by_chance``. The bins stay fixed in the resamples; without a bootstrap there is
    no interval.

    Args:
        probabilities: see ``calibration``.
        positive: see there.
        bins: how many.
        binning: "width": equal parts of 0 to 1. "mass": equal numbers of rows, as far as ties allow, which leaves no
            bin to a few rows.
        bootstrap: see ``calibration``.
    """
    rows, use = _probable_rows(probabilities, positive, bootstrap)
    n = int(rows.scores.size)
    if n == 0:
        return Estimate.missing("no rows")
    of_bin = _bins(rows.scores, bins, binning)
    gaps = rows.positive - rows.scores
    if bootstrap is None:
        value = float(np.abs(np.bincount(of_bin, weights=gaps)).sum()) / n
        return Estimate(value, None, None, n, rows.clusters, "no interval: the clusters of the rows are not known")
    columns = np.full((bins + 1, use.size), np.nan)
    columns[0, use] = 1
    for number in range(bins):
        columns[number + 1, use] = np.where(of_bin == number, gaps, 0.0)
    return bootstrap.statistic(list(columns), lambda sums: np.abs(sums[1:]).sum(axis=0) / sums[0], bounds=(0.0, 1.0))


def error_by_chance(probabilities: Floats, of_bin: Integers) -> float:
    """Return about what the calibration error would be if every probability were right and rows independent.

    A bin's sum of y - p then has the variance sum of p (1 - p); the mean of the absolute value of a normal variable is
    its standard deviation times sqrt(2 / pi).
    """
    spread = np.bincount(of_bin, weights=probabilities * (1 - probabilities))
    return float(np.sqrt(2 / np.pi * spread).sum() / probabilities.size)


def reliability_curve(
    probabilities: npt.ArrayLike,
    positive: npt.ArrayLike,
    *,
    bins: int = BINS,
    binning: Binning = "mass",
    bootstrap: ClusterBootstrap | None = None,
) -> tuple[ReliabilityBin, ...]:
    """Return the observed share of positive rows by bins of probability; bins without rows are left out.

    Arguments as for ``calibration_error``. The intervals are cluster-robust on the logit scale, because bins are small
    and resampling them would often find no variation.
    """
    rows, _ = _probable_rows(probabilities, positive, bootstrap)
    if rows.scores.size == 0:
        return ()
    of_bin = _bins(rows.scores, bins, binning)
    found = []
    for number in np.unique(of_bin):
        of_it = of_bin == number
        scores = rows.scores[of_it]
        observed = share(rows.positive[of_it], rows.of_row[of_it])
        found.append(ReliabilityBin(float(scores.min()), float(scores.max()), float(scores.mean()), observed))
    return tuple(found)


def _probable_rows(
    probabilities: npt.ArrayLike, positive: npt.ArrayLike, bootstrap: ClusterBootstrap | None
) -> tuple[ScoredRows, npt.NDArray[np.bool_]]:
    rows, use = scored_rows(probabilities, positive, bootstrap)
    if rows.scores.size and (rows.scores.min() < 0 or rows.scores.max() > 1):
        raise InputError(
            f"probabilities from {rows.scores.min():g} to {rows.scores.max():g}",
            field="probabilities",
            way_out="give values within 0 and 1, or map the scores first",
        )
    return rows, use


def _bins(probabilities: Floats, bins: int, binning: Binning | str) -> Integers:
    """Return the bin of each row; rows with the same probability share theirs."""
    if binning == "width":
        return np.minimum((probabilities * bins).astype(np.int64), bins - 1)
    edges = np.unique(np.quantile(probabilities, np.linspace(0, 1, bins + 1)[1:-1]))
    return np.searchsorted(edges, probabilities, side="left").astype(np.int64)
