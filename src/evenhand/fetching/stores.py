"""Files in stores that PyArrow's file systems reach: ``s3://``, ``gs://``, ``file://`` and what else it knows."""

import importlib
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand.errors import InputError


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file in a store."""

    address: str
    size: int
    """In bytes."""
    changed: str | None
    """When it was last changed (ISO 8601), where the store says."""


def is_stored(name: str) -> bool:
    """Tell whether a name is an address in a store, and no path.

    >>> is_stored("s3://bucket/folder"), is_stored("data/pairs.jsonl"), is_stored("hf:owner/name")
    (True, False, False)
    """
    return "://" in name


def stored_files(address: str) -> list[StoredFile]:
    """Return the files at or below an address, sorted."""
    system, path = _system(address)
    fs = importlib.import_module("pyarrow.fs")
    scheme = address.partition("://")[0]
    try:
        at = system.get_file_info(path)
        found = [at] if at.is_file else system.get_file_info(fs.FileSelector(path, recursive=True))
    except OSError as error:
        raise _unreachable(address, error) from error
    files = [info for info in found if info.is_file]
    return [
        StoredFile(f"{scheme}://{info.path}", int(info.size), info.mtime.isoformat() if info.mtime else None)
        for info in sorted(files, key=lambda info: str(info.path))
    ]


@contextmanager
def here(address: str) -> Iterator[Path]:
    """Give the path of a copy of a stored file while it is used."""
    system, path = _system(address)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / Path(path).name
        try:
            with system.open_input_stream(path, compression=None) as stored, copy.open("wb") as file:
                shutil.copyfileobj(stored, file, 2**20)
        except OSError as error:
            raise _unreachable(address, error) from error
        yield copy


def _system(address: str) -> tuple[Any, str]:
    try:
        fs = importlib.import_module("pyarrow.fs")
    except ImportError as error:
        raise InputError(
            "PyArrow, which reads files in stores, is not installed",
            source=address,
            way_out="pip install 'evenhand[ray]', or copy the files to this machine",
        ) from error
    try:
        system, path = fs.FileSystem.from_uri(address)
    except (ValueError, OSError, NotImplementedError) as error:
        raise _unreachable(address, error) from error
    return system, path


def _unreachable(address: str, error: Exception) -> InputError:
    return InputError(
        f"can't be reached ({' '.join(str(error).split())[:300]})",
        source=address,
        way_out="check the address, the network and the credentials in the environment of every worker",
    )
