"""Preference data in many files."""

import gzip
import json
from pathlib import Path

import polars as pl
import pytest

from evenhand.errors import InputError
from evenhand.pairs.preferences import collected
from evenhand.pairs.preferences.dataset import files_of
from evenhand.studies.preference_source import data_files, open_preferences, source_record

ROWS = [{"prompt": f"q{n}", "chosen": f"good {n}", "rejected": f"bad {n}"} for n in range(6)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "deep").mkdir()
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS[:2]) + "[]\n")
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(json.dumps(ROWS[2]).encode()))
    pl.DataFrame(ROWS[3:]).write_parquet(tmp_path / "deep" / "c.parquet")
    for name in ("_SUCCESS", ".hidden.jsonl", "_metadata.json", "notes.md"):
        (tmp_path / name).write_text("not data")
    return tmp_path


def test_the_files_of_a_folder_are_read_one_after_another_and_rows_numbered_on(folder: Path) -> None:
    found = collected(open_preferences(str(folder)))
    assert [pair.chosen for pair in found.pairs] == [row["chosen"] for row in ROWS]
    assert [problem.row for problem in found.problems] == [3]
    assert found.rows == 7


def test_the_same_folder_in_a_store(folder: Path) -> None:
    pytest.importorskip("pyarrow", reason="PyArrow is not installed (pip install --group ray)")
    plain, stored = (collected(open_preferences(name)) for name in (str(folder), f"file://{folder}"))
    assert plain.pairs == stored.pairs
    assert len(data_files(f"file://{folder}")) == len(files_of(folder)) == 3
    assert len(source_record(f"file://{folder}", "trl")["files"]) == 7


def test_a_store_that_is_not_there_names_the_address(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="PyArrow is not installed (pip install --group ray)")
    with pytest.raises(InputError, match=r"file:///nowhere/at/all: there is nothing at this address"):
        open_preferences("file:///nowhere/at/all")
    with pytest.raises(InputError, match=r"nostore://bucket: is of a kind that PyArrow does not know"):
        open_preferences("nostore://bucket")


def test_the_record_changes_with_a_file(folder: Path) -> None:
    before = source_record(str(folder), "trl")
    assert before["name"] == folder.name
    (folder / "a.jsonl").write_text(json.dumps(ROWS[0]))
    assert source_record(str(folder), "trl")["sha256"] != before["sha256"]


def test_a_folder_without_data_is_refused(tmp_path: Path) -> None:
    (tmp_path / "_SUCCESS").write_text("")
    with pytest.raises(InputError, match="holds no file of rows"):
        open_preferences(str(tmp_path))
