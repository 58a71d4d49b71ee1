"""A run of which people labelled a part: what every correction starts from."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.errors import InputError
from evenhand.statistics import robust

Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class LabelledRun:
    """A run of which people labelled a part; made by ``labelled_run``. No value is NaN."""

    labels: Floats
    """People's, shape (labelled,): 0 and 1 for a share, any number for a mean."""
    predicted: Floats
    """The grader's value of the same rows."""
    rest: Floats
    """The grader's value of the rows without a label, shape (rest,), or of all rows of the run where ``whole``."""
    of_row: Integers
    """The cluster of each labelled row, then of each row of the rest, as numbers from 0."""
    weights: Floats
    """Of the labelled rows, adding up to 1."""
    rest_weights: Floats
    """Of the rest, adding up to 1."""
    independent: bool
    """Whether every row is its own cluster and all rows weigh the same."""
    whole: bool
    """Whether the rest is all rows of the run."""
    labelled_clusters: int
    """In how many clusters there is a label."""
    clusters: int
    """How many clusters there are."""

    @property
    def rows(self) -> int:
        """How many rows the run has, labelled or not."""
        return int(self.rest.size if self.whole else self.labels.size + self.rest.size)

    @property
    def binary(self) -> bool:
        """Whether labels and grader's values are all 0 or 1."""
        return all(bool(np.all((part == 0) | (part == 1))) for part in (self.labels, self.predicted, self.rest))

    @property
    def is_share(self) -> bool:
        """Whether labels and grader's values are within 0 and 1."""
        return all(bool(np.all((part >= 0) & (part <= 1))) for part in (self.labels, self.predicted, self.rest))


def labelled_run(
    labels: npt.ArrayLike,
    predicted_labelled: npt.ArrayLike,
    predicted_rest: npt.ArrayLike,
    *,
    clusters: Sequence[Hashable] | None = None,
    clusters_rest: Sequence[Hashable] | None = None,
    weights: npt.ArrayLike | None = None,
    weights_rest: npt.ArrayLike | None = None,
    whole: bool = False,
) -> LabelledRun:
    """Put a run and its labels together. Rows where the label or the grader's value is NaN do not enter.

    Where labels were drawn by strata with unequal chances, weigh the labelled rows (``stratum_weights``), give the
    grader's values of *all* rows as the rest, say ``whole``, and give clusters that name rows alike in both parts (if
    need be the rows' own names): a stratum that was labelled to its last row is then not missing from the rest, and
    rows that are in both are accounted for.

    Args:
        labels: people's labels, shape (labelled,).
        predicted_labelled: what the grader says of the same rows.
        predicted_rest: what it says of the others, shape (rest,).
        clusters: of the labelled rows; without them every row is independent.
        clusters_rest: of the rest; the same name is the same cluster.
        weights: of the labelled rows, positive: one over the chance of being labelled, on any scale.
        weights_rest: of the rest.
        whole: ``predicted_rest`` is of all rows of the run, those with a label among them.

    Raises:
        InputError: shapes that don't go together, only one of the two clusters, ``whole`` without clusters, weights
            that aren't positive, no labelled row, no rest.
    """
    label, predicted = _vector(labels, "labels"), _vector(predicted_labelled, "predicted_labelled")
    rest = _vector(predicted_rest, "predicted_rest")
    if label.size != predicted.size:
        raise InputError(
            f"{label.size} labels and {predicted.size} values of the grader for them", way_out="give one of each a row"
        )
    if (clusters is None) != (clusters_rest is None):
        raise InputError("clusters of one part only", way_out="give them for the labelled rows and for the rest")
    if whole and clusters is None:
        raise InputError("rows in both parts that can't be known as the same", way_out="give clusters, or rows' names")
    names: Integers = np.arange(label.size + rest.size)
    if clusters is not None and clusters_rest is not None:
        if len(clusters) != label.size or len(clusters_rest) != rest.size:
            raise InputError(
                f"{len(clusters)} and {len(clusters_rest)} clusters for {label.size} labelled rows and {rest.size}",
                way_out="give one a row",
            )
        names = robust.numbered([*clusters, *clusters_rest])
    known, known_rest = ~(np.isnan(label) | np.isnan(predicted)), ~np.isnan(rest)
    if not known.any() or not known_rest.any():
        raise InputError(
            "no row with a label" if not known.any() else "no row without a label",
            way_out="label a random part of the run",
        )
    of_row = names[np.concatenate([known, known_rest])]
    count = int(np.unique(of_row).size)
    return LabelledRun(
        label[known],
        predicted[known],
        rest[known_rest],
        of_row,
        _weights(weights, known, "weights"),
        _weights(weights_rest, known_rest, "weights_rest"),
        weights is None and weights_rest is None and count == of_row.size,
        whole,
        int(np.unique(of_row[: int(known.sum())]).size),
        count,
    )


def stratum_weights(strata: Sequence[Hashable], labelled: npt.ArrayLike) -> Floats:
    """Return the weight of each labelled row: rows of its stratum in the run over labelled rows of it.

    Args:
        strata: the stratum of each row of the run.
        labelled: boolean, shape (rows,).

    Raises:
        InputError: a stratum without a label, of which nothing can be said.

    >>> stratum_weights(["a", "a", "a", "b"], [True, False, False, True]).tolist()
    [3.0, 1.0]
    """
    chosen = np.asarray(labelled, dtype=bool)
    if len(strata) != chosen.size:
        raise InputError(f"{len(strata)} strata for {chosen.size} rows", way_out="give one a row")
    of_row = robust.numbered(strata)
    rows, done = np.bincount(of_row), np.bincount(of_row, weights=chosen.astype(np.float64))
    if np.any(done == 0):
        name = strata[int(np.flatnonzero(of_row == int(np.argmin(done)))[0])]
        raise InputError(
            f"no row of the stratum {name!r} is labelled", way_out="label one of each, or join strata that are alike"
        )
    found: Floats = (rows / done)[of_row[chosen]]
    return found


def _vector(values: npt.ArrayLike, field: str) -> Floats:
    found = np.asarray(values, dtype=np.float64)
    if found.ndim != 1:
        raise InputError(f"values of the shape {found.shape}", field=field, way_out="give one a row")
    return found


def _weights(weights: npt.ArrayLike | None, known: npt.NDArray[np.bool_], field: str) -> Floats:
    if weights is None:
        return np.full(int(known.sum()), 1 / int(known.sum()))
    found = _vector(weights, field)
    if found.size != known.size or not np.all(np.isfinite(found) & (found > 0)):
        raise InputError("weights that are not positive, or not one a row", field=field, way_out="give one a row")
    return np.asarray(found[known] / found[known].sum(), dtype=np.float64)
