"""From what the user names to preference pairs: a file, a folder of files, or a data set of the Hugging Face hub."""

import hashlib
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evenhand.errors import InputError
from evenhand.fetching import sha256_of_file
from evenhand.fetching.stores import here, is_stored, stored_files
from evenhand.pairs.preferences import Columns, PreferenceStream, records_of, stream_of_records, stream_preferences
from evenhand.pairs.preferences.dataset import files_of, is_data_file, records_of_files
from evenhand.pairs.preferences.records import ENDINGS

HUB = "hf:"


def open_preferences(name: str, *, format: str | None = None, columns: Columns | None = None) -> PreferenceStream:
    """Return the pairs of a source row by row.

    Args:
        name: the path of a file or of a folder of files, or ``hf:OWNER/NAME``, ``hf:OWNER/NAME:SPLIT`` or
            ``hf:OWNER/NAME:CONFIG:SPLIT`` for a data set of the Hugging Face hub (split ``train`` where none is named).
        format: as for ``stream_preferences``.
        columns: as for ``stream_preferences``.
    """
    if is_stored(name):
        return stream_of_records(records_of_files(_copies(name)), source=name, format=format, columns=columns)
    if not name.startswith(HUB) and Path(name).is_dir():
        records = records_of_files(files_of(Path(name)))
        return stream_of_records(records, source=name, format=format, columns=columns)
    if not name.startswith(HUB):
        return stream_preferences(Path(name), format=format, columns=columns)
    return stream_of_records(records_of(_hub_rows(name)), source=name, format=format, columns=columns)


def data_files(name: str) -> tuple[str, ...]:
    """Return the files of rows that a path, a folder or an address in a store names, sorted."""
    if is_stored(name):
        files = [file.address for file in stored_files(name) if is_data_file(file.name)]
        if not files:
            raise InputError(
                "holds no file of rows", source=name, way_out=f"give a folder with files {', '.join(ENDINGS)}"
            )
        return tuple(files)
    path = Path(name).resolve()
    return tuple(map(str, files_of(path))) if path.is_dir() else (str(path),)


def source_record(name: str, format: str) -> dict[str, Any]:
    """Return what a record says of a source: its name, the hash of its file and the format it was read as."""
    if is_stored(name):
        files = [[file.address, file.size, file.changed] for file in stored_files(name)]
        # No store is read twice for a hash; what it says of its files tells whether they are the same.
        return {"name": name, "sha256": None, "format": format, "files": files}
    path = Path(name)
    if not name.startswith(HUB) and path.is_dir():
        hashes = (f"{file.relative_to(path).as_posix()} {sha256_of_file(file)}\n" for file in files_of(path))
        return {"name": path.name, "sha256": hashlib.sha256("".join(hashes).encode()).hexdigest(), "format": format}
    here = not name.startswith(HUB) and path.is_file()
    return {"name": path.name if here else name, "sha256": sha256_of_file(path) if here else None, "format": format}


def _copies(address: str) -> Iterator[Path]:
    for name in data_files(address):
        with here(name) as path:
            yield path


def _hub_rows(name: str) -> Iterator[dict[str, Any]]:
    path, *rest = name.removeprefix(HUB).split(":")
    if not path or len(rest) > 2:
        raise InputError(
            f"{name!r} names no data set",
            way_out="write hf:OWNER/NAME, hf:OWNER/NAME:SPLIT or hf:OWNER/NAME:CONFIG:SPLIT",
        )
    config, split = (rest[0], rest[1]) if len(rest) == 2 else (None, rest[0] if rest else "train")
    try:
        datasets = importlib.import_module("datasets")
    except ImportError as error:
        raise InputError(
            "the package datasets, which reads data sets of the Hugging Face hub, is not installed",
            source=name,
            way_out="pip install 'evenhand[hub]', or download the data set's files and name one of them",
        ) from error
    try:
        yield from datasets.load_dataset(path, config, split=split, streaming=True)
    except Exception as error:  # Whatever it raises, the user needs the name, the cause and no traceback.
        raise InputError(
            f"can't be loaded ({error})", source=name, way_out="check its name, configuration, split and the network"
        ) from error
