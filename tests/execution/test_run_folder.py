"""Files of a run are whole or not there."""

from pathlib import Path

import polars as pl
import pytest

from evenhand.errors import InputError
from evenhand.execution import RunFolder


def test_same_value_same_bytes(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "runs" / "a")
    folder.write_json("s.json", {"b": 1.5, "a": "é"})
    first = (folder.path / "s.json").read_bytes()
    folder.write_json("s.json", {"a": "é", "b": 1.5})
    assert (folder.path / "s.json").read_bytes() == first
    assert folder.read_json("s.json") == {"a": "é", "b": 1.5}


def test_a_failed_write_leaves_the_old_file_and_no_litter(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    folder.write_json("s.json", {"a": 1})
    with pytest.raises(ValueError, match="Out of range"):
        folder.write_json("s.json", {"a": float("nan")})
    assert folder.read_json("s.json") == {"a": 1}
    assert [path.name for path in tmp_path.iterdir()] == ["s.json"]


def test_tables(tmp_path: Path) -> None:
    RunFolder(tmp_path).write_table("t.parquet", pl.DataFrame({"a": [1]}))
    assert pl.read_parquet(tmp_path / "t.parquet").rows() == [(1,)]


def test_damaged_and_absent(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    assert folder.read_json("absent.json") is None
    for text, what in (("{", "is not JSON"), ("[]", "is not a JSON object")):
        (tmp_path / "s.json").write_text(text)
        with pytest.raises(InputError, match=what):
            folder.read_json("s.json")


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="--out: can't be made"):
        RunFolder(tmp_path / "file" / "run")


def test_an_address_is_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a shell hands over for s3://bucket/run would else be made here, as a folder called s3:."""
    monkeypatch.chdir(tmp_path)
    for name in ("s3://bucket/run", "gs://bucket/run"):
        with pytest.raises(InputError, match=r"bucket/run, --out: is an address in a store.*copy it into the store"):
            RunFolder(Path(name))
    assert list(tmp_path.iterdir()) == []
    assert RunFolder(tmp_path / "a:b" / "c").path.is_dir()
