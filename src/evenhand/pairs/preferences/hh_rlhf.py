"""HH-RLHF: two whole transcripts that share all but their end."""

from collections.abc import Iterator

from evenhand.pairs.preferences.conversation import is_transcript, parse_transcript, shown
from evenhand.pairs.preferences.format import Format, Sample, first_value
from evenhand.pairs.preferences.preference import Preference
from evenhand.pairs.preferences.problem import ProblemKind, RowFaultError
from evenhand.pairs.preferences.row import Comparison, Row, compare, text_of


def read(row: Row) -> Iterator[Comparison]:
    """Read a row; the outputs begin with the last assistant turn up to which the transcripts are the same."""
    chosen, rejected = (text_of(row.value(name), name) for name in ("chosen", "rejected"))
    for name, text in (("chosen", chosen), ("rejected", rejected)):
        if not is_transcript(text):
            raise RowFaultError(
                ProblemKind.NO_SHARED_PROMPT, f"{name} is no transcript with Human: and Assistant: turns: {shown(text)}"
            )
    yield compare(None, parse_transcript(chosen), parse_transcript(rejected), Preference("a"))


def _also(sample: Sample) -> str:
    if all(is_transcript(first_value(sample, name)) for name in ("chosen", "rejected")):
        return "both hold Human: and Assistant: turns"
    return ""


FORMAT = Format("hh-rlhf", "HH-RLHF transcripts", (("chosen", "rejected"),), read, _also)
