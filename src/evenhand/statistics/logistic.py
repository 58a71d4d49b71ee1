"""Logistic regression without intercept on the differences of pairs, with an elastic net.

A pair with difference x says: chosen is better. Signing x at random and predicting the sign gives, without an
intercept, the loss log(1 + exp(-w.x)) whatever the sign, so the signs need not be drawn. A tie enters half with each
sign.

    minimise  sum of weight x loss / sum of weight + lambda (l1_ratio |w|_1 + (1 - l1_ratio) / 2 |w|^2)

(Zou and Hastie 2005; lambda = 1 / (C x sum of weight) in the terms of scikit-learn). Proximal Newton steps: the loss
is replaced by a quadratic, whose penalised minimum is found by coordinate descent on the Gram matrix (Friedman, Hastie
and Tibshirani 2010; Lee, Sun and Saunders 2014). Each step reads the rows once, in chunks. For many rows the curvature
comes from a sample of them, which moves the path to the minimum and not the minimum (sub-sampled Newton:
Roosta-Khorasani and Mahoney 2016); the gradient always comes from all.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]

_CHUNK = 16_384
_CURVATURE_ROWS = 20_000
_MOST_STEPS = 200
_MOST_SWEEPS = 2000


@dataclass(frozen=True, slots=True)
class PairRows:
    """The rows of a fit."""

    x: Floats
    """Differences chosen minus rejected, shape (rows, features), C order, no NaN."""
    weight: Floats
    """Shape (rows,), 0 or more."""
    tie: npt.NDArray[np.bool_]
    """Where neither output is better, shape (rows,)."""

    def __len__(self) -> int:
        return int(self.x.shape[0])

    def at(self, rows: npt.NDArray[np.bool_] | npt.NDArray[np.int64]) -> "PairRows":
        """Return some of the rows, copied."""
        return PairRows(self.x[rows], self.weight[rows], self.tie[rows])

    def columns(self, columns: Sequence[int]) -> "PairRows":
        """Return the rows with some of the features, copied."""
        return PairRows(np.ascontiguousarray(self.x[:, list(columns)]), self.weight, self.tie)

    def thinned(self) -> "PairRows":
        """Return every k-th row, about ``_CURVATURE_ROWS`` of many, as views."""
        stride = max(1, len(self) // _CURVATURE_ROWS)
        return PairRows(self.x[::stride], self.weight[::stride], self.tie[::stride])

    def chunks(self) -> Iterator[slice]:
        """Cut the rows into chunks of bounded size."""
        for start in range(0, len(self), _CHUNK):
            yield slice(start, start + _CHUNK)


def losses(margins: Floats, tie: npt.NDArray[np.bool_]) -> Floats:
    """Return the log loss of each pair given its margin w.x; of a tie, the mean over both signs."""
    return _losses_and_odds(margins, tie)[0]


def sigmoid(margins: Floats) -> Floats:
    """Return 1 / (1 + exp(-m)) without overflow."""
    return 0.5 * (1 + np.tanh(0.5 * margins))


def _losses_and_odds(margins: Floats, tie: npt.NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Return the loss of each pair, and exp(-|m|), from which its slope comes without another exponential."""
    size = np.abs(margins)
    odds = np.exp(-size)
    return np.log(1 + odds) + np.where(tie, size / 2, np.maximum(-margins, 0.0)), odds


def fit(
    rows: PairRows, penalty: float, l1_ratio: float, *, start: Floats | None = None, tolerance: float = 1e-7
) -> Floats:
    """Return the weights that minimise the penalised loss, shape (features,).

    Args:
        rows: what to fit to.
        penalty: lambda, on the scale of the mean loss.
        l1_ratio: share of the absolute penalty, 0 to 1.
        start: weights from which to begin.
        tolerance: the largest violation of the optimality conditions that ends the search, on the scale of the mean
            gradient.
    """
    if start is None and len(rows) > 2 * _CURVATURE_ROWS:
        # A fit to a sample of the rows is a cheap place near the minimum to begin from.
        start = fit(rows.thinned(), penalty, l1_ratio, tolerance=1e-5)
    w = np.zeros(rows.x.shape[1]) if start is None else start.copy()
    absolute, square = penalty * l1_ratio, penalty * (1 - l1_ratio)
    loss, gradient = loss_and_gradient(rows, w)
    value = loss + _penalty(w, absolute, square)
    curvature = None
    for step in range(_MOST_STEPS):
        if _violation(w, gradient, absolute, square) <= tolerance:
            break
        # The curvature of a few steps ago still points the way when it is dear to compute; at first it changes fast.
        if curvature is None or len(rows) <= _CURVATURE_ROWS or step % 4 == 0:
            curvature = gram(rows, w)
        target = _penalised_minimum(curvature, gradient, w, absolute, square)
        move = target - w
        promised = float(gradient @ move) + _penalty(target, absolute, square) - _penalty(w, absolute, square)
        share = 1.0
        while True:
            tried = w + share * move
            new_loss, new_gradient = loss_and_gradient(rows, tried)
            new_value = new_loss + _penalty(tried, absolute, square)
            if new_value <= value + 1e-4 * share * promised or share < 1e-6:
                break
            share /= 2
        if not new_value < value:
            # Below the precision of the loss: nothing is left to gain, whatever the tolerance asks.
            if _violation(tried, new_gradient, absolute, square) < _violation(w, gradient, absolute, square):
                w = tried
            break
        w, value, gradient = tried, new_value, new_gradient
    return w


def fit_path(rows: PairRows, penalties: Sequence[float], l1_ratio: float, *, tolerance: float = 1e-6) -> Floats:
    """Return the weights at each of the falling penalties, shape (penalties, features).

    Each fit begins from the one before.
    """
    found = np.zeros((len(penalties), rows.x.shape[1]))
    w: Floats | None = None
    for index, penalty in enumerate(penalties):
        w = fit(rows, penalty, l1_ratio, start=w, tolerance=tolerance)
        found[index] = w
    return found


def largest_penalty(rows: PairRows, l1_ratio: float) -> float:
    """Return the smallest penalty at which every weight is 0."""
    _, gradient = loss_and_gradient(rows, np.zeros(rows.x.shape[1]))
    return float(np.abs(gradient).max(initial=0.0)) / max(l1_ratio, 1e-3)


def loss_and_gradient(rows: PairRows, w: Floats) -> tuple[float, Floats]:
    """Return the mean loss and its gradient, weighted, without penalty."""
    loss, gradient = 0.0, np.zeros(rows.x.shape[1])
    for part in rows.chunks():
        x, weight, tie = rows.x[part], rows.weight[part], rows.tie[part]
        # einsum and not @: on products this thin BLAS threads cost more than they bring, on busy cores many times more.
        margins = np.einsum("ij,j->i", x, w)
        lost, odds = _losses_and_odds(margins, tie)
        loss += float(weight @ lost)
        p = np.where(margins > 0, 1.0, odds) / (1 + odds)
        gradient += np.einsum("i,ij->j", weight * (p - 1 + tie / 2), x)
    total = float(rows.weight.sum())
    return loss / total, gradient / total


def gram(rows: PairRows, w: Floats, *, sampled: bool = True) -> Floats:
    """Return the mean curvature of the loss, shape (features, features); of a sample of many rows if ``sampled``."""
    some = rows.thinned() if sampled else rows
    curvature = np.zeros((rows.x.shape[1],) * 2)
    total = 0.0
    for part in some.chunks():
        x, weight = some.x[part], some.weight[part]
        p = sigmoid(np.einsum("ij,j->i", x, w))
        scaled = x * np.sqrt(weight * p * (1 - p))[:, None]
        curvature += np.einsum("ij,ik->jk", scaled, scaled)
        total += float(weight.sum())
    return curvature / total


def _penalty(w: Floats, absolute: float, square: float) -> float:
    return absolute * float(np.abs(w).sum()) + square / 2 * float(w @ w)


def _violation(w: Floats, gradient: Floats, absolute: float, square: float) -> float:
    """Return how far the optimality conditions are from holding, the largest over weights."""
    slope = gradient + square * w
    at_zero = np.maximum(np.abs(slope) - absolute, 0.0)
    return float(np.where(w == 0, at_zero, np.abs(slope + absolute * np.sign(w))).max(initial=0.0))


def _penalised_minimum(curvature: Floats, gradient: Floats, w: Floats, absolute: float, square: float) -> Floats:
    """Return the minimum of the penalised quadratic around w.

    Coordinate descent finds which weights are 0 and the signs of the others; then those solve a linear system, which is
    kept if it agrees with the signs and the zeros.
    """
    h = curvature + square * np.eye(w.size)
    # A feature that never varies has no curvature and keeps its weight.
    diagonal = np.diagonal(h).copy()
    movable = np.flatnonzero(diagonal > 1e-14).tolist()
    linear = gradient - curvature @ w
    found = w.copy()
    slope = linear + h @ found
    for sweep in range(_MOST_SWEEPS):
        largest = 0.0
        for j in movable:
            before = float(found[j])
            pull = float(slope[j]) - diagonal[j] * before
            after = -np.sign(pull) * max(abs(pull) - absolute, 0.0) / diagonal[j]
            if after != before:
                found[j] = after
                slope += h[:, j] * (after - before)
                largest = max(largest, abs(after - before))
        if sweep % 4 == 1 or largest < 1e-12:
            solved = _solved(h, linear, found, absolute)
            if solved is not None:
                return solved
        if largest < 1e-12:
            break
    return found


def _solved(h: Floats, linear: Floats, found: Floats, absolute: float) -> Floats | None:
    active = np.flatnonzero(found)
    signs = np.sign(found[active])
    solved = np.zeros_like(found)
    try:
        solved[active] = np.linalg.solve(h[np.ix_(active, active)], -linear[active] - absolute * signs)
    except np.linalg.LinAlgError:
        return None
    slope = linear + h @ solved
    slope[active] = 0.0
    agrees = bool(np.all(np.sign(solved[active]) == signs)) and bool(np.all(np.abs(slope) <= absolute + 1e-12))
    return solved if agrees else None
