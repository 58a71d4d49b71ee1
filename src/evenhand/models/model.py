"""What every kind of model can do."""

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


class TransportError(EvenhandError):
    """A model could not be asked, or what came back is no reply."""

    def __init__(self, message: str, *, passing: bool = False, wait: float | None = None) -> None:
        """Say whether it may pass, and how many seconds the server asked to wait."""
        super().__init__(message)
        self.passing, self.wait = passing, wait


class AccessError(EvenhandError):
    """A model will not answer any request as things are: a wrong key, name or address. It ends the run."""


class Model(Protocol):
    """A model that answers requests.

    ``name`` is how the user called it. ``identity`` is what determines its replies besides the request (the
    hash of its weights, its runtime's version, its endpoint); it goes into the ledger's key and never
    contains a secret. ``concurrency`` is how many requests it takes at once. ``prefills`` tells whether a last
    message of the assistant's is the beginning of its answer, which it goes on with.
    """

    name: str
    identity: str
    concurrency: int
    prefills: bool

    async def answer(self, request: Request) -> Reply:
        """Return the reply; raises ``ContextOverflowError``, ``TransportError`` or ``AccessError``."""

    async def rest(self) -> None:
        """Let go of what belongs to the running event loop; called at the end of a stage."""

    def describe(self) -> dict[str, Any]:
        """Return what a record says of the model: plain values, no secret."""

    def close(self) -> None:
        """Free what the model holds; it may be called more than once."""
