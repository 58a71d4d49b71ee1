"""How well a score tells the positive from the rest: AUC, sensitivity, specificity, and graders that don't grade."""

from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.errors import InputError
from evenhand.statistics import robust
from evenhand.statistics.bootstrap import ClusterBootstrap
from evenhand.statistics.estimate import Estimate

Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]

SAME = 1e-9
"""Scores nearer than this to the threshold are at it, and not above."""
FEWEST = 6
"""With fewer clusters of either class nothing is said about a grader: not even one that is never wrong can be told from
chance."""
_FEWEST_SAME = 5
"""Of fewer scores it means nothing that all are the same."""
_TAIL = 0.025
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class ScoredRows:
    """The rows whose score and label are both known."""

    scores: Floats
    positive: Bools
    of_row: Integers
    """The cluster of each row as a number."""

    @property
    def clusters(self) -> int:
        """How many clusters there are."""
        return int(np.unique(self.of_row).size)


def scored_rows(
    scores: npt.ArrayLike, positive: npt.ArrayLike, bootstrap: ClusterBootstrap | None = None
) -> tuple[ScoredRows, Bools]:
    """Check scores and labels, and return the rows where both are known with the mask that selects them.

    Args:
        scores: shape (rows,), larger for what is more likely positive; NaN where the grader could not be read.
        positive: people's label, shape (rows,): true and false, or 1 and 0, NaN where unknown.
        bootstrap: prepared for the clusters of the rows; without it every row is its own cluster.

    Raises:
        InputError: shapes that differ, labels other than 0 and 1.
    """
    given, label = np.asarray(scores, dtype=np.float64), np.asarray(positive, dtype=np.float64)
    if given.ndim != 1 or given.shape != label.shape:
        raise InputError(
            f"there are scores of the shape {given.shape} and labels of the shape {label.shape}",
            way_out="give one score and one label a row",
        )
    if bootstrap is not None and bootstrap.of_row.size != given.size:
        raise InputError(
            f"the resamples are of {bootstrap.of_row.size} rows and there are {given.size} scores",
            way_out="prepare the bootstrap with the cluster of each row",
        )
    use = ~(np.isnan(given) | np.isnan(label))
    if not np.all(np.isin(label[use], (0.0, 1.0))):
        raise InputError(
            "labels other than 0 and 1", field="positive", way_out="say of each row whether it is positive"
        )
    of_row = np.arange(given.size) if bootstrap is None else bootstrap.of_row
    return ScoredRows(given[use], label[use] == 1, of_row[use]), use


def roc_auc(scores: npt.ArrayLike, positive: npt.ArrayLike, bootstrap: ClusterBootstrap | None = None) -> Estimate:
    """Estimate the area under the ROC curve: P(a positive row scores higher than another) + P(the same score) / 2.

    The standard error is DeLong's (DeLong, DeLong and Clarke-Pearson 1988, Biometrics 44), in its form for clustered
    rows (Obuchowski 1997, Biometrics 53): what each row adds, the mean of its comparisons less the AUC over the number
    of its class, is summed within clusters. The interval is on the logit scale with t on G - 1 degrees of freedom.
    Where no comparison goes wrong there is no variation to see; the interval then reaches as far as the exact binomial
    one for the smaller class would if so many of it were misplaced altogether.

    Args:
        scores: see ``scored_rows``.
        positive: see there.
        bootstrap: gives the clusters; its resamples are not used.

    >>> found = roc_auc([0.1, 0.4, 0.4, 0.9], [0, 0, 1, 1])
    >>> found.value, found.n
    (0.875, 4)
    """
    rows, _ = scored_rows(scores, positive, bootstrap)
    return _auc(rows, np.zeros(rows.scores.size, dtype=np.int64))


def auc_with_equal(
    scores: npt.ArrayLike,
    positive: npt.ArrayLike,
    held: npt.ArrayLike,
    *,
    bins: int = 5,
    bootstrap: ClusterBootstrap | None = None,
) -> Estimate:
    """Estimate the AUC over pairs of rows that are alike in another quantity, such as the length of the answer.

    The rows are put into bins by quantiles of that quantity, and a positive row is compared only to others of its bin;
    each comparison counts the same. A score that is nothing but length falls towards .5. Bins leave some of the
    quantity's variation inside them, so set it beside the AUC of the quantity itself in the same bins.

    Args:
        scores: see ``scored_rows``.
        positive: see there.
        held: the quantity to hold equal, shape (rows,); NaN does not enter.
        bins: how many, of equal numbers of rows as far as ties allow.
        bootstrap: see ``roc_auc``.
    """
    rows, use = scored_rows(scores, positive, bootstrap)
    quantity = np.asarray(held, dtype=np.float64)
    if quantity.shape != use.shape:
        raise InputError(
            f"{quantity.shape} values to hold equal for {use.size} rows", field="held", way_out="one a row"
        )
    quantity = quantity[use]
    known = ~np.isnan(quantity)
    rows = ScoredRows(rows.scores[known], rows.positive[known], rows.of_row[known])
    if rows.scores.size == 0:
        return Estimate.missing("no rows")
    edges = np.unique(np.quantile(quantity[known], np.linspace(0, 1, bins + 1)[1:-1]))
    return _auc(rows, np.searchsorted(edges, quantity[known], side="left"))


def auc_within(
    scores: npt.ArrayLike,
    positive: npt.ArrayLike,
    groups: Sequence[Hashable],
    bootstrap: ClusterBootstrap | None = None,
) -> Estimate:
    """Estimate the AUC over pairs of rows of one group: a model, an issue, a stratum. See ``auc_with_equal``."""
    rows, use = scored_rows(scores, positive, bootstrap)
    if len(groups) != use.size:
        raise InputError(f"{len(groups)} groups for {use.size} rows", field="groups", way_out="give one a row")
    return _auc(rows, robust.numbered(groups)[use])


def _auc(rows: ScoredRows, strata: Integers) -> Estimate:
    n, clusters = int(rows.scores.size), rows.clusters
    right, compared = np.zeros(n), np.zeros(n)
    for stratum in np.unique(strata):
        of_it = np.flatnonzero(strata == stratum)
        high, low = of_it[rows.positive[of_it]], of_it[~rows.positive[of_it]]
        right[high] = _wins(rows.scores[high], rows.scores[low])
        right[low] = high.size - _wins(rows.scores[low], rows.scores[high])
        compared[high], compared[low] = low.size, high.size
    whole = float(compared.sum()) / 2
    if whole == 0:
        return Estimate.missing("no positive row to compare to another", n=n, clusters=clusters)
    value = float(right.sum()) / 2 / whole
    if clusters == 1:
        return Estimate(value, None, None, n, 1, "no interval: one cluster")
    sums = robust.by_cluster(right - value * compared, rows.of_row)
    error = float(np.sqrt(clusters / (clusters - 1) * (sums @ sums))) / whole
    if value in (0.0, 1.0):
        fewest = min(
            int(np.unique(rows.of_row[(compared > 0) & (rows.positive == side)]).size) for side in (True, False)
        )
        reach = 1 - _TAIL ** (1 / fewest)
        method = f"exact bound on {fewest} clusters of the smaller class (no comparison goes wrong)"
        low_end, high_end = (1 - reach, 1.0) if value == 1 else (0.0, reach)
        return Estimate(value, low_end, high_end, n, clusters, method)
    if error < 1e-12:
        return Estimate(value, None, None, n, clusters, "no interval: the scores do not vary")
    found = Estimate(value, None, None, n, clusters, "", error)
    ends = robust.interval(found, "logit")
    low_end, high_end = ends if ends is not None else (0.0, 1.0)
    method = f"DeLong, clustered, on the logit scale, t on {clusters - 1} degrees of freedom"
    return Estimate(value, low_end, high_end, n, clusters, method, error)


def _wins(scores: Floats, others: Floats) -> Floats:
    """Return for each score how many others are below it, those that are the same counting half."""
    ranked = np.sort(others)
    below, up_to = np.searchsorted(ranked, scores, side="left"), np.searchsorted(ranked, scores, side="right")
    return np.asarray((below + up_to) / 2, dtype=np.float64)


def sensitivity(
    scores: npt.ArrayLike, positive: npt.ArrayLike, *, threshold: float = 0.5, bootstrap: ClusterBootstrap | None = None
) -> Estimate:
    """Estimate the share of positive rows whose score is above the threshold.

    Args:
        scores: see ``scored_rows``; 0 and 1 for verdicts.
        positive: see there.
        threshold: a score at it is not above it.
        bootstrap: for an interval by its resamples; without it the rows are taken to be independent, and the interval
            is the cluster-robust one on the logit scale.
    """
    return _share_right(scores, positive, threshold, bootstrap, of_positive=True)


def specificity(
    scores: npt.ArrayLike, positive: npt.ArrayLike, *, threshold: float = 0.5, bootstrap: ClusterBootstrap | None = None
) -> Estimate:
    """Estimate the share of the rows that are not positive whose score is not above the threshold."""
    return _share_right(scores, positive, threshold, bootstrap, of_positive=False)


def _share_right(
    scores: npt.ArrayLike,
    positive: npt.ArrayLike,
    threshold: float,
    bootstrap: ClusterBootstrap | None,
    *,
    of_positive: bool,
) -> Estimate:
    rows, use = scored_rows(scores, positive, bootstrap)
    of_class = rows.positive == of_positive
    if not np.any(of_class):
        return Estimate.missing(f"no row is {'positive' if of_positive else 'negative'}", n=0)
    right = ((rows.scores > threshold + SAME) == of_positive).astype(np.float64)
    if bootstrap is None:
        return share(right[of_class], rows.of_row[of_class])
    values = np.full(use.size, np.nan)
    values[np.flatnonzero(use)[of_class]] = right[of_class]
    return bootstrap.mean(values)


def share(
    values: npt.ArrayLike, clusters: Sequence[Hashable] | Integers, weights: npt.ArrayLike | None = None
) -> Estimate:
    """Estimate the (weighted) mean of values between 0 and 1, without resampling and with an interval also at 0 and 1.

    The interval is the cluster-robust one on the logit scale (see ``robust.interval``). Where every value is 0, or
    every one 1, it is the exact binomial one (Clopper and Pearson 1934) for as many observations as there are clusters.

    >>> found = share([1, 1, 1, 1], [1, 2, 3, 4])
    >>> found.value, round(found.low, 4), found.high
    (1.0, 0.3976, 1.0)
    """
    data = np.asarray(values, dtype=np.float64)
    weight = np.ones_like(data) if weights is None else np.asarray(weights, dtype=np.float64)
    found = robust.ratio(data * weight, weight, list(clusters), scale="logit")
    if found.value is not None and abs(found.value - round(found.value)) <= _ROUNDING:
        found = replace(found, value=float(round(found.value)))
    if found.low is None and found.value in (0.0, 1.0) and found.clusters > 1:
        reach = 1 - _TAIL ** (1 / found.clusters)
        low, high = (0.0, reach) if found.value == 0 else (1 - reach, 1.0)
        method = f"exact binomial on {found.clusters} clusters (no variation)"
        return Estimate(found.value, low, high, found.n, found.clusters, method)
    return found


class Verdict(StrEnum):
    """What the scores of a grader are worth, before any figure made from them is read."""

    TELLS = "tells"
    """It tells the positive from the rest: the interval of its AUC lies above .5."""
    RANDOM = "random"
    """It can't be told from a grader that answers at random: the interval of its AUC holds .5."""
    CONSTANT = "constant"
    """It gives every row the same score, over as many rows as it takes to say so."""
    ONE_SIDED = "one_sided"
    """Its verdict is always the same although its scores tell the classes apart: the threshold is misplaced."""
    INVERTED = "inverted"
    """It is right upside down: the interval of its AUC lies below .5."""
    UNDECIDED = "undecided"
    """Too few rows of either class to say."""


_SENTENCES = {
    Verdict.TELLS: "The grader tells the positive from the rest.",
    Verdict.RANDOM: "The grader can't be told from one that answers at random.",
    Verdict.CONSTANT: "The grader gives every answer the same score: it says nothing.",
    Verdict.ONE_SIDED: "The scores tell the classes apart, but at this threshold all get the same verdict: move it.",
    Verdict.INVERTED: "The grader is right upside down: its labels, or those of the people, are inverted.",
    Verdict.UNDECIDED: f"Fewer than {FEWEST} independent answers of one class: too few to judge the grader by.",
}


@dataclass(frozen=True, slots=True)
class Recognition:
    """What kind of grader the scores come from, and why."""

    verdict: Verdict
    auc: Estimate

    @property
    def sentence(self) -> str:
        """The verdict in a sentence."""
        return _SENTENCES[self.verdict]

    @property
    def usable(self) -> bool:
        """Whether figures made with this grader mean anything."""
        return self.verdict is Verdict.TELLS

    def as_json(self) -> dict[str, Any]:
        """Return plain values; ``from_json`` takes them back."""
        return {"verdict": str(self.verdict), "auc": asdict(self.auc)}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "Recognition":
        """Return what ``as_json`` gave, before or after it was written as JSON."""
        return cls(Verdict(values["verdict"]), Estimate(**values["auc"]))


def recognise(
    scores: npt.ArrayLike, positive: npt.ArrayLike, *, threshold: float = 0.5, bootstrap: ClusterBootstrap | None = None
) -> Recognition:
    """Tell a grader from one that answers at random, always says the same, or has its labels inverted.

    Args:
        scores: see ``scored_rows``.
        positive: see there.
        threshold: of the grader's verdict.
        bootstrap: gives the clusters.
    """
    rows, _ = scored_rows(scores, positive, bootstrap)
    auc = roc_auc(scores, positive, bootstrap)
    return Recognition(_verdict(rows, auc, threshold), auc)


def _verdict(rows: ScoredRows, auc: Estimate, threshold: float) -> Verdict:
    # One score is always the same; so are a few, often enough.
    if rows.scores.size >= _FEWEST_SAME and float(np.ptp(rows.scores)) <= SAME:
        return Verdict.CONSTANT
    of_class = [int(np.unique(rows.of_row[rows.positive == side]).size) for side in (True, False)]
    if min(of_class) < FEWEST or auc.low is None or auc.high is None:
        return Verdict.UNDECIDED
    if auc.high < 0.5:
        return Verdict.INVERTED
    if auc.low <= 0.5:
        return Verdict.RANDOM
    above = rows.scores > threshold + SAME
    return Verdict.ONE_SIDED if bool(above.all()) or not bool(above.any()) else Verdict.TELLS
