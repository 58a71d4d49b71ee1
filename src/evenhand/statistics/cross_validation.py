"""Penalties chosen, and predictions judged, on pairs that a fit has not seen."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.statistics.logistic import PairRows, fit, fit_path, largest_penalty, losses

Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]

_SLIGHT = 1e-6
"""A ridge so slight that it only keeps weights finite where one feature tells all pairs apart."""


def grouped_folds(clusters: Integers, folds: int, seed: int) -> Integers:
    """Return the fold of each row; rows of one cluster share theirs, and folds have as many clusters as one another.

    Args:
        clusters: of each row, as numbers from 0 without gaps.
        folds: how many; at most the number of clusters.
        seed: of the assignment.
    """
    count = int(clusters.max()) + 1
    fold_of = np.empty(count, dtype=np.int64)
    fold_of[np.random.default_rng(seed).permutation(count)] = np.arange(count) % folds
    return fold_of[clusters]


def penalty_grid(rows: PairRows, l1_ratio: float, count: int = 12, ratio: float = 1e-4) -> Floats:
    """Return falling penalties from the smallest at which all weights are 0, spaced evenly on the log scale."""
    largest = largest_penalty(rows, l1_ratio)
    return np.geomspace(largest, largest * ratio, count) if largest > 0 else np.ones(1)


def carried(penalty: float, sample: PairRows, rows: PairRows) -> float:
    """Return the penalty for all rows where one was chosen on a sample: the best one falls as 1 / sqrt(rows).

    (The order of the noise in the gradient: Bickel, Ritov and Tsybakov 2009.)
    """
    return penalty * float(np.sqrt(len(sample) / len(rows)))


@dataclass(frozen=True, slots=True)
class CrossValidation:
    """What was found on the folds."""

    penalties: Floats
    mean_loss: Floats
    """Held-out log loss at each penalty, mean over folds; shape (penalties,)."""
    standard_error: Floats
    """Of that mean, from its variation over folds."""
    best: int
    """Index of the penalty of the least mean loss."""
    one_standard_error: int
    """Index of the largest penalty whose loss is within one standard error of the least (Breiman and others 1984)."""
    margins: Floats
    """Of each row by weights that were fitted, and whose penalty was chosen, without the row's fold."""


def cross_validate(
    rows: PairRows,
    folds: Integers,
    l1_ratio: float,
    penalties: Floats,
    *,
    searched: npt.NDArray[np.bool_] | None = None,
) -> CrossValidation:
    """Cross-validate a path of penalties, nested, so that the margins are honest.

    A margin of fold k comes from a fit on the other folds at the penalty that did best, over every other fold j, for
    fits on all folds but j and k: nested cross-validation (Varma and Simon 2006). A fit without j and k serves both, so
    that K folds take K (K - 1) / 2 + K paths.

    Args:
        rows: of the fit.
        folds: of each row, 0..K-1, K >= 3.
        l1_ratio: see ``fit``.
        penalties: falling.
        searched: only these rows serve to choose penalties; the margins come from fits on all rows. None for all.
    """
    count = int(folds.max()) + 1
    sample = rows if searched is None else rows.at(searched)
    fold = folds if searched is None else folds[searched]
    held = [sample.at(fold == k) for k in range(count)]
    sizes = np.array([part.weight.sum() for part in held])
    inner = np.full((count, count, penalties.size), np.nan)
    for j, k in combinations(range(count), 2):
        path = fit_path(sample.at((fold != j) & (fold != k)), penalties.tolist(), l1_ratio)
        inner[k, j], inner[j, k] = _mean_losses(held[j], path), _mean_losses(held[k], path)
    outer = np.zeros((count, penalties.size))
    margins = np.zeros(len(rows))
    for k in range(count):
        path = fit_path(sample.at(fold != k), penalties.tolist(), l1_ratio)
        outer[k] = _mean_losses(held[k], path)
        others = [j for j in range(count) if j != k]
        chosen = int(np.argmin(np.average(inner[k, others], axis=0, weights=sizes[others])))
        w = path[chosen]
        if searched is not None:
            train = rows.at(folds != k)
            w = fit(train, carried(float(penalties[chosen]), sample, rows), l1_ratio, start=w, tolerance=1e-5)
        margins[folds == k] = rows.x[folds == k] @ w
    mean = np.average(outer, axis=0, weights=sizes)
    error = outer.std(axis=0, ddof=1) / np.sqrt(count)
    best = int(np.argmin(mean))
    within = int(np.flatnonzero(mean <= mean[best] + error[best])[0])
    return CrossValidation(penalties, mean, error, best, within, margins)


def held_out_margins(
    rows: PairRows,
    folds: Integers,
    candidates: Sequence[Sequence[int]],
    *,
    searched: npt.NDArray[np.bool_] | None = None,
) -> tuple[Floats, list[int]]:
    """Return the held-out margins of the best of several small sets of features, and which was taken in each fold.

    In each fold the candidate of the least loss on the other folds is taken, all but unpenalised; with one candidate it
    is a plain cross-validated fit. Of many rows only those ``searched`` serve to choose.
    """
    margins = np.zeros(len(rows))
    taken: list[int] = []
    for k in range(int(folds.max()) + 1):
        sample = rows.at(folds != k if searched is None else (folds != k) & searched)
        best = 0
        if len(candidates) > 1:
            best = int(np.argmin([_fitted_loss(sample.columns(candidate)) for candidate in candidates]))
        train = rows.columns(candidates[best]).at(folds != k)
        held = folds == k
        margins[held] = rows.x[held][:, list(candidates[best])] @ fit(train, _SLIGHT, 0.0, tolerance=1e-5)
        taken.append(best)
    return margins, taken


def stability(
    rows: PairRows, clusters: Integers, penalty: float, l1_ratio: float, *, draws: int, seed: int, start: Floats
) -> Floats:
    """Return in what share of half-samples each weight is not 0, shape (features,).

    Stability selection (Meinshausen and Bühlmann 2010) with complementary halves of the clusters (Shah and Samworth
    2013): each of ``draws`` splits gives two fits.
    """
    count = int(clusters.max()) + 1
    rng = np.random.default_rng(seed)
    kept = np.zeros(rows.x.shape[1])
    for _ in range(draws):
        first = np.zeros(count, dtype=bool)
        first[rng.permutation(count)[: count // 2]] = True
        for half in (first[clusters], ~first[clusters]):
            kept += fit(rows.at(half), penalty, l1_ratio, start=start, tolerance=1e-6) != 0
    return kept / (2 * draws)


def _fitted_loss(rows: PairRows) -> float:
    w = fit(rows, _SLIGHT, 0.0, tolerance=1e-5)
    return float(np.average(losses(rows.x @ w, rows.tie), weights=rows.weight))


def _mean_losses(rows: PairRows, path: Floats) -> Floats:
    margins = rows.x @ path.T
    return np.array([np.average(losses(column, rows.tie), weights=rows.weight) for column in margins.T])
