"""All figures of agreement at once, each with its interval or with the reason why there is none."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.errors import InputError
from evenhand.statistics.agreement import (
    Floats,
    Label,
    Level,
    Tables,
    cell_columns,
    cohen_kappa,
    encode,
    gwet_ac1,
    krippendorff_alpha,
    pair_columns,
)
from evenhand.statistics.bootstrap import ClusterBootstrap
from evenhand.statistics.estimate import Estimate

Figure: TypeAlias = Callable[[Tables], Floats]

_TWO = 2


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far graders agree. A figure that is not defined has the value None, and its ``method`` says why."""

    labels: tuple[Label, ...]
    """The scale, in the order of the table."""
    graders: int
    table: tuple[tuple[int, ...], ...] | None
    """Items by the first grader's label (row) and the second's (column); None for more than two graders."""
    n: int
    """Items that at least two graders labelled. Every figure rests on these."""
    left_out: int
    """Items that fewer than two labelled."""
    level: Level
    """What alpha takes for the distance of two labels."""
    observed: Estimate
    kappa: Estimate
    """Cohen's; for two graders only."""
    ac1: Estimate
    """Gwet's."""
    alpha: Estimate
    """Krippendorff's."""
    specific: tuple[Estimate, ...]
    """One a label: where one grader gave it, how often the other did. ``n`` counts items with the label."""

    def as_json(self) -> dict[str, Any]:
        """Return plain values; ``from_json`` takes them back."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Self:
        """Return what ``as_json`` gave, before or after it was written as JSON."""
        table = values["table"]
        return cls(
            **{
                **values,
                "labels": tuple(values["labels"]),
                "table": None if table is None else tuple(tuple(row) for row in table),
                **{name: Estimate(**values[name]) for name in ("observed", "kappa", "ac1", "alpha")},
                "specific": tuple(Estimate(**found) for found in values["specific"]),
            }
        )


@dataclass(frozen=True, slots=True)
class _Rows:
    """What each row adds to the tables, shape (rows, k, k), weighed in the three ways of ``pair_columns``."""

    by_item: Floats
    by_rating: Floats
    by_pair: Floats
    times: Floats
    """How many items a row stands for, shape (rows,)."""
    bootstrap: ClusterBootstrap | None


def agreement(
    ratings: Sequence[Sequence[object] | npt.NDArray[np.generic]],
    *,
    scale: Sequence[Label] | None = None,
    level: Level = "nominal",
    bootstrap: ClusterBootstrap | None = None,
) -> Agreement:
    """Return how far graders agree over the items that at least two of them labelled.

    Gwet (2014) lets items with a single label enter the labels' shares in AC1; here they enter nothing, so that all
    figures rest on the same items, and between two graders on the very table that is shown.

    Args:
        ratings: one sequence a grader, of the same length: a text or whole number an item, None or NaN where missing.
        scale: the labels that could be given, in their order; see ``encode``. Give it, because AC1 depends on it.
        level: the distance of two labels in alpha: "nominal" (unequal is unequal), "ordinal" (the order of the scale)
            or "interval" (labels are numbers).
        bootstrap: prepared for the clusters of the items, for intervals.

    Raises:
        InputError: see ``encode``; fewer than two graders; "interval" with labels that are no numbers; a bootstrap for
            another number of items.

    >>> found = agreement([["yes", "yes", "no", None], ["yes", "no", "no", "no"]], scale=["no", "yes"])
    >>> found.table, found.n, found.left_out, found.kappa.value
    (((1, 0), (1, 1)), 3, 1, 0.4)
    """
    codes, labels = encode(ratings, scale)
    graders, items, k = codes.shape[0], codes[0].size if codes.size else 0, len(labels)
    if graders < _TWO:
        raise InputError(f"{graders} grader has nobody to agree with", way_out="give the labels of at least two")
    if bootstrap is not None and bootstrap.of_row.size != items:
        raise InputError(
            f"the resamples are of {bootstrap.of_row.size} items and the graders labelled {items}",
            way_out="prepare the bootstrap with the cluster of each item",
        )
    if graders == _TWO:
        cells = cell_columns(codes[0], codes[1], k).reshape(items, k, k)
        by_item = by_rating = by_pair = cells
    else:
        by_item, by_rating, by_pair = (
            pair_columns(codes, k, per).reshape(items, k, k) for per in ("item", "rating", "pair")
        )
    enter = (codes >= 0).sum(axis=0) >= _TWO
    rows = _Rows(by_item, by_rating, by_pair, enter.astype(np.float64), bootstrap)
    return _agreement(rows, labels, graders, int((~enter).sum()), level)


def agreement_of_table(
    table: npt.ArrayLike, *, labels: Sequence[Label] | None = None, level: Level = "nominal"
) -> Agreement:
    """Return how far two graders agree from a table of counts alone. It can't tell clusters, so there are no intervals.

    Args:
        table: whole numbers, shape (k, k): the first grader's labels in the rows, the second's in the columns.
        labels: what rows and columns stand for; 0, 1, 2... without.
        level: see ``agreement``.

    Raises:
        InputError: the table is not square, holds other than counts, or has another size than the labels.

    >>> found = agreement_of_table([[1225, 27], [36, 41]], labels=["even", "uneven"])
    >>> [round(figure.value, 4) for figure in (found.observed, found.kappa, found.ac1)]
    [0.9526, 0.5405, 0.9471]
    """
    counts = np.asarray(table, dtype=np.float64)
    if counts.ndim != _TWO or counts.shape[0] != counts.shape[1]:
        raise InputError(f"the table has the shape {counts.shape}", way_out="give as many rows as columns")
    if not np.all((counts >= 0) & (counts == np.rint(counts))):
        raise InputError("the table holds other than counts", way_out="give whole numbers from 0")
    names = tuple(range(counts.shape[0])) if labels is None else tuple(labels)
    if len(set(names)) != counts.shape[0]:
        raise InputError(
            f"{len(set(names))} different labels for {counts.shape[0]} rows", way_out="name each row of the table once"
        )
    k = counts.shape[0]
    cells = np.eye(k * k).reshape(-1, k, k) * counts.reshape(-1, 1, 1)
    return _agreement(_Rows(cells, cells, cells, counts.ravel(), None), names, _TWO, 0, level)


def _agreement(rows: _Rows, labels: tuple[Label, ...], graders: int, left_out: int, level: Level) -> Agreement:
    if level == "interval" and any(isinstance(label, str) for label in labels):
        raise InputError(
            f"the labels {list(labels)} are no numbers", field="level", way_out='take "ordinal" or "nominal"'
        )

    def alpha(tables: Tables) -> Floats:
        return krippendorff_alpha(tables, level, labels if level == "interval" else None)

    n = int(rows.times.sum())
    table = None
    if graders == _TWO:
        table = tuple(tuple(int(count) for count in row) for row in rows.by_item.sum(axis=0))
    if n == 0:
        nothing = Estimate.missing("no item was labelled by two graders")
        figures = (nothing, nothing, nothing, nothing, (nothing,) * len(labels))
        return Agreement(labels, graders, table, n, left_out, level, *figures)

    agreed = np.diagonal(rows.by_item, axis1=1, axis2=2).sum(axis=1)
    observed = _ratio(rows, agreed, rows.times, "")
    both = 2 * np.diagonal(rows.by_pair, axis1=1, axis2=2)
    given = rows.by_pair.sum(axis=1) + rows.by_pair.sum(axis=2)
    specific = tuple(
        _ratio(rows, both[:, code], given[:, code], f"nobody gave {label!r}") for code, label in enumerate(labels)
    )

    used = [label for label, times in zip(labels, given.sum(axis=0), strict=True) if times > 0]
    one_label = f"every label is {used[0]!r}, so that chance alone would agree as often"
    if graders == _TWO:
        kappa = _beyond_chance(rows, rows.by_item, cohen_kappa, one_label, observed)
    else:
        kappa = Estimate.missing("Cohen's kappa is for two graders, AC1 and alpha for any number", n=n)
    return Agreement(
        labels,
        graders,
        table,
        n,
        left_out,
        level,
        observed,
        kappa,
        _beyond_chance(rows, rows.by_item, gwet_ac1, "the scale has one label only", observed),
        _beyond_chance(rows, rows.by_rating, alpha, one_label, observed),
        specific,
    )


def _ratio(rows: _Rows, numerator: Floats, denominator: Floats, otherwise: str) -> Estimate:
    """Return a share whose rows add to its numerator and denominator, or say why there is none."""
    if not np.any(denominator > 0):
        return Estimate.missing(otherwise)
    if rows.bootstrap is not None:
        return rows.bootstrap.ratio(numerator, denominator)
    return _alone(float(numerator.sum() / denominator.sum()), int(rows.times[denominator > 0].sum()))


def _beyond_chance(rows: _Rows, columns: Floats, figure: Figure, otherwise: str, observed: Estimate) -> Estimate:
    """Return a chance-corrected figure with its interval, or say why there is none."""
    k = columns.shape[1]
    n = int(rows.times.sum())
    whole = columns.sum(axis=0)
    value = float(figure(whole))
    if np.isnan(value):
        return Estimate.missing(otherwise, n=n)
    if rows.bootstrap is None:
        return _alone(value, n)
    if observed.value == 1 and observed.low is not None:
        low = float(figure(_with_disagreement(whole, 1 - observed.low)))
        method = f"{observed.method}, with disagreement spread as by chance"
        return Estimate(value, low, value, observed.n, observed.clusters, method)
    return rows.bootstrap.statistic(
        list(columns.reshape(-1, k * k).T), lambda sums: figure(np.moveaxis(sums.reshape(k, k, -1), -1, 0))
    )


def _with_disagreement(table: Floats, share: float) -> Floats:
    """Return a table of perfect agreement as it would be if a share of it disagreed.

    Resamples of items that all agree can't disagree, and [1, 1] would claim certainty. The lower end of the exact
    interval of observed agreement is carried over instead: what may have been missed falls on unequal labels in
    proportion to the product of their shares, each label counted half a time more often so that no cell is impossible.
    """
    given = np.diagonal(table) + 0.5
    spread = np.outer(given, given) * (1 - np.eye(given.size))
    mixed: Floats = table * (1 - share) + spread * (share * table.sum() / spread.sum())
    return mixed


def _alone(value: float, n: int) -> Estimate:
    return Estimate(value, None, None, n, n, "no interval: the clusters of the items are not known")
