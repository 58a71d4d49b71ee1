"""The runner: put requests to a model, ledger first, as many at a time as the model takes."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any, Generic, TypedDict, TypeVar, Unpack, overload

from evenhand.execution.answered import Answered
from evenhand.execution.budget import Budget
from evenhand.execution.collector import collecting
from evenhand.execution.draining import Stop, drained_on_request
from evenhand.execution.keeper import Keeper
from evenhand.execution.ledger import Ledger
from evenhand.execution.pace import Pace
from evenhand.execution.retries import Patience, answer_with_patience
from evenhand.execution.tokens import estimate_tokens, most_tokens
from evenhand.execution.watch import RunWatch, UnwatchedRun
from evenhand.instruments import Request
from evenhand.models import ContextOverflowError, Model, TransportError, Trouble
from evenhand.readings import Failure, FailureKind, Reply

T = TypeVar("T")

_LEDGER_TURN = 64
"""Replies found in the ledger one after another before others get their turn."""
_MAYBE_BILLED = frozenset({Trouble.BAD_REPLY, Trouble.TIMEOUT})


class RunOptions(TypedDict, total=False):
    """What may be given by name; see ``carry_out``."""

    stage: str
    total: int | None
    watch: RunWatch | None
    patience: Patience | None
    budget: Budget | None


async def carry_out(
    requests: Iterable[Request],
    model: Model,
    ledger: Ledger,
    read: Callable[[Answered], T],
    *,
    stage: str = "",
    total: int | None = None,
    watch: RunWatch | None = None,
    patience: Patience | None = None,
    budget: Budget | None = None,
) -> list[T]:
    """Return what ``read`` made of the outcome of each request, in the order of the requests.

    Requests are drawn when there is room for them and let go when ``read`` has seen them, so the memory that a run
    takes does not grow with them, but with what ``read`` returns.

    A request that the ledger has a reply for costs nothing, and one that occurs twice is asked once. A failure is
    kept as an event and asked again in the next run. Any other error, and a wish to stop (``drain_running``), ends the
    run once the calls under way have come in and are kept.

    Args:
        requests: what to ask; those that begin alike should follow one another, for the sake of prefix caches.
        model: whom to ask.
        ledger: where replies are looked up and kept.
        read: called once a request, in the order in which they are answered.
        stage: what a watch is told this is.
        total: how many requests there are, where it is known.
        watch: told of everything.
        patience: how often and how long to wait for what may pass.
        budget: what calls may cost; shared by all stages that it is given to.
    """
    run = _Run(
        requests,
        model,
        ledger,
        read,
        stage=stage,
        watch=watch or UnwatchedRun(),
        patience=patience or Patience(),
        budget=budget or Budget(),
    )
    return await run.carry_out(total)


@overload
def run_requests(
    requests: Iterable[Request], model: Model, ledger: Ledger, **options: Unpack[RunOptions]
) -> list[Answered]: ...


@overload
def run_requests(
    requests: Iterable[Request],
    model: Model,
    ledger: Ledger,
    read: Callable[[Answered], T],
    **options: Unpack[RunOptions],
) -> list[T]: ...


def run_requests(
    requests: Iterable[Request],
    model: Model,
    ledger: Ledger,
    read: Callable[[Answered], Any] = lambda answer: answer,
    **options: Unpack[RunOptions],
) -> list[Any]:
    """Do what ``carry_out`` does where no event loop is running; without ``read`` the outcomes themselves come back."""
    return asyncio.run(carry_out(requests, model, ledger, read, **options))


class _Run(Generic[T]):
    """One model's requests under way."""

    def __init__(
        self,
        requests: Iterable[Request],
        model: Model,
        ledger: Ledger,
        read: Callable[[Answered], T],
        *,
        stage: str,
        watch: RunWatch,
        patience: Patience,
        budget: Budget,
    ) -> None:
        self.drawn = enumerate(requests)
        self.model, self.ledger, self.read = model, ledger, read
        self.stage, self.watch, self.patience, self.budget = stage, watch, patience, budget
        self.keeper = Keeper(ledger, model.identity)
        self.pace = Pace(model.concurrency, model.limits)
        self.stop = Stop(self._let_go)
        self.under_way: dict[str, asyncio.Future[Answered]] = {}
        self.failed: dict[str, Answered] = {}
        self.results: dict[int, T] = {}
        self.from_ledger = 0
        self.calling: set[asyncio.Task[Any] | None] = set()
        """Workers that have a call under way, which is let finish; others may be cancelled at any time."""
        self.workers: list[asyncio.Task[None]] = []

    async def carry_out(self, total: int | None) -> list[T]:
        self.budget.check(self.model)
        self.watch.began(self.stage, self.model, total or 0)
        workers = self.model.concurrency if total is None else min(self.model.concurrency, total)
        try:
            with drained_on_request(self.stop), collecting.rarely():
                self.workers = [asyncio.create_task(self._work()) for _ in range(workers)]
                await asyncio.gather(*self.workers, return_exceptions=True)
        finally:
            for worker in self.workers:
                worker.cancel()
            await asyncio.gather(*self.workers, return_exceptions=True)
            await self.model.rest()
            self.watch.ended(self.stage)
        if self.stop.error is not None:
            raise self.stop.error
        return [self.results[place] for place in range(len(self.results))]

    async def _work(self) -> None:
        try:
            for place, request in self.drawn:
                answer = await self._answered(place, request)
                self.results[place] = self.read(answer)
                self.watch.answered(self.stage, answer)
                if self.stop.error is not None:
                    return
        except Exception as error:  # Whatever it is, calls that are under way come in first.
            self.stop.because(error)

    async def _answered(self, place: int, request: Request) -> Answered:
        key = request.key(self.model.identity)
        kept = self.ledger.find(key)
        if kept:
            self.from_ledger += 1
            if self.from_ledger % _LEDGER_TURN == 0:
                await asyncio.sleep(0)
            return Answered(request, key, kept.reply, kept.at, called=False, place=place)
        twin = self.failed.get(key) or (await self.under_way[key] if key in self.under_way else None)
        if twin:
            return Answered(request, key, twin.outcome, twin.at, called=False, place=place)
        self.under_way[key] = future = asyncio.get_running_loop().create_future()
        try:
            answer = await self._asked(place, key, request)
        except BaseException:
            future.cancel()
            raise
        finally:
            del self.under_way[key]
        if isinstance(answer.outcome, Failure):
            self.failed[key] = answer
        future.set_result(answer)
        return answer

    async def _asked(self, place: int, key: str, request: Request) -> Answered:
        paid = 0.0
        price = self.model.price
        longest = request.max_tokens + self.model.thinking_tokens
        tokens = estimate_tokens(request) + longest if self.pace.counts_tokens else 0
        most = price.of(most_tokens(request), 0, longest) if price else 0.0

        async def call() -> Reply:
            nonlocal paid
            reply, cost = await self._call(request, tokens, most)
            paid += cost
            return reply

        def in_vain(trouble: Trouble, wait: float) -> None:
            nonlocal paid
            paid += most if trouble in _MAYBE_BILLED else 0.0
            self.watch.tried_in_vain(self.stage, trouble, wait)

        try:
            reply, tries = await answer_with_patience(call, self.patience, in_vain, self._sleep)
        except ContextOverflowError as error:
            failure, tries = Failure(FailureKind.OVERFLOW, str(error)), error.tries
        except TransportError as error:
            tries = error.tries
            paid += most if error.trouble in _MAYBE_BILLED else 0.0
            reason = f"{error.trouble}, {tries} {'call' if tries == 1 else 'calls'}: {error}"
            failure = Failure(FailureKind.TRANSPORT, reason)
        else:
            try:
                entry = await self.keeper.keep(key, request, reply, tries)
            finally:
                self.calling.discard(asyncio.current_task())
            cost = None if price is None else paid
            return Answered(request, key, entry.reply, entry.at, called=True, tries=tries, cost=cost, place=place)
        self.ledger.note_failure(key, self.model.identity, failure, tries)
        cost = None if price is None else paid
        return Answered(request, key, failure, "", called=True, tries=tries, cost=cost, place=place)

    async def _call(self, request: Request, tokens: int, most: float) -> tuple[Reply, float]:
        """Make one call, and return what it cost; its worker counts as calling until the reply is kept."""
        paid, used = 0.0, tokens
        self._go_on()
        await self.budget.set_aside(most)
        try:
            began = await self.pace.begin(tokens)
        except BaseException:
            self.budget.settle(most, 0.0)
            raise
        me = asyncio.current_task()
        self.calling.add(me)
        try:
            reply = await self.model.answer(request)
            self.pace.went_well()
            used = reply.prompt_tokens + reply.completion_tokens
            if self.model.price:
                paid = self.model.price.of(reply.prompt_tokens, reply.cached_tokens, reply.completion_tokens)
        except TransportError as error:
            self.calling.discard(me)
            paid = most if error.trouble in _MAYBE_BILLED else 0.0
            heeded = error.wait if error.passing and (error.wait or 0.0) <= self.patience.longest_asked else None
            self.pace.went_wrong(error.trouble, began, heeded or 0.0)
            raise
        except BaseException:
            self.calling.discard(me)
            raise
        finally:
            self.pace.end(unused_tokens=tokens - used)
            self.budget.settle(most, paid)
        return reply, paid

    async def _sleep(self, seconds: float) -> None:
        self._go_on()
        await asyncio.sleep(seconds)

    def _go_on(self) -> None:
        # A worker whose call came to nothing makes no other once the run is to stop.
        if self.stop.error is not None:
            raise asyncio.CancelledError

    def _let_go(self) -> None:
        """End the workers that wait for their turn; those whose call is under way end once it is kept."""
        if self.calling:
            self.watch.draining(self.stage, len(self.calling))
        for worker in self.workers:
            if worker not in self.calling:
                worker.cancel()
