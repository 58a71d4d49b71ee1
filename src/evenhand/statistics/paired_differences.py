"""Configurations compared on the rows that they share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.statistics.bootstrap import Bounds, ClusterBootstrap
from evenhand.statistics.detectable import detectable
from evenhand.statistics.estimate import Estimate
from evenhand.statistics.multiplicity import q_values
from evenhand.statistics.robust import by_cluster
from evenhand.statistics.sign_test import sign_flip_p
from evenhand.statistics.student_t import two_sided_p

Floats: TypeAlias = npt.NDArray[np.float64]
Adjustment: TypeAlias = Literal["holm", "bh"]


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """How much more one configuration has of something than another, on the rows that both have."""

    first: str
    second: str
    difference: Estimate
    """Mean of second minus first over the shared rows."""
    p: float | None
    """Two-sided, of no difference; None where it can't be tested."""
    adjusted: float | None
    """p adjusted for the comparisons made at once."""
    detectable: float | None
    """The smallest difference that this sample would find in four cases of five."""
    method: str
    """How p was made."""


def paired_difference(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    bootstrap: ClusterBootstrap,
    *,
    names: tuple[str, str] = ("first", "second"),
    bounds: Bounds = (-1.0, 1.0),
) -> PairedDifference:
    """Compare two configurations row by row.

    The difference is the mean over rows of second - first, so that what makes a pair hard for both cancels. p: for
    verdicts (differences -1, 0 and 1) the exact sign flips of the sums by cluster, which is McNemar's test for
    clustered pairs; for other values t = mean / cluster-robust standard error on G - 1 degrees of freedom (Cameron and
    Miller 2015, section VI).

    Args:
        first: shape (rows,), NaN where there is none.
        second: the same shape, over the same rows.
        bootstrap: over the same rows.
        names: of the two.
        bounds: the least and the largest difference there could be in a row.
    """
    differences = np.asarray(second, dtype=np.float64) - np.asarray(first, dtype=np.float64)
    found = bootstrap.mean(differences, bounds=bounds)
    p, method = _p_value(differences, found, bootstrap)
    return PairedDifference(*names, found, p, p, detectable(found), method)


def paired_differences(
    configurations: Mapping[str, npt.ArrayLike],
    bootstrap: ClusterBootstrap,
    *,
    baseline: str | None = None,
    adjustment: Adjustment = "holm",
    bounds: Bounds = (-1.0, 1.0),
) -> list[PairedDifference]:
    """Compare several configurations.

    Args:
        configurations: by name, values of shape (rows,) over the same rows, NaN where there is none.
        bootstrap: over the same rows.
        baseline: compare every other one with this one; without it all are compared with each other.
        adjustment: of p: ``holm``, so that with 95% no difference is called by chance, or ``bh``, so that of the
            differences called 5% are expected to be chance.
        bounds: as for ``paired_difference``.

    Returns:
        One difference a comparison, second minus first, the baseline being first.
    """
    names = list(configurations)
    compared = (
        list(combinations(names, 2)) if baseline is None else [(baseline, name) for name in names if name != baseline]
    )
    found = [
        paired_difference(
            configurations[first], configurations[second], bootstrap, names=(first, second), bounds=bounds
        )
        for first, second in compared
    ]
    p_values = [one.p for one in found]
    adjusted = holm(p_values) if adjustment == "holm" else q_values(p_values)
    return [replace(one, adjusted=value) for one, value in zip(found, adjusted, strict=True)]


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Return p adjusted so that the chance of any false discovery is kept (Holm 1979, Scandinavian J. of Statistics 6).

    max over j <= i of (m - j + 1) p(j), the p values in rising order, at most 1. None is no test and is left out of m.

    >>> holm([0.01, None, 0.04, 0.03])
    [0.03, None, 0.06, 0.06]
    """
    ordered = sorted((p, index) for index, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for before, (p, index) in enumerate(ordered):
        largest = max(largest, min(1.0, (len(ordered) - before) * p))
        adjusted[index] = largest
    return adjusted


def _p_value(differences: Floats, found: Estimate, bootstrap: ClusterBootstrap) -> tuple[float | None, str]:
    if found.value is None:
        return None, "no shared rows"
    if found.clusters < 2:
        return None, "no test: one cluster"
    known = np.nan_to_num(differences)
    sums = by_cluster(known, bootstrap.of_row)
    if np.all(np.isin(known, (-1.0, 0.0, 1.0))):
        return sign_flip_p(np.rint(sums).astype(np.int64))
    if found.standard_error is None:
        # Every row, or every cluster, differs by as much: only the signs are left to test.
        return sign_flip_p(np.sign(np.where(np.abs(sums) < 1e-12, 0.0, sums)).astype(np.int64))
    return two_sided_p(found.value / found.standard_error, found.clusters - 1), "cluster-robust t"
