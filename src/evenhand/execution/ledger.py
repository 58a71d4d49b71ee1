"""The ledger: every reply once, under the hash of all that determined it."""

import json
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import orjson

from evenhand.errors import EvenhandError
from evenhand.execution.migrations import SCHEMA_VERSION, migrate
from evenhand.execution.run_folder import storable
from evenhand.instruments import Request
from evenhand.readings import Failure, FailureKind, Reply

_PATIENCE = 60.0
"""Seconds to wait for another process that holds the ledger."""
_AT_ONCE = 500
"""Keys looked up by one query; an old SQLite takes no more than 999 values."""
_PAGE = 8192
"""Bytes a page of a new file: a request and its reply are some kilobytes."""


class LedgerError(EvenhandError):
    """The ledger's file can't be used."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A reply and the time at which it was committed (UTC, ISO 8601)."""

    reply: Reply
    at: str


@dataclass(frozen=True, slots=True)
class Paid:
    """A reply that came back, with all that a ledger keeps of it."""

    key: str
    model: str
    """The model's identity."""
    request: Request
    reply: Reply
    tries: int = 1
    """How many calls it took."""


class Ledger:
    """Replies on disk. A reply that ``keep`` has returned from survives a killed process and a power cut."""

    def __init__(self, path: Path, *, look_only: bool = False, elders: Sequence["Ledger"] = ()) -> None:
        """Open the file, or make it; see ``peek`` for ``look_only``. Several processes may share it.

        What is not in it is looked for in the ``elders``; what is new is kept in it alone.
        """
        self.path = path
        self._look_only = look_only
        self._elders = tuple(elders)
        try:
            self._db = _opened_to_look(path) if look_only else _opened(path)
        except sqlite3.Error as error:
            raise LedgerError(
                f"{path}: can't be used as a ledger ({error}). The way out: move the file away, or give another"
                " run folder; nothing was changed."
            ) from error

    @classmethod
    def peek(cls, path: Path) -> Self:
        """Open a ledger to look at only: nothing is made, brought up to date or written.

        Where there is no file, it is a ledger without replies. One of an older version can be looked at.
        """
        return cls(path, look_only=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def find(self, key: str) -> Entry | None:
        """Return what was kept under a key, or None."""
        try:
            row = self._db.execute("SELECT reply, at FROM replies WHERE key = ?", (key,)).fetchone()
        except sqlite3.Error as error:
            raise self._unreadable(error) from error
        if row:
            return self._entry(key, *row)
        return next((entry for elder in self._elders if (entry := elder.find(key))), None)

    def absorb(self, path: Path) -> int:
        """Take over what another ledger's file holds, and return how many replies were new.

        A reply that is here already stays. All of it is taken, or nothing; doing it again changes nothing.
        """
        with Ledger(path):
            pass  # Brings one of an older version up to date, and refuses a file that is none.
        try:
            self._db.execute("ATTACH DATABASE ? AS other", (str(path),))
            try:
                self._db.execute("BEGIN IMMEDIATE")
                try:
                    added = self._db.execute(
                        "INSERT OR IGNORE INTO replies (key, at, model, request, reply, tries)"
                        " SELECT key, at, model, request, reply, tries FROM other.replies ORDER BY rowid"
                    ).rowcount
                    self._db.execute(
                        "INSERT INTO failures (key, at, model, kind, reason, tries)"
                        " SELECT key, at, model, kind, reason, tries FROM other.failures"
                        " EXCEPT SELECT key, at, model, kind, reason, tries FROM failures"
                    )
                    self._db.execute("COMMIT")
                except BaseException:
                    _roll_back(self._db)
                    raise
            finally:
                self._db.execute("DETACH DATABASE other")
        except sqlite3.Error as error:
            raise LedgerError(
                f"{path}: its replies can't be taken over into {self.path} ({error}). The way out: see that the disk"
                " has room, then give the same command again; nothing was lost."
            ) from error
        return added

    def find_all(self, keys: Sequence[str]) -> dict[str, Entry]:
        """Return what was kept under any of several keys; a key without a reply is left out."""
        found: dict[str, Entry] = {}
        for start in range(0, len(keys), _AT_ONCE):
            some = keys[start : start + _AT_ONCE]
            marks = ",".join("?" * len(some))
            try:
                rows = self._db.execute(
                    f"SELECT key, reply, at FROM replies WHERE key IN ({marks})",  # noqa: S608  (nothing but marks)
                    some,
                ).fetchall()
            except sqlite3.Error as error:
                raise self._unreadable(error) from error
            found |= {key: self._entry(key, reply, at) for key, reply, at in rows}
        return found

    def keep(self, key: str, model: str, request: Request, reply: Reply, tries: int = 1) -> Entry:
        """Commit a reply; where another process was first, return what it kept."""
        return self.keep_all([Paid(key, model, request, reply, tries)])[0]

    def keep_all(self, paid: Sequence[Paid]) -> list[Entry]:
        """Commit several replies at once, and return what the ledger now has under their keys.

        All of them are kept, or none. Where another process was first, its reply stays. A commit waits for the disk,
        so one for many replies is what lets a fast endpoint be asked fast.
        """
        at = _now()
        rows = [(one.key, at, one.model, _dump(one.request), _dump(one.reply), one.tries) for one in paid]
        added = self._write(
            "INSERT OR IGNORE INTO replies (key, at, model, request, reply, tries) VALUES (?, ?, ?, ?, ?, ?)", rows
        )
        if added == len(paid):
            return [Entry(one.reply, at) for one in paid]
        kept = self.find_all([one.key for one in paid])
        return [kept[one.key] for one in paid]

    def note_failure(self, key: str, model: str, failure: Failure, tries: int = 1) -> None:
        """Commit an event: this request got no reply, after so many calls."""
        self._write(
            "INSERT INTO failures (key, at, model, kind, reason, tries) VALUES (?, ?, ?, ?, ?, ?)",
            [(key, _now(), model, failure.kind, storable(failure.reason), tries)],
        )

    def last_failure(self, key: str) -> Failure | None:
        """Return why a request got no reply the last time that it was asked, or None where it never failed."""
        try:
            row = self._db.execute(
                "SELECT kind, reason FROM failures WHERE key = ? ORDER BY id DESC LIMIT 1", (key,)
            ).fetchone()
        except sqlite3.Error as error:
            raise self._unreadable(error) from error
        return Failure(FailureKind(row[0]), row[1]) if row else None

    def count(self) -> int:
        """Return how many replies are kept."""
        try:
            return int(self._db.execute("SELECT count(*) FROM replies").fetchone()[0])
        except sqlite3.Error as error:
            raise self._unreadable(error) from error

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def _entry(self, key: str, reply: str, at: str) -> Entry:
        try:
            return Entry(Reply.from_json(_load(reply)), at)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise LedgerError(
                f"{self.path}: the reply under the key {key} is damaged. The way out: delete this row of the table"
                " replies and give the same command again; only this request is then asked anew."
            ) from error

    def _unreadable(self, error: sqlite3.Error) -> LedgerError:
        return LedgerError(
            f"{self.path}: can't be read ({error}). The way out: see that the disk is sound and the file is whole; what"
            f" can be saved of a damaged one, sqlite3 '{self.path}' .recover | sqlite3 saved.sqlite saves."
        )

    def _write(self, statement: str, rows: Sequence[tuple[str | int, ...]]) -> int:
        """Run a statement for each row in one transaction, and return how many rows it added."""
        if self._look_only:
            raise LedgerError(f"{self.path}: was opened to look at only, so nothing is kept in it")
        try:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                added = self._db.executemany(statement, rows).rowcount
                self._db.execute("COMMIT")
            except BaseException:
                _roll_back(self._db)
                raise
        except (sqlite3.Error, UnicodeError) as error:
            raise LedgerError(
                f"{self.path}: a reply could not be kept ({error}). The run stops so that nothing is paid for"
                " without being kept; what was kept before stays. The way out: see that the disk has room and"
                " the file can be written, then give the same command again."
            ) from error
        return added


def _opened(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None)
    try:
        db.execute(f"PRAGMA page_size = {_PAGE}")
        _use_write_ahead_log(db)
        db.execute("PRAGMA synchronous = FULL")
        db.execute("BEGIN IMMEDIATE")
        try:
            version = _known_version(db, path)
            if version < SCHEMA_VERSION:
                migrate(db, version)
            db.execute("COMMIT")
        except BaseException:
            _roll_back(db)
            raise
    except BaseException:
        db.close()
        raise
    return db


def _opened_to_look(path: Path) -> sqlite3.Connection:
    if not path.exists():
        return _without_replies()
    # A reader of a write-ahead log makes files beside the ledger. Where no log is there nobody writes at present, and
    # the file can be taken as it is.
    log = path.with_name(path.name + "-wal")
    mode = "mode=ro" if log.exists() else "mode=ro&immutable=1"
    db = sqlite3.connect(f"{path.absolute().as_uri()}?{mode}", uri=True, timeout=_PATIENCE, isolation_level=None)
    try:
        # What find() reads has been there since version 1.
        version = _known_version(db, path)
    except BaseException:
        db.close()
        raise
    if version == 0:
        db.close()
        return _without_replies()
    return db


def _without_replies() -> sqlite3.Connection:
    db = sqlite3.connect(":memory:", isolation_level=None)
    migrate(db, 0)
    return db


def _use_write_ahead_log(db: sqlite3.Connection) -> None:
    # SQLite does not wait for a lock when it changes the journal, whatever the timeout: another process may be
    # opening, or closing, the same ledger.
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


def _known_version(db: sqlite3.Connection, path: Path) -> int:
    """Return the version of a ledger's schema, 0 for an empty file; raises ``LedgerError`` if it is another's."""
    version = int(db.execute("PRAGMA user_version").fetchone()[0])
    empty = version == 0 and not db.execute("SELECT 1 FROM sqlite_master").fetchone()
    if not empty and not 0 < version <= SCHEMA_VERSION:
        raise LedgerError(
            f"{path}: has schema version {version} and this version of Evenhand knows {SCHEMA_VERSION}."
            " The way out: use the version of Evenhand that made it."
        )
    return version


def _roll_back(db: sqlite3.Connection) -> None:
    # A full disk ends the transaction by itself, and to end it again would be an error that hides the first.
    if db.in_transaction:
        db.execute("ROLLBACK")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _dump(value: Request | Reply) -> str:
    try:
        dumped = orjson.dumps(value.as_json())  # Faster than to let it read the fields itself.
    except TypeError:  # A lone surrogate, which a model may write and UTF-8 can't hold.
        dumped = b"null"
    # An infinite logarithm becomes null, too; neither requests nor replies have anything that is None.
    if b"null" not in dumped:
        return dumped.decode("utf-8")
    return json.dumps(value.as_json(), ensure_ascii=True, separators=(",", ":"))


def _load(text: str) -> Any:  # noqa: ANN401  (whatever is in the file)
    try:
        return orjson.loads(text)
    except ValueError:  # What the standard library wrote instead, or a damaged row.
        return json.loads(text)
