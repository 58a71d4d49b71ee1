"""From the files of a data set to shards of pairs, sorted by input."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl

from evenhand.errors import InputError
from evenhand.execution import RunFolder
from evenhand.execution.cluster import error_of_worker
from evenhand.execution.shards import Shard, sound_shard, write_shard
from evenhand.fetching.stores import here, is_stored
from evenhand.pairs.preferences import Columns, RowOutcome, stream_of_records, stream_preferences
from evenhand.pairs.preferences.records import read_records
from evenhand.studies.preference_source import data_files, source_record
from evenhand.studies.rate.files import PAIRS, pairs_table
from evenhand.studies.rate.plan import RatePlan
from evenhand.studies.watch import StudyWatch

_SORTED_BY = ["input_id", "pair_id", "file", "place"]


_PREPARED = "prepared.json"


@dataclass(frozen=True, slots=True)
class Prepared:
    """Pairs in shards."""

    source: dict[str, Any]
    """What a record says of where they come from."""
    format: str | None
    shards: tuple[Shard, ...]
    problems: int
    """Rows that could not become a pair, and other remarks on rows."""


@dataclass(frozen=True, slots=True)
class Source:
    """The files of a data set, and how their rows are read."""

    files: tuple[str, ...]
    format: str | None
    columns: Columns | None


def prepared_pairs(ray: Any, plan: RatePlan, folder: RunFolder, watch: StudyWatch) -> Prepared:  # noqa: ANN401
    """Return the pairs of a plan in shards below its run folder; those that are there and sound are used again."""
    files = data_files(plan.pairs)
    watch.say(f"{plan.pairs}: {len(files)} files")
    source = source_record(plan.pairs, "")
    asked = {"source": source, "format": plan.format, "columns": plan.columns and asdict(plan.columns)}
    before = folder.read_json(_PREPARED) or {}
    if before.get("asked") == json.loads(json.dumps(asked)):
        found = [sound_shard(folder.path / "pairs", name) for name in before["shards"]]
        shards = tuple(one[0] for one in found if one)
        if len(shards) == len(found):
            return Prepared(source, before["format"], shards, before["problems"])
    settled = _settled(files, plan.format, plan.columns)
    made = list(_prepare(ray, settled, folder.path / "pairs"))
    shards = tuple(sorted((shard for shard, _ in made if shard.rows), key=lambda shard: shard.name))
    if not shards:
        raise InputError("gives no pair", source=plan.pairs, way_out="see what `evenhand inspect-data` says of it")
    prepared = Prepared(source, settled.format, shards, sum(problems for _, problems in made))
    names = [shard.name for shard in shards]
    said = {"asked": asked, "format": prepared.format, "shards": names, "problems": prepared.problems}
    folder.write_json(_PREPARED, said)
    return prepared


def _settled(files: tuple[str, ...], format: str | None, columns: Columns | None) -> Source:
    """Settle the format by the first file, so that all are read in the same way."""
    if columns is not None:
        return Source(files, format, columns)
    with _opened(files[0]) as path:
        return Source(files, stream_preferences(path, format=format).format, None)


def _prepare(ray: Any, source: Source, folder: Path) -> Iterator[tuple[Shard, int]]:  # noqa: ANN401  (the module)
    """Write the pairs of all files into shards below a folder, and yield each with the number of faulty rows.

    Pairs over one input are in one shard, next to one another; a pair that the data hold twice gets the same names as
    it gets where the files are read one after another on one machine.
    """
    items = [{"file": number, "name": name} for number, name in enumerate(source.files)]
    rows = ray.data.from_items(items, override_num_blocks=len(items)).flat_map(
        _rows_of_file, fn_kwargs={"format": source.format, "columns": source.columns}
    )
    shards = rows.sort(_SORTED_BY).map_batches(
        _written, fn_kwargs={"folder": str(folder)}, batch_size=None, batch_format="pyarrow", zero_copy_batch=True
    )
    try:
        for row in shards.iter_rows():
            yield Shard(row["name"], row["rows"], row["sha256"]), row["problems"]
    except ray.exceptions.RayError as error:
        raise error_of_worker(error) from error


def _rows_of_file(item: dict[str, Any], *, format: str | None, columns: Columns | None) -> Iterator[dict[str, Any]]:
    file, problems = int(item["file"]), 0
    with _opened(str(item["name"])) as path:
        for outcome in _outcomes(path, format, columns):
            problems += len(outcome.problems)
            for row in pairs_table(outcome.pairs).iter_rows(named=True):
                # Numbered anew once all of a content are together.
                content = str(row["pair_id"]).partition("-")[0]
                yield {**row, "pair_id": content, "file": file, "place": outcome.row, "problems": 0}
    # Sorted before all pairs, and taken out again when these are written.
    yield {**dict.fromkeys(PAIRS), "pair_id": "", "input_id": "", "file": file, "place": 0, "problems": problems}


def _outcomes(path: Path, format: str | None, columns: Columns | None) -> Iterator[RowOutcome]:
    yield from stream_of_records(read_records(path), source=path.name, format=format, columns=columns).outcomes


def _written(batch: Any, *, folder: str) -> dict[str, list[Any]]:  # noqa: ANN401  (an Arrow table)
    rows = pl.from_arrow(batch)
    if not isinstance(rows, pl.DataFrame):
        raise TypeError("a batch is no table")
    problems = int(rows["problems"].sum())
    pairs = rows.filter(pl.col("pair_id") != "")
    number = pl.int_range(1, pl.len() + 1).over("pair_id")
    named = pairs.with_columns(
        pl.when(number > 1).then(pl.format("{}-{}", "pair_id", number)).otherwise("pair_id").alias("pair_id")
    )
    table = named.select([pl.col(name).cast(kind) for name, kind in PAIRS.items()])
    if table.is_empty():
        return {"name": [""], "rows": [0], "sha256": [""], "problems": [problems]}
    shard = write_shard(Path(folder), shard_name(table["pair_id"].to_list()), table)
    return {"name": [shard.name], "rows": [shard.rows], "sha256": [shard.sha256], "problems": [problems]}


def shard_name(parts: Sequence[str]) -> str:
    """Return the name of a shard that is made of some parts."""
    return "part-" + hashlib.sha256("\n".join(parts).encode()).hexdigest()[:24]


def _opened(name: str) -> Any:  # noqa: ANN401  (a context manager)
    return here(name) if is_stored(name) else nullcontext(Path(name))
