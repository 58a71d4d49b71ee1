"""A run that is killed at any moment, twenty times over, and two runs over one ledger at once."""

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path

from fault_server import Event, FaultServer, digest, echo, fault_server

FLIGHT = 32
REQUESTS = 840
KILLS = 20

# Making a process that has everything loaded takes a moment, so one that has makes copies of itself: each a process of
# its own that knows nothing of the others. A command is a run's arguments; the answers are the run's number, and how it
# ended.
NURSERY = """
import json, os, sys
from pathlib import Path
from evenhand.execution import Ledger, Patience, run_requests
from evenhand.instruments import Message, Request
from evenhand.models import ModelRole, open_model
from evenhand.readings import Reply

def run(who, url, path, count, flight, results):
    os.environ["EVENHAND_API_KEY"] = who
    model = open_model(url + "#m", ModelRole.GRADER)
    model.concurrency = flight
    requests = (Request(messages=(Message("user", f"request {n}"),), max_tokens=20) for n in range(count))
    patience = Patience(tries=50, rate_limit_tries=50, bad_reply_tries=50, first_wait=0.001, longest_wait=0.01)
    with Ledger(Path(path)) as ledger:
        answers = run_requests(requests, model, ledger, lambda answer: answer.outcome, patience=patience)
    Path(results).write_text(json.dumps([isinstance(one, Reply) and one.text for one in answers]))

for line in sys.stdin:
    words = line.split()
    if words[0] == "run":
        pid = os.fork()
        if not pid:
            code = 1
            try:
                run(*words[1:4], int(words[4]), int(words[5]), words[6])
                code = 0
            finally:
                os._exit(code)
        print(pid, flush=True)
    else:
        print(os.waitstatus_to_exitcode(os.waitpid(int(words[1]), 0)[1]), flush=True)
"""


@dataclass
class Nursery:
    process: "subprocess.Popen[str]"
    server: FaultServer
    ledger: Path
    alive: set[int]

    def begin(self, who: str, count: int = REQUESTS) -> int:
        """Begin a run in a process of its own, and return its number."""
        pid = int(self._tell(f"run {who} {self.server.url} {self.ledger} {count} {FLIGHT} {self._results(who)}"))
        self.alive.add(pid)
        return pid

    def end(self, pid: int) -> int:
        """Wait until a run has ended, and return how."""
        code = int(self._tell(f"wait {pid}"))
        self.alive.discard(pid)
        return code

    def results(self, who: str) -> list[str]:
        texts: list[str] = json.loads(self._results(who).read_text())
        return texts

    def _results(self, who: str) -> Path:
        return self.ledger.with_name(f"results-{who}.json")

    def _tell(self, command: str) -> str:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline()


@contextmanager
def nursery(server: FaultServer, ledger: Path) -> Iterator[Nursery]:
    process = subprocess.Popen(
        [sys.executable, "-c", NURSERY], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    found = Nursery(process, server, ledger, set())
    try:
        yield found
    finally:
        for pid in found.alive:
            os.kill(pid, signal.SIGKILL)
        process.communicate()


def kept(path: Path) -> dict[str, str]:
    """Return what a sound ledger has: the hashes of prompts, and the replies' texts.

    It looks at a copy, so that whoever opens the ledger next finds it as the killed process left it.
    """
    if not path.exists():
        return {}
    copy = path.with_name("copy")
    shutil.rmtree(copy, ignore_errors=True)
    copy.mkdir()
    for name in (path.name, f"{path.name}-wal"):
        if (path.parent / name).exists():
            shutil.copy(path.parent / name, copy / name)
    with closing(sqlite3.connect(copy / path.name)) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'replies'").fetchall():
            return {}
        rows = db.execute("SELECT request, reply FROM replies").fetchall()
    texts = {digest(json.loads(asked)["messages"][-1]["content"]): json.loads(answer)["text"] for asked, answer in rows}
    assert len(texts) == len(rows)
    return texts


def of(who: str, events: list[Event], kind: str) -> list[str]:
    return [event.prompt for event in events if event.who == who and event.kind == kind]


def check_texts(texts: dict[str, str], count: int) -> None:
    prompts = [f"request {n}" for n in range(count)]
    assert set(texts) == {digest(prompt) for prompt in prompts}
    assert all(texts[digest(prompt)].startswith(f"{echo(prompt)}, answer ") for prompt in prompts)


def test_killed_twenty_times_and_nothing_is_lost_or_asked_again(tmp_path: Path) -> None:
    path, chance = tmp_path / "l.sqlite", random.Random(20)
    # The server gives so many answers a life and no more, so that none comes to its end, however late it is killed.
    share = REQUESTS // (KILLS + 1)
    snapshots = [kept(path)]
    with (
        fault_server(tmp_path / "log", seed=5, faults=0.03, latency=0.01, allowed=0) as server,
        nursery(server, path) as runs,
    ):
        for life in range(KILLS):
            given = sum(event.kind == "answered" for event in server.events())
            server.set(allowed=given + share)
            pid = runs.begin(f"life-{life}")
            # Some are killed while they open the ledger.
            after = chance.randrange(share) if life % 5 else 0
            server.wait_until(partial(has_been_given, f"life-{life}", after))
            time.sleep(0.03 * chance.random())
            os.kill(pid, signal.SIGKILL)
            assert runs.end(pid) == -signal.SIGKILL
            snapshots.append(kept(path))
        server.set(allowed=None)
        assert runs.end(runs.begin("last")) == 0
        events = server.events()
        texts = kept(path)
        assert runs.results("last") == [texts[digest(f"request {n}")] for n in range(REQUESTS)]
    check_texts(texts, REQUESTS)
    lost = [
        lost_in_a_life(f"life-{life}", events, before, after)
        for life, (before, after) in enumerate(pairwise(snapshots))
    ]
    lost_in_a_life("last", events, snapshots[-1], texts)
    answered = [event.prompt for event in events if event.kind == "answered"]
    assert len(answered) - REQUESTS == sum(lost) <= KILLS * FLIGHT


def has_been_given(who: str, answers: int, events: list[Event]) -> bool:
    return len(of(who, events, "answered")) >= answers


def lost_in_a_life(who: str, events: list[Event], before: dict[str, str], after: dict[str, str]) -> int:
    """Return how many answers were sent and are not in the ledger, having checked that they can only be those that
    were under way."""
    asked, answered = of(who, events, "asked"), of(who, events, "answered")
    assert not set(asked) & set(before), "what is kept is not asked again"
    assert before.items() <= after.items(), "what is kept stays"
    new = set(after) - set(before)
    assert new <= set(answered)
    assert max(Counter(answered).values(), default=1) == 1
    faulted = Counter(of(who, events, "faulted"))
    under_way = [prompt for prompt, count in Counter(asked).items() if prompt not in new and count > faulted[prompt]]
    assert len(under_way) <= FLIGHT
    assert set(answered) - new <= set(under_way)
    return len(answered) - len(new)


def test_two_runs_over_one_ledger_at_once(tmp_path: Path) -> None:
    path, count = tmp_path / "l.sqlite", 400
    with (
        fault_server(tmp_path / "log", seed=6, faults=0.03, latency=0.01, allowed=0) as server,
        nursery(server, path) as runs,
    ):
        both = [runs.begin(who, count) for who in ("one", "two")]
        server.wait_until(lambda events: {event.who for event in events} == {"one", "two"})
        server.set(allowed=None)
        assert [runs.end(pid) for pid in both] == [0, 0]
        texts = kept(path)
        check_texts(texts, count)
        # Each answer has a number of its own: where both were answered, both go by what was kept first.
        assert runs.results("one") == runs.results("two") == [texts[digest(f"request {n}")] for n in range(count)]
        asked = len(server.events())
        assert runs.end(runs.begin("three", count)) == 0
        assert len(server.events()) == asked


def test_a_run_goes_on_when_another_over_the_same_ledger_is_killed(tmp_path: Path) -> None:
    path, count = tmp_path / "l.sqlite", 400
    with (
        fault_server(tmp_path / "log", seed=7, latency=0.01, allowed=0) as server,
        nursery(server, path) as runs,
    ):
        one, two = (runs.begin(who, count) for who in ("one", "two"))
        server.wait_until(lambda events: {event.who for event in events} == {"one", "two"})
        server.set(allowed=count // 2)
        server.wait_until(partial(has_been_given, "one", count // 8))
        os.kill(one, signal.SIGKILL)
        assert runs.end(one) == -signal.SIGKILL
        server.set(allowed=None)
        assert runs.end(two) == 0
        texts = kept(path)
        check_texts(texts, count)
        assert runs.results("two") == [texts[digest(f"request {n}")] for n in range(count)]
