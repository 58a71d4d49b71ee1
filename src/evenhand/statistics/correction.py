"""A share or mean over a run, corrected by the labels that people gave to a random part of it.

Four estimates of the same figure, what people would have found had they labelled every row: what the grader says
(``raw``), the labels alone (``humans_alone``), and two that join them (``ppi_mean``, ``rogan_gladen``). The intervals
speak of stance pairs like those of the run, as all others do, and not of this run's rows alone.
"""

import math
from dataclasses import replace

import numpy as np

from evenhand.statistics import robust
from evenhand.statistics.estimate import LEVEL, Estimate
from evenhand.statistics.labelled_run import Floats, Integers, LabelledRun, labelled_run, stratum_weights
from evenhand.statistics.rogan_gladen import Rates, rates, rogan_gladen
from evenhand.statistics.student_t import two_sided_quantile

__all__ = [
    "LabelledRun",
    "Rates",
    "cluster_parts",
    "grader_bias",
    "humans_alone",
    "labelled_run",
    "power",
    "ppi_mean",
    "rates",
    "raw",
    "rogan_gladen",
    "stratum_weights",
]

_TAIL = 0.025
_NOTHING = 1e-12


def raw(run: LabelledRun) -> Estimate:
    """Estimate the mean of what the grader says over the rest, uncorrected.

    The standard error is cluster-robust, the interval on the logit scale for shares (see ``robust.interval``). It is
    right about the grader's figure, and says nothing of the grader's errors.
    """
    parts = run.rest_weights * (run.rest - run.rest_weights @ run.rest)
    of_row = run.of_row[run.labels.size :]
    return _estimate(run, float(run.rest_weights @ run.rest), robust.by_cluster(parts, of_row), of_row, run.rest.size)


def humans_alone(run: LabelledRun) -> Estimate:
    """Estimate the mean by the labels alone, with the interval of ``raw``."""
    value = float(run.weights @ run.labels)
    of_row = run.of_row[: run.labels.size]
    return _estimate(run, value, robust.by_cluster(run.weights * (run.labels - value), of_row), of_row, run.labels.size)


def grader_bias(run: LabelledRun) -> Estimate:
    """Estimate by how much the grader's mean is too high: the mean of its value less the label, over labelled rows."""
    gaps = run.predicted - run.labels
    value = float(run.weights @ gaps)
    of_row = run.of_row[: run.labels.size]
    sums = robust.by_cluster(run.weights * (gaps - value), of_row)
    return _estimate(run, value, sums, of_row, run.labels.size, extra=_unseen_errors(run, 1.0), is_share=False)


def power(run: LabelledRun) -> float:
    """Return how much weight the grader's values deserve, 0 to 1: lambda of PPI++.

    The lambda that makes the variance of ``ppi_mean`` least for independent rows:
    cov(label, value) / ((1 + n / N) var(value)), the covariance over the n labelled rows and the variance over all
    n + N (Angelopoulos, Duchi and Zrnic 2023, PPI++, example 6.1 in arXiv:2311.01453). With weights n and N are 1 over
    the sum of their squares. Where the rest is the whole run, the factor 1 + n / N falls away. Clusters are left out
    of account: any lambda gives an estimate that is right on average, and one found from sums by cluster is so unsteady
    that in simulations it lost more than it gained (docs/statistics-validation.md).
    """
    both = np.concatenate([run.predicted, run.rest])
    share = np.concatenate([run.weights * run.predicted.size, run.rest_weights * run.rest.size]) / both.size
    spread = float(share @ (both - share @ both) ** 2) * both.size / (both.size - 1)
    if spread <= _NOTHING:
        return 0.0
    together = float(
        run.weights @ ((run.labels - run.weights @ run.labels) * (run.predicted - run.weights @ run.predicted))
    )
    mine, others = float(run.weights @ run.weights), float(run.rest_weights @ run.rest_weights)
    apart = 1.0 if run.whole else 1 + others / mine
    return min(max(together / (apart * spread), 0.0), 1.0)


def cluster_parts(run: LabelledRun) -> tuple[Floats, Floats]:
    """Return what each cluster adds to the mean of the labels, and to the grader's over labelled rows less the rest's.

    Both less what it would add if it were like the mean, so that each sums to 0.
    """
    n, clusters = run.labels.size, int(run.of_row.max()) + 1
    labels = run.weights * (run.labels - run.weights @ run.labels)
    values = run.weights * (run.predicted - run.weights @ run.predicted)
    rest = run.rest_weights * (run.rest - run.rest_weights @ run.rest)
    labelled, others = run.of_row[:n], run.of_row[n:]
    return (
        robust.by_cluster(labels, labelled, clusters),
        robust.by_cluster(values, labelled, clusters) - robust.by_cluster(rest, others, clusters),
    )


def ppi_mean(run: LabelledRun, *, tuning: float | None = None) -> Estimate:
    """Estimate the mean by prediction-powered inference: what the grader says of the rest, set right by the labels.

    mean over the rest of lambda f + mean over labelled rows of (y - lambda f), f the grader's value and y the label
    (Angelopoulos and others 2023, Science 382, for lambda 1; PPI++, arXiv:2311.01453, for the best lambda). It is right
    on average whatever the grader is worth, as long as the labelled rows are a random part of the run.

    The standard error is that of the sum of what each cluster adds to the two means, so that clusters in both parts,
    and rows too, are accounted for: sqrt(G / (G - 1) sum c^2). For independent rows it is the paper's but for the
    factor. Where labels and values are 0 and 1 its square takes in lambda^2 / (n + 2)^2, as if one more error of the
    grader had been seen, half of it each way (Agresti and Min 2005, Statistics in Medicine 24, for a difference of
    paired shares): a good grader may make no error among 150 rows and some among 100,000. The interval is as for
    ``raw``, with t on G - 1 degrees of freedom, G the clusters with a label.

    Args:
        run: see ``labelled_run``.
        tuning: lambda; ``power`` without. 1 takes the grader's values in full, 0 is ``humans_alone``.

    >>> run = labelled_run([1, 0, 0, 1], [1, 0, 1, 1], [1, 0, 0, 1, 0, 0])
    >>> round(ppi_mean(run, tuning=1.0).value, 4)
    0.0833
    """
    strength = power(run) if tuning is None else tuning
    n = run.labels.size
    value = strength * float(run.rest_weights @ run.rest) + float(run.weights @ (run.labels - strength * run.predicted))
    of_labels, of_values = cluster_parts(run)
    found = _estimate(
        run,
        value,
        of_labels - strength * of_values,
        run.of_row,
        run.rows,
        labelled_clusters=run.labelled_clusters,
        extra=_unseen_errors(run, strength),
    )
    return replace(found, method=f"PPI++, lambda {strength:.2f}, {n} labels; {found.method}")


def _unseen_errors(run: LabelledRun, strength: float) -> float:
    """Return what to add to the variance for errors of the grader too rare to be seen; see ``ppi_mean``."""
    return strength**2 / (run.labels.size + 2) ** 2 if run.binary else 0.0


def _estimate(
    run: LabelledRun,
    value: float,
    sums: Floats,
    of_row: Integers,
    n: int,
    *,
    labelled_clusters: int | None = None,
    extra: float = 0.0,
    is_share: bool | None = None,
) -> Estimate:
    """Return an estimate from what each cluster adds to it."""
    as_share = run.is_share if is_share is None else is_share
    clusters = int(np.unique(of_row).size)
    if as_share:
        value = min(max(value, 0.0), 1.0)
        # A weighted sum of ones may miss 1 in its last bit.
        value = float(round(value)) if abs(value - round(value)) <= _NOTHING else value
    few = clusters if labelled_clusters is None else labelled_clusters
    if few < 2:
        return Estimate(value, None, None, n, clusters, "no interval: one cluster")
    error = math.sqrt(few / (few - 1) * float(sums @ sums) + extra)
    if error <= _NOTHING:
        if not as_share or value not in (0.0, 1.0):
            return Estimate(value, None, None, n, clusters, "no interval: no variation between clusters")
        reach = 1 - _TAIL ** (1 / few)
        low, high = (0.0, reach) if value == 0 else (1 - reach, 1.0)
        return Estimate(value, low, high, n, clusters, f"exact binomial on {few} clusters (no variation)")
    # The degrees of freedom are those of the part with fewer clusters.
    found = Estimate(value, None, None, n, few, "", error)
    ends = robust.interval(found, "logit") if as_share else None
    how = "cluster-robust on the logit scale"
    if ends is None:
        reach = two_sided_quantile(LEVEL, few - 1) * error
        ends, how = (value - reach, value + reach), "cluster-robust"
        if as_share:
            ends = (max(ends[0], 0.0), min(ends[1], 1.0))
    return replace(
        found, low=ends[0], high=ends[1], clusters=clusters, method=f"{how}, t on {few - 1} degrees of freedom"
    )
