"""TRL preference data: chosen and rejected, as texts or messages, with the prompt or with it inside both."""

from collections.abc import Iterator
from os.path import commonprefix

from evenhand.pairs.preferences.conversation import is_transcript, parse_transcript
from evenhand.pairs.preferences.format import Format, Sample
from evenhand.pairs.preferences.preference import Preference
from evenhand.pairs.preferences.row import Comparison, Row, compare

_PROMPTS = ("prompt", "conversations", "question", "instruction", "input")


def read(row: Row) -> Iterator[Comparison]:
    """Read a row; without a prompt it is what both sides share at their beginning."""
    chosen, rejected = row.side("chosen"), row.side("rejected")
    margin = row.number("margin")
    by = Preference("a", margin if margin and margin > 0 else None)
    name = next((name for name in _PROMPTS if name in row.values), None)
    if name:
        yield compare(row.side(name) if row.has(name) else row.optional_text(name), chosen, rejected, by)
    elif isinstance(chosen, str) and isinstance(rejected, str):
        if is_transcript(chosen) and is_transcript(rejected):
            yield compare(None, parse_transcript(chosen), parse_transcript(rejected), by)
        else:
            shared, a, b = split_texts(chosen, rejected)
            yield Comparison(shared, a, b, by)
    else:
        yield compare(None, chosen, rejected, by)


def split_texts(a: str, b: str) -> tuple[str, str, str]:
    """Return what two texts share at their beginning, up to the last white space, and what each goes on with.

    Texts that are the same, or one of which is the beginning of the other, have no prompt that could be told.

    >>> split_texts("The sky is grey.", "The sky is green.")
    ('The sky is', 'grey.', 'green.')
    """
    shared = commonprefix([a, b])  # noqa: RUF071 - characters are what is compared here
    if len(shared) in (len(a), len(b)):
        return "", a, b
    at = max((index for index, character in enumerate(shared) if character.isspace()), default=-1) + 1
    return a[:at].rstrip(), a[at:], b[at:]


def _also(sample: Sample) -> str:
    name = next((name for name in _PROMPTS if any(name in values for values in sample)), None)
    return f"the prompt is in {name}" if name else "no prompt: it is taken to be what both share at their beginning"


FORMAT = Format(
    "trl", "TRL preference (standard, implicit prompt or conversational)", (("chosen", "rejected"),), read, _also
)
