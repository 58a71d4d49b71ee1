"""A ledger that takes over what another holds, and one that looks into its elders."""

import sqlite3
from pathlib import Path

import pytest

from evenhand.execution import Ledger, LedgerError
from evenhand.instruments import Request
from evenhand.readings import Failure, FailureKind, Reply


def _keep(ledger: Ledger, text: str, answer: str) -> str:
    request = Request(prompt=text)
    key = request.key("m")
    ledger.keep(key, "m", request, Reply(answer, "stop", "m"))
    return key


def test_replies_and_failures_are_taken_over_once(tmp_path: Path) -> None:
    with Ledger(tmp_path / "other.sqlite") as other:
        new, known = _keep(other, "new", "from the other"), _keep(other, "known", "from the other")
        other.note_failure("broken", "m", Failure(FailureKind.TRANSPORT, "reset"))
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        _keep(ledger, "known", "mine")
        assert ledger.absorb(tmp_path / "other.sqlite") == 1
        assert ledger.absorb(tmp_path / "other.sqlite") == 0
        found = {key: entry.reply.text for key, entry in ledger.find_all([new, known]).items()}
        assert found == {new: "from the other", known: "mine"}
        assert ledger.last_failure("broken") == Failure(FailureKind.TRANSPORT, "reset")
    rows = sqlite3.connect(tmp_path / "ledger.sqlite").execute("SELECT count(*) FROM failures").fetchone()
    assert rows == (1,)


def test_what_is_no_ledger_is_refused_and_nothing_is_changed(tmp_path: Path) -> None:
    (tmp_path / "other.sqlite").write_text("no database, and long enough to be looked at as one by SQLite" * 20)
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        key = _keep(ledger, "mine", "mine")
        with pytest.raises(LedgerError, match=r"other\.sqlite"):
            ledger.absorb(tmp_path / "other.sqlite")
        assert ledger.find(key)
        assert ledger.count() == 1


def test_elders_are_looked_into_and_not_written_to(tmp_path: Path) -> None:
    with Ledger(tmp_path / "elder.sqlite") as elder:
        old = _keep(elder, "old", "old")
    with (
        Ledger.peek(tmp_path / "elder.sqlite") as elder,
        Ledger(tmp_path / "ledger.sqlite", elders=[elder]) as ledger,
    ):
        new = _keep(ledger, "new", "new")
        assert [entry and entry.reply.text for entry in map(ledger.find, (old, new, "none"))] == ["old", "new", None]
        assert ledger.count() == 1
