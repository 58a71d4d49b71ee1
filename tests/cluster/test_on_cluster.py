"""Rating and auditing on a real Ray cluster of two nodes: killed, resumed, held to one machine."""

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

from conftest import SLOW
from evenhand.execution import Ledger
from evenhand.execution.shards import table_files
from evenhand.studies.rate import RatePlan, rate
from rating_server import RatingServer, rating_server
from ray_nodes import RayCluster
from store_servers import CANARY, NO_AWS, Store

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
    cluster: RayCluster, data: Path, questions: Path, server: RatingServer, tmp_path_factory: pytest.TempPathFactory
) -> World:
    found = World(cluster.address, data, questions, server, tmp_path_factory.mktemp("local"))
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


def test_killed_workers_and_drivers_lose_nothing_and_rate_nothing_twice(
    world: World, cluster: RayCluster, tmp_path: Path
) -> None:
    before = world.server.asked()
    out = tmp_path / "run"
    command = [*EVENHAND, *world.command(out)]
    driver = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    _wait_for(lambda: (world.server.asked() - before).total() > 3000, driver)
    killed = cluster.workers()[0]
    os.kill(killed, signal.SIGKILL)
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


def test_a_ledger_of_one_machine_a_damaged_shard_and_back(world: World, tmp_path: Path) -> None:
    out = world.with_ledger(tmp_path / "run")
    before = world.server.asked().total()
    command = world.command(out)
    found = _run(command)
    assert found.returncode == 0, found.stderr
    _same(world.local, out)
    shards = table_files(out, "ratings")
    assert len(shards) > 1
    content = shards[0].read_bytes()
    shards[0].write_bytes(content[: len(content) // 2])
    refused = _run(["effects", str(out)])
    assert refused.returncode != 0
    assert "can't be read" in refused.stderr
    assert _run(command).returncode == 0
    _same(world.local, out)
    figures = []
    for folder in (world.local, out):
        assert _run(["effects", str(folder)]).returncode == 0
        figures.append(json.loads((folder / "effects.json").read_text()))
        del figures[-1]["made_from"]
    assert figures[0] == figures[1]
    again = rate(world.plan(out))
    assert again.calls == 0
    assert world.server.asked().total() == before, "nothing was asked again"
    assert not (out / "shards.json").exists()
    assert not (out / "ratings").exists()
    _same(world.local, out)


def test_a_folder_in_a_store(
    world: World, store: Store | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Row for row what the same folder comes to on one machine; the run folder is named from here, and holds no key."""
    if store is None:
        pytest.skip("moto, an S3 server, is not installed (pip install --group ray)")
    plain = world.with_ledger(tmp_path / "plain")
    rate(world.plan(plain, sample=100, seed=3))
    for name in NO_AWS:
        monkeypatch.delenv(name, raising=False)
    for name, value in store.environment().items():
        monkeypatch.setenv(name, value)
    store.make_bucket("bucket")
    monkeypatch.chdir(tmp_path)
    command = [*world.command(Path("run")), "--sample", "100", "--seed", "3"]
    command[1] = store.put_folder("bucket", "pairs", world.data)
    found = _run(command)
    assert found.returncode == 0, found.stderr
    both = [_table(folder, "ratings", _ORDER) for folder in (plain, tmp_path / "run")]
    assert both[0].equals(both[1])
    assert _table(tmp_path / "run", "pairs", ["pair_id"]).height == 100
    files = [path for path in (tmp_path / "run").rglob("*") if path.is_file()]
    assert [path for path in files if CANARY.encode() in path.read_bytes()] == []


def test_an_error_of_a_worker_says_what_it_would_say_here(world: World, tmp_path: Path) -> None:
    command = world.command(tmp_path / "run")
    command[command.index(world.server.grader)] = f"http://127.0.0.1:{world.server.port}/nowhere#m"
    found = _run([*command, "--sample", "3"])
    assert found.returncode == 1
    assert found.stderr.splitlines()[-1].startswith("Error: http://127.0.0.1")
    assert "404" in found.stderr
    assert "Traceback" not in found.stderr
    damaged = tmp_path / "data"
    damaged.mkdir()
    (damaged / "a.jsonl").write_text('{"prompt": "?", "chosen": "good", "rejected": "bad"}\n')
    (damaged / "b.parquet").write_text("nothing")
    command[1] = str(damaged)
    found = _run(command)
    assert found.returncode == 1
    assert "b.parquet" in found.stderr
    assert "Traceback" not in found.stderr


def test_machines_that_do_not_share_the_run_folder_are_found_out(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a path that leads elsewhere in every process, as it would on another machine."""
    before = world.server.asked().total()
    monkeypatch.chdir(tmp_path)
    command = world.command(Path("/proc/self/cwd/run"))
    found = _run(command)
    assert found.returncode == 1
    assert "a machine of the cluster" in found.stderr
    assert "can't use the run folder (No such file or directory)" in found.stderr
    assert "no model was asked" in found.stderr
    assert world.server.asked().total() == before


def test_a_limit_of_cost_is_refused(world: World, tmp_path: Path) -> None:
    command = world.command(tmp_path / "run")
    found = _run([*command, "--max-cost", "1"])
    assert found.returncode == 1
    assert "--max-cost: can't be kept by several workers" in found.stderr


def _audit(server: RatingServer, out: Path, prompt: Path, *more: str) -> "subprocess.CompletedProcess[str]":
    command = [
        *("audit", "--pairs", "builtin:us", "--sample", "4", "--subject", server.grader, "--max-tokens", "24"),
        *("--system-prompt", "none", "--system-prompt", str(prompt), "--grader", "fitted:builtin"),
        *("--draws", "100", "--out", str(out), "--quiet", *more),
    ]
    return subprocess.run([*EVENHAND, *command], check=False, capture_output=True, text=True, timeout=400)


def test_configurations_come_out_as_in_one_process(cluster: RayCluster, tmp_path: Path) -> None:
    prompt = tmp_path / "brief.txt"
    prompt.write_text("Answer in one sentence.")
    with rating_server(tmp_path) as server:
        done = _audit(server, tmp_path / "cluster", prompt, *("--engine", "ray", "--ray-address", cluster.address))
        assert done.returncode == 0, done.stderr
        assert server.asked().total() == 2 * 2 * 4
        alone = _audit(server, tmp_path / "alone", prompt)
        assert alone.returncode == 0, alone.stderr
    folders = sorted(path.name for path in (tmp_path / "alone").iterdir() if path.is_dir())
    assert len(folders) == 2
    for folder in folders:
        both = [
            pl.read_parquet(tmp_path / run / folder / "responses.parquet").drop("at") for run in ("alone", "cluster")
        ]
        assert both[0].equals(both[1])
        summaries = [(tmp_path / run / folder / "summary.json").read_bytes() for run in ("alone", "cluster")]
        assert summaries[0] == summaries[1]
    comparisons = [(tmp_path / run / "comparison.json").read_text() for run in ("alone", "cluster")]
    assert comparisons[0] == comparisons[1].replace(str(tmp_path / "cluster"), str(tmp_path / "alone"))


def test_one_configuration_is_refused(tmp_path: Path) -> None:
    command = ["audit", "--pairs", "builtin:us", "--subject", "smollm2-135m", "--grader", "fitted:builtin"]
    done = subprocess.run(
        [*EVENHAND, *command, "--out", str(tmp_path / "run"), "--engine", "ray"],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 1
    assert "--engine ray: is for several configurations" in done.stderr
    assert not (tmp_path / "run").exists()


@pytest.mark.skipif(not SLOW, reason="takes two minutes: make slow")
def test_a_node_that_is_lost_takes_nothing_along(cluster: RayCluster, tmp_path: Path) -> None:
    """All of a node is killed, the run goes on without it; then the command is killed, and goes on when given again."""
    (tmp_path / "data").mkdir()
    for part in range(6):  # As many blocks, so that there is work left when a node is lost.
        rows = [
            {"prompt": f"Question {part} {n}", "chosen": f"Good {part} {n}", "rejected": f"Bad {part} {n}"}
            for n in range(15)
        ]
        pl.DataFrame(rows).write_parquet(tmp_path / "data" / f"{part}.parquet")
    (tmp_path / "questions.txt").write_text("Is it good?\nIs it short?\n")
    with rating_server(tmp_path, latency=0.25) as server:
        slowly = tmp_path / "models.toml"
        slowly.write_text(f'["{server.grader}"]\nconcurrency = 4\n')
        options = [*("--questions", str(tmp_path / "questions.txt"), "--grader", server.grader, "--leak-sample", "0")]
        asking = ["rate", str(tmp_path / "data"), *options, "--quiet", "--out"]
        ray = [str(tmp_path / "run"), "--engine", "ray", "--ray-address", cluster.address]
        command = [*EVENHAND, *asking, *ray, "--ray-workers", "3", "--models", str(slowly)]
        driver = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        _wait_for(lambda: server.asked().total() > 40, driver)
        assert cluster.second.processes("ray::MapWorker"), "the head has room for two of three"
        cluster.second.kill()
        at_the_kill = server.asked().total()
        _wait_for(lambda: server.asked().total() > at_the_kill + 40, driver)
        driver.kill()
        driver.wait()
        assert driver.stderr
        driver.stderr.close()
        assert not (tmp_path / "run" / "shards.json").exists(), "the run was to be interrupted"
        done = _run([*asking, *ray])
        assert done.returncode == 0, done.stderr
        asked = server.asked()
        assert _run([*asking, str(tmp_path / "alone")]).returncode == 0
    both = [_table(tmp_path / run, "ratings", _ORDER) for run in ("run", "alone")]
    assert both[0].height == 6 * 15 * 2 * 2
    assert both[0].equals(both[1])
    assert len(asked) == 6 * 15 * 2 * 2
    # What was under way in three workers, four calls each, and what two more of the restarted ones had begun.
    assert asked.total() - len(asked) <= 5 * 4, f"{asked.total() - len(asked)} were asked twice"


def _wait_for(what: Callable[[], bool], driver: "subprocess.Popen[str]") -> None:
    for _ in range(_SECONDS * 10):
        if what():
            return
        assert driver.poll() is None, driver.stderr and driver.stderr.read()
        time.sleep(0.1)
    raise AssertionError("it took too long")
