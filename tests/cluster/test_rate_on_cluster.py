"""Rating on a real Ray cluster of two workers against a loopback endpoint: killed, resumed, held to one machine."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from evenhand.execution import Ledger
from evenhand.execution.shards import table_files
from evenhand.studies.rate import RatePlan, rate
from rating_server import RatingServer, rating_server

PAIRS, QUESTIONS = 2000, 6
EVENHAND = [sys.executable, "-c", "from evenhand.cli import main; main()"]
_ORDER = ["grader", "protocol", "question", "pair_id", "order", "repeat"]
_SECONDS = 240


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write pairs into files of two kinds, several to an input, one of them twice, and a row that is none."""
    folder = tmp_path_factory.mktemp("data")
    rows = [
        {
            "prompt": f"Question {n // 3}",
            "chosen": f"A good answer {n}. " * 6,
            "rejected": f"A bad answer {n}. " * 5,
        }
        for n in range(PAIRS - 1)
    ]
    rows.append(dict(rows[0]))
    half = PAIRS // 2
    with (folder / "first.jsonl").open("w") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows[:half])
        file.write("[1, 2]\n")
    pl.DataFrame(rows[half:]).write_parquet(folder / "second.parquet")
    (folder / "_SUCCESS").write_text("")
    return folder


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("questions") / "questions.txt"
    path.write_text("".join(f"Is it good in the way number {n}?\n" for n in range(QUESTIONS)))
    return path


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RatingServer]:
    with rating_server(tmp_path_factory.mktemp("server"), latency=0.02) as found:
        yield found


@dataclass(frozen=True)
class World:
    """What all tests here work with."""

    address: str
    data: Path
    questions: Path
    server: RatingServer
    local: Path
    """The folder of the same run on one machine."""

    def plan(self, out: Path, **options: Any) -> RatePlan:
        return RatePlan(
            pairs=str(self.data), questions=str(self.questions), graders=(self.server.grader,), out=out, **options
        )

    def command(self, out: Path) -> list[str]:
        return [
            *("rate", str(self.data), "--questions", str(self.questions), "--grader", self.server.grader),
            *("--out", str(out), "--engine", "ray", "--ray-address", self.address, "--ray-workers", "2", "--quiet"),
        ]

    def with_ledger(self, out: Path) -> Path:
        """Make a run folder whose ledger holds what one machine asked."""
        out.mkdir()
        with Ledger(out / "ledger.sqlite") as ledger:
            ledger.absorb(self.local / "ledger.sqlite")
        return out


@pytest.fixture(scope="module")
def world(
    cluster: str, data: Path, questions: Path, server: RatingServer, tmp_path_factory: pytest.TempPathFactory
) -> World:
    found = World(cluster, data, questions, server, tmp_path_factory.mktemp("local"))
    rate(found.plan(found.local))
    return found


def _run(arguments: list[str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([*EVENHAND, *arguments], check=False, capture_output=True, text=True, timeout=_SECONDS)


def _table(folder: Path, name: str, order: list[str]) -> pl.DataFrame:
    return pl.read_parquet(table_files(folder, name)).sort(order)


def _same(one: Path, other: Path) -> None:
    ratings = [_table(folder, "ratings", _ORDER) for folder in (one, other)]
    assert ratings[0].height == PAIRS * QUESTIONS * 2 + 25 * QUESTIONS * 2
    assert ratings[0].equals(ratings[1])
    pairs = [_table(folder, "pairs", ["pair_id"]) for folder in (one, other)]
    assert pairs[0].equals(pairs[1])
    assert pairs[0].height == PAIRS


def test_killed_workers_and_drivers_lose_nothing_and_rate_nothing_twice(world: World, tmp_path: Path) -> None:
    before = world.server.asked()
    out = tmp_path / "run"
    command = [*EVENHAND, *world.command(out)]
    driver = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    _wait_for(lambda: (world.server.asked() - before).total() > 3000, driver)
    killed = _kill_a_worker()
    at_the_kill = (world.server.asked() - before).total()
    _wait_for(lambda: (world.server.asked() - before).total() > at_the_kill + 6000, driver)
    driver.kill()
    driver.wait()
    assert driver.stderr
    driver.stderr.close()
    assert not (out / "shards.json").exists(), "the run was to be interrupted"
    done = _run(world.command(out))
    assert done.returncode == 0, done.stderr
    _same(world.local, out)
    asked = world.server.asked() - before
    calls = QUESTIONS * 2 * PAIRS + 25 * QUESTIONS * 2
    twin = QUESTIONS * 2  # The pair that is there twice is asked once where both are in one block.
    assert calls - twin - 25 <= len(asked) + twin <= calls + twin
    # What was under way in the worker (256 calls) and in the two that the driver took along is asked again.
    assert asked.total() - len(asked) <= 3 * 256, f"{asked.total() - len(asked)} were asked twice; killed {killed}"
    with Ledger.peek(out / "ledger.sqlite") as ledger:
        assert ledger.count() == len(asked)
    assert not (out / "ledgers").exists()


def test_what_one_machine_asked_is_not_asked_again_and_the_other_way_round(world: World, tmp_path: Path) -> None:
    out = world.with_ledger(tmp_path / "run")
    before = world.server.asked().total()
    found = _run(world.command(out))
    assert found.returncode == 0, found.stderr
    _same(world.local, out)
    again = rate(world.plan(out))
    assert again.calls == 0
    assert world.server.asked().total() == before
    assert not (out / "shards.json").exists()
    assert not (out / "ratings").exists()
    _same(world.local, out)


def test_a_damaged_shard_is_made_again_without_a_call_and_effects_are_those_of_one_machine(
    world: World, tmp_path: Path
) -> None:
    out = world.with_ledger(tmp_path / "run")
    command = world.command(out)
    assert _run(command).returncode == 0
    shards = table_files(out, "ratings")
    assert len(shards) > 1
    content = shards[0].read_bytes()
    shards[0].write_bytes(content[: len(content) // 2])
    refused = _run(["effects", str(out)])
    assert refused.returncode != 0
    assert "can't be read" in refused.stderr
    before = world.server.asked().total()
    assert _run(command).returncode == 0
    assert world.server.asked().total() == before
    _same(world.local, out)
    figures = []
    for folder in (world.local, out):
        assert _run(["effects", str(folder)]).returncode == 0
        figures.append(json.loads((folder / "effects.json").read_text()))
    assert figures[0] == figures[1]


def test_a_sample_and_an_address_in_a_store(world: World, tmp_path: Path) -> None:
    plain, out = (world.with_ledger(tmp_path / name) for name in ("plain", "run"))
    rate(world.plan(plain, sample=100, seed=3))
    command = [*world.command(out), "--sample", "100", "--seed", "3"]
    command[1] = f"file://{world.data}"
    found = _run(command)
    assert found.returncode == 0, found.stderr
    both = [_table(folder, "ratings", _ORDER) for folder in (plain, out)]
    assert both[0].equals(both[1])
    assert _table(out, "pairs", ["pair_id"]).height == 100


def test_an_error_of_a_worker_says_what_it_would_say_here(world: World, tmp_path: Path) -> None:
    command = world.command(tmp_path / "run")
    command[command.index(world.server.grader)] = f"http://127.0.0.1:{world.server.port}/nowhere#m"
    found = _run([*command, "--sample", "3"])
    assert found.returncode == 1
    assert "404" in found.stderr
    assert "Traceback" not in found.stderr


def test_a_limit_of_cost_is_refused(world: World, tmp_path: Path) -> None:
    command = world.command(tmp_path / "run")
    found = _run([*command, "--max-cost", "1"])
    assert found.returncode == 1
    assert "--max-cost: can't be kept by several workers" in found.stderr


def _wait_for(what: Callable[[], bool], driver: "subprocess.Popen[str]") -> None:
    for _ in range(_SECONDS * 10):
        if what():
            return
        assert driver.poll() is None, driver.stderr and driver.stderr.read()
        time.sleep(0.1)
    raise AssertionError("it took too long")


def _kill_a_worker() -> int:
    """Kill one of the processes that rate, and return its id."""
    found = subprocess.run(["pgrep", "-f", "ray::MapWorker"], capture_output=True, text=True, check=True)
    worker = int(found.stdout.split()[0])
    os.kill(worker, signal.SIGKILL)
    return worker
