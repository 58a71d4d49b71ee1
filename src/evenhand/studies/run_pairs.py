"""The pairs of a rating run as arrays, and which row of them a pair's id stands for."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Self, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from evenhand.errors import InputError
from evenhand.statistics.paired_effects import log_length_ratio

Floats: TypeAlias = npt.NDArray[np.float64]

PAIR_COLUMNS = ("pair_id", "input_id", "tie", "strength", "chosen_length", "rejected_length")
UNKNOWN, LEFT_OUT = -1, -2
"""In place of a row: no such pair; a pair of the run that isn't among those looked at."""


@dataclass(frozen=True, slots=True)
class PairPlaces:
    """Finds the row of a pair by its id, in 12 bytes a pair: the ids themselves would take several times as much."""

    hashes: npt.NDArray[np.uint64]
    """Of the ids, rising and all different."""
    rows: npt.NDArray[np.int32]
    """Of each hash."""
    seed: int
    """Of the hashes."""

    @classmethod
    def of(cls, ids: pl.Series) -> Self:
        """Take ids that are all different, in the order of the rows."""
        for seed in count():
            hashes = ids.hash(seed).to_numpy()
            rows = np.argsort(hashes)
            hashes = hashes[rows]
            # Another seed tells apart two ids that happen to have the same hash.
            if not (hashes[1:] == hashes[:-1]).any():
                break
        return cls(hashes, rows.astype(np.int32), seed)

    def find(self, ids: pl.Series) -> npt.NDArray[np.int32]:
        """Return the row of each id; ``UNKNOWN`` where there is no such pair."""
        if not len(ids) or not self.hashes.size:
            return np.full(len(ids), UNKNOWN, dtype=np.int32)
        hashes = ids.hash(self.seed).to_numpy()
        # The ratings of a pair mostly stand together, and are looked up together.
        new = np.concatenate([[True], hashes[1:] != hashes[:-1]])
        wanted = hashes[new]
        # In rising order the search stays inside the cache.
        order = np.argsort(wanted)
        place = np.empty(wanted.size, dtype=np.int64)
        place[order] = np.searchsorted(self.hashes, wanted[order])
        place = np.minimum(place, self.hashes.size - 1)
        found = np.where(self.hashes[place] == wanted, self.rows[place], np.int32(UNKNOWN))
        each: npt.NDArray[np.int32] = found[np.cumsum(new) - 1]
        return each

    def among(self, kept: npt.NDArray[np.bool_]) -> "PairPlaces":
        """Return the rows among those that are kept; the others become ``LEFT_OUT``."""
        new = np.where(kept, np.cumsum(kept, dtype=np.int32) - 1, np.int32(LEFT_OUT)).astype(np.int32)
        return PairPlaces(self.hashes, new[self.rows], self.seed)


@dataclass(frozen=True, slots=True)
class RunPairs:
    """The pairs of a run, without their texts, in the order of their ids."""

    places: PairPlaces
    clusters: npt.NDArray[np.int64]
    """The input of each pair, as numbers from 0 without gaps."""
    tie: npt.NDArray[np.bool_]
    strength: Floats
    """NaN where the data do not say."""
    length: Floats
    """log((1 + chosen length) / (1 + rejected length))."""

    def __len__(self) -> int:
        return self.tie.size

    def some(self, kept: npt.NDArray[np.bool_]) -> "RunPairs":
        """Return the pairs that are kept."""
        clusters = np.unique(self.clusters[kept], return_inverse=True)[1].astype(np.int64)
        return RunPairs(self.places.among(kept), clusters, self.tie[kept], self.strength[kept], self.length[kept])


def read_pairs(files: Sequence[Path], cluster: str, source: str) -> RunPairs:
    """Read the pairs; ``cluster`` is what intervals keep together: ``input`` or ``pair``.

    Column by column, for ids are long and only one column of them is held at a time.
    """

    def column(name: str) -> pl.Series:
        return pl.read_parquet(list(files), columns=[name])[name]

    ids = column("pair_id")
    # Sorted, so that figures don't hang on the order in which pairs were rated or written.
    order = ids.arg_sort()
    ids = ids.gather(order)
    if ids.slice(1).eq_missing(ids.slice(0, max(len(ids) - 1, 0))).any():
        raise InputError(
            "two pairs have the same id", source=source, field="pair_id", way_out="run `evenhand rate` again"
        )
    places = PairPlaces.of(ids)
    del ids
    clusters = column(f"{cluster}_id").rank("dense").gather(order).to_numpy().astype(np.int64) - 1
    lengths = [column(f"{side}_length").cast(pl.Float64).gather(order).to_numpy() for side in ("chosen", "rejected")]
    return RunPairs(
        places=places,
        clusters=clusters,
        tie=column("tie").fill_null(value=False).gather(order).to_numpy().astype(bool),
        strength=column("strength")
        .cast(pl.Float64)
        .fill_null(float("nan"))
        .gather(order)
        .to_numpy()
        .astype(np.float64),
        length=log_length_ratio(*lengths),
    )
