"""What every kind of model can do."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from evenhand.errors import EvenhandError
from evenhand.instruments import Request
from evenhand.readings import Reply


class ModelRole(StrEnum):
    """What a model is opened for; a runtime may lay itself out differently for each."""

    SUBJECT = "subject"
    """Writes long answers to short prompts."""
    GRADER = "grader"
    """Writes a few tokens after long prompts, many of which begin alike."""


class ContextOverflowError(EvenhandError):
    """A request is longer than the model's context; it was not shortened."""

    tries = 1
    """Calls that were made before it came to that."""


class Trouble(StrEnum):
    """What kept a model from answering, by class: each is counted, shown and waited for on its own."""

    RATE_LIMIT = "rate_limit"
    """It was asked too often (429)."""
    SERVER = "server"
    """It is down, busy or broken (5xx, 408, 409, 425)."""
    CONNECTION = "connection"
    """No connection came about, or it was reset."""
    TIMEOUT = "timeout"
    """No answer came in time."""
    BAD_REPLY = "bad_reply"
    """Something came back and is no reply: cut off, no JSON, an error under status 200. It may have been billed."""
    REFUSED = "refused"
    """This one request was turned down, and will be again."""


class TransportError(EvenhandError):
    """A model could not be asked, or what came back is no reply."""

    def __init__(
        self,
        message: str,
        *,
        trouble: Trouble = Trouble.REFUSED,
        passing: bool = False,
        wait: float | None = None,
    ) -> None:
        """Say of what class it is, whether it may pass, and how many seconds the server asked to wait."""
        super().__init__(message)
        self.trouble, self.passing, self.wait = trouble, passing, wait
        self.tries = 1
        """Calls that were made before it was given up."""


class AccessError(EvenhandError):
    """A model will not answer any request as things are: a wrong key, name or address. It ends the run."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How fast a model may be asked."""

    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    """Of prompts and answers together."""


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens."""

    input: float
    cached_input: float
    """Of prompt tokens that a prefix cache served."""
    output: float

    def of(self, prompt_tokens: int, cached_tokens: int, completion_tokens: int) -> float:
        """Return what a call costs, in US dollars.

        >>> Price(input=2.0, cached_input=0.5, output=8.0).of(1_000_000, 400_000, 100_000)
        2.2
        """
        fresh = prompt_tokens - cached_tokens
        return (fresh * self.input + cached_tokens * self.cached_input + completion_tokens * self.output) / 1e6


class Model(Protocol):
    """A model that answers requests.

    ``name`` is how the user called it. ``identity`` is what determines its replies besides the request (the
    hash of its weights, its runtime's version, its endpoint); it goes into the ledger's key and never
    contains a secret. ``concurrency`` is how many requests it takes at once at most. ``prefills`` tells whether a last
    message of the assistant's is the beginning of its answer, which it goes on with. ``local`` models share this
    machine and take turns. ``price`` is None where nobody knows it. ``thinking_tokens`` is how many tokens it may write
    to itself beyond those that a request allows for its answer.
    """

    name: str
    identity: str
    concurrency: int
    prefills: bool
    local: bool
    limits: Limits
    price: Price | None
    thinking_tokens: int

    async def answer(self, request: Request) -> Reply:
        """Return the reply; raises ``ContextOverflowError``, ``TransportError`` or ``AccessError``."""

    async def rest(self) -> None:
        """Let go of what belongs to the running event loop; called at the end of a stage."""

    def describe(self) -> dict[str, Any]:
        """Return what a record says of the model: plain values, no secret."""

    def close(self) -> None:
        """Free what the model holds; it may be called more than once."""
