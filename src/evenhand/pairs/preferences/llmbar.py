"""LLMBar: two outputs for an instruction, with a label 1 or 2."""

from collections.abc import Iterator

from evenhand.pairs.preferences.format import Format
from evenhand.pairs.preferences.preference import by_code
from evenhand.pairs.preferences.row import Comparison, Row


def read(row: Row) -> Iterator[Comparison]:
    """Read a row."""
    by = by_code(row.value("label"), "label", {1: "a", 2: "b"})
    yield Comparison(row.text("input"), row.text("output_1"), row.text("output_2"), by)


FORMAT = Format("llmbar", "LLMBar", (("input", "output_1", "output_2", "label"),), read)
