"""A ledger of an older version is brought up to date as it is opened; one can also be looked at without any change."""

import hashlib
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evenhand.execution import Ledger, LedgerError
from evenhand.execution.migrations import SCHEMA_VERSION
from evenhand.instruments import Message, Request
from evenhand.readings import Failure, FailureKind, Reply, TokenPosition

# The first version as it was written, statement by statement, and rows as it wrote them.
VERSION_1 = """
CREATE TABLE replies (
  key     TEXT PRIMARY KEY,  -- SHA-256 of the model's identity and the whole request
  at      TEXT NOT NULL,     -- UTC, ISO 8601
  model   TEXT NOT NULL,     -- the model's identity
  request TEXT NOT NULL,     -- JSON
  reply   TEXT NOT NULL      -- JSON
) WITHOUT ROWID;
CREATE TABLE failures (      -- what went wrong; never served as an answer
  id      INTEGER PRIMARY KEY,
  key     TEXT NOT NULL,
  at      TEXT NOT NULL,
  model   TEXT NOT NULL,
  kind    TEXT NOT NULL,
  reason  TEXT NOT NULL
);
PRAGMA user_version = 1;
"""
INSERT_1 = "INSERT OR IGNORE INTO replies (key, at, model, request, reply) VALUES (?, ?, ?, ?, ?)"
FAILED_1 = "INSERT INTO failures (key, at, model, kind, reason) VALUES (?, ?, ?, ?, ?)"
MODEL = "openai-compatible http://127.0.0.1:8000/v1 m"
REQUEST = Request(messages=(Message("user", "Choose."),), max_tokens=2, top_logprobs=2)
KEY = "f7ae5d37f35c9dd6a1ee37e7ed0b2e2e70eb6dbb0d6a4d2a4b2b2a4c1b0cf57d"
ROWS: list[tuple[str, ...]] = [
    (
        KEY,
        "2026-01-02T03:04:05+00:00",
        MODEL,
        '{"messages":[{"role":"user","content":"Choose."}],"prompt":"","max_tokens":2,"temperature":0.0,"seed":0,'
        '"top_logprobs":2,"stop":[]}',
        '{"text":"(C \\ud83d","finish":"length","model":"m-2026","positions":[{"token":"(C","logprob":-0.1,'
        '"top":[["(C",-0.1],["(A",-3.5]]}],"prompt_tokens":9,"completion_tokens":2,"cached_tokens":5}',
    ),
    *(
        (
            f"{n:064x}",
            "2026-01-02T03:04:06+00:00",
            MODEL,
            "{}",
            f'{{"text":"{n}","finish":"stop","model":"m",'
            f'"positions":[],"prompt_tokens":1,"completion_tokens":1,"cached_tokens":0}}',
        )
        for n in range(200)
    ),
]
REPLY = Reply("(C \ud83d", "length", "m-2026", (TokenPosition("(C", -0.1, (("(C", -0.1), ("(A", -3.5))),), 9, 2, 5)


def version_1(path: Path) -> Path:
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    db.executescript(VERSION_1)
    db.executemany(INSERT_1, ROWS)
    db.execute(FAILED_1, ("k", "2026-01-02T03:04:07+00:00", MODEL, "transport", "reset"))
    db.close()
    return path


def look(path: Path, query: str) -> list[tuple[Any, ...]]:
    db = sqlite3.connect(path)
    rows = db.execute(query).fetchall()
    db.close()
    return rows


def schema(path: Path) -> list[tuple[Any, ...]]:
    rows = look(path, "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name")
    return [(*row[:-1], " ".join((row[-1] or "").split())) for row in rows]


def files(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


def test_version_1_is_brought_up_to_date_and_serves_its_replies(tmp_path: Path) -> None:
    path = version_1(tmp_path / "l.sqlite")
    with Ledger(path) as ledger:
        entry = ledger.find(KEY)
        assert entry is not None
        assert (entry.reply, entry.at) == (REPLY, "2026-01-02T03:04:05+00:00")
        assert ledger.count() == len(ROWS)
        ledger.keep("new", MODEL, REQUEST, REPLY, tries=3)
        ledger.note_failure("new", MODEL, Failure(FailureKind.OVERFLOW, "long"), tries=2)
    assert look(path, "PRAGMA user_version") == [(SCHEMA_VERSION,)]
    assert look(path, "PRAGMA integrity_check") == [("ok",)]
    kept = look(path, "SELECT key, at, model, request, reply, tries FROM replies WHERE key != 'new' ORDER BY key")
    assert kept == sorted((*row, 1) for row in ROWS)
    assert look(path, "SELECT tries FROM replies WHERE key = 'new'") == [(3,)]
    assert look(path, "SELECT key, kind, reason, tries FROM failures ORDER BY id") == [
        ("k", "transport", "reset", 1),
        ("new", "overflow", "long", 2),
    ]
    with Ledger(path) as again:
        assert again.count() == len(ROWS) + 1


def test_old_and_new_ledgers_come_to_the_same_schema(tmp_path: Path) -> None:
    Ledger(tmp_path / "new.sqlite").close()
    Ledger(version_1(tmp_path / "old.sqlite")).close()
    assert schema(tmp_path / "old.sqlite") == schema(tmp_path / "new.sqlite")
    plan = look(tmp_path / "old.sqlite", "EXPLAIN QUERY PLAN SELECT * FROM failures WHERE key = 'k'")
    assert "failures_by_key" in plan[0][-1]


def test_several_processes_bring_one_ledger_up_to_date_at_once(tmp_path: Path) -> None:
    path = version_1(tmp_path / "l.sqlite")
    script = """
import sys
from pathlib import Path
from evenhand.execution import Ledger
from evenhand.instruments import Request
from evenhand.readings import Reply
print("ready", flush=True)
sys.stdin.readline()
with Ledger(Path(sys.argv[1])) as ledger:
    ledger.keep(sys.argv[2], "m", Request(prompt="q"), Reply("a", "stop", "m"))
    print(ledger.count())
"""
    several = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(path), name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for name in "abcd"
    ]
    for process in several:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in several:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    counts = [int(process.communicate(timeout=60)[0]) for process in several]
    assert [process.returncode for process in several] == [0] * 4
    assert max(counts) == len(ROWS) + 4
    assert schema(path) == schema_of_a_new_one(tmp_path)


def schema_of_a_new_one(folder: Path) -> list[tuple[Any, ...]]:
    Ledger(folder / "new.sqlite").close()
    return schema(folder / "new.sqlite")


def test_an_older_process_goes_on_writing_into_a_ledger_that_was_brought_up_to_date(tmp_path: Path) -> None:
    path = version_1(tmp_path / "l.sqlite")
    older = sqlite3.connect(path, isolation_level=None)
    assert older.execute("SELECT count(*) FROM replies").fetchone() == (len(ROWS),)
    with Ledger(path) as ledger:
        older.execute(INSERT_1, ("older", *ROWS[0][1:]))
        older.execute(FAILED_1, ("older", "", MODEL, "transport", "reset"))
        entry = ledger.find("older")
        assert entry is not None
        assert entry.reply == REPLY
    older.close()


def test_a_change_of_version_that_fails_leaves_the_ledger_as_it_was(tmp_path: Path) -> None:
    path = version_1(tmp_path / "l.sqlite")
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE replies_2 (x)")
    db.close()
    before = schema(path)
    with pytest.raises(
        LedgerError, match=r"can't be used as a ledger \(table replies_2 already exists\).*move the file"
    ):
        Ledger(path)
    assert schema(path) == before
    assert look(path, "SELECT count(*) FROM replies") == [(len(ROWS),)]
    assert look(path, "PRAGMA user_version") == [(1,)]


@pytest.mark.parametrize("open_it", [Ledger, Ledger.peek])
def test_a_ledger_of_a_later_version(tmp_path: Path, open_it: Any) -> None:
    Ledger(tmp_path / "l.sqlite").close()
    db = sqlite3.connect(tmp_path / "l.sqlite")
    db.execute("PRAGMA user_version = 99")
    db.close()
    before = files(tmp_path)
    with pytest.raises(LedgerError, match=f"schema version 99 and this version of Evenhand knows {SCHEMA_VERSION}"):
        open_it(tmp_path / "l.sqlite")
    if open_it == Ledger.peek:
        assert files(tmp_path) == before


def test_looking_at_a_ledger_of_version_1_changes_nothing(tmp_path: Path) -> None:
    path = version_1(tmp_path / "l.sqlite")
    before = files(tmp_path)
    with Ledger.peek(path) as ledger:
        entry = ledger.find(KEY)
        assert entry is not None
        assert entry.reply == REPLY
        assert set(ledger.find_all([KEY, ROWS[1][0], "absent"])) == {KEY, ROWS[1][0]}
        assert ledger.count() == len(ROWS)
        with pytest.raises(LedgerError, match="to look at only"):
            ledger.keep("new", MODEL, REQUEST, REPLY)
        with pytest.raises(LedgerError, match="to look at only"):
            ledger.note_failure("new", MODEL, Failure(FailureKind.OVERFLOW, "long"))
        assert files(tmp_path) == before
    assert files(tmp_path) == before


@pytest.mark.parametrize("path", ["l.sqlite", "no/such/folder/l.sqlite"])
def test_looking_where_there_is_no_ledger(tmp_path: Path, path: str) -> None:
    with Ledger.peek(tmp_path / path) as ledger:
        assert ledger.find("k") is None
        assert ledger.find_all(["k"]) == {}
        assert ledger.count() == 0
        with pytest.raises(LedgerError, match="to look at only"):
            ledger.keep("k", MODEL, REQUEST, REPLY)
    assert list(tmp_path.iterdir()) == []


def test_looking_at_an_empty_file(tmp_path: Path) -> None:
    (tmp_path / "l.sqlite").touch()
    with Ledger.peek(tmp_path / "l.sqlite") as ledger:
        assert ledger.find("k") is None
    assert (tmp_path / "l.sqlite").read_bytes() == b""


def test_looking_while_another_writes(tmp_path: Path) -> None:
    path = tmp_path / "l ?#%.sqlite"
    with Ledger(path) as writer:
        writer.keep("k1", MODEL, REQUEST, REPLY)
        with Ledger.peek(path) as ledger:
            assert ledger.count() == 1
            writer.keep("k2", MODEL, REQUEST, REPLY)
            assert ledger.find("k2")


def test_looking_at_what_a_killed_process_left(tmp_path: Path) -> None:
    """Its last commits are in the log beside the file only."""
    alive = tmp_path / "alive"
    alive.mkdir()
    with Ledger(alive / "l.sqlite") as writer:
        writer.keep("k", MODEL, REQUEST, REPLY)
        shutil.copytree(alive, tmp_path / "killed")
    path = tmp_path / "killed" / "l.sqlite"
    (tmp_path / "killed" / "l.sqlite-shm").unlink()
    before = files(tmp_path / "killed")
    assert set(before) == {"l.sqlite", "l.sqlite-wal"}
    with Ledger.peek(path) as ledger:
        assert ledger.find("k")
    after = files(tmp_path / "killed")
    assert {name: after[name] for name in before} == before


def test_looking_at_what_is_no_ledger(tmp_path: Path) -> None:
    (tmp_path / "l.sqlite").write_text("this is a letter, not a ledger " * 100)
    with pytest.raises(LedgerError, match=r"can't be used as a ledger"):
        Ledger.peek(tmp_path / "l.sqlite")
