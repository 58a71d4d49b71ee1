"""Tables in many files."""

from pathlib import Path

import polars as pl
import pytest

from evenhand.errors import InputError
from evenhand.execution import RunFolder
from evenhand.execution.shards import (
    Shard,
    forget_shards,
    list_shards,
    sound_shard,
    table_files,
    table_sha256,
    write_shard,
)

TABLE = pl.DataFrame({"a": [1, 2, 3]})


def _listed(folder: Path, *names: str) -> list[Shard]:
    shards = []
    for name in names:
        (folder / "ratings").mkdir(exist_ok=True)
        shards.append(write_shard(folder / "ratings", name, TABLE, {"said": name}))
    list_shards(RunFolder(folder), {"ratings": shards})
    return shards


def test_a_shard_is_sound_with_what_was_said_of_it(tmp_path: Path) -> None:
    shard = write_shard(tmp_path, "part-a", TABLE, {"calls": 3})
    assert sound_shard(tmp_path, "part-a") == (shard, {"calls": 3})
    assert shard.rows == 3


@pytest.mark.parametrize(
    "damage",
    [
        lambda file, _: file.write_bytes(file.read_bytes()[:-9]),
        lambda file, _: file.write_bytes(file.read_bytes().replace(b"PAR1", b"PAR2")),
        lambda file, _: file.unlink(),
        lambda _, beside: beside.unlink(),
        lambda _, beside: beside.write_text("{"),
        lambda _, beside: beside.write_text("[]"),
        lambda _, beside: beside.write_text(beside.read_text().replace("part-a", "part-b")),
    ],
)
def test_a_damaged_shard_counts_as_not_there(tmp_path: Path, damage: object) -> None:
    write_shard(tmp_path, "part-a", TABLE)
    assert callable(damage)
    damage(tmp_path / "part-a.parquet", tmp_path / "part-a.json")
    assert sound_shard(tmp_path, "part-a") is None


def test_the_listed_shards_are_the_table_and_others_go(tmp_path: Path) -> None:
    _listed(tmp_path, "part-a", "part-b")
    _listed(tmp_path, "part-b", "part-c")
    assert [file.name for file in table_files(tmp_path, "ratings")] == ["part-b.parquet", "part-c.parquet"]
    assert sorted(file.name for file in (tmp_path / "ratings").iterdir()) == [
        *("part-b.json", "part-b.parquet", "part-c.json", "part-c.parquet"),
    ]


def test_without_a_list_the_single_file_is_the_table(tmp_path: Path) -> None:
    assert table_files(tmp_path, "ratings") == []
    TABLE.write_parquet(tmp_path / "ratings.parquet")
    assert table_files(tmp_path, "ratings") == [tmp_path / "ratings.parquet"]


def test_a_listed_shard_that_is_missing_is_an_error_with_the_way_out(tmp_path: Path) -> None:
    _listed(tmp_path, "part-a")
    (tmp_path / "ratings" / "part-a.parquet").unlink()
    with pytest.raises(InputError, match=r"part-a.parquet: is not there.*no model is called"):
        table_files(tmp_path, "ratings")


def test_forgotten_shards_leave_nothing_behind(tmp_path: Path) -> None:
    _listed(tmp_path, "part-a")
    forget_shards(RunFolder(tmp_path))
    assert list(tmp_path.iterdir()) == []
    forget_shards(RunFolder(tmp_path))


def test_the_hash_of_a_table_changes_with_its_content(tmp_path: Path) -> None:
    _listed(tmp_path, "part-a", "part-b")
    both = table_sha256(tmp_path, "ratings")
    _listed(tmp_path, "part-a")
    assert table_sha256(tmp_path, "ratings") != both
