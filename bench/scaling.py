"""Effects of 100,000 to 10,000,000 ratings in shards, and more: seconds and memory, each in a process of its own.

``python -m bench scaling`` measures up to ten million and draws the picture of docs/scale.md; ``python -m bench.scaling
30_000_000 100_000_000`` measures other sizes, and ``python -m bench.scaling --fit 1_000_000`` fits.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import vl_convert

from evenhand.execution import RunFolder
from evenhand.execution.shards import Shard, list_shards, write_shard

_QUESTIONS, _ORDERS = 10, ("chosen_first", "rejected_first")
_PART, _SHARD = 25_000, 1_000
"""Pairs that are drawn at once and make up a shard of pairs; those whose ratings make up one, as on a cluster."""
_SIZES = (100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)
_CHILD = """
import json, resource, sys, time
from pathlib import Path
from evenhand.studies.{study} import {study}
start, used = time.perf_counter(), time.process_time()
{study}(Path(sys.argv[1]))
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
print(json.dumps([time.perf_counter() - start, time.process_time() - used, memory]))
"""
_PICTURE = Path(__file__).parent.parent / "docs" / "pictures" / "scaling.svg"
_PANELS = ("seconds", "seconds of processor time", "gigabytes at most")


def run() -> Iterator[str]:
    """Measure ten questions in both orders, and draw the picture of docs/scale.md."""
    points: list[dict[str, Any]] = []
    yield from measure(_SIZES, "effects", points)
    draw(points)


def measure(sizes: Sequence[int], study: str, points: list[dict[str, Any]]) -> Iterator[str]:
    """Yield a line a size, and add to ``points`` what the picture shows."""
    for ratings in sizes:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            shards = _generate(folder, ratings // (_QUESTIONS * len(_ORDERS)))
            done = subprocess.run(
                [sys.executable, "-c", _CHILD.format(study=study), str(folder)],
                check=True,
                capture_output=True,
                text=True,
            )
        took, used, memory = json.loads(done.stdout)
        points += [
            {"ratings": ratings, "panel": panel, "value": value}
            for panel, value in zip(_PANELS, (took, used, memory), strict=True)
        ]
        yield (
            f"{study} of {ratings:>11,} ratings in {shards:>4} shards: {took:6.1f} s ({used:6.1f} s of processor time),"
            f" {memory:.2f} GB at most, {1e6 * took / ratings:.2f} s a million"
        )


def draw(points: list[dict[str, Any]]) -> None:
    """Draw the picture of docs/scale.md."""
    _PICTURE.write_text(vl_convert.vegalite_to_svg(_picture(points)), "utf-8")


def _picture(points: list[dict[str, Any]]) -> dict[str, Any]:
    logarithmic = {"type": "log"}
    return {
        "background": "white",
        "data": {"values": points},
        "facet": {"column": {"field": "panel", "title": None, "sort": None}},
        "resolve": {"scale": {"y": "independent"}},
        "spec": {
            "width": 220,
            "height": 200,
            "mark": {"type": "line", "point": True},
            "encoding": {
                "x": {"field": "ratings", "type": "quantitative", "scale": logarithmic, "axis": {"format": "~s"}},
                "y": {"field": "value", "type": "quantitative", "scale": logarithmic, "title": None},
            },
        },
    }


def _generate(folder: Path, pairs: int) -> int:
    rng = np.random.default_rng(0)
    tables: dict[str, list[Shard]] = {"pairs": [], "ratings": []}
    for table in tables:
        (folder / table).mkdir()
    names = [f"question_{number:02}" for number in range(_QUESTIONS)]
    asked = pl.DataFrame({"question": names}).join(pl.DataFrame({"order": _ORDERS}), how="cross")
    for start in range(0, pairs, _PART):
        numbers = np.arange(start, min(start + _PART, pairs), dtype=np.uint64)
        ids, inputs = _ids(numbers), _ids(numbers // 2)
        lengths = rng.integers(1, 4000, (2, len(numbers)))
        of_pairs = pl.DataFrame(
            {"pair_id": ids, "input_id": inputs, "chosen_length": lengths[0], "rejected_length": lengths[1]}
        ).with_columns(pl.lit(value=False).alias("tie"), pl.lit(None, pl.Float64).alias("strength"))
        tables["pairs"].append(write_shard(folder / "pairs", f"part-{start:09}", of_pairs))
        ratings = _ratings(rng, ids, inputs, asked)
        each = _SHARD * _QUESTIONS * len(_ORDERS)
        tables["ratings"] += [
            write_shard(folder / "ratings", f"part-{start:09}-{part:04}", rows)
            for part, rows in enumerate(ratings.iter_slices(each))
        ]
    list_shards(RunFolder(folder), tables)
    questions: list[dict[str, Any]] = [
        {"id": name, "text": f"{name}?", "tags": [], "direction": None} for name in names
    ]
    (folder / "questions.json").write_text(json.dumps(questions), "utf-8")
    return len(tables["ratings"])


def _ids(numbers: np.ndarray[Any, np.dtype[np.uint64]]) -> pl.Series:
    """Return an id a number, as long and in as little order as hashes are; an odd factor keeps them different."""
    return pl.Series(numbers * np.uint64(0x9E3779B97F4A7C15)).cast(pl.String).str.zfill(20)


def _ratings(rng: np.random.Generator, ids: pl.Series, inputs: pl.Series, asked: pl.DataFrame) -> pl.DataFrame:
    pairs = pl.DataFrame({"pair_id": ids, "input_id": inputs})
    table = pairs.join(asked, how="cross", maintain_order="left_right")
    state = pl.Series(["ok", "abstained"])
    values = rng.integers(0, 11, (2, table.height)).astype(np.float64)
    abstained = rng.random((2, table.height)) < 0.01
    table = table.with_columns(
        pl.Series("chosen", values[0]),
        pl.Series("rejected", values[1]),
        state[abstained[0].astype(np.int64)].alias("chosen_state"),
        state[abstained[1].astype(np.int64)].alias("rejected_state"),
    )
    return table.with_columns(
        pl.when(pl.col("chosen_state") == "ok").then("chosen").alias("chosen"),
        pl.when(pl.col("rejected_state") == "ok").then("rejected").alias("rejected"),
        pl.lit("grader").alias("grader"),
        pl.lit("blind").alias("protocol"),
        pl.lit(0, pl.Int32).alias("repeat"),
    )


if __name__ == "__main__":
    _study = "fit" if "--fit" in sys.argv else "effects"
    for _line in measure([int(size) for size in sys.argv[1:] if size != "--fit"], _study, []):
        print(_line, flush=True)
