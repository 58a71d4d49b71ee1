"""The ledger keeps every reply once and serves no failure."""

import json
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from conftest import position, reply
from evenhand.execution import Ledger, LedgerError
from evenhand.execution.ledger import Paid
from evenhand.instruments import Message, Request
from evenhand.readings import Failure, FailureKind, Reply, TokenPosition

REQUEST = Request(prompt="q")


def look(path: Path, query: str) -> list[tuple[Any, ...]]:
    db = sqlite3.connect(path)
    rows = db.execute(query).fetchall()
    db.close()
    return rows


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
        kept = ledger.keep_all([Paid("k1", "m", REQUEST, other), Paid("k2", "m", REQUEST, other)])
        assert [entry.reply for entry in kept] == [one, other]
        bad: Any = object()
        with pytest.raises(LedgerError, match="a reply could not be kept"):
            ledger.keep_all([Paid("k3", "m", REQUEST, one), Paid(bad, "m", REQUEST, one)])
        assert ledger.find("k3") is None
        ledger.keep("k4", "m", REQUEST, one)
        assert ledger.count() == 3


def test_the_same_key_twice_in_one_go(tmp_path: Path) -> None:
    one, other = reply(position("A", 0.5)), reply(position("B", 0.5))
    with Ledger(tmp_path / "l.sqlite") as ledger:
        kept = ledger.keep_all([Paid("k", "m", REQUEST, one), Paid("k", "m", REQUEST, other)])
        assert [entry.reply for entry in kept] == [one, one]
        assert ledger.keep_all([]) == []


def test_many_are_found_at_once(tmp_path: Path) -> None:
    with Ledger(tmp_path / "l.sqlite") as ledger:
        made = {f"k{n}": Reply(f"answer {n}", "stop", "m") for n in range(1200)}
        ledger.keep_all([Paid(key, "m", REQUEST, answer) for key, answer in made.items()])
        found = ledger.find_all([*made, "absent", "k0"])
        assert {key: entry.reply for key, entry in found.items()} == made
        assert ledger.find_all([]) == {}


def test_how_many_calls_it_took(tmp_path: Path) -> None:
    with Ledger(tmp_path / "l.sqlite") as ledger:
        ledger.keep("k1", "m", REQUEST, reply(position("A", 0.5)))
        ledger.keep("k2", "m", REQUEST, reply(position("A", 0.5)), tries=4)
        ledger.note_failure("k3", "m", Failure(FailureKind.TRANSPORT, "reset"), tries=6)
    rows = look(tmp_path / "l.sqlite", "SELECT key, tries FROM replies UNION SELECT key, tries FROM failures")
    assert sorted(rows) == [("k1", 1), ("k2", 4), ("k3", 6)]


@pytest.mark.parametrize(
    "odd",
    [
        Reply("half of a pair: \ud83d", "stop", "m"),
        Reply("null", "stop", "m", (TokenPosition("a", float("-inf"), (("a", 0.0), ("\ud83d", float("-inf")))),)),
        Reply("\u2028\x00\x7f é 漢 🙂", "length", "m", thinking='say "no"\\'),
        Reply("", "stop", "m", prompt_tokens=2**70),
    ],
)
def test_whatever_a_model_writes_comes_back_as_it_was(tmp_path: Path, odd: Reply) -> None:
    request = Request(messages=(Message("user", "a lone \udc00 and 🙂"),), stop=("\n",), top_logprobs=5)
    with Ledger(tmp_path / "l.sqlite") as ledger:
        ledger.keep("k", "m", request, odd)
        entry = ledger.find("k")
    assert entry is not None
    assert entry.reply == odd
    ((asked, answered),) = look(tmp_path / "l.sqlite", "SELECT request, reply FROM replies")
    assert json.loads(asked) == json.loads(json.dumps(request.as_json()))
    assert json.loads(answered) == json.loads(json.dumps(odd.as_json()))


def test_failures_are_events_and_never_answers(tmp_path: Path) -> None:
    with Ledger(tmp_path / "l.sqlite") as ledger:
        ledger.note_failure("k", "m", Failure(FailureKind.TRANSPORT, "reset \ud83d"))
        assert ledger.find("k") is None
    assert look(tmp_path / "l.sqlite", "SELECT key, kind, reason FROM failures") == [("k", "transport", "reset ?")]


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


def test_a_reply_that_cannot_be_kept_stops_the_run(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "l.sqlite")
    ledger._db.execute("PRAGMA query_only = ON")
    with pytest.raises(LedgerError, match="a reply could not be kept"):
        ledger.keep("k", "m", REQUEST, reply(position("A", 1.0)))
    ledger.close()


def test_a_name_that_no_file_can_hold(tmp_path: Path) -> None:
    with Ledger(tmp_path / "l.sqlite") as ledger:
        with pytest.raises(LedgerError, match=r"a reply could not be kept \(.*surrogates not allowed"):
            ledger.keep("k1", "model \udcff", REQUEST, reply(position("A", 1.0)))
        ledger.keep("k2", "m", REQUEST, reply(position("A", 1.0)))


def test_a_full_disk_is_told_as_that(tmp_path: Path) -> None:
    """SQLite then ends the transaction by itself; the ledger goes on once there is room."""
    big = Reply("x" * 200_000, "stop", "m")
    with Ledger(tmp_path / "l.sqlite") as ledger:
        ledger.keep("k0", "m", REQUEST, big)
        (pages,) = ledger._db.execute("PRAGMA page_count").fetchone()
        ledger._db.execute(f"PRAGMA max_page_count = {pages + 3}")
        with pytest.raises(LedgerError, match=r"full.*see that the disk has room"):
            ledger.keep("k1", "m", REQUEST, big)
        ledger._db.execute("PRAGMA max_page_count = 100000")
        ledger.keep("k2", "m", REQUEST, big)
    assert look(tmp_path / "l.sqlite", "SELECT key FROM replies ORDER BY key") == [("k0",), ("k2",)]


@pytest.mark.parametrize("damaged", ["{", "null", "[]", "{}", '{"text": "a", "positions": [{}]}', '{"positions": []}'])
def test_a_damaged_row_is_told_and_can_be_removed(tmp_path: Path, damaged: str) -> None:
    path = tmp_path / "l.sqlite"
    with Ledger(path) as ledger:
        ledger.keep_all([Paid(key, "m", REQUEST, reply(position("A", 0.5))) for key in ("k1", "k2")])
        ledger._db.execute("UPDATE replies SET reply = ? WHERE key = 'k1'", (damaged,))
        for look_up in (lambda: ledger.find("k1"), lambda: ledger.find_all(["k2", "k1"])):
            with pytest.raises(LedgerError, match=r"l\.sqlite: the reply under the key k1 is damaged.*delete this row"):
                look_up()
        assert ledger.find("k2")
        ledger._db.execute("DELETE FROM replies WHERE key = 'k1'")
        assert ledger.find("k1") is None


def test_a_damaged_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "l.sqlite"
    with Ledger(path) as ledger:
        ledger.keep_all([Paid(f"k{n}", "m", REQUEST, Reply("x" * 5000, "stop", "m")) for n in range(100)])
    content = bytearray(path.read_bytes())
    content[16_384:] = b"\xff" * (len(content) - 16_384)
    path.write_bytes(content)
    with Ledger(path) as ledger:
        for look_up in (lambda: [ledger.find(f"k{n}") for n in range(100)], lambda: ledger.find_all(["k1", "k50"])):
            with pytest.raises(LedgerError, match=r"l\.sqlite: can't be read \(database disk image is malformed\)"):
                look_up()
        with pytest.raises(LedgerError, match="can't be read"):
            ledger.count()
