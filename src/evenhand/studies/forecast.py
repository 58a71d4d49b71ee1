"""A run that calls no model: every stage is gone through, and what it would take is added up."""

import asyncio
from collections.abc import Callable, Iterable
from typing import TypeVar

from evenhand.execution import Answered, Ledger
from evenhand.execution.forecast import Forecast, StageForecaster
from evenhand.execution.tokens import CHARACTERS_PER_TOKEN
from evenhand.instruments import Request
from evenhand.models import Model
from evenhand.readings import Failure, FailureKind, Reply

T = TypeVar("T")

_TURN = 64
"""Requests counted one after another before others get their turn."""
_FILLER = "what an answer may say goes here, up to the longest that it may be; "


class ForecastCarrier:
    """Takes a carrier's place: answers from the ledger alone, with stand-ins for what is not there.

    So a study runs the same code up to its judgments, which then mean nothing and are thrown away.
    """

    def __init__(self, ledger: Ledger) -> None:
        """Take the ledger, which is only read."""
        self._ledger = ledger
        self._called: set[int] = set()
        self._stages: list[StageForecaster] = []

    async def __call__(
        self, stage: str, requests: Iterable[Request], model: Model, total: int, read: Callable[[Answered], T]
    ) -> list[T]:
        """Return what ``read`` made of each request's outcome, kept or stood in for, in the order of the requests."""
        adding = StageForecaster(stage, model, self._ledger, self._called)
        self._stages.append(adding)
        results: list[T] = []
        for place, request in enumerate(requests):
            key = request.key(model.identity)
            entry = adding.add(key, request)
            outcome, at = (entry.reply, entry.at) if entry else (stand_in(request, key), "")
            results.append(read(Answered(request, key, outcome, at, called=False, place=place)))
            if place % _TURN == 0:
                await asyncio.sleep(0)
        return results

    @property
    def forecast(self) -> Forecast:
        """What the stages gone through so far would take."""
        return Forecast(tuple(stage.forecast() for stage in self._stages))


def stand_in(request: Request, key: str) -> Reply | Failure:
    """Return what is read in place of a reply that is not there.

    Where probabilities are asked for, that is a failure: the reading says that there is none, and no second question
    follows from it. Elsewhere it is a text as long as the request allows, since graders may have to read it. It begins
    with the request's key: two answers, and the requests made from them, are never the same.
    """
    if request.top_logprobs:
        return Failure(FailureKind.TRANSPORT, "it was not asked: this is a forecast")
    length = max(round(request.max_tokens * CHARACTERS_PER_TOKEN), 16)
    text = f"{key[:16]} {_FILLER * (length // len(_FILLER) + 1)}"[:length]
    return Reply(text=text, finish="length", model="none: this is a forecast")
