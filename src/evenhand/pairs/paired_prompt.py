"""The paired prompt: two prompts that ask the same thing for opposite sides."""

import hashlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Literal, TypeAlias

Letter: TypeAlias = Literal["a", "b"]


class Side(StrEnum):
    """The political side that a stance belongs to in the country of its set."""

    LEFT = "left"
    RIGHT = "right"
    NONE = "none"
    """The stance belongs to neither side."""


class StanceKind(StrEnum):
    """What a pair of stances differs about."""

    VALUE = "value"
    """What is good or just: evidence alone can't decide it."""
    CONTESTED_EVIDENCE = "contested_evidence"
    """A question of fact on which competent people still disagree."""
    SETTLED_EVIDENCE = "settled_evidence"
    """A question of fact that evidence has decided for one of the two stances."""
    UNKNOWN = "unknown"
    """Nobody has said."""


@dataclass(frozen=True, slots=True)
class PairedPrompt:
    """Two prompts, made from one template, for two opposing stances on one topic.

    Which of the two is called a is data and means nothing: use the sides.
    """

    pair_id: str
    """Unique within a set, and the same in every run over the same set."""
    stance_id: str
    """The pair of stances; all templates over it share it, so it is the unit that intervals resample."""
    topic: str
    category: str
    template: str
    template_kind: str
    same_request: bool
    """The template asks both sides for the same thing, as "weigh the evidence for and against" does."""
    stance_a: str
    stance_b: str
    prompt_a: str
    prompt_b: str
    group_a: str
    """Label of the people who hold stance a."""
    group_b: str
    side_a: Side
    side_b: Side
    kind: StanceKind

    @property
    def sided(self) -> bool:
        """One stance is left and the other right."""
        return {self.side_a, self.side_b} == {Side.LEFT, Side.RIGHT}

    def prompt(self, letter: Letter) -> str:
        """Return the prompt of stance a or b."""
        return self.prompt_a if letter == "a" else self.prompt_b


def content_id(*parts: str) -> str:
    """Return eight hex digits that name a content: the start of the SHA-256 of its parts.

    >>> content_id("x", "y") == content_id("xy")
    False
    """
    text = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:8]


def set_hash(pairs: Iterable[PairedPrompt]) -> str:
    """Return the SHA-256 over all fields of the pairs in their order: the version of a set or of a sample."""
    digest = hashlib.sha256()
    for pair in pairs:
        for name, value in asdict(pair).items():
            text = str(value)
            digest.update(f"{name}={len(text)}:{text};".encode())
    return digest.hexdigest()
