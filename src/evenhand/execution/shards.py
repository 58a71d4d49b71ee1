"""Shards: a table in many files, each of which is whole and known by its hash, or not there."""

import hashlib
import json
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl

from evenhand.errors import InputError
from evenhand.execution.run_folder import RunFolder
from evenhand.fetching import sha256_of_file

LIST = "shards.json"
"""Which shards make up the tables of a run folder; written last, so that a table is whole or not there."""


@dataclass(frozen=True, slots=True)
class Shard:
    """One file of a table."""

    name: str
    rows: int
    sha256: str


def write_shard(folder: Path, name: str, table: pl.DataFrame, about: dict[str, Any] | None = None) -> Shard:
    """Write ``NAME.parquet`` and beside it ``NAME.json``, which says what it holds.

    The second is written last: where it is there and its hash is that of the first, the shard is sound.
    """
    place = RunFolder(folder)
    place.write_table(f"{name}.parquet", table)
    shard = Shard(name, table.height, sha256_of_file(folder / f"{name}.parquet"))
    place.write_json(f"{name}.json", {**asdict(shard), "about": about or {}})
    return shard


def sound_shard(folder: Path, name: str) -> tuple[Shard, dict[str, Any]] | None:
    """Return a shard and what was said of it, or None where it is not there or damaged."""
    file, beside = folder / f"{name}.parquet", folder / f"{name}.json"
    try:
        said = json.loads(beside.read_text("utf-8"))
        shard = Shard(said["name"], said["rows"], said["sha256"])
        about = dict(said["about"])
        sound = shard.name == name and sha256_of_file(file) == shard.sha256
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return (shard, about) if sound else None


def list_shards(folder: RunFolder, tables: Mapping[str, Iterable[Shard]]) -> None:
    """Say which shards make up each table of a run folder, and remove the files of others."""
    listed = {table: [asdict(shard) for shard in shards] for table, shards in tables.items()}
    folder.write_json(LIST, listed)
    for table, shards in listed.items():
        current = {f"{shard['name']}.{ending}" for shard in shards for ending in ("parquet", "json")}
        for path in (folder.path / table).glob("*"):
            if path.name not in current:
                path.unlink()


def forget_shards(folder: RunFolder) -> None:
    """Say that a run folder's tables are no longer made of shards, and remove those that it lists."""
    listed = folder.read_json(LIST) or {}
    (folder.path / LIST).unlink(missing_ok=True)
    for table in listed:
        shutil.rmtree(folder.path / table, ignore_errors=True)


def table_files(folder: Path, table: str) -> list[Path]:
    """Return the files of a run folder's table, in order: its shards, or the one file; empty where there is neither.

    Raises ``InputError`` for a shard that is listed and not there.
    """
    try:
        listed = json.loads((folder / LIST).read_text("utf-8"))
    except FileNotFoundError:
        single = folder / f"{table}.parquet"
        return [single] if single.is_file() else []
    except ValueError as error:
        raise InputError(
            f"is not JSON ({error})", source=str(folder / LIST), way_out="give the same command as before again"
        ) from error
    files = [folder / table / f"{shard['name']}.parquet" for shard in listed.get(table, ())]
    missing = next((file for file in files if not file.is_file()), None)
    if missing:
        raise InputError(
            "is not there", source=str(missing), way_out="give the same command as before again; no model is called"
        )
    return files


def table_sha256(folder: Path, table: str) -> str:
    """Return the hash of a table: of its file, or over those of its shards."""
    if (folder / LIST).is_file():
        listed = json.loads((folder / LIST).read_text("utf-8"))[table]
        return hashlib.sha256("\n".join(shard["sha256"] for shard in listed).encode()).hexdigest()
    return sha256_of_file(folder / f"{table}.parquet")
