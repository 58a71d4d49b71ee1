"""Texts in charts: of any origin, made fit to be drawn."""

import unicodedata
from collections.abc import Iterator

from evenhand.statistics import Estimate

CUT = 36
"""Characters of a label; the table beside the chart has it whole."""
_BREAKS = {"\n", "\r", "\t", "\u2028", "\u2029"}
_TURNS = {"\u200e", "\u200f", "\u061c", *(chr(code) for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A)))}
"""Marks that turn the direction of writing; in one label they would move the letters of the next."""
_WIDE = 0.57
"""Width of a letter over the size of the font, on average."""


def plain(text: str) -> str:
    """Return a text in one line without what can't be drawn or can't stand in XML.

    >>> plain("a\\x00b\\nc \\u202ed")
    'a\ufffdb c d'
    """
    return " ".join("".join(_drawable(character) for character in text).split())


def _drawable(character: str) -> str:
    if character in _BREAKS:
        return " "
    if character in _TURNS:
        return ""
    code = ord(character)
    bad = unicodedata.category(character) in ("Cc", "Cs") or code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF
    return "\ufffd" if bad else character


def label(text: str, most: int = CUT) -> str:
    """Return a text as a label of so many characters at most.

    >>> label("x" * 40, 10), label("  ")
    ('xxxxxxxxx…', '(no name)')
    """
    found = plain(text)
    if not found:
        return "(no name)"
    return found if len(found) <= most else f"{found[: most - 1].rstrip()}…"


def width_of(text: str, size: int) -> float:
    """Return about how many pixels a text takes."""
    return size * sum(1.0 if unicodedata.east_asian_width(letter) in "WF" else _WIDE for letter in text)


def wrapped(text: str, width: float, size: int) -> Iterator[str]:
    """Yield the lines of a text that is to fit into a width of pixels."""
    line, most = "", max(1, int(width / width_of("x", size)))
    words = (word[at : at + most] for word in text.split() for at in range(0, len(word), most))
    for word in words:
        longer = f"{line} {word}" if line else word
        if line and width_of(longer, size) > width:
            yield line
            longer = word
        line = longer
    if line:
        yield line


def percents(estimate: Estimate, *, signed: bool = False) -> str:
    """Return a share in percent as it stands beside a mark.

    >>> percents(Estimate(0.875, 0.6, 1.0, 8, 8, "")), percents(Estimate.missing("no rows"))
    ('87.5 [60.0, 100.0]', '–')
    """
    return _figure(estimate, 100, 1, signed)


def numbers(estimate: Estimate, digits: int = 2, *, signed: bool = False) -> str:
    """Return a figure as it stands beside a mark.

    >>> numbers(Estimate(0.8751, None, None, 8, 8, "")), numbers(Estimate(0.5, 0.25, 0.75, 8, 8, ""), signed=True)
    ('0.88', '+0.50 [+0.25, +0.75]')
    """
    return _figure(estimate, 1, digits, signed)


def _figure(estimate: Estimate, scale: float, digits: int, signed: bool) -> str:
    if estimate.value is None:
        return "–"
    ends = [estimate.value, *(end for end in (estimate.low, estimate.high) if end is not None)]
    texts = [rounded(scale * end, digits, signed=signed) for end in ends]
    return f"{texts[0]} [{texts[1]}, {texts[2]}]" if len(texts) == 3 else texts[0]


def rounded(value: float, digits: int, *, signed: bool = False) -> str:
    """Return a number with so many digits after the point, and never a negative nothing.

    >>> rounded(-0.001, 1), rounded(0.25, 1, signed=True), rounded(1234.5, 0)
    ('0.0', '+0.2', '1,234')
    """
    return f"{round(value, digits) + 0.0:{'+' if signed else ''},.{digits}f}"
