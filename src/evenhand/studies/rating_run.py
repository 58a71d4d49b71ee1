"""The folder of a rating run, read in pieces of bounded size."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from evenhand.errors import InputError
from evenhand.execution.shards import table_files
from evenhand.studies.rating_matrices import (
    BLOCK_BYTES,
    Rated,
    RatingBlock,
    Ratings,
    gathered,
    named_orders,
    not_held,
)
from evenhand.studies.run_pairs import PAIR_COLUMNS, RunPairs, read_pairs

_CHUNK = 1_000_000
_PREFERRED = ("blind", "single", "labelled", "label_swap")
_KINDS = ("grader", "protocol", "question", "order")
_SUMMED = ("question", "pair_id", "order", "chosen", "rejected", "chosen_state", "rejected_state")
_RATING_COLUMNS = (*dict.fromkeys((*_KINDS, "repeat", *_SUMMED)),)


class RatingRun:
    """A folder of a rating run."""

    def __init__(self, path: Path) -> None:
        """Find out what was rated; raises ``InputError`` if the folder does not hold a rating run."""
        self.path = path
        self._pairs, self._ratings = (self._files(name) for name in ("pairs", "ratings"))
        if not (path / "questions.json").is_file():
            raise self._lacks("questions.json")
        self._rows = [self._checked(file, _RATING_COLUMNS) for file in self._ratings]
        for file in self._pairs:
            self._checked(file, PAIR_COLUMNS)
        self.questions = self._read_questions()
        self._rated, self._asked = self._look_through()

    @property
    def graders(self) -> list[str]:
        """The graders, in the order in which they come up."""
        return list(dict.fromkeys(grader for grader, _ in self._rated))

    def protocols(self, grader: str) -> list[str]:
        """Return the protocols under which a grader rated."""
        return [protocol for name, protocol in self._rated if name == grader]

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
        return read_pairs(self._pairs, cluster, str(self.path))

    def ratings(self, grader: str, protocol: str, pairs: RunPairs, *, side_by_side: int = 1) -> Ratings:
        """Return what ``grader`` rated under ``protocol``; so many of these are held at the same time."""
        names = [question["id"] for question in self.questions]
        if self._asked[grader, protocol] - set(names):
            raise not_held("question", str(self.path))
        rated = self._rated[grader, protocol]

        def read(questions: range) -> RatingBlock:
            some = names[questions.start : questions.stop]
            parts = self._chunks(_SUMMED, self._only(grader, protocol, some))
            return gathered(parts, rated, some, questions=questions, pairs=pairs, source=str(self.path))

        return Ratings(read, rated, len(names), len(pairs), block_bytes=BLOCK_BYTES // side_by_side)

    def _only(self, grader: str, protocol: str, questions: Sequence[str]) -> pl.Expr | None:
        """Return what tells the rows that are wanted; None where that is all rows."""
        kinds = []
        if len(self.graders) > 1:
            kinds.append(pl.col("grader") == grader)
        if len({name for _, name in self._rated}) > 1:
            kinds.append(pl.col("protocol") == protocol)
        if self._asked[grader, protocol] - set(questions):
            kinds.append(pl.col("question").is_in(questions))
        return pl.all_horizontal(kinds) if kinds else None

    def _chunks(self, columns: Sequence[str], only: pl.Expr | None = None) -> Iterator[pl.DataFrame]:
        for files, rows in _portions(self._ratings, self._rows):
            for start in range(0, rows, _CHUNK):
                scan = pl.scan_parquet(files)
                if rows > _CHUNK:
                    scan = scan.slice(start, _CHUNK)
                if only is not None:
                    scan = scan.filter(only)
                yield scan.select(columns).collect()

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
        if len({question["id"] for question in questions}) < len(questions):
            raise InputError(
                "two questions have the same id", source=str(path), field="id", way_out="run `evenhand rate` again"
            )
        return questions

    def _look_through(self) -> tuple[dict[tuple[str, str], Rated], dict[tuple[str, str], set[str | None]]]:
        """Return what was rated and which questions were asked, by grader and protocol, as they come up."""
        orders: dict[tuple[str, str], set[str]] = {}
        asked: dict[tuple[str, str], set[str | None]] = {}
        repeated: set[tuple[str, str]] = set()
        for chunk in self._chunks((*_KINDS, "repeat")):
            # Categories, because grouping by strings takes twice as long.
            kinds = chunk.with_columns(pl.col(_KINDS).cast(pl.Categorical))
            seen = kinds.group_by(_KINDS, maintain_order=True).agg(pl.col("repeat").max() > 0)
            seen = seen.with_columns(pl.col(_KINDS).cast(pl.String)).with_columns(named_orders(pl.col("order")))
            for grader, protocol, question, order, again in seen.iter_rows():
                orders.setdefault((grader, protocol), set()).add(order)
                asked.setdefault((grader, protocol), set()).add(question)
                if again:
                    repeated.add((grader, protocol))
        return {kind: Rated(tuple(sorted(found)), kind in repeated) for kind, found in orders.items()}, asked


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
