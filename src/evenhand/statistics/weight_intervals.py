"""Intervals for the weights of a penalised fit."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.statistics.bootstrap import LEVEL
from evenhand.statistics.logistic import PairRows, gram, sigmoid
from evenhand.statistics.student_t import two_sided_quantile

Floats: TypeAlias = npt.NDArray[np.float64]

_MOST_STEPS = 6
_STILL = 1e-3
"""Steps end when no weight moves farther than this, features having a root mean square of about 1."""


@dataclass(frozen=True, slots=True)
class WeightIntervals:
    """Estimates of the weights that an unpenalised fit to all data of this kind would have; each shape (features,)."""

    value: Floats
    low: Floats
    high: Floats
    method: str


def weight_intervals(rows: PairRows, clusters: npt.NDArray[np.int64], w: Floats) -> WeightIntervals:
    """Take the penalty's pull out of fitted weights, and give each an interval that is robust to clusters.

    A penalised weight is pulled toward 0, and so would be any interval around it. A few unpenalised Newton steps,
    w + H^-1 g, take the pull out (one does to first order: van de Geer and others 2014; Javanmard and Montanari 2014)
    and stay finite where the unpenalised fit would not. The variance is the sandwich H^-1 (sum over clusters of the
    score's square) H^-1 with the factor G / (G - 1) (n - 1) / (n - p) (Liang and Zeger 1986; Cameron and Miller 2015,
    equation 12); t on G - 1 degrees of freedom.

    Args:
        rows: the rows of the fit.
        clusters: of each row, as numbers from 0 without gaps.
        w: the penalised weights.

    Returns:
        NaN for every weight where there are not more clusters than features; for a feature that never varies.
    """
    count, n, features = int(clusters.max()) + 1, len(rows), w.size
    nothing = np.full(features, np.nan)
    if count <= features + 1:
        return WeightIntervals(nothing, nothing, nothing, "no interval: hardly more clusters than features")
    total = float(rows.weight.sum())
    value, move = w, np.zeros(features)
    for _ in range(_MOST_STEPS):
        value = value + move
        h = gram(rows, value, sampled=False)
        inverse = np.linalg.pinv(h, rcond=1e-10, hermitian=True)
        scores = cluster_scores(rows, clusters, value)
        move = inverse @ (scores.sum(axis=0) / total)
        if np.abs(move).max() < _STILL:
            break
    # At the steps' end the scores sum to 0; they are centred so that what is left of the pull is no variance.
    scores -= scores.mean(axis=0)
    factor = count / (count - 1) * (n - 1) / (n - features)
    variance = inverse @ (scores.T @ scores * factor / total**2) @ inverse
    value = np.where(np.diagonal(h) > 1e-14, value, np.nan)
    reach = two_sided_quantile(LEVEL, count - 1) * np.sqrt(np.diagonal(variance))
    return WeightIntervals(value, value - reach, value + reach, "unpenalised, cluster-robust sandwich")


def cluster_scores(rows: PairRows, clusters: npt.NDArray[np.int64], w: Floats) -> Floats:
    """Return the gradient of the log likelihood, summed a cluster, shape (clusters, features).

    Clusters are numbers from 0 without gaps.
    """
    count = int(clusters.max()) + 1
    pull = rows.weight * (np.where(rows.tie, 0.5, 1.0) - sigmoid(np.einsum("ij,j->i", rows.x, w)))
    scores = np.empty((count, w.size))
    for j in range(w.size):
        scores[:, j] = np.bincount(clusters, weights=pull * rows.x[:, j], minlength=count)
    return scores


def noise_penalty(rows: PairRows, clusters: npt.NDArray[np.int64], w: Floats, l1_ratio: float) -> float:
    """Return the penalty that keeps a feature of no use out of a fit to half of the clusters, more often than not.

    The gradient of such a feature is noise of standard deviation s; the largest of p stays below s sqrt(2 log 2p) with
    high probability, and a weight stays 0 while its gradient is below lambda x l1_ratio (Bickel, Ritov and Tsybakov
    2009, for the order of the penalty). s comes from the cluster sums of the scores, x sqrt(2) for the half.
    """
    scores = cluster_scores(rows, clusters, w)
    deviation = np.sqrt(2 * np.einsum("ij,ij->j", scores, scores)).max(initial=0.0) / float(rows.weight.sum())
    return float(deviation * np.sqrt(2 * np.log(2 * max(w.size, 1)))) / l1_ratio
