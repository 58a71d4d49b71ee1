"""What a request came to."""

from dataclasses import dataclass

from evenhand.instruments import Request
from evenhand.readings import Failure, Reply


@dataclass(frozen=True, slots=True)
class Answered:
    """A request and its outcome."""

    request: Request
    key: str
    outcome: Reply | Failure
    at: str
    """When the reply was committed (UTC, ISO 8601); empty for a failure."""
    called: bool
    """The model was called; otherwise the reply was in the ledger, or the same request came before in this run."""
    tries: int = 0
    """How many calls it took; 0 where the model was not called."""
    cost: float | None = 0.0
    """US dollars paid for it in this run; None where the model's price is not known."""
    place: int = 0
    """Which request of its stage it was, counted from 0."""
