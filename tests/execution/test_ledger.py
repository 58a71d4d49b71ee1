"""The ledger keeps every reply once and serves no failure."""

import sqlite3
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from conftest import position, reply
from evenhand.execution import Ledger, LedgerError
from evenhand.instruments import Request
from evenhand.readings import Failure, FailureKind

REQUEST = Request(prompt="q")


def test_kept_and_found_again_in_another_process(tmp_path: Path) -> None:
    made = reply(position("(C", 0.5, **{"\ud83d": 0.2}))
    with Ledger(tmp_path / "l.sqlite") as ledger:
        assert ledger.find("k") is None
        kept = ledger.keep("k", "m", REQUEST, made)
        assert kept.reply == made
    with Ledger(tmp_path / "l.sqlite") as again:
        assert again.find("k") == kept
        assert again.count() == 1


def test_the_first_reply_stays(tmp_path: Path) -> None:
    one, other = reply(position("A", 0.5)), reply(position("B", 0.5))
    with Ledger(tmp_path / "l.sqlite") as ledger, Ledger(tmp_path / "l.sqlite") as second:
        ledger.keep("k", "m", REQUEST, one)
        assert second.keep("k", "m", REQUEST, other).reply == one


def test_several_are_kept_together_or_not_at_all(tmp_path: Path) -> None:
    one, other = reply(position("A", 0.5)), reply(position("B", 0.5))
    with Ledger(tmp_path / "l.sqlite") as ledger:
        ledger.keep("k1", "m", REQUEST, one)
        kept = ledger.keep_all([("k1", "m", REQUEST, other), ("k2", "m", REQUEST, other)])
        assert [entry.reply for entry in kept] == [one, other]
        bad: tuple[Any, ...] = (object(), "m", REQUEST, one)
        with pytest.raises(LedgerError, match="a reply could not be kept"):
            ledger.keep_all([("k3", "m", REQUEST, one), bad])
        assert ledger.find("k3") is None
        ledger.keep("k4", "m", REQUEST, one)
        assert ledger.count() == 3


def test_failures_are_events_and_never_answers(tmp_path: Path) -> None:
    with Ledger(tmp_path / "l.sqlite") as ledger:
        ledger.note_failure("k", "m", Failure(FailureKind.TRANSPORT, "reset \ud83d"))
        assert ledger.find("k") is None
    rows = sqlite3.connect(tmp_path / "l.sqlite").execute("SELECT key, kind, reason FROM failures").fetchall()
    assert rows == [("k", "transport", "reset ?")]


def test_killed_right_after_keep(tmp_path: Path) -> None:
    script = f"""
import os, signal
from pathlib import Path
from evenhand.execution import Ledger
from evenhand.instruments import Request
from evenhand.readings import Reply
ledger = Ledger(Path({str(tmp_path / "l.sqlite")!r}))
for n in range(20):
    ledger.keep(f"k{{n}}", "m", Request(prompt="q"), Reply("a", "stop", "m"))
os.kill(os.getpid(), signal.SIGKILL)
"""
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == -9
    with Ledger(tmp_path / "l.sqlite") as ledger:
        assert ledger.count() == 20


def test_two_processes_write_into_one_ledger(tmp_path: Path) -> None:
    script = f"""
import sys
from pathlib import Path
from evenhand.execution import Ledger
from evenhand.instruments import Request
from evenhand.readings import Reply
with Ledger(Path({str(tmp_path / "l.sqlite")!r})) as ledger:
    for n in range(100):
        ledger.keep(f"k{{n % 60}}-{{sys.argv[1] if n < 60 else ''}}", "m", Request(prompt="q"), Reply("a", "stop", "m"))
"""
    both = [subprocess.Popen([sys.executable, "-c", script, name]) for name in "ab"]
    assert [process.wait(120) for process in both] == [0, 0]
    with Ledger(tmp_path / "l.sqlite") as ledger:
        assert ledger.count() == 60 + 60 + 40


def test_opening_waits_for_another_connection_that_holds_the_file(tmp_path: Path) -> None:
    """Opening changes the journal, for which SQLite does not wait by itself."""
    path = tmp_path / "l.sqlite"
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("CREATE TABLE t (x)")
    other.execute("BEGIN IMMEDIATE")
    threading.Timer(0.3, lambda: other.execute("COMMIT")).start()
    with pytest.raises(LedgerError, match="schema version 0"):
        Ledger(path)
    other.close()


def test_not_a_ledger(tmp_path: Path) -> None:
    path = tmp_path / "l.sqlite"
    path.write_text("this is a letter, not a ledger " * 100)
    before = path.read_bytes()
    with pytest.raises(LedgerError, match=r"can't be used as a ledger.*another run folder"):
        Ledger(path)
    assert path.read_bytes() == before


def test_ledger_of_a_later_version(tmp_path: Path) -> None:
    Ledger(tmp_path / "l.sqlite").close()
    db = sqlite3.connect(tmp_path / "l.sqlite")
    db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(LedgerError, match="schema version 99"):
        Ledger(tmp_path / "l.sqlite")


def test_a_reply_that_cannot_be_kept_stops_the_run(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "l.sqlite")
    ledger._db.execute("PRAGMA query_only = ON")
    with pytest.raises(LedgerError, match="a reply could not be kept"):
        ledger.keep("k", "m", REQUEST, reply(position("A", 1.0)))
    ledger.close()
