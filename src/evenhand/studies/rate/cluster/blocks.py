"""Blocks of pairs: what one worker rates in one go, all questions of a pair and all pairs of an input together."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl

from evenhand.execution import Ledger
from evenhand.execution.shards import Shard, sound_shard, write_shard
from evenhand.instruments.questions import Question
from evenhand.instruments.rating import rating_instrument
from evenhand.models import Model, ModelRole, open_model
from evenhand.pairs.preference_pair import PreferencePair
from evenhand.readings import State
from evenhand.studies.carrier import Carrier
from evenhand.studies.inputs import load_model_settings
from evenhand.studies.rate.cluster.prepare import shard_name
from evenhand.studies.rate.files import ratings_table
from evenhand.studies.rate.plan import RatePlan
from evenhand.studies.rate.work import parts_of, protocols_of, rate_parts, states_of
from evenhand.studies.watch import UnwatchedStudy

_READINGS = 20_000
"""Ratings a block, about: enough to make a file worth its while, few enough to lose little of a worker's time."""
LEDGERS = "ledgers"
"""The folder of the blocks' own ledgers, which are taken over into the run's."""


@dataclass(frozen=True, slots=True)
class Block:
    """Some rows of a shard of pairs."""

    shard: str
    start: int
    rows: int


@dataclass(frozen=True, slots=True)
class Done:
    """What rating a block came to."""

    shard: Shard
    calls: int
    replies: int
    found: int
    """Replies that were in a ledger before."""
    states: dict[str, dict[str, int]]
    first_at: str | None
    last_at: str | None

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "Done":
        """Make it of what ``as_json`` returned."""
        return cls(**{**values, "shard": Shard(**values["shard"])})


def blocks_of(folder: Path, shard: Shard, readings_a_pair: int) -> Iterator[Block]:
    """Yield the blocks of a shard; pairs over one input stay together."""
    size = max(1, _READINGS // max(1, readings_a_pair))
    inputs = pl.scan_parquet(folder / f"{shard.name}.parquet").select("input_id").collect()
    runs = inputs.group_by(pl.col("input_id").rle_id().alias("run"), maintain_order=True).len()
    cut = runs.with_columns(((pl.col("len").cum_sum() - pl.col("len")) // size).alias("block"))
    start = 0
    for (rows,) in cut.group_by("block", maintain_order=True).agg(pl.col("len").sum()).select("len").iter_rows():
        yield Block(shard.name, start, int(rows))
        start += int(rows)


class BlockRater:
    """Rates one block after another in a process of its own."""

    def __init__(self, plan: RatePlan, questions: Sequence[Question], probed: frozenset[str]) -> None:
        """Take what to ask.

        Args:
            plan: of the run; its folder must be the same on every machine.
            questions: to put.
            probed: ids of the pairs that are rated labelled as well.
        """
        self._plan, self._questions, self._probed = plan, questions, probed
        self._graders: list[Model] | None = None

    def __call__(self, item: dict[str, Any]) -> dict[str, Any]:
        """Rate a block; one whose shard is there and sound is not rated again."""
        block, out = Block(**item), self._plan.out
        pairs = self._pairs(out / "pairs", block)
        graders = self._opened()
        asked = [one.identity for one in graders] + [f"{question.id} {question.text}" for question in self._questions]
        told = sorted(self._probed & {pair.pair_id for pair in pairs})
        name = shard_name([*(pair.pair_id for pair in pairs), "", *told, "", *asked, "", self._manner()])
        there = sound_shard(out / "ratings", name)
        # What failed is asked again, as on one machine.
        if there and not any(State.FAILED in states for states in there[1]["states"].values()):
            return Done.from_json(
                {**there[1], "shard": asdict(there[0]), "calls": 0, "found": there[1]["replies"]}
            ).as_json()
        return self._rated(name, pairs, graders).as_json()

    def _rated(self, name: str, pairs: Sequence[PreferencePair], graders: Sequence[Model]) -> Done:
        out = self._plan.out
        (out / LEDGERS).mkdir(exist_ok=True)
        with (
            Ledger.peek(out / "ledger.sqlite") as before,
            Ledger(out / LEDGERS / f"{name}.sqlite", elders=[before]) as ledger,
        ):
            carry_out = Carrier(ledger, UnwatchedStudy())
            parts = parts_of(self._plan, pairs, self._probed)
            # One that runs in this process is loaded once, and not for each block; several would need the room of all.
            keep_open = len(graders) == 1
            rows = rate_parts(self._plan, graders, parts, self._questions, carry_out, keep_open=keep_open)
        record, states = carry_out.record(), states_of(rows)
        about = {"replies": carry_out.replies, "states": states, **{at: record[at] for at in ("first_at", "last_at")}}
        shard = write_shard(out / "ratings", name, ratings_table(rows), about)
        return Done.from_json({**about, "shard": asdict(shard), "calls": carry_out.calls, "found": carry_out.found})

    def _pairs(self, folder: Path, block: Block) -> list[PreferencePair]:
        table = pl.scan_parquet(folder / f"{block.shard}.parquet").slice(block.start, block.rows).collect()
        return [
            PreferencePair(*(row[name] for name in ("pair_id", "input_id", "input", "chosen", "rejected", "tie")))
            for row in table.iter_rows(named=True)
        ]

    def _opened(self) -> list[Model]:
        if self._graders is None:
            settings = load_model_settings(self._plan.models)
            names = dict.fromkeys(self._plan.graders)
            self._graders = [open_model(name, ModelRole.GRADER, UnwatchedStudy(), settings) for name in names]
        return self._graders

    def _manner(self) -> str:
        plan = self._plan
        versions = [rating_instrument(plan.instrument, each).version for each in protocols_of(plan)]
        return json.dumps([versions, plan.protocol, plan.reading, plan.reasons, plan.seed])
