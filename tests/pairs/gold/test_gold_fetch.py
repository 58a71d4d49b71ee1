"""Public gold sets are fetched at one commit, checked by hash, and then go by their names."""

import json
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from click.testing import CliRunner

from conftest import shared, write_csv
from evenhand.cli.gold import gold_command
from evenhand.errors import InputError
from evenhand.fetching import NotFetchedError
from evenhand.pairs.gold import GOLD_NAMES, PUBLIC_SETS
from evenhand.studies import gold
from evenhand.studies.gold import fetch_gold, gold_entries, labelled_by, load_gold

PCT = PUBLIC_SETS["pct"]
OWN = {"builtin", "stances", "practice"}
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
    assert at_hand() == OWN
    (path,) = fetch_gold("pct")
    assert path.is_relative_to(own_cache)
    assert at_hand() == {*OWN, "pct"}
    assert [(each.name, len(each.items)) for each in load_gold("pct")] == [("pct-refusal", 93), ("pct-hedging", 85)]
    assert [each.name for each in load_gold("pct-hedging")] == ["pct-hedging"]


def test_another_file_is_never_kept(served: Path, own_cache: Path) -> None:
    served.write_text("pct_id\n1\n")
    with pytest.raises(NotFetchedError, match=r"SHA-256.*expected"):
        fetch_gold("pct")
    assert at_hand() == OWN


def test_without_a_network(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gold, "_RAW", CLOSED)
    with pytest.raises(NotFetchedError, match=r"(?s)can't be reached.*Without a network: get data/annotations.*--from"):
        fetch_gold("pct")
    with pytest.raises(InputError, match=r"pct is not part of this package.*evenhand gold fetch pct"):
        load_gold("pct")


def test_from_a_folder(folder: Path, tmp_path: Path, own_cache: Path) -> None:
    fetch_gold("pct", folder)
    assert at_hand() == {*OWN, "pct"}
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
    ("name", "message"),
    [
        ("builtin", "comes with this package"),
        ("stances", "comes with this package"),
        ("practice", "comes with this package"),
        ("nothing", "nothing to fetch for 'nothing'"),
    ],
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


def test_the_name_of_a_part_brings_its_set(folder: Path, own_cache: Path) -> None:
    assert fetch_gold("pct-refusal", folder) == fetch_gold("pct")
    result = CliRunner().invoke(gold_command, ["fetch", "pct-hedging", "--quiet"], catch_exceptions=False)
    assert "Cite: Röttger" in result.output


def test_the_list_names_every_set_with_what_it_is_for(own_cache: Path) -> None:
    result = CliRunner().invoke(gold_command, ["list", "--json"], catch_exceptions=False)
    listed = {entry["name"]: entry for entry in json.loads(result.output)}
    assert sorted(listed) == sorted(GOLD_NAMES)
    shown = " ".join(CliRunner().invoke(gold_command, ["list"], catch_exceptions=False).output.split())
    for entry in listed.values():
        assert entry["title"][:20] in shown
        assert ", ".join(entry["measures"]) in shown
    assert "refusal: for `evenhand fit-grader --practice practice` alone: it has no testing half" in shown


@pytest.mark.parametrize("name", ["builtin", "stances", "practice", "xstest", "issuebench", "pct", "pandalm"])
def test_the_measures_that_are_listed_are_those_that_are_read(folder: Path, own_cache: Path, name: str) -> None:
    (entry,) = [entry for entry in gold_entries() if entry.name == name]
    found = load_gold(name, folder=None if entry.at_hand else folder)
    assert {str(gold.items[0].measure) for gold in found} == set(entry.measures)
    has_test = any(item.split == "test" for gold in found for item in gold.items)
    assert has_test == ("no testing half" not in entry.use)
    assert {labelled_by(gold) for gold in found} == {"construction" if name in OWN else "people"}


# Texts that a spreadsheet has cut ----------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_texts_that_excel_has_cut_are_told_by_row(tmp_path: Path, ending: str) -> None:
    """As Excel counts: what lies beyond the first plane counts twice."""
    texts = ["short", "x" * 32_766, "x" * 32_767, "x" * 32_768, "\U0001f600" * 16_383 + "x", "y" * 32_767]
    path = tmp_path / f"mine.{ending}"
    if ending == "csv":
        write_csv(path, [["prompt", "response", "label"], *(["Why?", text, "full"] for text in texts)])
    else:
        lines = (json.dumps({"prompt": "Why?", "response": text, "label": "full"}) for text in texts)
        path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    (found,) = load_gold(str(path))
    (warning,) = found.warnings
    rows = "4, 6, 7" if ending == "csv" else "3, 5, 6"
    assert warning.startswith(f"mine.{ending}: rows {rows} hold a text of exactly 32,767 characters, the most that")


def test_texts_of_another_length_are_not_warned_of(tmp_path: Path, folder: Path) -> None:
    rows = [["prompt", "response", "label"], ["Why?", "x" * 40_000, "none"], ["Why?", "No.", "full"]]
    assert load_gold(str(write_csv(tmp_path / "mine.csv", rows)))[0].warnings == ()
    assert all(gold.warnings == () for gold in load_gold("xstest", folder=folder))
