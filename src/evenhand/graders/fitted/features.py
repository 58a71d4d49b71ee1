"""What a fitted grader sees of a request and an answer: hashed n-grams, and a few figures of form and overlap.

No list of telling words anywhere: which n-grams tell is learned. A word's hash is its CRC-32, an n-gram's is made of
its words' by multiplication, so that a whole text is hashed in a few array operations, and alike on every machine.
"""

import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any, Literal, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.graders.fitted.lexicon import aim, frame

Hashes: TypeAlias = npt.NDArray[np.uint64]
Floats: TypeAlias = npt.NDArray[np.float64]
Sparse: TypeAlias = tuple[npt.NDArray[np.int64], Floats]
"""Buckets and their values."""

BITS = 20
"""A table of 2^20 weights: rows of different n-grams that share a bucket are rare enough."""
_FRONT, _BACK = 24_000, 4_000
_BEGINNING = 1_600
_TOKEN = re.compile(r"[^\W_]+(?:'[^\W_]+)*|[^\w\s]|\n+")
_SENTENCE_ENDS = frozenset(".!?:\n")
_QUOTES = str.maketrans({"\u2019": "'", "\u2018": "'", "\u201c": '"', "\u201d": '"'})
_NOT = re.compile(r"(?:(ca|wo|sha)n't|\b(can)not\b|n't\b)")
_WHOLE = {"ca": "can", "wo": "will", "sha": "shall", "can": "can"}
_SHORT = re.compile(r"'(m|re|ve|ll|d)\b")
_LONG = {"m": " am", "re": " are", "ve": " have", "ll": " will", "d": " would"}
_EDGE = np.uint64(0x9E3779B97F4A7C15)
_EDGES = np.array([_EDGE])
_ASKED = np.uint64(0xC2B2AE3D27D4EB4F)
_PRIME = np.uint64(0x100000001B3)
_MIX = np.uint64(0xFF51AFD7ED558CCD)

View: TypeAlias = Literal["words", "masked", "frame", "heads", "letters", "request", "aim", "form"]
"""Words of the answer; the same with the request's words all as one word; its frame (see ``lexicon``); the beginnings
of its sentences; its letters; words of the request; whether the request asks for one side; figures of form."""


@dataclass(frozen=True, slots=True)
class Block:
    """One kind of n-gram; the values of its buckets have together the length ``scale``."""

    view: View
    orders: tuple[int, int]
    """Shortest and longest n-gram."""
    first: int = 0
    """Only the first so many words (of letters: letters; of heads: words a sentence); 0 for all."""
    last: int = 0
    """Only the last so many words instead."""
    counts: bool = False
    """The value of a bucket grows with the logarithm of its count, instead of being 1."""
    scale: float = 1.0

    @property
    def name(self) -> str:
        """The block's name, which salts its hashes."""
        reach = f" first {self.first}" if self.first else f" last {self.last}" if self.last else ""
        return f"{self.view} {self.orders[0]}-{self.orders[1]}{reach}"

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Self:
        """Read a block back."""
        return cls(**(values | {"orders": tuple(values["orders"])}))


@dataclass(frozen=True, slots=True)
class Views:
    """A request and an answer, cut into words once for all blocks."""

    words: Hashes
    masked: Hashes
    frame: Hashes
    sentences: tuple[Hashes, ...]
    letters: Hashes
    request: Hashes
    aim: Hashes
    form: Floats


FORM = (
    ("log words", 4.5, 1.5),
    ("log sentences", 2.5, 1.2),
    ("log paragraphs", 1.8, 1.0),
    ("log words a sentence", 3.0, 0.5),
    ("list items a sentence", 0.3, 0.5),
    ("questions a sentence", 0.05, 0.15),
    ("digits a word", 0.02, 0.05),
    ("share of words that occur once", 0.65, 0.2),
    ("share of the request's words in the first 30", 0.3, 0.3),
    ("share of the request's words in all", 0.6, 0.3),
    ("share of the answer's words that are the request's", 0.1, 0.1),
    ("log words of the request", 2.7, 1.0),
)
"""The figures of form and overlap in the order of ``Views.form``: name, and what is taken off and divided by."""

_CENTRES = np.array([centre for _, centre, _ in FORM])
_SPREADS = np.array([spread for _, _, spread in FORM])


def views(request: str, response: str, blocks: Sequence[Block] = ()) -> Views:
    """Cut a request and an answer into words and letters; any text will do, the empty one too.

    Args:
        request: what was asked.
        response: the answer.
        blocks: what will be made of it, so that no more is cut than they need; without any, all.
    """
    kinds = {block.view for block in blocks}
    asked = _TOKEN.findall(_plain(request))
    response, said = _words(response, _reach(blocks))
    asked_words = {word for word in asked if len(word) > 3}
    words = _hashed(said)
    repeated = np.array([word in asked_words for word in said], dtype=bool)
    masked = np.where(repeated, _ASKED, words)
    whole = not kinds or "form" in kinds
    sentences = _sentences(said, masked) if whole or "heads" in kinds else ()
    letters = np.frombuffer(" ".join(response[:1200].split()).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    form = _form(response, (asked, said), asked_words, repeated, len(sentences)) if whole else np.zeros(len(FORM))
    hashed = _hashed(asked if not kinds or "request" in kinds else [])
    framed = _hashed(frame(said, repeated.tolist())) if not kinds or "frame" in kinds else _hashed([])
    aims = _hashed([aim(asked)] if not kinds or "aim" in kinds else [])
    return Views(words, masked, framed, sentences, letters.astype(np.uint64), hashed, aims, form)


def _reach(blocks: Sequence[Block]) -> int:
    """Return how many of the answer's first words are all that the blocks see; 0 where that is not so."""
    of_words = [block for block in blocks if block.view not in ("letters", "request", "aim")]
    if not blocks or any(not block.first or block.view in ("heads", "form") for block in of_words):
        return 0
    return max((block.first for block in of_words), default=1)


def _words(response: str, reach: int) -> tuple[str, list[str]]:
    """Return the beginning of an answer that holds its first ``reach`` words (or all of it), and its words."""
    if reach and len(response) > _BEGINNING:
        beginning = _plain(response[:_BEGINNING])
        said = [found[0] for found in islice(_TOKEN.finditer(beginning), reach + 2)]
        # The last word of the beginning may be cut; those before it are what they are in the whole.
        if len(said) == reach + 2:
            return beginning, said[:reach]
    plain = _plain(response)
    return plain, _TOKEN.findall(plain)


def _sentences(said: Sequence[str], masked: Hashes) -> tuple[Hashes, ...]:
    sentences, start = [], 0
    for place, word in enumerate(said):
        if word[0] in _SENTENCE_ENDS:
            if place > start:
                sentences.append(masked[start:place])
            start = place + 1
    if start < len(said):
        sentences.append(masked[start:])
    return tuple(sentences)


def features(seen: Views, block: Block) -> Sparse:
    """Return the buckets of a block, sorted, each once, and their values."""
    if block.view == "form":
        places = np.array([zlib.crc32(name.encode()) for name, *_ in FORM], dtype=np.uint64)
        found = (places * _MIX >> np.uint64(64 - BITS)).astype(np.int64)
        sorted_places = np.argsort(found)
        values = np.clip((seen.form - _CENTRES) / _SPREADS, -3.0, 3.0)
        return found[sorted_places], values[sorted_places] * (block.scale / np.sqrt(len(FORM)))
    joined = _joined(seen, block)
    grams = _grams(joined, block)
    # What runs over the end of the text is no n-gram of it.
    kept = [row[: max(0, joined.size - order + 1)] for row, order in zip(grams, _orders(block), strict=True)]
    buckets = np.concatenate(kept) if kept else np.empty(0, dtype=np.int64)
    if not buckets.size:
        return np.empty(0, dtype=np.int64), np.empty(0)
    buckets.sort()
    first = np.flatnonzero(np.concatenate([[True], buckets[1:] != buckets[:-1]]))
    values = 1 + np.log(np.diff(first, append=buckets.size)) if block.counts else np.ones(first.size)
    return buckets[first], values * (block.scale / float(np.sqrt(values @ values)))


def weighed(seen: Sequence[Views], block: Block, table: npt.NDArray[np.float32]) -> Floats:
    """Return what a block adds to the margin of each text: its features times their weights, many texts at once."""
    if block.view == "form" or block.counts:
        return np.array(
            [float(table[buckets] @ values) for buckets, values in (features(each, block) for each in seen)]
        )
    texts = [_joined(each, block) for each in seen]
    sizes = np.array([text.size for text in texts], dtype=np.int64)
    owner = np.repeat(np.arange(sizes.size), sizes)
    left = np.repeat(np.cumsum(sizes), sizes) - np.arange(owner.size)
    keys = [
        (owner[left >= order] << BITS) | row[left >= order]
        for row, order in zip(_grams(np.concatenate(texts), block), _orders(block), strict=True)
    ]
    key = np.concatenate(keys)
    key.sort()
    key = key[np.concatenate([[True], key[1:] != key[:-1]])] if key.size else key
    of = key >> BITS
    found = np.bincount(of, minlength=sizes.size)
    sums = np.bincount(of, weights=table[key & ((1 << BITS) - 1)], minlength=sizes.size)
    return np.asarray(sums * (block.scale / np.sqrt(np.maximum(found, 1))), dtype=np.float64)


def _orders(block: Block) -> range:
    return range(block.orders[0], block.orders[1] + 1)


def _grams(joined: Hashes, block: Block) -> npt.NDArray[np.int64]:
    """Return the buckets of the n-grams that begin at each word, one row an order; beyond the end they mean nothing."""
    orders = np.array(_orders(block), dtype=np.uint64)
    salt = np.uint64(zlib.crc32(block.name.encode()))
    grams = np.empty((orders.size, joined.size), dtype=np.uint64)
    grams[:] = (salt + orders)[:, None]
    for offset in range(min(block.orders[1], joined.size)):
        part = grams[max(0, offset + 1 - block.orders[0]) :, : joined.size - offset]
        part ^= joined[offset:]
        part *= _PRIME
        part ^= part >> np.uint64(29)
    grams *= _MIX
    grams >>= np.uint64(64 - BITS)
    return grams.astype(np.int64)


def _joined(seen: Views, block: Block) -> Hashes:
    """Return the words of a block; sentences with an edge between them, so that one pass hashes all beginnings."""
    runs = seen.sentences if block.view == "heads" else (getattr(seen, block.view),)
    parts = [_EDGES]
    for run in runs:
        parts += [_cut(run, block), _EDGES]
    return np.concatenate(parts)


def _cut(tokens: Hashes, block: Block) -> Hashes:
    if block.first:
        return tokens[: block.first]
    return tokens[-block.last :] if block.last else tokens


def _plain(text: str) -> str:
    """Return a text in lower case with plain quotation marks; of a very long one the beginning and the end."""
    if len(text) > _FRONT + _BACK:
        text = text[:_FRONT] + "\n" + text[-_BACK:]
    text = text.translate(_QUOTES).lower()
    # One spelling for "can't", "cannot" and "can not": few labels should not have to teach that they are the same.
    if "n't" in text or "cannot" in text:
        text = _NOT.sub(lambda found: f"{_WHOLE.get(found[1] or found[2] or '', '')} not", text)
    return _SHORT.sub(lambda found: _LONG[found[1]], text) if "'" in text else text


def _hashed(words: Sequence[str]) -> Hashes:
    return np.array([_hash(word) for word in words], dtype=np.uint64)


@lru_cache(maxsize=100_000)
def _hash(word: str) -> int:
    return zlib.crc32(word.encode("utf-8", "surrogatepass"))


def _form(
    response: str,
    words_of: tuple[Sequence[str], Sequence[str]],
    asked_words: set[str],
    repeated: npt.NDArray[np.bool_],
    sentences: int,
) -> Floats:
    asked, said = words_of
    words, ends = max(len(said), 1), max(sentences, 1)
    lines = response.split("\n")
    paragraphs = sum(bool(line.strip()) for line in lines)
    items = sum(line.lstrip()[:1] in tuple("-*\u2022#") + tuple("123456789") and bool(line.strip()) for line in lines)
    wanted = max(len(asked_words), 1)
    return np.array(
        [
            np.log1p(len(said)),
            np.log1p(sentences),
            np.log1p(paragraphs),
            np.log1p(words / ends),
            items / ends,
            min(response.count("?") / ends, 1.0),
            min(sum(map(str.isdigit, response)) / words, 1.0),
            len(set(said)) / words,
            len(asked_words & set(said[:30])) / wanted,
            len(asked_words & set(said)) / wanted,
            float(repeated.mean()) if repeated.size else 0.0,
            np.log1p(len(asked)),
        ]
    )
