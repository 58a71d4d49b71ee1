"""The run folder: where a run keeps its ledger and its results."""

import errno
import json
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from evenhand.errors import InputError


class UnwritableError(InputError):
    """A file of a run folder can't be written: the disk is full, or the folder is there to be read alone."""


class RunFolder:
    """A folder with ``ledger.sqlite`` and the files of a run. A file is whole or not there."""

    def __init__(self, path: Path) -> None:
        """Make the folder if it is not there."""
        refuse_address(path)
        self.path = path
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(
                f"can't be made ({error.strerror or error})",
                source=str(path),
                field="--out",
                way_out="name another folder",
            ) from error

    @property
    def ledger_path(self) -> Path:
        """Where the ledger is."""
        return self.path / "ledger.sqlite"

    def write_json(self, name: str, value: dict[str, Any] | list[Any]) -> None:
        """Write a JSON file with sorted keys: the same value gives the same bytes."""
        text = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"
        self._replace(name, lambda path: path.write_text(text, "utf-8", newline="\n"))

    def read_json(self, name: str) -> dict[str, Any] | None:
        """Return what a JSON file holds, or None where there is none; raises ``InputError`` if it is damaged."""
        path = self.path / name
        if not path.is_file():
            return None
        try:
            value = json.loads(path.read_text("utf-8"))
        except ValueError as error:
            raise InputError(
                f"is not JSON ({error})",
                source=str(path),
                way_out="remove it; a run over the ledger writes it again",
            ) from error
        if not isinstance(value, dict):
            raise InputError("is not a JSON object", source=str(path), way_out="remove it")
        return value

    def write_text(self, name: str, text: str) -> None:
        """Write a text to the letter; an empty one leaves no file."""
        if text:
            self._replace(name, lambda path: path.write_bytes(text.encode("utf-8")))
            return
        try:
            (self.path / name).unlink(missing_ok=True)
        except OSError as error:
            raise _unwritable(self.path / name, error) from error

    def write_table(self, name: str, table: pl.DataFrame) -> None:
        """Write a Parquet file."""
        self._replace(name, lambda path: _write_parquet(table, path))

    def _replace(self, name: str, write: Callable[[Path], object]) -> None:
        try:
            handle, temporary = tempfile.mkstemp(dir=self.path, prefix=f".{name}.")
            os.close(handle)
            path = Path(temporary)
            try:
                write(path)
                path.chmod(0o666 & ~_umask())
                path.replace(self.path / name)
            except BaseException:
                path.unlink(missing_ok=True)
                raise
        except OSError as error:
            raise _unwritable(self.path / name, error) from error


@contextmanager
def keeping(unkept: Callable[[UnwritableError], object] | None) -> Iterator[None]:
    """Hand what can't be written inside to ``unkept`` and go on; without it the error is raised."""
    try:
        yield
    except UnwritableError as error:
        if unkept is None:
            raise
        unkept(error)


def _write_parquet(table: pl.DataFrame, path: Path) -> None:
    try:
        table.write_parquet(path)
    except (OSError, pl.exceptions.ComputeError) as error:
        # Polars puts the number of what the system said into its words alone.
        number = re.search(r"\(os error (\d+)\)", str(error))
        if number is None:
            raise
        raise OSError(int(number[1]), os.strerror(int(number[1]))) from error


def _unwritable(path: Path, error: OSError) -> UnwritableError:
    full = error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
    way_out = "make room" if full else "copy the run folder to where you can write, and name the copy"
    return UnwritableError(f"can't be written ({error.strerror or error})", source=str(path), way_out=way_out)


def refuse_address(path: Path) -> None:
    """Raise ``InputError`` for a path that was meant as an address, such as ``s3://bucket/run``: a ledger is a file."""
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+:[/\\]", str(path)):
        raise InputError(
            "is an address in a store, and a run folder is one of this machine or of a file system that machines share",
            source=str(path),
            field="--out",
            way_out="name a folder, and copy it into the store when the run is done",
        )


def storable(text: str) -> str:
    """Return a text that UTF-8, and so Parquet, can hold: a lone surrogate becomes a question mark.

    >>> storable("half of a pair: " + chr(0xD83D))
    'half of a pair: ?'
    """
    return text.encode("utf-8", "replace").decode("utf-8")


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
