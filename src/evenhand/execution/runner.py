"""The runner: put requests to a model, ledger first, a bounded number at a time."""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from evenhand.execution.ledger import Entry, Ledger, LedgerError
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

    keeper = _Keeper(ledger, model.identity)

    async def work() -> None:
        for key, request in queue:
            answers[key] = answer = await _one(key, request, model, keeper, patience)
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


class _Keeper:
    """Commits what comes back at the same time in one go; a reply counts only once its commit is done."""

    def __init__(self, ledger: Ledger, model: str) -> None:
        self.ledger, self.model = ledger, model
        self._waiting: list[tuple[str, Request, Reply, asyncio.Future[Entry]]] = []

    async def keep(self, key: str, request: Request, reply: Reply) -> Entry:
        loop = asyncio.get_running_loop()
        done: asyncio.Future[Entry] = loop.create_future()
        if not self._waiting:
            loop.call_soon(self._commit)
        self._waiting.append((key, request, reply, done))
        return await done

    def _commit(self) -> None:
        waiting, self._waiting = self._waiting, []
        try:
            entries = self.ledger.keep_all([(key, self.model, request, reply) for key, request, reply, _ in waiting])
        except LedgerError as error:
            for *_, done in waiting:
                if not done.done():
                    done.set_exception(error)
            return
        for (*_, done), entry in zip(waiting, entries, strict=True):
            if not done.done():
                done.set_result(entry)


async def _one(key: str, request: Request, model: Model, keeper: _Keeper, patience: Patience) -> Answered:
    kept = keeper.ledger.find(key)
    if kept:
        return Answered(request, key, kept.reply, kept.at, called=False)
    try:
        reply = await answer_with_patience(model, request, patience)
    except ContextOverflowError as error:
        failure = Failure(FailureKind.OVERFLOW, str(error))
    except TransportError as error:
        failure = Failure(FailureKind.TRANSPORT, str(error))
    else:
        entry = await keeper.keep(key, request, reply)
        return Answered(request, key, entry.reply, entry.at, called=True)
    keeper.ledger.note_failure(key, model.identity, failure)
    return Answered(request, key, failure, "", called=True)


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
