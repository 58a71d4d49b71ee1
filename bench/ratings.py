"""Effects and fit on a million pairs, against a loop over rows and against scikit-learn."""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

PAIRS, QUESTIONS, _PART = 1_000_000, 24, 50_000

_CHILD = """
import json, resource, sys, time
from pathlib import Path
start = time.perf_counter()
{work}
took = time.perf_counter() - start
print(json.dumps([took, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, found]))
"""
_EFFECTS = """
from evenhand.studies.effects import effects
found = effects(Path(sys.argv[1])).blocks[0].questions[0].effect.superiority.value
"""
_FIT = """
from evenhand.studies.fit import fit
found = fit(Path(sys.argv[1])).held_out.auc.value
"""
_ONE_FIT = """
import numpy as np
from evenhand.statistics.logistic import PairRows, fit
x = np.load(Path(sys.argv[1]) / "x.npy")
rows = PairRows(x, np.ones(len(x)), np.zeros(len(x), dtype=bool))
start = time.perf_counter()
found = float(fit(rows, 1e-6, 0.0)[0])
"""
_SKLEARN = """
import numpy as np
from sklearn.linear_model import LogisticRegression
x = np.load(Path(sys.argv[1]) / "x.npy")
sign = np.random.default_rng(0).choice([-1.0, 1.0], len(x))
x *= sign[:, None]
start = time.perf_counter()
found = float(LogisticRegression(C=1 / (1e-6 * len(x)), fit_intercept=False, tol=1e-7).fit(x, sign > 0).coef_[0, 0])
"""


def run() -> Iterator[str]:
    """Measure 24,000,000 ratings in Parquet, each step in a process of its own."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _generate(folder)
        took, memory, _ = _child(_EFFECTS, folder)
        loop = 100 * _row_loop(folder)
        yield (
            f"effects of {PAIRS:,} pairs x {QUESTIONS} questions: {took:.0f} s, {memory:.1f} GB at most; a loop"
            f" over rows (a hundredth, scaled; sums alone, no intervals) {loop:.0f} s; {loop / took:.1f} times faster"
        )
        took, memory, _ = _child(_FIT, folder)
        yield f"fit on the same: {took:.0f} s, {memory:.1f} GB at most (nested cross-validation, stability, intervals)"
        ours, _, one = _child(_ONE_FIT, folder)
        theirs, _, other = _child(_SKLEARN, folder)
        yield (
            f"one fit on the same matrix: {ours:.1f} s; scikit-learn's lbfgs {theirs:.1f} s; {theirs / ours:.1f} times"
            f" faster; the weights differ by {abs(one - other):.1e}"
        )


def _child(work: str, folder: Path) -> tuple[float, float, float]:
    done = subprocess.run(
        [sys.executable, "-c", _CHILD.format(work=work), str(folder)], check=True, capture_output=True, text=True
    )
    took, memory, found = json.loads(done.stdout)
    return took, memory, found


def _row_loop(folder: Path) -> float:
    rows = pl.scan_parquet(folder / "ratings.parquet").head(PAIRS * QUESTIONS // 100).collect()
    sums: dict[str, list[float]] = {}
    start = time.perf_counter()
    for row in rows.iter_rows(named=True):
        if row["chosen_state"] == "ok" and row["rejected_state"] == "ok":
            total = sums.setdefault(row["question"], [0.0, 0.0, 0.0])
            gap = row["chosen"] - row["rejected"]
            total[0] += 1
            total[1] += gap
            total[2] += 1.0 if gap > 0 else 0.5 if gap == 0 else 0.0
    return time.perf_counter() - start


def _generate(folder: Path) -> None:
    rng = np.random.default_rng(0)
    weights = np.where(np.arange(QUESTIONS) % 2, 0.0, rng.normal(0, 0.25, QUESTIONS))
    names = [f"question_{number:02}" for number in range(QUESTIONS)]
    parts, pairs = folder / "parts", []
    parts.mkdir()
    kept = np.empty((PAIRS, QUESTIONS))
    for start in range(0, PAIRS, _PART):
        first, second = (rng.integers(0, 11, (_PART, QUESTIONS)).astype(np.float64) for _ in range(2))
        gap = first - second
        better = rng.random(_PART) < 1 / (1 + np.exp(-gap @ weights))
        chosen, rejected = np.where(better[:, None], first, second), np.where(better[:, None], second, first)
        kept[start : start + _PART] = (chosen - rejected) / 4.5
        numbers = np.arange(start, start + _PART)
        ids = pl.Series(numbers).cast(pl.String).str.zfill(8)
        inputs = pl.Series(numbers // 2).cast(pl.String).str.zfill(8)
        lengths = rng.integers(1, 4000, (2, _PART))
        pairs.append(
            pl.DataFrame(
                {"pair_id": ids, "input_id": inputs, "chosen_length": lengths[0], "rejected_length": lengths[1]}
            ).with_columns(pl.lit(value=False).alias("tie"), pl.lit(None, pl.Float64).alias("strength"))
        )
        every = np.repeat(np.arange(_PART), QUESTIONS)
        state = np.where(rng.random((2, _PART * QUESTIONS)) < 0.01, "abstained", "ok")
        table = pl.DataFrame(
            {
                "question": pl.Series(names * _PART, dtype=pl.String),
                "pair_id": ids[every],
                "input_id": inputs[every],
                "chosen": chosen.ravel(),
                "rejected": rejected.ravel(),
                "chosen_state": state[0],
                "rejected_state": state[1],
            }
        )
        table = table.with_columns(
            pl.when(pl.col("chosen_state") == "ok").then("chosen").alias("chosen"),
            pl.when(pl.col("rejected_state") == "ok").then("rejected").alias("rejected"),
            pl.lit("grader").alias("grader"),
            pl.lit("blind").alias("protocol"),
            pl.lit("chosen_first").alias("order"),
            pl.lit(0, pl.Int32).alias("repeat"),
        )
        table.write_parquet(parts / f"{start:08}.parquet")
    np.save(folder / "x.npy", kept)
    pl.concat(pairs).write_parquet(folder / "pairs.parquet")
    pl.scan_parquet(parts / "*.parquet").sink_parquet(folder / "ratings.parquet")
    questions: list[dict[str, object]] = [
        {"id": name, "text": f"Is it {name}?", "tags": [], "direction": None} for name in names
    ]
    (folder / "questions.json").write_text(json.dumps(questions), "utf-8")
