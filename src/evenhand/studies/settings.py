"""A run folder that held another run before."""

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from evenhand.errors import InputError
from evenhand.execution import RunFolder
from evenhand.fetching import FetchWatch


class RunKind(StrEnum):
    """What a run folder may hold."""

    AUDIT = "an audit"
    RATING = "a rating run"
    VALIDATION = "a validation"


_TELLING: Mapping[str, RunKind] = {
    "judgments.parquet": RunKind.AUDIT,
    "ratings.parquet": RunKind.RATING,
    "shards.json": RunKind.RATING,
    "validation.parquet": RunKind.VALIDATION,
}
"""Files that runs of one kind have, and no others."""


def check_kind(folder: Path, kind: RunKind) -> None:
    """Check that a folder holds no run of another kind, whose files a run of this one would replace.

    Raises:
        InputError: it does.
    """
    for name, there in _TELLING.items():
        if there is not kind and (folder / name).exists():
            raise InputError(
                f"holds {there} ({name}), whose files {kind} would replace",
                source=str(folder),
                field="--out",
                way_out="name another folder",
            )


def say_if_changed(folder: RunFolder, record: Mapping[str, Any], watch: FetchWatch) -> None:
    """Say in which settings a run differs from the one that its folder held; call it before the record is written."""
    before = folder.read_json("record.json")
    if before is None:
        return
    old, new = before.get("settings", {}), record["settings"]
    changed = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    if changed:
        watch.say(
            f"{folder.path} held a run with other settings ({', '.join(changed)}): its replies are used where they are"
            " the same, and its tables are replaced; figures worked out from the old tables are out of date"
        )
