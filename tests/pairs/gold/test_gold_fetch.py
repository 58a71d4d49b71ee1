"""Public gold sets are fetched at one commit, checked by hash, and then go by their names."""

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from click.testing import CliRunner

from conftest import shared
from evenhand.cli.gold import gold_command
from evenhand.errors import InputError
from evenhand.fetching import NotFetchedError
from evenhand.pairs.gold import PUBLIC_SETS
from evenhand.studies import gold
from evenhand.studies.gold import fetch_gold, gold_entries, load_gold

PCT = PUBLIC_SETS["pct"]
CLOSED = "http://127.0.0.1:9"


@pytest.fixture
def folder() -> Path:
    shared("gold/pct/invalid_completions_240124.csv")
    return shared("gold")


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A server that stands for the repositories' host; the folder of the set at its commit."""
    root = tmp_path / "host"
    place = root / PCT.repository.removeprefix("https://github.com/") / PCT.commit / PCT.files[0].path
    place.parent.mkdir(parents=True)
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(root))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setattr(gold, "_RAW", f"http://127.0.0.1:{server.server_port}")
        yield place
        server.shutdown()


def at_hand() -> set[str]:
    return {entry.name for entry in gold_entries() if entry.at_hand}


def test_from_the_network(served: Path, folder: Path, own_cache: Path) -> None:
    served.write_bytes((folder / "pct" / PCT.files[0].name).read_bytes())
    assert at_hand() == {"builtin"}
    (path,) = fetch_gold("pct")
    assert path.is_relative_to(own_cache)
    assert at_hand() == {"builtin", "pct"}
    assert [(each.name, len(each.items)) for each in load_gold("pct")] == [("pct-refusal", 93), ("pct-hedging", 85)]
    assert [each.name for each in load_gold("pct-hedging")] == ["pct-hedging"]


def test_another_file_is_never_kept(served: Path, own_cache: Path) -> None:
    served.write_text("pct_id\n1\n")
    with pytest.raises(NotFetchedError, match=r"SHA-256.*expected"):
        fetch_gold("pct")
    assert at_hand() == {"builtin"}


def test_without_a_network(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gold, "_RAW", CLOSED)
    with pytest.raises(NotFetchedError, match=r"(?s)can't be reached.*Without a network: get data/annotations.*--from"):
        fetch_gold("pct")
    with pytest.raises(InputError, match=r"pct is not part of this package.*evenhand gold fetch pct"):
        load_gold("pct")


def test_from_a_folder(folder: Path, tmp_path: Path, own_cache: Path) -> None:
    fetch_gold("pct", folder)
    assert at_hand() == {"builtin", "pct"}
    checkout = tmp_path / "checkout"
    for file in PUBLIC_SETS["llmbar"].files:
        (checkout / file.path).parent.mkdir(parents=True)
        (checkout / file.path).write_bytes(shared(f"preferences/llmbar/{file.name}").read_bytes())
    fetch_gold("llmbar", checkout)
    assert len(load_gold("llmbar")[0].items) == 238


def test_a_file_that_was_changed_is_not_read(folder: Path, own_cache: Path) -> None:
    (path,) = fetch_gold("pct", folder)
    path.write_bytes(path.read_bytes() + b"\n")
    with pytest.raises(InputError, match="is not the file of pct that is known: its SHA-256"):
        load_gold("pct")


@pytest.mark.parametrize(
    ("name", "message"), [("builtin", "comes with this package"), ("nothing", "nothing to fetch for 'nothing'")]
)
def test_nothing_to_fetch(name: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        fetch_gold(name)


def test_no_such_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--from: is not a folder"):
        fetch_gold("pct", tmp_path / "absent")


def test_every_set_may_be_had_and_used_by_anybody() -> None:
    for known in PUBLIC_SETS.values():
        assert known.licence in {"CC BY 4.0", "Apache-2.0", "MIT"}
        assert all(len(file.sha256) == 64 for file in known.files)


def test_the_command(folder: Path, own_cache: Path) -> None:
    run = CliRunner()
    done = run.invoke(gold_command, ["fetch", "pct", "--from", str(folder), "--quiet"])
    assert done.exit_code == 0
    assert Path(done.stdout.strip()).is_file()
    assert "licence CC BY 4.0" in done.stderr
    assert "Cite: Röttger" in done.stderr
    listed = run.invoke(gold_command, ["list"]).stdout
    assert "pct         at hand" in listed
    assert "xstest      not fetched" in listed
