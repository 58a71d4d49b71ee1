"""HelpSteer2 preference: two responses to a prompt, with a signed strength (above 0: the second is better)."""

import re
from collections.abc import Iterator

from evenhand.pairs.preferences.conversation import Turn, written
from evenhand.pairs.preferences.format import Format
from evenhand.pairs.preferences.preference import signed
from evenhand.pairs.preferences.row import Comparison, Row

_TURN = re.compile(r"\n?<extra_id_1>(User|Assistant)\n")


def read(row: Row) -> Iterator[Comparison]:
    """Read a row; a prompt of several turns is marked by ``<extra_id_1>`` and the speaker."""
    by = signed(row.value("preference_strength"), "preference_strength")
    first, *rest = _TURN.split(row.text("prompt"))
    turns = [Turn("H", first)] + [
        Turn("H" if name == "User" else "A", text) for name, text in zip(rest[::2], rest[1::2], strict=True)
    ]
    if turns[-1] == Turn("A", ""):
        turns.pop()  # The mark that asks for the output.
    yield Comparison(written(turns), row.text("response_1"), row.text("response_2"), by)


FORMAT = Format(
    "helpsteer2", "HelpSteer2 preference", (("prompt", "response_1", "response_2", "preference_strength"),), read
)
