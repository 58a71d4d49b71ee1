"""HelpSteer3: two responses to a conversation, with a signed strength (above 0: the second is better)."""

from collections.abc import Iterator

from evenhand.pairs.preferences.format import Format
from evenhand.pairs.preferences.preference import signed
from evenhand.pairs.preferences.row import Comparison, Row


def read(row: Row) -> Iterator[Comparison]:
    """Read a row."""
    by = signed(row.value("overall_preference"), "overall_preference")
    yield Comparison(row.text("context"), row.text("response1"), row.text("response2"), by)


FORMAT = Format("helpsteer3", "HelpSteer3", (("context", "response1", "response2", "overall_preference"),), read)
