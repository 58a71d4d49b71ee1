"""A run folder that held another run before."""

from collections.abc import Mapping
from typing import Any

from evenhand.execution import RunFolder
from evenhand.fetching import FetchWatch


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
