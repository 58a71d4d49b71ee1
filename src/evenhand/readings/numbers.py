"""What a grader wrote where a rating should stand: a number, an abstention, or neither."""

import json
import math
import re
import unicodedata
from functools import lru_cache

from evenhand.readings.reading import State

LOWEST, HIGHEST, IMPOSSIBLE = 0.0, 10.0, -1.0

_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")
_USUAL = 12
_OF_TEN = re.compile(r"(.+?)\s*(?:/|\bout\s+of\b)\s*10(?:\.0*)?", re.IGNORECASE)


def rating_of(written: str) -> tuple[State, float | None, str]:
    """Return the state, the rating on 0 to 10 and the reason why there is none.

    Args:
        written: what stands after the key, as it was written: ``7``, ``7.5``, ``"8/10"``, ``null``.

    A value outside the scale is never moved into it, and what is not a number is never taken for one.

    >>> rating_of("8/10")[:2], rating_of(" '.8' ")[:2], rating_of("-1")[0].value
    ((<State.OK: 'ok'>, 8.0), (<State.OK: 'ok'>, 0.8), 'abstained')
    >>> rating_of("85")[2], rating_of("true")[2], rating_of("8/9")[2]
    ('85 is not on the scale from 0 to 10', "'true' is not a number", "'8/9' is not a number out of 10")
    """
    # The same few numbers are written over and over; long texts are not, and would fill the memory.
    return _usual(written) if len(written) <= _USUAL else _rating_of(written)


def _rating_of(written: str) -> tuple[State, float | None, str]:
    text = _plain(written)
    of_ten = _OF_TEN.fullmatch(text)
    number = of_ten[1].strip() if of_ten else text
    if not _NUMBER.fullmatch(number):
        if "/" in text or re.search(r"\bout\s+of\b", text, re.IGNORECASE):
            return State.UNPARSEABLE, None, f"{text!r} is not a number out of 10"
        return State.UNPARSEABLE, None, f"{text!r} is not a number" if text else "the rating is empty"
    value = float(number)
    if value == IMPOSSIBLE and not of_ten:
        return State.ABSTAINED, None, "the grader found the question impossible to answer"
    if not math.isfinite(value) or not LOWEST <= value <= HIGHEST:
        return State.UNPARSEABLE, None, f"{text} is not on the scale from 0 to 10"
    return State.OK, value, ""


_usual = lru_cache(maxsize=2_000)(_rating_of)


def _plain(written: str) -> str:
    """Take quotes and white space off, and fold compatibility forms such as full-width digits."""
    text = written.strip()
    if len(text) >= 2 and text[0] == text[-1] == '"':
        try:
            text = str(json.loads(text))
        except ValueError:
            text = text[1:-1]
    elif len(text) >= 2 and text[0] == text[-1] and text[0] in "'`":
        text = text[1:-1]
    folded = unicodedata.normalize("NFKC", text)
    digits = "".join(str(unicodedata.digit(char)) if char.isdigit() else char for char in folded)
    return "".join(char for char in digits if unicodedata.category(char) != "Cf").strip()
