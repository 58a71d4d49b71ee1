"""A share corrected by how often the grader is right on either class."""

import math
from dataclasses import dataclass

import numpy as np

from evenhand.errors import InputError
from evenhand.statistics import robust
from evenhand.statistics.detection import share
from evenhand.statistics.estimate import LEVEL, Estimate
from evenhand.statistics.labelled_run import LabelledRun
from evenhand.statistics.student_t import two_sided_quantile

_NOTHING = 1e-12


@dataclass(frozen=True, slots=True)
class Rates:
    """How often the grader is right, by the labelled rows of each class."""

    sensitivity: Estimate
    specificity: Estimate

    @property
    def youden(self) -> float | None:
        """Sensitivity + specificity - 1, None where one of them is unknown."""
        if self.sensitivity.value is None or self.specificity.value is None:
            return None
        return self.sensitivity.value + self.specificity.value - 1

    @property
    def youden_error(self) -> float | None:
        """Its standard error; rates without one (no error seen) are counted as one error more would make them."""
        errors = []
        for rate in (self.sensitivity, self.specificity):
            if rate.value is None:
                return None
            few = (rate.value * rate.clusters + 1) / (rate.clusters + 2)
            errors.append(rate.standard_error or math.sqrt(few * (1 - few) / (rate.clusters + 2)))
        return math.hypot(*errors)


def rates(run: LabelledRun) -> Rates:
    """Estimate sensitivity and specificity; intervals as for ``detection.share``.

    Raises:
        InputError: labels or values other than 0 and 1.
    """
    _check_binary(run)
    found = []
    of_row = run.of_row[: run.labels.size]
    for side in (1.0, 0.0):
        of_it = run.labels == side
        if not of_it.any():
            found.append(Estimate.missing(f"no labelled row is {'positive' if side else 'negative'}"))
            continue
        right = (run.predicted[of_it] == side).astype(np.float64)
        found.append(share(right, of_row[of_it], run.weights[of_it]))
    return Rates(*found)


def rogan_gladen(run: LabelledRun) -> Estimate:
    """Estimate a share by Rogan and Gladen: (r + specificity - 1) / (sensitivity + specificity - 1), within 0 and 1.

    r is the share that the grader calls positive among the rest, the other two are its rates on the labelled rows
    (Rogan and Gladen 1978, American Journal of Epidemiology 107). Unlike PPI it needs no labels from this very run,
    only the same rates; but it divides by what the grader is worth, and with few labels of one class it is biased and
    wild.

    The interval is Lang and Reiczigel's (2014, Preventive Veterinary Medicine 113) for estimated rates: two labels more
    of each class, one right and one wrong, Wilson's centre for r, and their shift of the centre. Clusters and weights
    divide all three numbers of rows by one design effect, the cluster-robust variance of the linearised estimate
    over that of independent rows, at least 1; or less where the rest is the whole run, whose labelled rows vary along
    with their labels. Where those labels more leave sensitivity + specificity at 1 or below,
    the share is not estimable, and there is no figure.

    Raises:
        InputError: labels or values other than 0 and 1.

    >>> from evenhand.statistics.labelled_run import labelled_run
    >>> run = labelled_run([1] * 20 + [0] * 80, [1] * 18 + [0] * 2 + [1] * 4 + [0] * 76, [1] * 60 + [0] * 240)
    >>> round(rogan_gladen(run).value, 4)
    0.1765
    """
    found = rates(run)
    sens, spec, worth = found.sensitivity.value, found.specificity.value, found.youden
    n = run.rows
    if sens is None or spec is None or worth is None:
        return Estimate.missing("people's labels are of one class only", n=n, clusters=run.clusters)
    if worth <= _NOTHING:
        return Estimate.missing("the grader is no better than chance on the labels", n=n, clusters=run.clusters)
    said = float(run.rest_weights @ run.rest)
    value = (said + spec - 1) / worth
    effect = _rogan_gladen_effect(run, (said, sens, spec), value)
    found_ends = _lang_reiczigel((said, sens, spec), _numbers(run), effect)
    if found_ends is None or found_ends[:2] == (0.0, 1.0):
        # Any share fits then. A figure with an interval from 0 to 1 would still be quoted.
        why = f"not estimable: with {run.labels.size} labels the grader can't be told from one that knows nothing"
        return Estimate.missing(why, n=n, clusters=run.clusters)
    low, high, error = found_ends
    value = min(max(value, 0.0), 1.0)
    method = f"Rogan-Gladen, {run.labels.size} labels; Lang-Reiczigel"
    if effect > 1:
        method += f" on rows divided by a design effect of {effect:.2f}"
    return Estimate(value, min(low, value), max(high, value), n, run.clusters, method, error, effect)


def _numbers(run: LabelledRun) -> tuple[float, float, float]:
    positive = float((run.labels == 1).sum())
    return float(run.rest.size), positive, run.labels.size - positive


def _lang_reiczigel(
    shares: tuple[float, float, float], numbers: tuple[float, float, float], effect: float
) -> tuple[float, float, float] | None:
    """Return the interval within 0 and 1 and the standard error, from r, sensitivity and specificity and their rows.

    None where two labels more of each class leave nothing of what the grader is worth: the interval is endless then.
    """
    z = two_sided_quantile(LEVEL, math.inf)
    said, sens, spec = shares
    rows, positives, others = (number / effect for number in numbers)
    rows_, positives_, others_ = rows + z * z, positives + 2, others + 2
    said_ = (rows * said + z * z / 2) / rows_
    sens_, spec_ = (positives * sens + 1) / positives_, (others * spec + 1) / others_
    worth = sens_ + spec_ - 1
    if worth <= _NOTHING:
        return None
    value = (said_ + spec_ - 1) / worth
    of_sens, of_spec = sens_ * (1 - sens_) / positives_, spec_ * (1 - spec_) / others_
    shift = 2 * z * z * (value * of_sens - (1 - value) * of_spec)
    error = math.sqrt(said_ * (1 - said_) / rows_ + value**2 * of_sens + (1 - value) ** 2 * of_spec) / worth
    low, high = value + shift - z * error, value + shift + z * error
    return min(max(low, 0.0), 1.0), min(max(high, 0.0), 1.0), error


def _rogan_gladen_effect(run: LabelledRun, shares: tuple[float, float, float], value: float) -> float:
    """Return the design effect of clusters, weights and rows that are in both parts; see ``rogan_gladen``."""
    if run.independent:
        return 1.0
    said, sens, spec = shares
    n = run.labels.size
    positive = run.labels == 1
    parts = np.zeros(n + run.rest.size)
    parts[n:] = run.rest_weights * (run.rest - said)
    hits = run.weights * np.where(positive, run.predicted - sens, 0.0) / float(run.weights[positive].sum())
    passes = run.weights * np.where(positive, 0.0, 1 - run.predicted - spec) / float(run.weights[~positive].sum())
    parts[:n] = (1 - value) * passes - value * hits
    sums = robust.by_cluster(parts, run.of_row)
    clusters = run.clusters
    rows, positives, others = _numbers(run)
    alone = (
        said * (1 - said) / rows
        + value**2 * sens * (1 - sens) / positives
        + (1 - value) ** 2 * spec * (1 - spec) / others
    )
    if alone <= _NOTHING or clusters < 2:
        return 1.0
    # Where rows are in both parts, errors on them cancel. How far is an estimate too: a quarter is the least.
    least = 0.25 if run.whole else 1.0
    return max(least, clusters / (clusters - 1) * float(sums @ sums) / alone)


def _check_binary(run: LabelledRun) -> None:
    if not run.binary:
        raise InputError(
            "sensitivity and specificity want labels and verdicts that are 0 or 1",
            way_out="put the grader's probabilities to a threshold first, or use ppi_mean",
        )
