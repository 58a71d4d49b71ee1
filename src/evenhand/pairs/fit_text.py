"""What no text can hold: a NUL, half a surrogate pair, bytes that are not UTF-8."""

import re

_UNFIT = re.compile("[\0\ud800-\udfff]")
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def unfit(text: str) -> int:
    """Return how many characters of a text can't be stored or sent."""
    return len(_UNFIT.findall(text))


def fit(text: str) -> str:
    """Return the text with each of them replaced by U+FFFD, so that what is graded is what is kept.

    >>> fit("half of a pair: " + chr(0xD83D)) == "half of a pair: " + chr(0xFFFD)
    True
    """
    return _UNFIT.sub(_REPLACEMENT, text)
