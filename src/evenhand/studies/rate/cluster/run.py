"""The rating run on a cluster: a data set to shards of pairs, these to workers, and what they kept to one ledger."""

import shutil
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl
from filelock import FileLock, Timeout

from evenhand.errors import InputError
from evenhand.execution import Ledger, RunFolder
from evenhand.execution.cluster import Cluster, connected, over_workers
from evenhand.execution.nodes import check_nodes
from evenhand.execution.shards import Shard, list_shards, write_shard
from evenhand.instruments.questions import Question, read_questions
from evenhand.instruments.rating import rating_instrument
from evenhand.models import ModelRole, open_model
from evenhand.studies.inputs import load_model_settings
from evenhand.studies.preference_source import HUB
from evenhand.studies.rate.cluster.blocks import LEDGERS, BlockRater, Done, blocks_of
from evenhand.studies.rate.cluster.prepare import Prepared, prepared_pairs, shard_name
from evenhand.studies.rate.plan import RatePlan
from evenhand.studies.rate.run import RateResult, rating_record
from evenhand.studies.rate.work import probed, protocols_of, sampled
from evenhand.studies.settings import say_if_changed
from evenhand.studies.watch import StudyWatch, UnwatchedStudy

_TELL_EVERY = 10.0
"""Seconds between two lines that say how far a run is."""


@dataclass(slots=True)
class _Tally:
    """What has come back from workers."""

    watch: StudyWatch
    blocks: int
    done: list[Done] = field(default_factory=list)
    began: float = field(default_factory=time.monotonic)
    told: float = 0.0

    def add(self, done: Done) -> None:
        self.done.append(done)
        now = time.monotonic()
        if now - self.told >= _TELL_EVERY or len(self.done) == self.blocks:
            self.told = now
            rows = sum(each.shard.rows for each in self.done)
            calls = sum(each.calls for each in self.done)
            self.watch.say(
                f"{len(self.done):,} of {self.blocks:,} blocks, {rows:,} ratings of pairs, {calls:,} calls,"
                f" {calls / max(now - self.began, 1e-9):,.0f} calls a second"
            )

    def states(self) -> dict[str, dict[str, int]]:
        counts: dict[str, Counter[str]] = {}
        for each in self.done:
            for protocol, states in each.states.items():
                counts.setdefault(protocol, Counter()).update(states)
        return {protocol: dict(count) for protocol, count in counts.items()}

    def replies(self) -> dict[str, Any]:
        first = [each.first_at for each in self.done if each.first_at]
        last = [each.last_at for each in self.done if each.last_at]
        count = sum(each.replies for each in self.done)
        return {"count": count, "first_at": min(first, default=None), "last_at": max(last, default=None)}


def rate_on_cluster(plan: RatePlan, watch: StudyWatch | None = None) -> RateResult:
    """Carry a rating run out on a cluster and write its tables, as shards, to the run folder.

    The run folder must be the same for all machines. What the folder's ledger holds is not asked again, whether one
    machine asked it or many; what workers were told before a run was interrupted is taken over first.
    """
    watch = watch or UnwatchedStudy()
    if plan.pairs.startswith(HUB):
        raise InputError(
            "is a data set of the hub, and a cluster reads files",
            source=plan.pairs,
            way_out="download its Parquet files and name their folder, or rate it on one machine",
        )
    plan = replace(plan, out=plan.out.absolute())  # Tasks of a cluster begin in folders of their own.
    folder = RunFolder(plan.out)
    with _alone(folder.path):
        return _rate(plan, plan.cluster or Cluster(), folder, watch)


def _rate(plan: RatePlan, cluster: Cluster, folder: RunFolder, watch: StudyWatch) -> RateResult:
    questions = read_questions(plan.questions)
    _take_over(folder)
    with connected(cluster.address) as ray:
        if cluster.address is not None:
            check_nodes(ray, folder.path)
        prepared = prepared_pairs(ray, plan, folder, watch)
        pairs = _sample(plan, folder.path, prepared.shards)
        table = pl.concat(
            [
                pl.read_parquet(folder.path / "pairs" / f"{each.name}.parquet", columns=["pair_id", "tie"])
                for each in pairs
            ]
        )
        told = probed(plan, table.filter(~pl.col("tie"))["pair_id"].to_list(), table.height)
        asked = len(questions) * len(set(plan.graders)) * plan.manner.samples
        blocks = [block for shard in pairs for block in blocks_of(folder.path / "pairs", shard, 2 * asked)]
        watch.say(f"{table.height:,} pairs in {len(blocks):,} blocks to {cluster.workers} workers")
        tally = _Tally(watch, len(blocks))
        for result in over_workers(
            ray,
            [asdict(block) for block in blocks],
            BlockRater,
            (plan, questions, told),
            workers=cluster.workers,
            gpus=cluster.gpus,
        ):
            tally.add(Done.from_json(result))
    _take_over(folder, for_good=True)
    record = _record(plan, prepared, table.height, questions) | {"replies": tally.replies()}
    say_if_changed(folder, record, watch)
    folder.write_json("questions.json", [question.as_json() for question in questions])
    folder.write_json("record.json", record)
    ratings = sorted((each.shard for each in tally.done), key=lambda shard: shard.name)
    list_shards(folder, {"pairs": pairs, "ratings": ratings})
    for name in ("pairs", "ratings"):
        (folder.path / f"{name}.parquet").unlink(missing_ok=True)
    return RateResult(
        pairs=table.height,
        questions=len(questions),
        problems=prepared.problems,
        states=tally.states(),
        calls=sum(each.calls for each in tally.done),
        replies=tally.replies()["count"],
        found=sum(each.found for each in tally.done),
    )


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    lock = FileLock(folder / ".cluster.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise InputError(
            "another run is at work on a cluster in this folder", source=str(folder), way_out="wait until it has ended"
        ) from None
    try:
        yield
    finally:
        lock.release()


def _sample(plan: RatePlan, out: Path, shards: Sequence[Shard]) -> list[Shard]:
    """Return shards of the pairs that are rated: those that there are, or, of a sample, one of its own."""
    if plan.sample is None:
        return list(shards)
    files = [out / "pairs" / f"{shard.name}.parquet" for shard in shards]
    ids = pl.read_parquet(files, columns=["pair_id"])["pair_id"].to_list()
    chosen = sampled(plan, ids)
    if len(chosen) == len(ids):
        return list(shards)
    return [
        write_shard(
            out / "pairs", shard_name(chosen), pl.scan_parquet(files).filter(pl.col("pair_id").is_in(chosen)).collect()
        )
    ]


def _take_over(folder: RunFolder, *, for_good: bool = False) -> None:
    """Take what blocks' own ledgers hold over into the run's; they go away once all is done, and not before.

    A worker that was cut off from its run may still be writing.
    """
    ledgers = sorted((folder.path / LEDGERS).glob("*.sqlite"))
    with Ledger(folder.ledger_path) as ledger:
        for path in ledgers:
            ledger.absorb(path)
    if for_good:
        shutil.rmtree(folder.path / LEDGERS, ignore_errors=True)


def _record(plan: RatePlan, prepared: Prepared, used: int, questions: Sequence[Question]) -> dict[str, Any]:
    settings = load_model_settings(plan.models)
    graders = [open_model(name, ModelRole.GRADER, UnwatchedStudy(), settings) for name in dict.fromkeys(plan.graders)]
    pairs = {**prepared.source, "format": prepared.format, "used": used, "problems": prepared.problems}
    protocols = protocols_of(plan) if plan.leak_sample else protocols_of(plan)[:1]
    versions = {str(each): rating_instrument(plan.instrument, each).version for each in protocols}
    return rating_record(plan, pairs, questions, graders, versions)
