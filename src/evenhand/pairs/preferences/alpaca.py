"""Alpaca pairs: an instruction with an input, and two outputs of which one is preferred."""

from collections.abc import Iterator

from evenhand.pairs.preferences.conversation import shown, strings_of
from evenhand.pairs.preferences.format import Format, Sample, first_value
from evenhand.pairs.preferences.preference import Preference, on_scale_1_to_2
from evenhand.pairs.preferences.problem import ProblemKind, RowFaultError
from evenhand.pairs.preferences.row import Comparison, Row, compare, joined, text_of


def read(row: Row) -> Iterator[Comparison]:
    """Read a row; a list of two outputs has the preferred one first."""
    prompt = joined((row.text("instruction"), row.optional_text("input")))
    if "output_1" in row.values:
        by = on_scale_1_to_2(row.value("preference"), "preference")
        yield Comparison(prompt, row.text("output_1"), row.text("output_2"), by)
    elif "chosen" in row.values:
        yield compare(prompt, row.side("chosen"), row.side("rejected"), Preference("a"))
    else:
        value = row.value("output")
        outputs = strings_of(value)
        if outputs is None or len(outputs) != 2:
            raise RowFaultError(ProblemKind.WRONG_TYPE, f"output is {shown(value)} where a list of two should be")
        chosen, rejected = (text_of(text, "output") for text in outputs)
        yield Comparison(prompt, chosen, rejected, Preference("a"))


def _also(sample: Sample) -> str:
    if first_value(sample, "output_1") is not None:
        return "two outputs and a preference from 1 to 2"
    if first_value(sample, "chosen") is not None:
        return "chosen and rejected"
    return "output is a list" if strings_of(first_value(sample, "output")) else ""


FORMAT = Format(
    "alpaca",
    "Alpaca pairs",
    (
        ("instruction", "output_1", "output_2", "preference"),
        ("instruction", "chosen", "rejected"),
        ("instruction", "output"),
    ),
    read,
    _also,
)
