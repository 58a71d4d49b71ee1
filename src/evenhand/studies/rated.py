"""Rating questions answered: every call read, with the second calls that tell 1 from 10."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from evenhand.execution import Answered
from evenhand.graders.rating import Output, RatingAsk, follow_ups, read_asked
from evenhand.instruments import Request
from evenhand.models import Model
from evenhand.readings import Failure, RatingReading, Reply
from evenhand.studies.carrier import CarryOut

Rated: TypeAlias = tuple[RatingAsk, dict[Output, RatingReading], str]
"""A call, a reading for each output that it was about, and the ledger's key of its reply."""


@dataclass(frozen=True, slots=True)
class _Open:
    """A call whose reading waits for second calls."""

    answer: Answered
    requests: Mapping[str, Request]
    """By key of the instrument."""


async def rated(stage: str, asks: Sequence[RatingAsk], grader: Model, carry_out: CarryOut) -> list[Rated]:
    """Return what each call came to, in the order of the calls."""

    def read(answer: Answered) -> Rated | _Open:
        ask = asks[answer.place]
        requests = follow_ups(ask, answer.outcome)
        return _Open(answer, requests) if requests else (ask, read_asked(ask, answer.outcome, {}), answer.key)

    found = await carry_out(stage, (ask.request for ask in asks), grader, len(asks), read)
    waiting = [one for one in found if isinstance(one, _Open)]
    if not waiting:
        return [one for one in found if not isinstance(one, _Open)]
    requests = [request for one in waiting for request in one.requests.values()]
    outcomes = iter(
        await carry_out(f"{stage}: 1 or 10", requests, grader, len(requests), lambda answer: answer.outcome)
    )
    settled: list[Rated] = []
    for ask, one in zip(asks, found, strict=True):
        if isinstance(one, _Open):
            known: dict[str, Reply | Failure] = {key: next(outcomes) for key in one.requests}
            settled.append((ask, read_asked(ask, one.answer.outcome, known), one.answer.key))
        else:
            settled.append(one)
    return settled
