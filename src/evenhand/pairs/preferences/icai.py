"""ICAI (inverse constitutional AI): two texts, and the name of the column that holds the preferred one."""

import re
from collections.abc import Iterator

from evenhand.pairs.preferences.format import Format
from evenhand.pairs.preferences.preference import Winner, by_name, unknown
from evenhand.pairs.preferences.row import Comparison, Row

_COLUMNS: dict[str, Winner] = {"text_a": "a", "text_b": "b"}
_INSTRUCTION = re.compile(r"Instruction:(.*?)\n+Output:\s*", re.DOTALL)


def read(row: Row) -> Iterator[Comparison]:
    """Read a row; an ``Instruction: ... Output:`` head that both texts share is the input."""
    preferred = row.value("preferred_text")
    by = by_name(preferred, _COLUMNS)
    if by is None:
        raise unknown(preferred, "preferred_text", ", ".join(_COLUMNS))
    a, b = row.text("text_a"), row.text("text_b")
    heads = [_INSTRUCTION.match(text) for text in (a, b)]
    if heads[0] and heads[1] and heads[0][1].strip() == heads[1][1].strip():
        yield Comparison(heads[0][1].strip(), a[heads[0].end() :], b[heads[1].end() :], by)
    else:
        yield Comparison("", a, b, by)


FORMAT = Format("icai", "ICAI", (("text_a", "text_b", "preferred_text"),), read)
