"""The ledger's schema, as the numbered steps that lead to it."""

import sqlite3

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """
        CREATE TABLE replies (
          key     TEXT PRIMARY KEY,  -- SHA-256 of the model's identity and the whole request
          at      TEXT NOT NULL,     -- UTC, ISO 8601
          model   TEXT NOT NULL,     -- the model's identity
          request TEXT NOT NULL,     -- JSON
          reply   TEXT NOT NULL      -- JSON
        ) WITHOUT ROWID
        """,
        """
        CREATE TABLE failures (      -- what went wrong; never served as an answer
          id      INTEGER PRIMARY KEY,
          key     TEXT NOT NULL,
          at      TEXT NOT NULL,
          model   TEXT NOT NULL,
          kind    TEXT NOT NULL,
          reason  TEXT NOT NULL
        )
        """,
    ),
    (
        # Besides the new column, replies now stand in the order in which they came, with the keys in an index of
        # their own: long rows sorted by hash cost three times as much to write and six times to look for in vain.
        """
        CREATE TABLE replies_2 (
          key     TEXT NOT NULL PRIMARY KEY,   -- SHA-256 of the model's identity and the whole request
          at      TEXT NOT NULL,               -- UTC, ISO 8601
          model   TEXT NOT NULL,               -- the model's identity
          request TEXT NOT NULL,               -- JSON
          reply   TEXT NOT NULL,               -- JSON
          tries   INTEGER NOT NULL DEFAULT 1   -- calls that it took
        )
        """,
        """
        INSERT INTO replies_2 (key, at, model, request, reply) SELECT key, at, model, request, reply FROM replies
        """,
        "DROP TABLE replies",
        "ALTER TABLE replies_2 RENAME TO replies",
        "ALTER TABLE failures ADD COLUMN tries INTEGER NOT NULL DEFAULT 1",
        "CREATE INDEX failures_by_key ON failures (key)",
    ),
)
"""The statements of each step. A ledger's ``user_version`` is how many steps it has taken. A step that was ever
released is never changed, only followed by another."""

SCHEMA_VERSION = len(MIGRATIONS)


def migrate(db: sqlite3.Connection, version: int) -> None:
    """Take the steps that follow a version; the caller holds the transaction in which that version was read."""
    for step in MIGRATIONS[version:]:
        for statement in step:
            db.execute(statement)
    db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
