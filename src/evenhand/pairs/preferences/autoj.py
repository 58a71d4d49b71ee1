"""Auto-J: two responses to a prompt, with a label 0 (first), 1 (second) or 2 (tie)."""

from collections.abc import Iterator

from evenhand.pairs.preferences.format import Format
from evenhand.pairs.preferences.preference import by_code
from evenhand.pairs.preferences.row import Comparison, Row


def read(row: Row) -> Iterator[Comparison]:
    """Read a row."""
    by = by_code(row.value("label"), "label", {0: "a", 1: "b", 2: "tie"})
    yield Comparison(row.text("prompt"), row.text("response 1"), row.text("response 2"), by)


FORMAT = Format("autoj", "Auto-J", (("prompt", "response 1", "response 2", "label"),), read)
