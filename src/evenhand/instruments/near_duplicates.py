"""Which questions ask nearly the same: by the letters they are made of, without a model."""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

THRESHOLD = 0.7
"""Similarity from which two questions count as near-duplicates.

Set on the built-in questions, whose most alike pair stays below it, and on rewordings of them (another form of a
word, another frame, words left out or moved), which come out above it.
"""

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_GRADED = re.compile(
    r"\bthe (?:output|response|reply|answer|completion|text|message|assistant|model|author)(?:['’]s)?\b"
    r"|\bto what (?:extent|degree)\b|\bhow much\b"
)
# What every question is framed with, and the verbs that say little. Negations belong to it: a question and its
# opposite measure one thing twice.
_FRAME_WORDS = """
a an any and are as at be been being by can could did do does for from has have how if in into is it it's its of on or
such than that the their there they this to was were what where which who will with would
no not without doesn't isn't never
input output contain contains give gives include includes maintain maintains make makes mention mentions
present presents provide provides show shows use uses
"""
_FRAME = frozenset(_FRAME_WORDS.split())
_LETTERS = 3


@dataclass(frozen=True, slots=True)
class NearDuplicates:
    """Two texts of a sequence that ask nearly the same."""

    first: int
    """Place of the earlier one, from 0."""
    second: int
    similarity: float
    """From ``THRESHOLD`` to 1."""


def similarity(one: str, other: str) -> float:
    """Return how alike two questions are, from 0 to 1; the order of the two does not matter.

    It is the cosine of two vectors of counts: of the letter triples of the words (``_li lis ist sts ts_``), so that
    another ending costs little. Case, punctuation, the order of words and the frame ("Does the output ...") do not
    count. It sees words and not meanings: "brief" and "short" are strangers to it.

    >>> similarity("Does the output use lists?", "does the response use LISTS")
    1.0
    >>> similarity("Is the output polite?", "Does the output give numbers?")
    0.0
    """
    words, others = _words(one), _words(other)
    content, other_content = _content(words), _content(others)
    if content and other_content:
        words, others = content, other_content
    if sorted(words) == sorted(others):
        return 1.0
    return min(1.0, _cosine(_triples(words), _triples(others)))


def nearest(text: str, known: Sequence[str]) -> tuple[int, float] | None:
    """Return place and similarity of the known text most like this one (the first of equals), None for no texts."""
    if not known:
        return None
    found = [similarity(text, other) for other in known]
    best = max(found)
    return found.index(best), best


def near_duplicates(texts: Sequence[str], threshold: float = THRESHOLD) -> list[NearDuplicates]:
    """Return every two texts at least that alike, the most alike first."""
    pairs = [
        NearDuplicates(first, second, alike)
        for second, text in enumerate(texts)
        for first in range(second)
        if (alike := similarity(texts[first], text)) >= threshold
    ]
    return sorted(pairs, key=lambda pair: (-pair.similarity, pair.first, pair.second))


def _words(text: str) -> list[str]:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _WORD.findall(_GRADED.sub(" ", " ".join(folded.split()))) or _WORD.findall(folded)


def _content(words: Sequence[str]) -> list[str]:
    return [word for word in words if word not in _FRAME]


def _triples(words: Sequence[str]) -> Counter[str]:
    marked = (f"_{word}_" for word in words)
    return Counter(word[at : at + _LETTERS] for word in marked for at in range(len(word) - _LETTERS + 1))


def _cosine(one: Mapping[str, int], other: Mapping[str, int]) -> float:
    # Sums of whole numbers are exact, so the result is the same in either order.
    shared = sum(count * other[triple] for triple, count in one.items() if triple in other)
    lengths = sum(count**2 for count in one.values()) * sum(count**2 for count in other.values())
    return shared / math.sqrt(lengths) if lengths else 0.0
