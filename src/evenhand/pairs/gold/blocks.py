"""The building blocks of the built-in gold set, and a shelf that hands them out in turn."""

import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

from evenhand.pairs.builtin import builtin_pairs
from evenhand.pairs.paired_prompt import Side

_FOLDER = "evenhand.pairs"
_STANCES = "us"


@dataclass(frozen=True, slots=True)
class Stance:
    """One side of a pair of stances, with the sentences that argue for it."""

    side: Side
    text: str
    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StancePair:
    """Two stances in the order in which the set of paired prompts has them."""

    stance_id: str
    half: str
    subject: str
    a: Stance
    b: Stance

    @property
    def both(self) -> tuple[tuple[Stance, Stance], tuple[Stance, Stance]]:
        """Each stance, with the one against it."""
        return (self.a, self.b), (self.b, self.a)


def stance_pairs(half: str) -> list[StancePair]:
    """Return the pairs of stances of a half, in the order of the file."""
    texts = {pair.stance_id: pair for pair in builtin_pairs(_STANCES)}
    found = []
    for entry in _toml("gold_arguments.toml")["pair"]:
        if entry["half"] == half:
            pair = texts[entry["stance"]]
            a = Stance(pair.side_a, pair.stance_a, tuple(entry[pair.side_a.value]))
            b = Stance(pair.side_b, pair.stance_b, tuple(entry[pair.side_b.value]))
            found.append(StancePair(pair.stance_id, half, entry["subject"], a, b))
    return found


def blocks_of(half: str) -> Mapping[str, Sequence[str]]:
    """Return the blocks of a half by their kind."""
    found: Mapping[str, Sequence[str]] = _toml("gold_blocks.toml")[half]
    return found


def words(sentences: Sequence[str]) -> int:
    """Return how many words some sentences have."""
    return sum(len(sentence.split()) for sentence in sentences)


class Shelf:
    """The blocks of one half; each kind is gone through in turn, so that all are used about equally often."""

    def __init__(self, half: str) -> None:
        """Fill the shelf."""
        self._blocks = blocks_of(half)
        self._taken: Counter[str] = Counter()

    def take(self, kind: str, subject: str, count: int = 1) -> list[str]:
        """Return the next blocks of a kind, filled in."""
        return [filled(self._next(kind), subject) for _ in range(count)]

    def take_prompt(self, stance: Stance, other: Stance | None = None) -> tuple[str, ...]:
        """Return the next prompt for a stance, or for it and its opposite."""
        block = self._next("prompts")
        return tuple(block.replace("{stance}", each.text) for each in (stance, other) if each is not None)

    def all(self, kind: str, subject: str = "") -> list[list[str]]:
        """Return all blocks of a kind, filled in, each as a text of one sentence."""
        return [[filled(block, subject)] for block in self._blocks[kind]]

    def _next(self, kind: str) -> str:
        blocks = self._blocks[kind]
        self._taken[kind] += 1
        return blocks[(self._taken[kind] - 1) % len(blocks)]


def filled(block: str, subject: str) -> str:
    """Return a block with its subject filled in.

    >>> filled("{Subject} divides people.", "the draft")
    'The draft divides people.'
    """
    return block.replace("{subject}", subject).replace("{Subject}", subject[:1].upper() + subject[1:])


def _toml(name: str) -> dict[str, Any]:
    return tomllib.loads(resources.files(_FOLDER).joinpath("data", name).read_text("utf-8"))
