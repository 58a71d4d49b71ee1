"""One model at several addresses: the same weights served more than once, and each call to whoever has least to do."""

import time
from collections.abc import Callable, Sequence
from typing import Any

from evenhand.instruments import Request
from evenhand.models.http import HttpModel
from evenhand.models.model import Model, TransportError, Trouble
from evenhand.readings import Reply

_SHUNNED = 30.0
"""Seconds that an address is passed over after it failed: one that fails at once would always have least to do."""
_DOWN = frozenset({Trouble.CONNECTION, Trouble.SERVER, Trouble.TIMEOUT, Trouble.RATE_LIMIT})


class ReplicatedModel:
    """A model that is served at several addresses.

    Its name and identity are those of the first, so that replies in a ledger stay valid whichever served them; that
    all of them serve the same model is the user's word.
    """

    local = False

    def __init__(self, models: Sequence[HttpModel], clock: Callable[[], float] = time.monotonic) -> None:
        """Take the model at each of its addresses; the first is the one that the user named."""
        first = models[0]
        self.name, self.identity, self.prefills = first.name, first.identity, first.prefills
        self.limits, self.price, self.thinking_tokens = first.limits, first.price, first.thinking_tokens
        self.concurrency = first.concurrency * len(models)
        self._models, self._clock = tuple(models), clock
        self._under_way = [0] * len(models)
        self._not_before = [0.0] * len(models)

    async def answer(self, request: Request) -> Reply:
        """Return the reply of the address that has fewest calls under way."""
        place = self._least_loaded()
        self._under_way[place] += 1
        try:
            return await self._models[place].answer(request)
        except TransportError as error:
            if error.trouble in _DOWN:
                self._not_before[place] = self._clock() + max(_SHUNNED, error.wait or 0.0)
                if any(until <= self._clock() for until in self._not_before):
                    error.wait = None  # Another address need not wait for this one.
            raise
        finally:
            self._under_way[place] -= 1

    def describe(self) -> dict[str, Any]:
        """Return what a record says of the model."""
        return {**self._models[0].describe(), "endpoints": [model.base_url for model in self._models]}

    async def rest(self) -> None:
        """Close the connections."""
        for model in self._models:
            await model.rest()

    def close(self) -> None:
        """Nothing is held between stages."""

    @property
    def first(self) -> HttpModel:
        """The model at the address that the user named."""
        return self._models[0]

    def _least_loaded(self) -> int:
        now = self._clock()
        places = [place for place, until in enumerate(self._not_before) if until <= now]
        return min(places or range(len(self._models)), key=lambda place: (self._under_way[place], place))


def with_batches(model: Model) -> HttpModel | None:
    """Return the model as one address serves it, to which batch files can be sent; None where it has no such API.

    Of several addresses it is the first: a file goes to one of them, and the ledger's keys are those of the first.
    """
    if isinstance(model, ReplicatedModel):
        return model.first
    return model if isinstance(model, HttpModel) else None
