"""Texts as cells of a spreadsheet: what nobody may run, and what such a program can't hold."""

import re

from evenhand.execution import storable

MOST_CHARACTERS = 32_767
"""What a cell of Excel holds, in the units of UTF-16."""
MARK = "\ufffd"
"""Stands for a character that a sheet can't hold."""

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x80-\x9f\ufffe\uffff]")
# Blanks and what can't be seen, as a text may begin with: programs pass over them before they look for a formula.
_FORMULA = re.compile(
    r"[\s\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]*"
    r"[=+\-@\uff1d\uff0b\uff0d\uff20\ufe62\ufe63\ufe66\ufe6b]"
)
_NUMBER = re.compile(r"[+-]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)?(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?%?")
_BLANK_STARTS = ("\t", "\r", "\n")


def guarded(text: str) -> str:
    r"""Return a text as a cell that no spreadsheet takes for a formula; what it can't hold becomes a mark.

    A text that would be one gets an apostrophe before it. Numbers stay as they are, those below zero too.

    >>> guarded("=1+1"), guarded(" @SUM(A1)"), guarded("plain"), guarded("-0.25"), guarded("bell" + chr(7))
    ("'=1+1", "' @SUM(A1)", 'plain', '-0.25', 'bell\ufffd')
    """
    plain = holdable(text)
    if is_number(plain):
        return plain
    risky = plain.startswith(_BLANK_STARTS) or text.startswith(_BLANK_STARTS) or _FORMULA.match(plain)
    return f"'{plain}" if risky else plain


def holdable(text: str) -> str:
    """Return a text without the characters that a sheet can't hold, and with one kind of line ends."""
    return _CONTROL.sub(MARK, storable(text).replace("\r\n", "\n").replace("\r", "\n"))


def is_number(text: str) -> bool:
    """Return whether a text is nothing but a number.

    >>> [is_number(text) for text in ("-3", "+1,250.5", "1e-9", "87%", "-5-3", "-", "\uff0d3")]
    [True, True, True, True, False, False, False]
    """
    return any(letter in "0123456789" for letter in text[:3]) and _NUMBER.fullmatch(text) is not None


def characters(text: str) -> int:
    """Return how long a text is as spreadsheets count: what lies beyond the first plane counts twice."""
    return len(text) + sum(letter > "\uffff" for letter in text)


def cut(text: str, most: int = MOST_CHARACTERS) -> str:
    """Return a text that fits into a cell; of one that doesn't, the beginning and a note that says so.

    >>> cut("a" * 50, most=40)
    'aaaaaaa [cut here: 50 characters in all]'
    """
    length = characters(text)
    if length <= most:
        return text
    note = f" [cut here: {len(text):,} characters in all]"
    kept = text[: most - len(note)]
    while characters(kept) > most - len(note):
        kept = kept[: len(kept) - max(1, (characters(kept) - most + len(note)) // 2)]
    return kept + note
