"""Data sets in stores, read from real servers on the loopback."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from evenhand.errors import InputError
from evenhand.fetching.stores import here, stored_files
from evenhand.pairs.preference_pair import PreferencePair
from evenhand.studies.preference_source import data_files, open_preferences, source_record
from store_servers import CANARY, CANARY_ID, NO_AWS, Store, running_store


@pytest.fixture(scope="module", params=["s3", "gs"])
def running(request: pytest.FixtureRequest) -> Iterator[Store]:
    with running_store(request.param) as store:
        store.make_bucket("bucket")
        yield store


@pytest.fixture
def store(running: Store, monkeypatch: pytest.MonkeyPatch) -> Store:
    for name in NO_AWS:
        monkeypatch.delenv(name, raising=False)
    for name, value in running.environment().items():
        monkeypatch.setenv(name, value)
    return running


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """JSON lines and Parquet, in folders of their own, with marks that writers leave and names that need quoting."""
    found = tmp_path_factory.mktemp("data")
    rows = [
        {"prompt": f"Question {n // 3}", "chosen": f"A good one {n}", "rejected": f"A bad one {n}"} for n in range(30)
    ]
    for part, place in enumerate(("a.jsonl", "day=2/b.parquet", "with a space, ünd #1/100%.jsonl")):
        path = found / place
        path.parent.mkdir(exist_ok=True)
        some = rows[part * 10 : part * 10 + 10]
        if path.suffix == ".parquet":
            pl.DataFrame(some).write_parquet(path)
        else:
            path.write_text("".join(json.dumps(row) + "\n" for row in some), "utf-8")
    for mark in ("_SUCCESS", "notes.txt", "_temporary/0/c.jsonl"):
        (found / mark).parent.mkdir(parents=True, exist_ok=True)
        (found / mark).write_text('{"prompt": "no", "chosen": "no", "rejected": "no"}\n')
    return found


on_s3, on_google = (
    pytest.mark.parametrize("running", [scheme], indirect=True, scope="module") for scheme in ("s3", "gs")
)


def pairs_of(name: str) -> list[PreferencePair]:
    return [pair for outcome in open_preferences(name).outcomes for pair in outcome.pairs]


def test_a_folder_of_two_kinds_of_files_is_what_it_is_here(store: Store, folder: Path) -> None:
    address = store.put_folder("bucket", "sets/one", folder)
    for name in (address, address.rstrip("/"), f"file://{folder}/"):
        assert pairs_of(name) == pairs_of(str(folder))
        assert len(pairs_of(name)) == 30
    assert [Path(name).suffix for name in data_files(address)] == [".jsonl", ".parquet", ".jsonl"]
    record = source_record(address, "trl")
    assert record["name"] == address
    assert len(record["files"]) == 6
    assert all(size > 0 and changed for _, size, changed in record["files"])


def test_a_single_file_is_named_or_found_in_the_list(store: Store, folder: Path) -> None:
    address = store.put_folder("bucket", "sets/two", folder)
    assert pairs_of(f"{address}a.jsonl") == pairs_of(str(folder / "a.jsonl"))
    strange = next(file for file in stored_files(address) if "100" in file.address)
    assert strange.name == "with a space, ünd #1/100%.jsonl"
    with here(strange.address) as path:
        assert path.name == "100%.jsonl"
        assert path.read_bytes() == (folder / strange.name).read_bytes()
    assert pairs_of(f"{address}with a space, ünd %231/") == pairs_of(str(folder / "with a space, ünd #1"))


def test_options_in_an_address_go_on_to_its_files(store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    address = store.put_folder("bucket", "sets/three", folder)
    for name in ("AWS_ENDPOINT_URL", "STORAGE_EMULATOR_HOST"):
        monkeypatch.delenv(name, raising=False)
    user = "anonymous@" if store.scheme == "gs" else ""
    options = f"?scheme=http&endpoint_override={store.url.removeprefix('http://')}"
    assert pairs_of(address.replace("://", f"://{user}") + options) == pairs_of(str(folder))


@pytest.mark.parametrize(
    ("name", "problem", "way_out"),
    [
        (
            "nowhere/x/",
            "there is (no such bucket|nothing at this address)",
            "check the (bucket's name|names of bucket)",
        ),
        ("bucket/nowhere/", "there is nothing at this address", "check the names of bucket and folder"),
        ("bucket/sets/*.jsonl", "there is nothing at this address", "check the names of bucket and folder; `.` does"),
    ],
)
def test_what_is_not_there(store: Store, folder: Path, name: str, problem: str, way_out: str) -> None:
    store.put_folder("bucket", "sets/four", folder)
    with pytest.raises(
        InputError, match=f"^{store.scheme}://{name.replace('*', '.')}: {problem}.*The way out: {way_out}"
    ):
        data_files(f"{store.scheme}://{name}")


def test_a_folder_without_rows(store: Store) -> None:
    store.put("bucket", "empty/notes.txt", b"nothing")
    if store.scheme == "s3":  # What consoles leave for a folder; the emulator of Google's can't hold one.
        store.put("bucket", "bare/", b"")
    for name in ("empty", *(["bare"] if store.scheme == "s3" else [])):
        with pytest.raises(
            InputError, match=f"{name}/: holds no file of rows. The way out: give a folder with files .*jsonl"
        ):
            data_files(f"{store.scheme}://bucket/{name}/")


def test_files_of_different_shapes(store: Store, tmp_path: Path) -> None:
    """Read by the format of the first, the rows of the second are told one by one, as in a folder here."""
    (tmp_path / "a.jsonl").write_text('{"prompt": "q", "chosen": "good", "rejected": "bad"}\n')
    pl.DataFrame({"question": ["q"], "better": ["good"], "worse": ["bad"]}).write_parquet(tmp_path / "b.parquet")
    address = store.put_folder("bucket", "mixed", tmp_path)
    told: list[Any] = []
    for name in (str(tmp_path), address):
        outcomes = list(open_preferences(name).outcomes)
        told.append([(outcome.row, [problem.message for problem in outcome.problems]) for outcome in outcomes])
        assert sum(len(outcome.pairs) for outcome in outcomes) == 1
    assert told[0] == told[1]
    assert [row for row, problems in told[0] if problems] == [2]


def test_a_store_that_does_not_answer(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    if store.scheme == "gs":
        monkeypatch.setattr("evenhand.fetching.stores._PATIENCE", 1)
    monkeypatch.setenv(
        *{"s3": ("AWS_ENDPOINT_URL", "http://127.0.0.1:9"), "gs": ("STORAGE_EMULATOR_HOST", "127.0.0.1:9")}[
            store.scheme
        ]
    )
    with pytest.raises(InputError, match=r"can't be reached.*(AWS_ENDPOINT_URL|STORAGE_EMULATOR_HOST)") as told:
        stored_files(f"{store.scheme}://bucket/sets/")
    assert CANARY not in str(told.value)
    assert CANARY_ID not in str(told.value)


@on_s3
def test_no_permission(store: Store) -> None:
    store.put("bucket", "mine/a.jsonl", b"{}\n")
    with store.asking_who():
        for name in ("mine/", "mine/a.jsonl"):
            with pytest.raises(InputError, match=r"can't be read with the credentials.*AWS_ACCESS_KEY_ID") as told:
                data_files(f"s3://bucket/{name}")
            assert f"s3://bucket/{name}: " in str(told.value)
            assert CANARY not in str(told.value)
            assert CANARY_ID not in str(told.value)
    assert len(data_files("s3://bucket/mine/")) == 1


@on_google
def test_credentials_of_google_that_are_not_there(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("STORAGE_EMULATOR_HOST")
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "none.json"))
    with pytest.raises(InputError, match=r"none.json.*GOOGLE_APPLICATION_CREDENTIALS.*anonymous@BUCKET"):
        stored_files("gs://bucket/sets/")


@pytest.mark.parametrize(
    "address",
    [
        f"s3://{CANARY_ID}:{CANARY.replace('/', '')}@bucket/x/",
        f"s3://{CANARY_ID}@bucket/x/",
        f"s3://bucket/x/?secret_key={CANARY}",
    ],
)
def test_keys_in_an_address_are_refused(address: str) -> None:
    with pytest.raises(
        InputError, match=r"s3://bucket/x/: has credentials in it.*put them into the environment"
    ) as told:
        open_preferences(address)
    assert "canary" not in str(told.value).lower()


def test_a_store_of_an_unknown_kind() -> None:
    pytest.importorskip("pyarrow")
    with pytest.raises(InputError, match="az://bucket/x: is of a kind that PyArrow does not know"):
        stored_files("az://bucket/x")
