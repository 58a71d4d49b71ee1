"""Logistic regression with a ridge where there are many more features than rows.

The weights that minimise the penalised loss are a sum of the rows, w = X'a (the representer theorem: Kimeldorf and
Wahba 1971), so that rows, not features, are what is solved for: Newton steps on the Gram matrix of the rows. It is made
once, block of features by block, and serves every penalty, every fold and every choice of blocks.

    minimise  sum over rows of weight x loss + penalty / 2 |w|^2,  with an intercept that is not penalised
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.graders.fitted.features import Sparse
from evenhand.statistics.logistic import sigmoid

Floats: TypeAlias = npt.NDArray[np.float64]

_MOST_STEPS = 60
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
