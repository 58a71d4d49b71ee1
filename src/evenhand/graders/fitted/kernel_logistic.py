"""Logistic regression with a ridge where there are many more features than rows.

The weights that minimise the penalised loss are a sum of the rows, w = X'a (the representer theorem: Kimeldorf and
Wahba 1971), so that rows, not features, are what is solved for: Newton steps on the Gram matrix of the rows. It is made
once, block of features by block, and serves every penalty, every fold and every choice of blocks.

    minimise  sum over rows of weight x loss + penalty / 2 |w|^2,  with an intercept that is not penalised
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.graders.fitted.features import Sparse
from evenhand.statistics.logistic import sigmoid

Floats: TypeAlias = npt.NDArray[np.float64]

_MOST_STEPS = 60
_MANY = 700
"""Rows from which on solving for a Newton step costs more than the many cheap steps of a quasi-Newton method."""
_MEMORY, _MOST_CHEAP_STEPS = 12, 400
_NEAR_ENOUGH = 1e-3
"""Of the gradient: an intercept off by some millionths."""
_WIDTH = 4096


@dataclass(frozen=True, slots=True)
class KernelFit:
    """The minimum."""

    dual: Floats
    """a, of each row."""
    intercept: float


def fit_kernel(gram: Floats, target: Floats, weight: Floats, penalty: float) -> KernelFit:
    """Return the minimum.

    Args:
        gram: inner products of the rows, shape (rows, rows).
        target: 0 to 1 of each row; between them where the label is between.
        weight: of each row, above 0.
        penalty: above 0.
    """
    return fit_kernels(gram, target, weight, [penalty])[0]


def _fit_few(gram: Floats, target: Floats, weight: Floats, penalty: float) -> KernelFit:
    rows = target.size
    dual = np.zeros(rows)
    share = float(np.average(target, weights=weight))
    intercept = float(np.log(share / (1 - share)))
    value = _objective(gram, dual, intercept, target=target, weight=weight, penalty=penalty)
    for _ in range(_MOST_STEPS):
        p = sigmoid(gram @ dual + intercept)
        curvature = np.maximum(weight * p * (1 - p), 1e-9)
        # Newton's step in function space, symmetric and well conditioned (Rasmussen and Williams 2006, section 3.4).
        root = np.sqrt(curvature)
        pulled = root * (gram @ dual + intercept) + weight * (target - p) / root
        system = np.eye(rows) + (root[:, None] * gram * root[None, :]) / penalty
        solved = np.linalg.solve(system, np.column_stack([pulled, root]))
        new_intercept = float(root @ solved[:, 0]) / float(root @ solved[:, 1])
        new_dual = root * (solved[:, 0] - new_intercept * solved[:, 1]) / penalty
        step = 1.0
        while True:
            tried = dual + step * (new_dual - dual), intercept + step * (new_intercept - intercept)
            tried_value = _objective(gram, *tried, target=target, weight=weight, penalty=penalty)
            if tried_value <= value or step < 1e-4:
                break
            step /= 2
        gained, (dual, intercept), value = value - tried_value, tried, min(value, tried_value)
        if gained <= 1e-9 * max(value, 1e-9):
            break
    return KernelFit(dual, intercept)


def fit_kernels(gram: Floats, target: Floats, weight: Floats, penalties: Sequence[float]) -> list[KernelFit]:
    """Return the minimum for each of several penalties; arguments as for ``fit_kernel``.

    Many rows are fitted by L-BFGS (Nocedal 1980) on rows made short by Cholesky's factor of their Gram matrix, each
    penalty from the minimum of the one before.
    """
    if target.size <= _MANY:
        return [_fit_few(gram, target, weight, penalty) for penalty in penalties]
    short = _factor(gram)
    across = np.ascontiguousarray(short.T)
    share = float(np.average(target, weights=weight))
    x = np.append(np.zeros(target.size), np.log(share / (1 - share)))
    found = []
    for penalty in penalties:

        def loss(x: Floats, penalty: float = penalty) -> tuple[float, Floats]:
            margins = short @ x[:-1] + x[-1]
            off = weight * (sigmoid(margins) - target)
            value = float(weight @ (np.logaddexp(0.0, margins) - target * margins) + penalty / 2 * x[:-1] @ x[:-1])
            return value, np.append(across @ off + penalty * x[:-1], off.sum())

        x = _lbfgs(loss, x)
        found.append(x)
    duals: Floats = np.linalg.solve(across, np.stack(found, axis=1)[:-1]).astype(np.float64)
    return [KernelFit(dual, float(x[-1])) for dual, x in zip(duals.T, found, strict=True)]


def _factor(gram: Floats) -> Floats:
    """Return Cholesky's factor; rows that are alike need a little on the diagonal."""
    slight = 1e-9 * float(np.mean(np.diag(gram)))
    while True:
        try:
            return np.asarray(np.linalg.cholesky(gram + slight * np.eye(len(gram))), dtype=np.float64)
        except np.linalg.LinAlgError:
            slight *= 10


def _lbfgs(loss: Callable[[Floats], tuple[float, Floats]], x: Floats) -> Floats:
    value, gradient = loss(x)
    steps: deque[tuple[Floats, Floats, float]] = deque(maxlen=_MEMORY)
    for _ in range(_MOST_CHEAP_STEPS):
        direction = -gradient
        shares = []
        for moved, bent, inverse in reversed(steps):
            shares.append(inverse * float(moved @ direction))
            direction = direction - shares[-1] * bent
        if steps:
            moved, bent, _ = steps[-1]
            direction = direction * (float(moved @ bent) / float(bent @ bent))
        for (moved, bent, inverse), share in zip(steps, reversed(shares), strict=True):
            direction = direction + (share - inverse * float(bent @ direction)) * moved
        slope, stride = float(gradient @ direction), 1.0 if steps else 1.0 / max(float(np.abs(gradient).sum()), 1.0)
        while True:
            tried = x + stride * direction
            new_value, new_gradient = loss(tried)
            if new_value <= value + 1e-4 * stride * slope or stride < 1e-10:
                break
            stride /= 2
        moved, bent = tried - x, new_gradient - gradient
        if (curved := float(moved @ bent)) > 0:
            steps.append((moved, bent, 1 / curved))
        x, value, gradient = tried, new_value, new_gradient
        if float(np.abs(gradient).max()) <= _NEAR_ENOUGH or stride < 1e-10:
            break
    return x


def _objective(
    gram: Floats, dual: Floats, intercept: float, *, target: Floats, weight: Floats, penalty: float
) -> float:
    pulled = gram @ dual
    margins = pulled + intercept
    return float(weight @ (np.logaddexp(0.0, margins) - target * margins) + penalty / 2 * dual @ pulled)


def gram_of(rows: Sequence[Sparse]) -> Floats:
    """Return the Gram matrix of sparse rows."""
    count = len(rows)
    row_of = np.repeat(np.arange(count), [buckets.size for buckets, _ in rows])
    bucket, value = np.concatenate([row[0] for row in rows]), np.concatenate([row[1] for row in rows])
    # Buckets of one row alone add to the diagonal alone, which is known.
    _, column, shared = np.unique(bucket, return_inverse=True, return_counts=True)
    kept = shared[column] > 1
    row_of, value = row_of[kept], value[kept]
    _, column = np.unique(column[kept], return_inverse=True)
    order = np.argsort(column, kind="stable")
    row_of, column, value = row_of[order], column[order], value[order]
    gram = np.zeros((count, count), dtype=np.float32)
    dense = np.zeros((count, _WIDTH), dtype=np.float32)
    edges = np.searchsorted(column, np.arange(0, int(column.max(initial=0)) + _WIDTH + 1, _WIDTH))
    for part, (start, end) in enumerate(pairwise(edges.tolist())):
        dense[:] = 0
        dense[row_of[start:end], column[start:end] - part * _WIDTH] = value[start:end]
        gram += dense @ dense.T
    full = gram.astype(np.float64)
    np.fill_diagonal(full, [float(values @ values) for _, values in rows])
    return full
