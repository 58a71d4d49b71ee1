"""What comes back from a model: a reply, or a failure that says why there is none."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class TokenPosition:
    """One generated token and the most probable tokens at its place."""

    token: str
    logprob: float
    """Natural logarithm of the token's probability under the model's own full distribution."""
    top: tuple[tuple[str, float], ...]
    """Token texts with their logarithms, most probable first; two tokens may share a text."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered."""

    text: str
    finish: str
    """Why it stopped: ``stop`` or ``length`` (the token limit)."""
    model: str
    """The model as the provider names it."""
    positions: tuple[TokenPosition, ...] = ()
    """Empty where no probabilities were asked for. Where thinking stands before the answer, its tokens are not here."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    """How many of the prompt's tokens were served from a prefix cache."""
    thinking: str = ""
    """What the model wrote to itself before its answer; never graded and never read."""

    def as_json(self) -> dict[str, Any]:
        """Return the reply as plain values; ``from_json`` takes them back."""
        # Written out: dataclasses.asdict copies every token of every position, and this runs once a call.
        return {
            "text": self.text,
            "finish": self.finish,
            "model": self.model,
            "positions": [
                {"token": place.token, "logprob": place.logprob, "top": place.top} for place in self.positions
            ],
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "cached_tokens": self.cached_tokens,
            "thinking": self.thinking,
        }

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Self:
        """Make a reply of what ``as_json`` returned."""
        # Many thousand of these are read when a run is repeated: a list is filled faster than a generator.
        positions = tuple(
            [
                TokenPosition(place["token"], place["logprob"], tuple(map(tuple, place["top"])))
                for place in values["positions"]
            ]
        )
        return cls(**{**values, "positions": positions})


class FailureKind(StrEnum):
    """Why there is no reply."""

    OVERFLOW = "overflow"
    """The request is longer than the model's context."""
    TRANSPORT = "transport"
    """The model could not be asked, or what came back was no reply."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A request that got no reply. It is kept as an event and never served as an answer."""

    kind: FailureKind
    reason: str
