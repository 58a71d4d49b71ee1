"""Where the threshold of a grader belongs, and how sure that is."""

from dataclasses import asdict, dataclass
from typing import Any, Literal, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.statistics.bootstrap import ClusterBootstrap
from evenhand.statistics.detection import SAME, Floats, ScoredRows, scored_rows

Criterion: TypeAlias = Literal["youden", "kappa"]
CANDIDATES = 200
"""Thresholds tried at most; more would not be told apart by the labels there are."""
_DRAWS = 1000
_AT_ONCE = 100
"""Resamples held in memory side by side."""
_TAIL = 0.025


@dataclass(frozen=True, slots=True)
class ThresholdPoint:
    """What a grader's verdicts are worth at one threshold."""

    threshold: float
    sensitivity: float
    specificity: float
    kappa: float
    """Cohen's, of the verdict and people's label; 0 where the verdict is always the same."""

    @property
    def youden(self) -> float:
        """Sensitivity + specificity - 1."""
        return self.sensitivity + self.specificity - 1


@dataclass(frozen=True, slots=True)
class BestThreshold:
    """The threshold at which a criterion is largest on the labels given."""

    criterion: Criterion
    threshold: float | None
    """A score above it counts as positive. None where the labels are all of one class or the scores don't vary."""
    low: float | None
    """The 95% interval of the threshold, by resampling clusters and choosing anew."""
    high: float | None
    point: ThresholdPoint | None
    """What holds at the threshold on these labels. It was chosen for them, so on other answers expect less: the
    figures to report are those on labels that did not choose."""
    n: int
    clusters: int
    method: str

    def as_json(self) -> dict[str, Any]:
        """Return plain values; ``from_json`` takes them back."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Self:
        """Return what ``as_json`` gave, before or after it was written as JSON."""
        point = values["point"]
        return cls(**{**values, "point": None if point is None else ThresholdPoint(**point)})


def threshold_curve(scores: npt.ArrayLike, positive: npt.ArrayLike) -> tuple[ThresholdPoint, ...]:
    """Return the figures at every candidate threshold in rising order; see ``best_threshold``.

    Empty where the labels are all of one class or the scores don't vary.
    """
    rows, _ = scored_rows(scores, positive)
    if not _decidable(rows):
        return ()
    candidates = _candidates(rows.scores)
    sens, spec, kappa = _figures(*_counts_above(rows, candidates))
    return tuple(
        ThresholdPoint(*(float(value) for value in values))
        for values in zip(candidates, sens, spec, kappa, strict=True)
    )


def best_threshold(
    scores: npt.ArrayLike,
    positive: npt.ArrayLike,
    *,
    criterion: Criterion = "youden",
    bootstrap: ClusterBootstrap | None = None,
    seed: int = 0,
) -> BestThreshold:
    """Return the threshold that is best by a criterion, with its interval.

    Candidates lie half-way between neighbouring scores (between quantiles of them where there are more than 200).
    Where several are equally good, as they are between two classes that are wide apart, the middle one is taken.
    The interval is the percentile one of what 1,000 resamples of clusters would have chosen: how sharp the
    choice is, not a promise of coverage, because the bootstrap of a maximum's place has none (Kim and Pollard 1990).

    Args:
        scores: see ``scored_rows``.
        positive: see there.
        criterion: "youden": sensitivity + specificity - 1 (Youden 1950), which weighs the two classes alike. "kappa":
            Cohen's kappa, which weighs them as they come up; where the positive are rare it asks for fewer false ones.
        bootstrap: gives the clusters; without it every row is its own.
        seed: of the resamples.
    """
    rows, _ = scored_rows(scores, positive, bootstrap)
    n, clusters = int(rows.scores.size), rows.clusters
    if not _decidable(rows):
        why = (
            "the scores do not vary" if rows.scores.size and np.ptp(rows.scores) <= SAME else "labels of one class only"
        )
        return BestThreshold(criterion, None, None, None, None, n, clusters, f"no threshold: {why}")
    candidates = _candidates(rows.scores)
    counts = _counts_above(rows, candidates)
    sens, spec, kappa = _figures(*counts)
    at = int(_choice(sens, spec, kappa, criterion))
    point = ThresholdPoint(float(candidates[at]), float(sens[at]), float(spec[at]), float(kappa[at]))
    if clusters == 1:
        return BestThreshold(criterion, point.threshold, None, None, point, n, 1, "no interval: one cluster")
    chosen = candidates[_resampled_choices(rows, candidates, criterion, seed)]
    low, high = np.quantile(chosen, [_TAIL, 1 - _TAIL], method="nearest")
    method = f"percentile bootstrap over clusters of the choice, {_DRAWS} draws"
    return BestThreshold(
        criterion,
        point.threshold,
        min(float(low), point.threshold),
        max(float(high), point.threshold),
        point,
        n,
        clusters,
        method,
    )


def _decidable(rows: ScoredRows) -> bool:
    return bool(rows.positive.any()) and not bool(rows.positive.all()) and float(np.ptp(rows.scores)) > SAME


def _candidates(scores: Floats) -> Floats:
    levels = np.unique(scores)
    levels = levels[np.concatenate([[True], np.diff(levels) > 2 * SAME])]
    if levels.size > CANDIDATES + 1:
        levels = np.unique(np.quantile(scores, np.linspace(0, 1, CANDIDATES + 1), method="nearest"))
    return np.asarray((levels[:-1] + levels[1:]) / 2, dtype=np.float64)


def _counts_above(rows: ScoredRows, candidates: Floats) -> tuple[Floats, Floats, float, float]:
    """Return how many positive and other rows are above each candidate, and how many there are of each."""
    by_class = [rows.scores[rows.positive == side] for side in (True, False)]
    above = [side.size - np.searchsorted(np.sort(side), candidates + SAME, side="right") for side in by_class]
    return above[0].astype(np.float64), above[1].astype(np.float64), float(by_class[0].size), float(by_class[1].size)


def _figures(
    hits: Floats, alarms: Floats, positive: Floats | float, others: Floats | float
) -> tuple[Floats, Floats, Floats]:
    """Return sensitivity, specificity and kappa, NaN where a class is missing from a resample."""
    n = positive + others
    with np.errstate(divide="ignore", invalid="ignore"):
        sens, spec = hits / positive, 1 - alarms / others
        said = hits + alarms
        agreed = (hits + others - alarms) / n
        chance = (said * positive + (n - said) * others) / n**2
        kappa = np.where(chance < 1, (agreed - chance) / (1 - chance), np.nan)
    return np.asarray(sens), np.asarray(spec), np.asarray(kappa)


def _choice(sens: Floats, spec: Floats, kappa: Floats, criterion: Criterion) -> npt.NDArray[np.int64]:
    """Return the place of the best candidate along the first axis, the middle one of those that are equally good."""
    value = sens + spec if criterion == "youden" else kappa
    best = value >= np.max(value, axis=0) - SAME
    rank = np.cumsum(best, axis=0)
    return np.asarray(np.argmax(rank >= (rank[-1] + 1) // 2, axis=0), dtype=np.int64)


def _resampled_choices(rows: ScoredRows, candidates: Floats, criterion: Criterion, seed: int) -> npt.NDArray[np.int64]:
    """Return which candidate each resample of clusters would choose; resamples of one class choose none."""
    names, of_row = np.unique(rows.of_row, return_inverse=True)
    level = np.searchsorted(candidates + SAME, rows.scores, side="left")
    cells = [
        (side, number, of_row[(level == number) & (rows.positive == side)])
        for side in (0, 1)
        for number in np.unique(level[rows.positive == side])
    ]
    rng = np.random.default_rng(seed)
    equal = np.full(names.size, 1 / names.size)
    chosen = []
    for _ in range(_DRAWS // _AT_ONCE):
        times = rng.multinomial(names.size, equal, size=_AT_ONCE).T.copy()
        histograms = np.zeros((2, candidates.size + 1, _AT_ONCE))
        for side, number, members in cells:
            histograms[side, number] = times[members].sum(axis=0)
        whole = histograms.sum(axis=1)
        above = whole[:, None, :] - np.cumsum(histograms, axis=1)[:, :-1, :]
        sens, spec, kappa = _figures(above[1], above[0], whole[1], whole[0])
        seen = np.all(whole > 0, axis=0)
        chosen.append(_choice(sens[:, seen], spec[:, seen], kappa[:, seen], criterion))
    return np.concatenate(chosen)
