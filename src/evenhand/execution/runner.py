"""The runner: put requests to a model, ledger first, a bounded number at a time."""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from evenhand.execution.ledger import Ledger
from evenhand.execution.retries import Patience, answer_with_patience
from evenhand.instruments import Request
from evenhand.models import ContextOverflowError, Model, TransportError
from evenhand.readings import Failure, FailureKind, Reply


@dataclass(frozen=True, slots=True)
class Answered:
    """What a request came to."""

    request: Request
    key: str
    outcome: Reply | Failure
    at: str
    """When the reply was committed (UTC, ISO 8601); empty for a failure."""
    called: bool
    """The model was called; otherwise the reply was in the ledger."""


def run_requests(
    requests: Iterable[Request],
    model: Model,
    ledger: Ledger,
    on_answer: Callable[[Answered], None] = lambda _: None,
    patience: Patience | None = None,
) -> list[Answered]:
    """Return what each request came to, in the order of the requests.

    A request that the ledger has a reply for costs nothing, and one that occurs twice is asked once. A failure is
    kept as an event and asked again in the next run. What was committed before an interruption stays.
    """
    return asyncio.run(_run(list(requests), model, ledger, on_answer, patience or Patience()))


async def _run(
    requests: list[Request],
    model: Model,
    ledger: Ledger,
    on_answer: Callable[[Answered], None],
    patience: Patience,
) -> list[Answered]:
    keyed = [(request.key(model.identity), request) for request in requests]
    answers: dict[str, Answered] = {}
    queue: Iterator[tuple[str, Request]] = iter(dict(keyed).items())

    async def work() -> None:
        for key, request in queue:
            answers[key] = answer = await _one(key, request, model, ledger, patience)
            on_answer(answer)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(model.concurrency):
                group.create_task(work())
    except BaseExceptionGroup as several:
        raise _first(several) from several
    finally:
        await model.rest()
    return [answers[key] for key, _ in keyed]


async def _one(key: str, request: Request, model: Model, ledger: Ledger, patience: Patience) -> Answered:
    kept = ledger.find(key)
    if kept:
        return Answered(request, key, kept.reply, kept.at, called=False)
    try:
        reply = await answer_with_patience(model, request, patience)
    except ContextOverflowError as error:
        failure = Failure(FailureKind.OVERFLOW, str(error))
    except TransportError as error:
        failure = Failure(FailureKind.TRANSPORT, str(error))
    else:
        entry = ledger.keep(key, model.identity, request, reply)
        return Answered(request, key, entry.reply, entry.at, called=True)
    ledger.note_failure(key, model.identity, failure)
    return Answered(request, key, failure, "", called=True)


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
