"""Ctrl-C, as a user presses it: once lets the calls under way come in, twice ends at once."""

import json
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from conftest import environment
from evenhand.execution import Ledger
from fault_server import Event, FaultServer, digest, fault_server

EVENHAND = [sys.executable, "-c", "from evenhand.cli import main; main()"]
PAIRS = 12
RESPONSES = 2 * PAIRS
GOES_ON = "the same command goes on from here"
NOTHING = "nothing could be measured"
"""How a whole run ends with the compact instruments: the server says a verdict of the rubric, and no Yes or No."""


@dataclass
class Command:
    """A command in a process of its own, and what it has said so far."""

    process: "subprocess.Popen[str]"
    said: Path

    def wait_for(self, words: str) -> None:
        deadline = time.monotonic() + 60
        while words not in (said := self.said.read_text("utf-8")):
            assert self.process.poll() is None, said
            assert time.monotonic() < deadline, said
            time.sleep(0.01)

    def wait_until_loaded(self, weights: Path) -> None:
        """Wait until a model's weights are in the process's memory: its first calls are then under way."""
        maps = Path(f"/proc/{self.process.pid}/maps")
        deadline = time.monotonic() + 60
        while weights.name not in maps.read_text("utf-8", "replace"):
            assert self.process.poll() is None, self.said.read_text("utf-8")
            assert time.monotonic() < deadline
            time.sleep(0.01)

    def interrupt(self) -> None:
        self.process.send_signal(signal.SIGINT)

    def end(self) -> tuple[int, str]:
        code = self.process.wait(120)
        return code, self.said.read_text("utf-8")


@contextmanager
def audit(folder: Path, subject: str, *graders: str, **options: str) -> Iterator[Command]:
    settings = {"pairs": "builtin:us", "sample": str(PAIRS), "subject": subject, "instruments": "compact"}
    settings |= {"max_tokens": "24", "out": str(folder / "run"), **options}
    command = [
        *EVENHAND,
        "audit",
        *(word for name, value in settings.items() for word in (f"--{name.replace('_', '-')}", value)),
    ]
    command += [word for grader in graders for word in ("--grader", grader)]
    said = folder / "said"
    with said.open("w") as stream:
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=stream, text=True, env=environment(EVENHAND_API_KEY="me")
        )
        try:
            yield Command(process, said)
        finally:
            process.kill()
            process.wait()


def kept(folder: Path) -> set[str]:
    """Return the hashes of the prompts that a sound ledger has replies for."""
    with closing(sqlite3.connect(folder / "run" / "ledger.sqlite")) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        requests = [json.loads(request) for (request,) in db.execute("SELECT request FROM replies")]
    return {digest(one["messages"][-1]["content"] if one["messages"] else one["prompt"]) for one in requests}


def replies(folder: Path) -> int:
    with Ledger.peek(folder / "run" / "ledger.sqlite") as ledger:
        return ledger.count()


def prompts(events: list[Event], kind: str) -> set[str]:
    return {event.prompt for event in events if event.kind == kind}


def under_way(events: list[Event]) -> int:
    kinds = Counter(event.kind for event in events)
    return kinds["asked"] - kinds["answered"] - kinds["gone"]


def at(server: FaultServer, *names: str) -> list[str]:
    return [f"{server.url}#{name}" for name in names]


STAGES = pytest.mark.parametrize(
    ("instruments", "answers", "calls"),
    [("compact", 5, RESPONSES - 5), ("compact", RESPONSES + 4, 30), ("rubric", RESPONSES + 20, 30)],
    ids=["while the subject writes", "while a grader judges", "while a grader with a rubric judges"],
)
"""The server stops answering after so many, and the interrupt comes when at least so many calls wait for an answer."""


@STAGES
def test_once_lets_the_calls_under_way_come_in(tmp_path: Path, instruments: str, answers: int, calls: int) -> None:
    with fault_server(tmp_path / "log", allowed=answers) as server:
        subject, grader = at(server, "subject", "grader")
        with audit(tmp_path, subject, grader, instruments=instruments) as command:
            server.wait_until(lambda events: under_way(events) >= calls)
            command.interrupt()
            command.wait_for("Stopping: waiting for ")
            server.set(allowed=None)
            code, said = command.end()
        assert code == 130, said
        assert GOES_ON in said
        assert "Traceback" not in said
        first = server.events()
        assert kept(tmp_path) == prompts(first, "answered") == prompts(first, "asked")
        assert not (tmp_path / "run" / "summary.json").exists()

        with audit(tmp_path, subject, grader, instruments=instruments) as command:
            code, said = command.end()
        assert (code, NOTHING in said) == ((0, False) if instruments == "rubric" else (1, True)), said
        asked = Counter(event.body for event in server.events() if event.kind == "asked")
    assert len(asked) > len(prompts(first, "asked")), "something was not asked any more"
    assert set(asked.values()) == {1}, "nothing was asked twice"
    assert (tmp_path / "run" / "summary.json").exists()


def test_once_reaches_graders_that_work_side_by_side(tmp_path: Path) -> None:
    with fault_server(tmp_path / "log", allowed=RESPONSES) as server:
        subject, *graders = at(server, "subject", "one", "two")
        with audit(tmp_path, subject, *graders) as command:
            server.wait_until(lambda events: under_way(events) == 2 * 32)
            command.interrupt()
            command.wait_for("... and for 32 of")
            server.set(allowed=None)
            code, said = command.end()
        assert (code, GOES_ON in said) == (130, True), said
        assert len(server.events()) == 2 * (RESPONSES + 2 * 32)

        with audit(tmp_path, subject, *graders) as command:
            code, said = command.end()
        assert (code, NOTHING in said) == (1, True), said
        asked = Counter(event.body for event in server.events() if event.kind == "asked")
    assert len(asked) > RESPONSES + 2 * 32
    assert set(asked.values()) == {1}


@STAGES
def test_twice_ends_at_once_whatever_is_under_way(tmp_path: Path, instruments: str, answers: int, calls: int) -> None:
    """The server never answers again, so the process can only have ended by itself."""
    with fault_server(tmp_path / "log", allowed=answers) as server:
        subject, grader = at(server, "subject", "grader")
        with audit(tmp_path, subject, grader, instruments=instruments) as command:
            server.wait_until(lambda events: under_way(events) >= calls and replies(tmp_path) == answers)
            command.interrupt()
            command.wait_for("Press Ctrl-C again to end at once")
            command.interrupt()
            code, said = command.end()
        assert (code, GOES_ON in said) == (130, True), said
        assert "Traceback" not in said
        first = server.events()
        assert kept(tmp_path) == prompts(first, "answered")
        assert len(prompts(first, "answered")) == answers

        server.set(allowed=None)
        with audit(tmp_path, subject, grader, instruments=instruments) as command:
            code, said = command.end()
        assert (code, NOTHING in said) == ((0, False) if instruments == "rubric" else (1, True)), said
        again = prompts(server.events()[len(first) :], "asked")
    assert not again & prompts(first, "answered"), "what was kept is not asked again"
    assert prompts(first, "asked") - prompts(first, "answered") <= again


@pytest.mark.embedded
@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="only Linux tells what a process has loaded")
def test_twice_ends_a_model_in_the_middle_of_an_answer(tmp_path: Path, subject_weights: Path) -> None:
    with audit(tmp_path, "smollm2-135m", "smollm2-135m", max_tokens="3000") as command:
        command.wait_until_loaded(subject_weights)
        command.interrupt()
        command.wait_for("Press Ctrl-C again to end at once")
        command.interrupt()
        code, said = command.end()
    assert (code, GOES_ON in said) == (130, True), said
    assert len(kept(tmp_path)) < RESPONSES
    assert not (tmp_path / "run" / "summary.json").exists()
