"""JudgeBench: two responses to a question, with a label A>B or B>A."""

from collections.abc import Iterator

from evenhand.pairs.preferences.format import Format
from evenhand.pairs.preferences.preference import by_name, unknown
from evenhand.pairs.preferences.row import Comparison, Row


def read(row: Row) -> Iterator[Comparison]:
    """Read a row."""
    label = row.value("label")
    by = by_name(label)
    if by is None:
        raise unknown(label, "label", "A>B, B>A, A=B")
    yield Comparison(row.text("question"), row.text("response_A"), row.text("response_B"), by)


FORMAT = Format("judgebench", "JudgeBench", (("question", "response_A", "response_B", "label"),), read)
