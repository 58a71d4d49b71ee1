"""RewardBench: one chosen and one rejected output for a prompt."""

from collections.abc import Iterator

from evenhand.pairs.preferences.format import Format
from evenhand.pairs.preferences.preference import Preference
from evenhand.pairs.preferences.row import Comparison, Row, compare


def read(row: Row) -> Iterator[Comparison]:
    """Read a row."""
    yield compare(row.side("prompt"), row.side("chosen"), row.side("rejected"), Preference("a"))


FORMAT = Format(
    "rewardbench",
    "RewardBench",
    (("prompt", "chosen", "rejected", "chosen_model", "rejected_model"),),
    read,
)
