"""A run gone through once more with the ledger alone."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from evenhand.errors import EvenhandError
from evenhand.execution import Answered, Ledger
from evenhand.instruments import Request
from evenhand.models import Limits, Model, Price
from evenhand.readings import Failure, FailureKind, Reply

T = TypeVar("T")

_TURN = 64
"""Replies looked up one after another before others get their turn."""


class LedgerCarrier:
    """Takes a carrier's place: answers from the ledger, calls nobody, and counts what is not there.

    A request that once failed has no reply, but an event that says why; it fails here for the same reason.
    """

    def __init__(self, ledger: Ledger) -> None:
        """Take the ledger, which is only read."""
        self._ledger = ledger
        self.found = 0
        """Requests whose reply, or failure, is in the ledger."""
        self.missing = 0
        """Requests of which the ledger knows nothing."""

    async def __call__(
        self, stage: str, requests: Iterable[Request], model: Model, total: int, read: Callable[[Answered], T]
    ) -> list[T]:
        """Return what ``read`` made of each request's outcome, in the order of the requests."""
        results: list[T] = []
        for place, request in enumerate(requests):
            key = request.key(model.identity)
            entry = self._ledger.find(key)
            outcome: Reply | Failure | None = entry.reply if entry else self._ledger.last_failure(key)
            self.found += outcome is not None
            self.missing += outcome is None
            known = outcome or Failure(FailureKind.TRANSPORT, "the ledger knows nothing of it")
            at = entry.at if entry else ""
            results.append(read(Answered(request, key, known, at, called=False, place=place)))
            if place % _TURN == 0:
                await asyncio.sleep(0)
        return results


class RecordedModel:
    """A model as a record describes it. It answers nothing; its identity finds its replies in the ledger."""

    concurrency = 1
    prefills = False
    local = False
    limits = Limits()
    price: Price | None = None
    thinking_tokens = 0

    def __init__(self, described: dict[str, Any]) -> None:
        """Take what the record says."""
        self.name = str(described["name"])
        self.identity = str(described["identity"])
        self._described = described

    async def answer(self, request: Request) -> Reply:
        """Raise ``EvenhandError``: nobody is asked."""
        raise EvenhandError(f"{self.name} is only remembered, and can't be asked")

    async def rest(self) -> None:
        """Nothing is held."""

    def describe(self) -> dict[str, Any]:
        """Return what the record says."""
        return self._described

    def close(self) -> None:
        """Nothing is held."""
