"""The runner asks each request once, ledger first, draws as it goes and loses nothing when it ends."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from conftest import ScriptedModel
from evenhand.errors import EvenhandError
from evenhand.execution import (
    Answered,
    Ledger,
    LedgerError,
    Patience,
    StoppedError,
    UnwatchedRun,
    drain_running,
    run_requests,
)
from evenhand.execution.ledger import Entry, Paid
from evenhand.instruments import Request
from evenhand.models import AccessError, ContextOverflowError, Price, TransportError, Trouble
from evenhand.readings import Failure, FailureKind, Reply

QUICK = Patience(tries=3, first_wait=0.001, longest_wait=0.002)


def echo(request: Request) -> Reply:
    return Reply(request.prompt, "stop", "m", prompt_tokens=10, cached_tokens=4, completion_tokens=1)


def requests(*prompts: str) -> list[Request]:
    return [Request(prompt=prompt) for prompt in prompts]


class Gated(ScriptedModel):
    """Answers only once the test opens the gate."""

    def __init__(self, concurrency: int, answer: Callable[[Request], Reply | Exception] = echo) -> None:
        super().__init__(answer, concurrency=concurrency)
        self.gate = asyncio.Event()

    async def answer(self, request: Request) -> Reply:
        self.asked.append(request)
        await self.gate.wait()
        found = self._answer(request)
        if isinstance(found, Exception):
            raise found
        assert isinstance(found, Reply)
        return found


@pytest.mark.parametrize("concurrency", [1, 3, 50])
def test_in_order_each_once_then_from_the_ledger(tmp_path: Path, concurrency: int) -> None:
    model = ScriptedModel(echo, concurrency=concurrency)
    asked = requests("a", "b", "a", "c", "b")
    with Ledger(tmp_path / "l.sqlite") as ledger:
        first = run_requests(asked, model, ledger)
        again = run_requests(asked, model, ledger)
    assert [answer.outcome for answer in first] == [echo(request) for request in asked]
    assert [answer.place for answer in first] == [0, 1, 2, 3, 4]
    assert len(model.asked) == 3 == sum(answer.called for answer in first)
    assert [answer.called for answer in again] == [False] * 5
    assert [answer.outcome for answer in again] == [answer.outcome for answer in first]


@pytest.mark.parametrize(
    ("error", "kind", "reason"),
    [
        (ContextOverflowError("long"), FailureKind.OVERFLOW, "long"),
        (TransportError("reset"), FailureKind.TRANSPORT, "refused, 1 call: reset"),
        (
            TransportError("again", trouble=Trouble.SERVER, passing=True),
            FailureKind.TRANSPORT,
            "server, 3 calls: again",
        ),
    ],
)
def test_a_failure_is_asked_again_in_the_next_run_and_stops_nothing(
    tmp_path: Path, error: Exception, kind: FailureKind, reason: str
) -> None:
    model = ScriptedModel(lambda request: error if request.prompt == "b" else echo(request))
    with Ledger(tmp_path / "l.sqlite") as ledger:
        outcomes = [a.outcome for a in run_requests(requests("a", "b", "c", "b"), model, ledger, patience=QUICK)]
        assert outcomes[1] == Failure(kind, reason) == outcomes[3]
        assert ledger.count() == 2
        first = len(model.asked)
        run_requests(requests("a", "b", "c"), model, ledger, patience=QUICK)
    assert {request.prompt for request in model.asked[first:]} == {"b"}
    assert len(model.asked) - first == first - 2


def test_another_error_ends_the_run_as_itself_and_what_came_before_is_kept(tmp_path: Path) -> None:
    model = ScriptedModel(lambda request: EvenhandError("no weights") if request.prompt == "c" else echo(request))
    with Ledger(tmp_path / "l.sqlite") as ledger:
        with pytest.raises(EvenhandError, match="no weights"):
            run_requests(requests("a", "b", "c", "d"), model, ledger)
        assert ledger.count() == 2


def test_an_error_lets_the_calls_under_way_come_in_and_makes_no_more(tmp_path: Path) -> None:
    """What others have been asked is paid for, whatever ends the run."""

    class Model(Gated):
        async def answer(self, request: Request) -> Reply:
            if request.prompt == "7":
                self.asked.append(request)
                asyncio.get_running_loop().call_later(0.01, self.gate.set)
                raise AccessError("no key")
            return await super().answer(request)

    model = Model(8)
    with Ledger(tmp_path / "l.sqlite") as ledger:
        with pytest.raises(AccessError, match="no key"):
            run_requests(requests(*map(str, range(100))), model, ledger)
        assert len(model.asked) == 8
        assert ledger.count() == 7


def test_a_call_that_fails_while_the_run_ends_is_not_made_again(tmp_path: Path) -> None:
    def fail(request: Request) -> Exception:
        return TransportError("busy", trouble=Trouble.SERVER, passing=True)

    class Model(Gated):
        async def answer(self, request: Request) -> Reply:
            if request.prompt == "3":
                asyncio.get_running_loop().call_later(0.01, self.gate.set)
                raise AccessError("no key")
            return await super().answer(request)

    model = Model(4, fail)
    with Ledger(tmp_path / "l.sqlite") as ledger, pytest.raises(AccessError):
        run_requests(requests(*map(str, range(9))), model, ledger)
    assert len(model.asked) == 3


def test_a_run_that_is_asked_to_stop_keeps_what_is_under_way(tmp_path: Path) -> None:
    class Watch(UnwatchedRun):
        in_flight = 0

        def draining(self, stage: str, in_flight: int) -> None:
            self.in_flight = in_flight

    class Model(Gated):
        async def answer(self, request: Request) -> Reply:
            if len(self.asked) == 4:
                assert drain_running()
                asyncio.get_running_loop().call_later(0.01, self.gate.set)
            return await super().answer(request)

    model, watch = Model(5), Watch()
    with Ledger(tmp_path / "l.sqlite") as ledger:
        with pytest.raises(StoppedError):
            run_requests(requests(*map(str, range(50))), model, ledger, watch=watch)
        assert ledger.count() == 5 == len(model.asked) == watch.in_flight
        model.gate.set()
        run_requests(requests(*map(str, range(50))), ScriptedModel(echo), ledger)
        assert ledger.count() == 50
    assert not drain_running()


def test_never_more_at_once_than_the_model_takes(tmp_path: Path) -> None:
    class Counting(ScriptedModel):
        now = most = 0

        async def answer(self, request: Request) -> Reply:
            self.now += 1
            self.most = max(self.most, self.now)
            await asyncio.sleep(0.001)
            self.now -= 1
            return echo(request)

    model = Counting(None, concurrency=4)
    with Ledger(tmp_path / "l.sqlite") as ledger:
        run_requests(requests(*map(str, range(40))), model, ledger)
    assert model.most == 4


def test_requests_are_drawn_as_there_is_room(tmp_path: Path) -> None:
    drawn = 0
    ahead: list[int] = []

    def draw() -> Iterator[Request]:
        nonlocal drawn
        for drawn in range(1, 501):
            yield Request(prompt=str(drawn))

    def read(answer: Answered) -> None:
        ahead.append(drawn - len(ahead))

    with Ledger(tmp_path / "l.sqlite") as ledger:
        run_requests(draw(), ScriptedModel(echo, concurrency=8), ledger, read)
    assert len(ahead) == 500
    assert max(ahead) <= 16


def test_requests_are_sent_in_their_order(tmp_path: Path) -> None:
    model = ScriptedModel(echo, concurrency=100)
    with Ledger(tmp_path / "l.sqlite") as ledger:
        run_requests(requests(*map(str, range(300))), model, ledger)
    assert [request.prompt for request in model.asked] == list(map(str, range(300)))


def test_an_error_while_drawing_or_reading_ends_the_run(tmp_path: Path) -> None:
    def draw() -> Iterator[Request]:
        yield Request(prompt="a")
        raise EvenhandError("no such field")

    def read(answer: Answered) -> None:
        raise ValueError("no probabilities")

    with Ledger(tmp_path / "l.sqlite") as ledger:
        with pytest.raises(EvenhandError, match="no such field"):
            run_requests(draw(), ScriptedModel(echo), ledger)
        with pytest.raises(ValueError, match="no probabilities"):
            run_requests(requests("b", "c"), ScriptedModel(echo), ledger, read)
        assert ledger.count() == 2


def test_what_calls_cost(tmp_path: Path) -> None:
    price = Price(input=1.0, cached_input=0.5, output=10.0)
    with Ledger(tmp_path / "l.sqlite") as ledger:
        first = run_requests(requests("a", "a"), ScriptedModel(echo, price=price), ledger)
        again = run_requests(requests("a"), ScriptedModel(echo, price=price), ledger)
        unknown = run_requests(requests("b"), ScriptedModel(echo), ledger)
    assert [answer.cost for answer in first] == [pytest.approx((6 + 2 + 10) / 1e6), 0.0]
    assert again[0].cost == 0.0
    assert unknown[0].cost is None


def test_a_full_ledger_stops_the_run(tmp_path: Path) -> None:
    model = ScriptedModel(echo)
    with Ledger(tmp_path / "l.sqlite") as ledger:
        ledger._db.execute("PRAGMA query_only = ON")
        with pytest.raises(LedgerError):
            run_requests(requests("a", "b"), model, ledger)
    assert len(model.asked) == 1


def test_a_reply_counts_only_once_it_is_committed(tmp_path: Path) -> None:
    """Whatever was reported as answered is there for another connection at that moment."""
    path = tmp_path / "l.sqlite"
    missing: list[str] = []
    with Ledger(path) as ledger, Ledger(path) as other:
        model = ScriptedModel(echo, concurrency=16)

        def check(answer: Answered) -> None:
            if other.find(answer.key) is None:
                missing.append(answer.key)

        run_requests(requests(*map(str, range(100))), model, ledger, check)
    assert missing == []
    assert len(model.asked) == 100


def test_a_commit_that_fails_in_an_unforeseen_way_ends_the_run(tmp_path: Path) -> None:
    class Odd(Ledger):
        def keep_all(self, paid: Sequence[Paid]) -> list[Entry]:
            raise UnicodeEncodeError("utf-8", "?", 0, 1, "surrogates not allowed")

    with Odd(tmp_path / "l.sqlite") as ledger, pytest.raises(UnicodeEncodeError):
        run_requests(requests("a"), ScriptedModel(echo), ledger)


def test_calls_are_counted_however_it_ends(tmp_path: Path) -> None:
    busy = TransportError("busy", trouble=Trouble.SERVER, passing=True)
    answers: Iterator[Reply | Exception] = iter(
        [busy, ContextOverflowError("long"), busy, busy, echo(Request(prompt="b"))]
    )
    model = ScriptedModel(lambda _: next(answers))
    with Ledger(tmp_path / "l.sqlite") as ledger:
        found = run_requests(requests("a", "b"), model, ledger, patience=QUICK)
    assert [answer.tries for answer in found] == [2, 3]
