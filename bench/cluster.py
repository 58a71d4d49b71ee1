"""Rating by way of a Ray cluster of one and of two workers, against one process, on one endpoint."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.loopback import loopback

_PAIRS, _QUESTIONS, _LATENCY_MS = 2000, 6, 50.0
_CALLS = 2 * _PAIRS * _QUESTIONS
_RATE = """
import resource, sys, time, json, os
from pathlib import Path
from evenhand.execution.cluster import Cluster
from evenhand.studies.rate import RatePlan, rate
from evenhand.studies.rate.cluster import rate_on_cluster
from evenhand.studies.watch import UnwatchedStudy
folder, port, workers = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])

class Watch(UnwatchedStudy):
    given = 0.0
    def say(self, text):
        if "workers" in text:
            self.given = time.perf_counter()

watch, start = Watch(), time.perf_counter()
plan = RatePlan(
    pairs=str(folder / "data"), questions=str(folder / "questions.txt"), graders=(f"http://127.0.0.1:{port}/v1#m",),
    out=folder / f"run {workers}", leak_sample=0, cluster=Cluster(None, workers) if workers else None,
)
result = rate_on_cluster(plan, watch) if workers else rate(plan, watch)
now = time.perf_counter()
print(json.dumps([now - start, now - (watch.given or start), result.calls]))
"""


def run() -> Iterator[str]:
    """Measure 24,000 calls."""
    with tempfile.TemporaryDirectory() as name, loopback(_LATENCY_MS, "rating") as server:
        folder = Path(name)
        _write(folder)
        yield (
            f"{_PAIRS:,} pairs x {_QUESTIONS} questions in both orders, endpoint of {_LATENCY_MS:.0f} ms,"
            " 256 in flight a worker"
        )
        alone = 0.0
        for workers in (0, 1, 2):
            command = [sys.executable, "-c", _RATE, str(folder), str(server.port), str(workers)]
            quiet = {**os.environ, "RAY_AUTH_MODE": "disabled"}
            done = subprocess.run(
                command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True, env=quiet
            )
            whole, rating, calls = json.loads(done.stdout.splitlines()[-1])
            assert calls == _CALLS
            alone = alone or rating
            what = f"a cluster of {workers} workers" if workers else "one process"
            more = f", {1000 * (rating - alone) / calls:+.3f} ms a call against one process" if workers else ""
            yield (
                f"  {what:22} {calls / rating:6,.0f} calls/s while it rates ({rating:.1f} s){more};"
                f" with its start and end {whole:.0f} s"
            )


def _write(folder: Path) -> None:
    (folder / "data").mkdir()
    with (folder / "data" / "pairs.jsonl").open("w") as file:
        for n in range(_PAIRS):
            texts = (f"Question {n}", f"A good answer {n}. " * 40, f"A bad answer {n}. " * 40)
            file.write(json.dumps(dict(zip(("prompt", "chosen", "rejected"), texts, strict=True))) + "\n")
    lines = (f"Is it good in the way number {n}?\n" for n in range(_QUESTIONS))
    (folder / "questions.txt").write_text("".join(lines))
