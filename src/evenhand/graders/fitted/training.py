"""Weights from labelled rows: the penalty and the probabilities chosen on groups left out in turn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.errors import InputError
from evenhand.graders.fitted.features import BITS, Block, Floats, Sparse, Views, features
from evenhand.graders.fitted.kernel_logistic import fit_kernel, fit_kernels, gram_of
from evenhand.statistics.calibration_maps import PlattMap, fit_platt
from evenhand.statistics.logistic import sigmoid

Mask: TypeAlias = npt.NDArray[np.bool_]

THRESHOLD = 0.5
PENALTIES = (0.1, 0.03, 0.01, 0.003)
PRACTICE_WEIGHT = 0.5
_MOST_GROUPS = 8
_KEPT = 250_000
"""Weights that ship: the largest. The smaller ones move margins less than half precision does."""


@dataclass(frozen=True, slots=True)
class Labels:
    """What rows are fitted to."""

    target: Floats
    """0 to 1, between them where the label is; NaN for rows that are not fitted to."""
    group: Sequence[str]
    """What is left out together when the penalty is chosen."""
    practice: Mask | None = None
    """Rows that are fitted to at less weight, and that neither choose the penalty nor set the probabilities."""

    def weight(self, rows: npt.NDArray[np.int64]) -> Floats:
        """Return the weights of rows."""
        return np.where(self.practised(rows), PRACTICE_WEIGHT, 1.0)

    def practised(self, rows: npt.NDArray[np.int64]) -> Mask:
        """Say which rows are practice; where all are, none."""
        found = np.zeros(rows.size, dtype=bool) if self.practice is None else self.practice[rows]
        return found & ~found.all()

    @property
    def clear(self) -> Mask:
        """Rows whose label is one or the other."""
        return np.isin(self.target, (0.0, 1.0))


@dataclass(frozen=True, slots=True)
class TrainedRows:
    """A fit, as a weight for each row it was fitted to, on the scale of calibrated log odds."""

    rows: npt.NDArray[np.int64]
    dual: Floats
    intercept: float
    penalty: float
    held_out_loss: float
    """Log loss on the groups left out, after Platt's map."""

    def margins(self, gram: Floats, rows: npt.NDArray[np.int64]) -> Floats:
        """Return the log odds of rows of the Gram matrix."""
        return gram[np.ix_(rows, self.rows)] @ self.dual + self.intercept


class Grams:
    """The Gram matrix of rows for any choice of blocks; that of a block is made once."""

    def __init__(self, seen: Sequence[Views]) -> None:
        self._seen = seen
        self._of_block: dict[Block, npt.NDArray[np.float32]] = {}

    def of(self, blocks: Sequence[Block], dense: Floats | None = None) -> Floats:
        """Return the sum over blocks, and over columns of features that are no n-grams, shape (rows, rows)."""
        total = np.zeros((len(self._seen),) * 2) if dense is None else dense @ dense.T
        for block in blocks:
            if block not in self._of_block:
                self._of_block[block] = gram_of([features(view, block) for view in self._seen]).astype(np.float32)
            total += self._of_block[block]
        return total


def train(gram: Floats, labels: Labels, fitted: Mask, penalties: Sequence[float] = PENALTIES) -> TrainedRows:
    """Fit to some rows.

    Each penalty is tried with every group left out in turn (many groups are put together into a few). On the margins of
    the rows left out Platt's map is fitted, and the penalty with the least log loss after it is taken. The margins of
    the final fit go through that map, so that 0.5 is the threshold on groups that were not seen. (A threshold at which
    kappa was largest on the rows left out did no better on yet other groups.)

    Raises:
        InputError: labels of one class only, or of one group only.
    """
    rows = np.flatnonzero(fitted & ~np.isnan(labels.target))
    target = labels.target[rows]
    clear = labels.clear[rows]
    truth = target == 1
    folds = _folds([labels.group[row] for row in rows.tolist()])
    if not (truth & clear).any() or truth[clear].all():
        raise InputError("labels of one class only", way_out="give labelled answers of both classes")
    if len(set(folds.tolist())) < 2:
        raise InputError("labels of one group only", way_out="give labels of two models, issues or prompts at least")
    own, weight = gram[np.ix_(rows, rows)], labels.weight(rows)
    told = clear & ~labels.practised(rows)
    best: tuple[float, float, PlattMap] | None = None
    left_out = _left_out(own, target, told, folds, weight=weight, penalties=penalties)
    for penalty, margins in zip(penalties, left_out, strict=True):
        use = told & ~np.isnan(margins)
        scores = sigmoid(margins)
        if len(set(truth[use].tolist())) < 2:
            continue
        platt = fit_platt(scores[use], truth[use])
        mapped = np.clip(platt.probabilities(scores[use]), 1e-9, 1 - 1e-9)
        loss = float(-np.mean(np.where(truth[use], np.log(mapped), np.log1p(-mapped))))
        if best is None or loss < best[0]:
            best = loss, penalty, platt
    if best is None:
        raise InputError("no group can be left out", way_out="give labels of both classes in two groups at least")
    loss, penalty, platt = best
    final = fit_kernel(own, target, weight, penalty)
    return TrainedRows(
        rows,
        final.dual * platt.slope,
        final.intercept * platt.slope + platt.intercept,
        penalty,
        loss,
    )


def weights_of(trained: TrainedRows, seen: Sequence[Views], blocks: Sequence[Block]) -> Sparse:
    """Return the buckets that have a weight, sorted, and their weights; the smallest are dropped."""
    table = np.zeros(1 << BITS)
    for row, share in zip(trained.rows.tolist(), trained.dual.tolist(), strict=True):
        for block in blocks:
            buckets, values = features(seen[row], block)
            table[buckets] += share * values
    kept = np.argsort(-np.abs(table), kind="stable")[:_KEPT]
    kept = np.sort(kept[np.abs(table[kept]) > 1e-6])
    return kept.astype(np.int64), table[kept]


def _folds(groups: Sequence[str]) -> npt.NDArray[np.int64]:
    names = sorted(set(groups))
    fold_of: Mapping[str, int] = {name: place % _MOST_GROUPS for place, name in enumerate(names)}
    return np.array([fold_of[group] for group in groups], dtype=np.int64)


def _left_out(
    own: Floats,
    target: Floats,
    told: Mask,
    folds: npt.NDArray[np.int64],
    *,
    weight: Floats,
    penalties: Sequence[float],
) -> Floats:
    """Return margins of rows by fits without their fold, shape (penalties, rows); NaN in folds of practice alone."""
    margins = np.full((len(penalties), target.size), np.nan)
    for fold in sorted(set(folds.tolist())):
        inside, outside = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        share = float(target[inside].mean()) if inside.size else 0.0
        if not 0 < share < 1 or not told[inside].any() or not told[outside].any():
            continue
        fits = fit_kernels(own[np.ix_(inside, inside)], target[inside], weight[inside], penalties)
        across = own[np.ix_(outside, inside)]
        for place, found in enumerate(fits):
            margins[place, outside] = across @ found.dual + found.intercept
    return margins
