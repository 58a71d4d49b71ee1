"""The ledger: every reply once, under the hash of all that determined it."""

import json
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from evenhand.errors import EvenhandError
from evenhand.execution.run_folder import storable
from evenhand.instruments import Request
from evenhand.readings import Failure, Reply

SCHEMA_VERSION = 1
_PATIENCE = 60.0
"""Seconds to wait for another process that holds the ledger."""

_SCHEMA = """
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
"""


class LedgerError(EvenhandError):
    """The ledger's file can't be used."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A reply and the time at which it was committed (UTC, ISO 8601)."""

    reply: Reply
    at: str


class Ledger:
    """Replies on disk. A reply that ``keep`` has returned from survives a killed process and a power cut."""

    def __init__(self, path: Path) -> None:
        """Open the file, or make it. Several processes may share it."""
        self.path = path
        try:
            self._db = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None)
            self._use_write_ahead_log()
            self._db.execute("PRAGMA synchronous = FULL")
            self._prepare()
        except sqlite3.Error as error:
            raise LedgerError(
                f"{path}: can't be used as a ledger ({error}). The way out: move the file away, or give another"
                " run folder; nothing was changed."
            ) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def find(self, key: str) -> Entry | None:
        """Return what was kept under a key, or None."""
        row = self._db.execute("SELECT reply, at FROM replies WHERE key = ?", (key,)).fetchone()
        return Entry(Reply.from_json(json.loads(row[0])), row[1]) if row else None

    def keep(self, key: str, model: str, request: Request, reply: Reply) -> Entry:
        """Commit a reply; where another process was first, return what it kept."""
        return self.keep_all([(key, model, request, reply)])[0]

    def keep_all(self, paid: Sequence[tuple[str, str, Request, Reply]]) -> list[Entry]:
        """Commit several replies at once, each with its key and its model's identity; all of them are kept, or none.

        A commit waits for the disk, so one for many replies is what lets a fast endpoint be asked fast.
        """
        at = _now()
        rows = [
            (key, at, model, _dump(request.as_json()), _dump(reply.as_json())) for key, model, request, reply in paid
        ]
        new = self._write("INSERT OR IGNORE INTO replies (key, at, model, request, reply) VALUES (?, ?, ?, ?, ?)", rows)
        return [
            Entry(reply, at) if is_new else self.find(key) or Entry(reply, at)
            for (key, _, _, reply), is_new in zip(paid, new, strict=True)
        ]

    def note_failure(self, key: str, model: str, failure: Failure) -> None:
        """Commit an event: this request got no reply."""
        self._write(
            "INSERT INTO failures (key, at, model, kind, reason) VALUES (?, ?, ?, ?, ?)",
            [(key, _now(), model, failure.kind, storable(failure.reason))],
        )

    def count(self) -> int:
        """Return how many replies are kept."""
        return int(self._db.execute("SELECT count(*) FROM replies").fetchone()[0])

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def _use_write_ahead_log(self) -> None:
        # SQLite does not wait for a lock when it changes the journal, whatever the timeout: another process may be
        # opening, or closing, the same ledger.
        deadline = time.monotonic() + _PATIENCE
        while True:
            try:
                self._db.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
            else:
                return

    def _prepare(self) -> None:
        self._db.execute("BEGIN IMMEDIATE")
        version = int(self._db.execute("PRAGMA user_version").fetchone()[0])
        if version == 0 and not self._db.execute("SELECT 1 FROM sqlite_master").fetchone():
            for statement in _SCHEMA.split(";\n"):
                self._db.execute(statement)
            self._db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        elif version != SCHEMA_VERSION:
            self._db.execute("ROLLBACK")
            raise LedgerError(
                f"{self.path}: has schema version {version} and this version of Evenhand knows {SCHEMA_VERSION}."
                " The way out: use the version of Evenhand that made it."
            )
        self._db.execute("COMMIT")

    def _write(self, statement: str, rows: Sequence[tuple[str, ...]]) -> list[bool]:
        """Run a statement for each row in one transaction, and tell which rows it changed anything for."""
        try:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                changed = [self._db.execute(statement, row).rowcount > 0 for row in rows]
                self._db.execute("COMMIT")
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
        except sqlite3.Error as error:
            raise LedgerError(
                f"{self.path}: a reply could not be kept ({error}). The run stops so that nothing is paid for"
                " without being kept; what was kept before stays. The way out: see that the disk has room and"
                " the file can be written, then give the same command again."
            ) from error
        return changed


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _dump(value: object) -> str:
    # ASCII escapes keep lone surrogates, which a model may write and UTF-8 can't hold.
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))
