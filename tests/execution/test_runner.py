"""The runner asks each request once, ledger first."""

import asyncio
from pathlib import Path

import pytest

from conftest import ScriptedModel
from evenhand.errors import EvenhandError
from evenhand.execution import Answered, Ledger, LedgerError, run_requests
from evenhand.instruments import Request
from evenhand.models import ContextOverflowError, TransportError
from evenhand.readings import Failure, FailureKind, Reply


def echo(request: Request) -> Reply:
    return Reply(request.prompt, "stop", "m", completion_tokens=1)


def requests(*prompts: str) -> list[Request]:
    return [Request(prompt=prompt) for prompt in prompts]


@pytest.mark.parametrize("concurrency", [1, 3, 50])
def test_in_order_each_once_then_from_the_ledger(tmp_path: Path, concurrency: int) -> None:
    model = ScriptedModel(echo, concurrency=concurrency)
    asked = requests("a", "b", "a", "c", "b")
    seen: list[Answered] = []
    with Ledger(tmp_path / "l.sqlite") as ledger:
        first = run_requests(asked, model, ledger, seen.append)
        again = run_requests(asked, model, ledger)
    assert [answer.outcome for answer in first] == [echo(request) for request in asked]
    assert len(model.asked) == 3 == len(seen)
    assert [answer.called for answer in again] == [False] * 5
    assert [answer.outcome for answer in again] == [answer.outcome for answer in first]


@pytest.mark.parametrize(
    ("error", "kind"),
    [(ContextOverflowError("long"), FailureKind.OVERFLOW), (TransportError("reset"), FailureKind.TRANSPORT)],
)
def test_a_failure_is_asked_again_and_stops_nothing(tmp_path: Path, error: Exception, kind: FailureKind) -> None:
    model = ScriptedModel(lambda request: error if request.prompt == "b" else echo(request))
    with Ledger(tmp_path / "l.sqlite") as ledger:
        outcomes = [answer.outcome for answer in run_requests(requests("a", "b", "c"), model, ledger)]
        assert outcomes[1] == Failure(kind, str(error))
        assert ledger.count() == 2
        run_requests(requests("a", "b", "c"), model, ledger)
    assert [request.prompt for request in model.asked] == ["a", "b", "c", "b"]


def test_another_error_ends_the_run_as_itself_and_what_came_before_is_kept(tmp_path: Path) -> None:
    model = ScriptedModel(lambda request: EvenhandError("no weights") if request.prompt == "c" else echo(request))
    with Ledger(tmp_path / "l.sqlite") as ledger:
        with pytest.raises(EvenhandError, match="no weights"):
            run_requests(requests("a", "b", "c", "d"), model, ledger)
        assert ledger.count() == 2


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
