"""What the ledger costs a call, against a plain insert into SQLite."""

import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.clock import seconds
from evenhand.execution import Ledger
from evenhand.instruments import Message, Request
from evenhand.readings import Reply, TokenPosition

_COUNT = 500


def run() -> Iterator[str]:
    """Measure keeping and finding replies with 100 probabilities each."""
    top = tuple((f"token {n}", -float(n)) for n in range(100))
    reply = Reply("(C)", "length", "m", tuple(TokenPosition("(C", -0.1, top) for _ in range(4)))
    requests = [Request(messages=(Message("user", "x" * 4000 + str(n)),)) for n in range(_COUNT)]
    with tempfile.TemporaryDirectory() as folder, Ledger(Path(folder) / "l.sqlite") as ledger:
        keys = [request.key("m") for request in requests]

        def keep() -> None:
            for key, request in zip(keys, requests, strict=True):
                ledger.keep(key, "m", request, reply)

        def find() -> None:
            for key in keys:
                ledger.find(key)

        kept, found = seconds(keep, 1), seconds(find)
        db = sqlite3.connect(Path(folder) / "plain.sqlite", isolation_level=None)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("CREATE TABLE t (key TEXT PRIMARY KEY, reply TEXT)")

        def plain() -> None:
            for key in keys:
                db.execute("INSERT OR REPLACE INTO t VALUES (?, ?)", (key, "x" * 10_000))

        bare = seconds(plain, 1)
        db.close()
    per = 1000 / _COUNT
    yield (
        f"ledger, a reply committed: {kept * per:.2f} ms, found again {found * per:.2f} ms;"
        f" a bare insert of 10 kB {bare * per:.2f} ms"
    )
