"""From the tables of a rating run to arrays over questions and pairs."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from evenhand.errors import InputError
from evenhand.execution.shards import table_files
from evenhand.readings import State
from evenhand.statistics.paired_effects import difference

Floats: TypeAlias = npt.NDArray[np.float64]
Counts: TypeAlias = npt.NDArray[np.uint16]

_CHUNK = 2_000_000
_STATES = tuple(str(state) for state in State)
_OK, _ABSTAINED = _STATES.index("ok"), _STATES.index("abstained")
BOTH_ORDERS = ("chosen_first", "rejected_first")
_PREFERRED = ("blind", "single", "labelled", "label_swap")
_PAIR_COLUMNS = ("pair_id", "input_id", "tie", "strength", "chosen_length", "rejected_length")
_RATING_COLUMNS = (
    *("grader", "protocol", "question", "pair_id", "order", "repeat", "chosen", "rejected"),
    *("chosen_state", "rejected_state"),
)


@dataclass(frozen=True, slots=True)
class RunPairs:
    """The pairs of a run."""

    ids: pl.DataFrame
    """``pair_id`` and ``pair``, its row in every array."""
    clusters: npt.NDArray[np.int64]
    """The input of each pair, as numbers from 0 without gaps."""
    tie: npt.NDArray[np.bool_]
    strength: Floats
    """NaN where the data do not say."""
    chosen_length: Floats
    rejected_length: Floats

    def __len__(self) -> int:
        return self.tie.size


@dataclass(slots=True)
class OrderSums:
    """Sums over the repeats of one order; each shape (questions, pairs)."""

    chosen: Floats
    rejected: Floats
    chosen_n: Counts
    rejected_n: Counts


@dataclass(slots=True)
class Repeats:
    """Sums of the differences of single repeats, for their reliability; each shape (questions, pairs)."""

    n: Counts
    sums: Floats
    squares: Floats


@dataclass(frozen=True, slots=True)
class Ratings:
    """What one grader rated under one protocol."""

    orders: dict[str, OrderSums]
    repeats: dict[str, Repeats]
    """By order; empty where nothing was asked more than once."""
    states: npt.NDArray[np.int64]
    """Ratings by question, side (chosen, rejected) and state, shape (questions, 2, states)."""
    abstained: tuple[Counts, Counts]
    """How often the grader could not say, of the chosen and of the rejected output; each shape (questions, pairs)."""

    def output_means(self, question: int, orders: Sequence[str] | None = None) -> tuple[Floats, Floats]:
        """Return the mean rating of the chosen and of the rejected output over orders and repeats that are ok.

        Each of shape (pairs,), NaN where no rating is ok.
        """
        found = [self.orders[name] for name in (orders if orders is not None else self.orders)]
        return (
            _mean([part.chosen[question] for part in found], [part.chosen_n[question] for part in found]),
            _mean([part.rejected[question] for part in found], [part.rejected_n[question] for part in found]),
        )

    def differences(self, question: int, orders: Sequence[str] | None = None) -> Floats:
        """Return the mean rating of the chosen output minus that of the rejected one, shape (pairs,)."""
        return difference(*self.output_means(question, orders))

    def both_orders(self) -> bool:
        """Whether outputs were shown in both orders."""
        return all(name in self.orders for name in BOTH_ORDERS)

    def states_of(self, question: int, side: int) -> dict[str, int]:
        """Return how many ratings of the chosen (0) or the rejected (1) output are in each state."""
        return {name: int(count) for name, count in zip(_STATES, self.states[question, side], strict=True) if count}


class RatingRun:
    """A folder of a rating run, read chunk by chunk."""

    def __init__(self, path: Path) -> None:
        """Find out what was rated; raises ``InputError`` if the folder does not hold a rating run."""
        self.path = path
        self._pairs, self._ratings = (self._files(name) for name in ("pairs", "ratings"))
        if not (path / "questions.json").is_file():
            raise self._lacks("questions.json")
        self._rows = [self._checked(file, _RATING_COLUMNS) for file in self._ratings]
        for file in self._pairs:
            self._checked(file, _PAIR_COLUMNS)
        self.questions = self._read_questions()
        self._repeated = self._find_protocols()

    @property
    def graders(self) -> list[str]:
        """The graders, in the order in which they come up."""
        return list(dict.fromkeys(grader for grader, _ in self._repeated))

    def protocols(self, grader: str) -> list[str]:
        """Return the protocols under which a grader rated."""
        return [protocol for name, protocol in self._repeated if name == grader]

    def main_protocol(self, grader: str) -> str:
        """Return the protocol that effects and fits rest on: one that doesn't tell the label, where there is one."""
        return next((name for name in _PREFERRED if name in self.protocols(grader)), self.protocols(grader)[0])

    def choose_graders(self, named: str | None) -> list[str]:
        """Return the grader that was named, or all; raises ``InputError`` where there is no such grader, or none."""
        if not self.graders:
            raise InputError("holds no ratings", source=str(self.path), way_out="run `evenhand rate` again")
        if named is not None and named not in self.graders:
            raise InputError(
                f"{named!r} rated nothing in {self.path}", field="--grader", way_out=f"use {', '.join(self.graders)}"
            )
        return self.graders if named is None else [named]

    def pairs(self, cluster: str = "input") -> RunPairs:
        """Read the pairs, without their texts; ``cluster`` is what intervals keep together: ``input`` or ``pair``."""
        # Sorted, so that figures don't hang on the order in which pairs were rated or written.
        table = pl.read_parquet(self._pairs, columns=list(_PAIR_COLUMNS)).sort("pair_id", maintain_order=True)
        if table["pair_id"].is_duplicated().any():
            raise InputError(
                "two pairs have the same id",
                source=str(self.path),
                field="pair_id",
                way_out="run `evenhand rate` again",
            )
        clusters = table[f"{cluster}_id"].rank("dense").to_numpy().astype(np.int64) - 1
        return RunPairs(
            ids=table.select("pair_id", pl.int_range(pl.len(), dtype=pl.Int32).alias("pair")),
            clusters=clusters,
            tie=table["tie"].fill_null(value=False).to_numpy().astype(bool),
            strength=table["strength"].cast(pl.Float64).fill_null(float("nan")).to_numpy().astype(np.float64),
            chosen_length=table["chosen_length"].cast(pl.Float64).to_numpy(),
            rejected_length=table["rejected_length"].cast(pl.Float64).to_numpy(),
        )

    def ratings(self, grader: str, protocol: str, pairs: RunPairs) -> Ratings:
        """Read what ``grader`` rated under ``protocol``."""
        names = [question["id"] for question in self.questions]
        gather = _Gather(len(names), len(pairs), repeated=self._repeated[grader, protocol])
        for chunk in self._chunks(_RATING_COLUMNS):
            part = chunk.filter((pl.col("grader") == grader) & (pl.col("protocol") == protocol))
            if part.is_empty():
                continue
            gather.add(
                part.join(pairs.ids, on="pair_id", how="left", maintain_order="left").with_columns(
                    pl.col("question").replace_strict(names, range(len(names)), default=None, return_dtype=pl.Int32)
                ),
                str(self.path),
            )
        return gather.ratings()

    def _chunks(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        for files, rows in _portions(self._ratings, self._rows):
            for start in range(0, rows, _CHUNK):
                yield pl.scan_parquet(files).select(columns).slice(start, _CHUNK).collect()

    def _files(self, table: str) -> list[Path]:
        files = table_files(self.path, table)
        if not files:
            raise self._lacks(f"{table}.parquet")
        return files

    def _lacks(self, name: str) -> InputError:
        return InputError(
            f"has no {name}", source=str(self.path), way_out="give the folder that `evenhand rate ... --out` wrote"
        )

    def _checked(self, path: Path, columns: Sequence[str]) -> int:
        """Return how many rows a table has after checking that it is one."""
        try:
            scan = pl.scan_parquet(path)
            missing = [name for name in columns if name not in scan.collect_schema().names()]
            rows = int(scan.select(pl.len()).collect().item())
        except (OSError, pl.exceptions.PolarsError) as error:
            raise InputError(
                f"can't be read ({error})", source=str(path), way_out="run `evenhand rate` again"
            ) from error
        if missing:
            raise InputError(
                f"has no column {', '.join(missing)}", source=str(path), way_out="run `evenhand rate` again"
            )
        return rows

    def _read_questions(self) -> list[dict[str, Any]]:
        path = self.path / "questions.json"
        try:
            found = json.loads(path.read_text("utf-8"))
            questions = [
                {
                    "id": str(item["id"]),
                    "text": str(item["text"]),
                    "tags": [str(tag) for tag in item.get("tags") or []],
                    "direction": item.get("direction"),
                }
                for item in found
            ]
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise InputError(
                "is not a list of questions", source=str(path), way_out="run `evenhand rate` again"
            ) from error
        return questions

    def _find_protocols(self) -> dict[tuple[str, str], bool]:
        """Return every grader and protocol, in the order in which they come up, and whether repeats were asked for."""
        found: dict[tuple[str, str], bool] = {}
        for chunk in self._chunks(("grader", "protocol", "repeat")):
            seen = chunk.group_by("grader", "protocol", maintain_order=True).agg(pl.col("repeat").max() > 0)
            for grader, protocol, repeated in seen.iter_rows():
                found[grader, protocol] = found.get((grader, protocol), False) or bool(repeated)
        return found


def _portions(files: Sequence[Path], rows: Sequence[int]) -> Iterator[tuple[list[Path], int]]:
    """Yield files that together hold about as many rows as are read at once, however small or large each is."""
    some: list[Path] = []
    held = 0
    for file, count in zip(files, rows, strict=True):
        if some and held + count > _CHUNK:
            yield some, held
            some, held = [], 0
        some.append(file)
        held += count
    if some:
        yield some, held


class _Gather:
    """Adds chunks of rows up to sums a pair and question."""

    def __init__(self, questions: int, pairs: int, *, repeated: bool) -> None:
        self._shape = (questions, pairs)
        self._orders: dict[str, OrderSums] = {}
        self._repeats: dict[str, Repeats] = {}
        self._repeated = repeated
        self._states = np.zeros(questions * 2 * len(_STATES), dtype=np.int64)
        self._abstained = (self._counts(), self._counts())

    def add(self, rows: pl.DataFrame, source: str) -> None:
        if rows["question"].null_count() or rows["pair"].null_count():
            field = "question" if rows["question"].null_count() else "pair_id"
            raise InputError(
                "speaks of one that the run folder does not hold",
                source=source,
                field=field,
                way_out="run `evenhand rate` again",
            )
        question = rows["question"].to_numpy().astype(np.int64)
        cell = question * self._shape[1] + rows["pair"].to_numpy()
        values, fine = [], []
        for side, name in enumerate(("chosen", "rejected")):
            state = (
                rows[f"{name}_state"]
                .replace_strict(_STATES, range(len(_STATES)), default=-1, return_dtype=pl.Int8)
                .to_numpy()
                .astype(np.int64)
            )
            if state.size and state.min() < 0:
                raise InputError(
                    "holds a state that is none",
                    source=source,
                    field=f"{name}_state",
                    way_out=f"use {', '.join(_STATES)}",
                )
            value = rows[name].cast(pl.Float64).fill_null(float("nan")).to_numpy()
            self._states += np.bincount((question * 2 + side) * len(_STATES) + state, minlength=self._states.size)
            _add(self._abstained[side], cell[state == _ABSTAINED], 1)
            values.append(value)
            fine.append((state == _OK) & np.isfinite(value))
        order = rows["order"].fill_null("single")
        for name in order.unique().to_list():
            here = (order == name).to_numpy()
            sums = self._orders.setdefault(name, self._sums())
            for total, count, value, ok in (
                (sums.chosen, sums.chosen_n, values[0], fine[0]),
                (sums.rejected, sums.rejected_n, values[1], fine[1]),
            ):
                use = here & ok
                _add(total, cell[use], value[use])
                _add(count, cell[use], 1)
            if self._repeated:
                self._add_repeats(name, cell, values[0] - values[1], here & fine[0] & fine[1])

    def _add_repeats(self, order: str, cell: npt.NDArray[np.int64], gap: Floats, use: npt.NDArray[np.bool_]) -> None:
        found = self._repeats.setdefault(order, Repeats(self._counts(), self._zeros(), self._zeros()))
        _add(found.n, cell[use], 1)
        _add(found.sums, cell[use], gap[use])
        _add(found.squares, cell[use], gap[use] ** 2)

    def ratings(self) -> Ratings:
        states = self._states.reshape(self._shape[0], 2, len(_STATES))
        return Ratings(self._orders, self._repeats if self._repeated else {}, states, self._abstained)

    def _sums(self) -> OrderSums:
        return OrderSums(self._zeros(), self._zeros(), self._counts(), self._counts())

    def _zeros(self) -> Floats:
        return np.zeros(self._shape)

    def _counts(self) -> Counts:
        return np.zeros(self._shape, dtype=np.uint16)


def _add(total: npt.NDArray[Any], cells: npt.NDArray[np.int64], values: Floats | int) -> None:
    np.add.at(total.reshape(-1), cells, np.asarray(values).astype(total.dtype))


def _mean(sums: Sequence[Floats], counts: Sequence[Counts]) -> Floats:
    total = np.sum(sums, axis=0) if len(sums) > 1 else sums[0]
    count = np.sum(counts, axis=0, dtype=np.int64) if len(counts) > 1 else counts[0]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(count > 0, total / count, np.nan)
