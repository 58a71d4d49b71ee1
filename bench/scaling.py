"""Effects of 100,000 to 10,000,000 ratings in shards: seconds and memory, each in a process of its own."""

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import vl_convert

from evenhand.execution import RunFolder
from evenhand.execution.shards import Shard, list_shards, write_shard

_QUESTIONS, _ORDERS, _PART = 10, ("chosen_first", "rejected_first"), 25_000
_SIZES = (100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)
_CHILD = """
import json, resource, sys, time
from pathlib import Path
from evenhand.studies.effects import effects
start, used = time.perf_counter(), time.process_time()
effects(Path(sys.argv[1]))
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
print(json.dumps([time.perf_counter() - start, time.process_time() - used, memory]))
"""


_PICTURE = Path(__file__).parent.parent / "docs" / "pictures" / "scaling.svg"


def run() -> Iterator[str]:
    """Measure ten questions in both orders, and draw the picture of docs/scale.md."""
    points = []
    for ratings in _SIZES:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            shards = _generate(folder, ratings // (_QUESTIONS * len(_ORDERS)))
            done = subprocess.run(
                [sys.executable, "-c", _CHILD, str(folder)], check=True, capture_output=True, text=True
            )
            took, used, memory = json.loads(done.stdout)
            points += [
                {"ratings": ratings, "panel": "seconds", "value": took},
                {"ratings": ratings, "panel": "gigabytes at most", "value": memory},
            ]
            yield (
                f"effects of {ratings:>10,} ratings in {shards:>3} shards: {took:5.1f} s"
                f" ({used:5.1f} s of processor time), {memory:.2f} GB at most, {1e6 * took / ratings:.2f} s a million"
            )
            shutil.rmtree(folder, ignore_errors=True)

    _PICTURE.write_text(vl_convert.vegalite_to_svg(_picture(points)), "utf-8")


def _picture(points: list[dict[str, Any]]) -> dict[str, Any]:
    logarithmic = {"type": "log"}
    return {
        "background": "white",
        "data": {"values": points},
        "facet": {"column": {"field": "panel", "title": None, "sort": None}},
        "resolve": {"scale": {"y": "independent"}},
        "spec": {
            "width": 260,
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
    for start in range(0, pairs, _PART):
        numbers = np.arange(start, min(start + _PART, pairs))
        ids = pl.Series(numbers).cast(pl.String).str.zfill(16)
        inputs = pl.Series(numbers // 2).cast(pl.String).str.zfill(16)
        lengths = rng.integers(1, 4000, (2, len(numbers)))
        of_pairs = pl.DataFrame(
            {"pair_id": ids, "input_id": inputs, "chosen_length": lengths[0], "rejected_length": lengths[1]}
        ).with_columns(pl.lit(value=False).alias("tie"), pl.lit(None, pl.Float64).alias("strength"))
        tables["pairs"].append(write_shard(folder / "pairs", f"part-{start:09}", of_pairs))
        tables["ratings"].append(write_shard(folder / "ratings", f"part-{start:09}", _ratings(rng, ids, inputs, names)))
    list_shards(RunFolder(folder), tables)
    questions: list[dict[str, Any]] = [
        {"id": name, "text": f"{name}?", "tags": [], "direction": None} for name in names
    ]
    (folder / "questions.json").write_text(json.dumps(questions), "utf-8")
    return len(tables["ratings"])


def _ratings(rng: np.random.Generator, ids: pl.Series, inputs: pl.Series, names: list[str]) -> pl.DataFrame:
    each = len(names) * len(_ORDERS)
    every = np.repeat(np.arange(len(ids)), each)
    rows = len(every)
    state = np.where(rng.random((2, rows)) < 0.01, "abstained", "ok")
    values = rng.integers(0, 11, (2, rows)).astype(np.float64)
    table = pl.DataFrame(
        {
            "question": pl.Series(list(np.repeat(names, len(_ORDERS))) * len(ids), dtype=pl.String),
            "order": pl.Series(list(_ORDERS) * len(names) * len(ids), dtype=pl.String),
            "pair_id": ids[every],
            "input_id": inputs[every],
            "chosen": values[0],
            "rejected": values[1],
            "chosen_state": state[0],
            "rejected_state": state[1],
        }
    )
    return table.with_columns(
        pl.when(pl.col("chosen_state") == "ok").then("chosen").alias("chosen"),
        pl.when(pl.col("rejected_state") == "ok").then("rejected").alias("rejected"),
        pl.lit("grader").alias("grader"),
        pl.lit("blind").alias("protocol"),
        pl.lit(0, pl.Int32).alias("repeat"),
    )
