"""From what the user names to preference pairs: a file, or a data set of the Hugging Face hub."""

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evenhand.errors import InputError
from evenhand.fetching import sha256_of_file
from evenhand.pairs.preferences import Columns, PreferenceStream, records_of, stream_of_records, stream_preferences

HUB = "hf:"


def open_preferences(name: str, *, format: str | None = None, columns: Columns | None = None) -> PreferenceStream:
    """Return the pairs of a source row by row.

    Args:
        name: the path of a file, or ``hf:OWNER/NAME``, ``hf:OWNER/NAME:SPLIT`` or ``hf:OWNER/NAME:CONFIG:SPLIT`` for a
            data set of the Hugging Face hub (split ``train`` where none is named).
        format: as for ``stream_preferences``.
        columns: as for ``stream_preferences``.
    """
    if not name.startswith(HUB):
        return stream_preferences(Path(name), format=format, columns=columns)
    return stream_of_records(records_of(_hub_rows(name)), source=name, format=format, columns=columns)


def source_record(name: str, format: str) -> dict[str, str | None]:
    """Return what a record says of a source: its name, the hash of its file and the format it was read as."""
    path = Path(name)
    here = not name.startswith(HUB) and path.is_file()
    return {"name": path.name if here else name, "sha256": sha256_of_file(path) if here else None, "format": format}


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
