"""How a grader's answers are read: from its probabilities, or from what it wrote, once or several times."""

import re
from dataclasses import dataclass

from evenhand.errors import InputError

_SAMPLES = re.compile(r"samples:([1-9]\d{0,3})")


@dataclass(frozen=True, slots=True)
class ReadingMode:
    """The default reads probabilities; nothing else is ever used unless the user names it."""

    probabilities: bool = True
    samples: int = 1
    """Written answers a question; more than one are sampled at temperature 1."""


def reading_mode(name: str) -> ReadingMode:
    """Return the mode called ``probabilities``, ``text`` or ``samples:N``; raises ``InputError`` for another.

    >>> reading_mode("samples:5")
    ReadingMode(probabilities=False, samples=5)
    """
    if name == "probabilities":
        return ReadingMode()
    if name == "text":
        return ReadingMode(probabilities=False)
    found = _SAMPLES.fullmatch(name)
    if not found:
        raise InputError(
            f"is {name!r}", field="--reading", way_out="use probabilities, text, or samples:N with N from 1 to 9999"
        )
    return ReadingMode(probabilities=False, samples=int(found[1]))
