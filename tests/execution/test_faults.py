"""Whatever a provider does, each request ends in one state, and nothing is lost or paid for twice."""

import asyncio
import json
import re
import sqlite3
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from evenhand.execution import Answered, Ledger, Patience, UnwatchedRun, carry_out, run_requests
from evenhand.instruments import Message, Request
from evenhand.models import Model, ModelRole, Trouble, open_model
from evenhand.readings import Failure, FailureKind, Reply
from fault_server import FAULTS, REFUSED, TOO_LONG, Event, FaultServer, digest, echo, fault_server

QUICK = Patience(tries=4, bad_reply_tries=3, first_wait=0.001, longest_wait=0.01)


def model_at(server: FaultServer, concurrency: int = 64) -> Model:
    model = open_model(f"{server.url}#m", ModelRole.GRADER)
    model.concurrency = concurrency
    return model


def request(prompt: str) -> Request:
    return Request(messages=(Message("user", prompt),), max_tokens=20)


def prompt_of(asked: Request) -> str:
    return asked.messages[-1].content


def kept(path: Path) -> dict[str, str]:
    """Return the prompts that a ledger has replies for, with the text of the reply."""
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        rows = db.execute("SELECT request, reply FROM replies").fetchall()
    texts = {json.loads(asked)["messages"][-1]["content"]: json.loads(answered)["text"] for asked, answered in rows}
    assert len(texts) == len(rows)
    return texts


def failures(path: Path) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(path)) as db:
        return db.execute("SELECT key, kind, reason, tries FROM failures").fetchall()


def by_prompt(events: list[Event]) -> dict[str, list[Event]]:
    found = defaultdict(list)
    for event in events:
        found[event.prompt].append(event)
    return found


class Counting(UnwatchedRun):
    """Counts what a run tells of."""

    def __init__(self) -> None:
        self.places: Counter[tuple[str, int]] = Counter()
        self.vain: Counter[Trouble] = Counter()

    def answered(self, stage: str, answer: Answered) -> None:
        self.places[stage, answer.place] += 1

    def tried_in_vain(self, stage: str, trouble: Trouble, wait: float) -> None:
        self.vain[trouble] += 1


LANES = 4


def carry_out_in_lanes(requests: Sequence[Request], server: FaultServer, path: Path, watch: Counting) -> list[Answered]:
    """Put a part of the requests to each of several models at once, over one ledger, and return all that came of it."""
    each = len(requests) // LANES

    async def lane(number: int, ledger: Ledger) -> list[Answered]:
        part = requests[number * each : (number + 1) * each]
        model = open_model(f"{server.url}#m{number}", ModelRole.GRADER)
        model.concurrency = 64
        stage = f"lane {number}"
        return await carry_out(iter(part), model, ledger, lambda a: a, stage=stage, watch=watch, patience=QUICK)

    async def lanes(ledger: Ledger) -> list[list[Answered]]:
        return await asyncio.gather(*(lane(number, ledger) for number in range(LANES)))

    with Ledger(path) as ledger:
        return [answer for answers in asyncio.run(lanes(ledger)) for answer in answers]


def prompts_of_a_lane(number: int) -> list[str]:
    prompts = [f"request {n} of lane {number} {'é漢🙂' * (n % 3)}" for n in range(484)]
    prompts += [f"{REFUSED}, {n} of lane {number}" for n in range(5)]
    prompts += [f"{TOO_LONG}, {n} of lane {number}" for n in range(5)]
    return prompts + prompts[10:13] + prompts[-3:]  # Some occur twice.


def test_each_request_ends_in_one_state_and_nothing_is_lost(tmp_path: Path) -> None:
    requests = [request(prompt) for number in range(LANES) for prompt in prompts_of_a_lane(number)]
    assert len(requests) == 2000
    path, watch = tmp_path / "l.sqlite", Counting()
    with fault_server(tmp_path / "log", seed=1, faults=0.4, latency=0.02) as server:
        answers = carry_out_in_lanes(requests, server, path, watch)
        events = server.events()
        check_one_state_each(requests, answers, watch, events, path)
        drawn = Counter(event.what for event in events if event.kind == "faulted")
        assert set(drawn) == {*FAULTS, "refused", "too long"}

        # The next run asks for what failed, and for nothing else.
        server.set(faults=0.0)
        again = carry_out_in_lanes(requests, server, path, Counting())
        asked_again = Counter(event.prompt for event in server.events()[len(events) :] if event.kind == "asked")
    failed = {digest(prompt_of(answer.request)) for answer in answers if isinstance(answer.outcome, Failure)}
    assert asked_again == Counter(failed)
    for before, after in zip(answers, again, strict=True):
        prompt = prompt_of(after.request)
        if isinstance(before.outcome, Reply):
            assert (after.outcome, after.at, after.called) == (before.outcome, before.at, False)
        else:
            assert isinstance(after.outcome, Failure) == (REFUSED in prompt or TOO_LONG in prompt)
    assert len(kept(path)) == LANES * 484


def check_one_state_each(
    requests: list[Request], answers: list[Answered], watch: Counting, events: list[Event], path: Path
) -> None:
    assert [answer.request for answer in answers] == requests
    places = range(len(requests) // LANES)
    assert watch.places == Counter((f"lane {number}", place) for number in range(LANES) for place in places)
    seen = by_prompt(events)
    texts = kept(path)
    replied = {prompt_of(answer.request) for answer in answers if isinstance(answer.outcome, Reply)}
    failed = {prompt_of(answer.request) for answer in answers if isinstance(answer.outcome, Failure)}
    assert not replied & failed
    assert replied == set(texts)
    assert set(seen) == {digest(prompt) for prompt in replied | failed}
    noted = failures(path)
    assert Counter(key for key, *_ in noted) == Counter({a.key for a in answers if isinstance(a.outcome, Failure)})
    reasons = {key: rest for key, *rest in noted}
    # An answer counts under the first place of its request, and under the others as what it is: known by then.
    firsts = Counter(answer.key for answer in answers if answer.called)
    assert firsts == Counter({answer.key for answer in answers})
    for answer in answers:
        prompt = prompt_of(answer.request)
        history = seen[digest(prompt)]
        calls = [event for event in history if event.kind == "asked"]
        last = history[-1]
        assert len(history) == 2 * len(calls), "what was asked was answered, and asked again only after that"
        if answer.called:
            assert answer.tries == len(calls)
        if isinstance(answer.outcome, Reply):
            assert re.fullmatch(rf"{echo(prompt)}, answer \d+", answer.outcome.text)
            assert texts[prompt] == answer.outcome.text
            assert [event.kind for event in history if event.kind == "answered"] == ["answered"], "paid for once"
            assert last.kind == "answered"
            continue
        assert last.kind == "faulted"
        kind, reason, tries = reasons[answer.key]
        assert (kind, reason, tries) == (answer.outcome.kind, answer.outcome.reason, len(calls))
        if last.what == "too long":
            assert kind == FailureKind.OVERFLOW
        elif last.what == "refused":
            assert reason.startswith(f"refused, {len(calls)} call{'s' if len(calls) > 1 else ''}: ")
        else:
            assert reason.startswith(f"{FAULTS[last.what]}, {len(calls)} calls: ")
            in_this_way = sum(FAULTS[event.what] == FAULTS[last.what] for event in history if event.kind == "faulted")
            assert in_this_way == QUICK.allows(FAULTS[last.what])
    passing = Counter(FAULTS[event.what] for event in events if event.what in FAULTS and event.kind == "faulted")
    lasts = [seen[digest(prompt)][-1].what for prompt in failed]
    given_up = Counter(FAULTS[what] for what in lasts if what in FAULTS)
    assert watch.vain == passing - given_up


@pytest.mark.parametrize("fault", [*FAULTS])
def test_a_provider_that_always_fails(tmp_path: Path, fault: str) -> None:
    requests = [request(f"request {n}") for n in range(40)]
    path = tmp_path / "l.sqlite"
    patience = Patience(tries=2, rate_limit_tries=2, first_wait=0.001, longest_wait=0.002)
    with fault_server(tmp_path / "log", always=fault) as server:
        model = model_at(server, concurrency=8)
        with Ledger(path) as ledger:
            answers = run_requests(requests, model, ledger, patience=patience)
            assert ledger.count() == 0
        outcomes = [answer.outcome for answer in answers]
        assert all(isinstance(outcome, Failure) for outcome in outcomes)
        asked = Counter(event.prompt for event in server.events() if event.kind == "asked")
        assert asked == Counter({digest(prompt_of(one)): 2 for one in requests})
        noted = failures(path)
        assert len(noted) == 40
        assert all(reason.startswith(f"{FAULTS[fault]}, 2 calls: ") for _, _, reason, _ in noted)

        server.set(always="")
        with Ledger(path) as ledger:
            again = run_requests(requests, model, ledger, patience=patience)
    assert all(isinstance(answer.outcome, Reply) and answer.tries == 1 for answer in again)
    assert len(kept(path)) == 40
    assert len(failures(path)) == 40


def test_a_server_that_dies_and_comes_back(tmp_path: Path) -> None:
    requests = [request(f"request {n}") for n in range(600)]
    path, flight, deaths = tmp_path / "l.sqlite", 16, 3
    with fault_server(tmp_path / "log", seed=3, faults=0.1, latency=0.02) as server:

        def die_and_come_back() -> None:
            for count in (100, 250, 400):
                server.wait_until(partial(has_answered, count))
                server.kill()
                server.start()

        killer = threading.Thread(target=die_and_come_back)
        killer.start()
        for_ever = Patience(
            tries=10**6, rate_limit_tries=10**6, bad_reply_tries=10**6, first_wait=0.01, longest_wait=0.05
        )
        with Ledger(path) as ledger:
            answers = run_requests(requests, model_at(server, flight), ledger, patience=for_ever)
        killer.join()
        events = server.events()
    assert all(isinstance(answer.outcome, Reply) for answer in answers)
    texts = kept(path)
    assert set(texts) == {prompt_of(one) for one in requests}
    assert all(texts[prompt].startswith(f"{echo(prompt)}, ") for prompt in texts)
    assert failures(path) == []
    # What was answered twice was under way when the server died: its answer never arrived.
    assert answered(events) - len(requests) <= deaths * flight
    for history in by_prompt(events).values():
        assert history[-1].kind == "answered", "nothing was asked again after its answer arrived"


def has_answered(count: int, events: list[Event]) -> bool:
    return answered(events) >= count


def answered(events: list[Event]) -> int:
    return sum(event.kind == "answered" for event in events)


def test_answers_that_come_in_any_order(tmp_path: Path) -> None:
    """The server answers the last question first; results stand in the order of the requests all the same."""
    count = 50
    requests = [request(f"request {n}") for n in range(count)]
    with fault_server(tmp_path / "log", latency=0.2) as server:
        model = model_at(server, concurrency=count)
        with Ledger(tmp_path / "l.sqlite") as ledger:
            order: list[int] = []

            def read(answer: Answered) -> str:
                order.append(answer.place)
                assert isinstance(answer.outcome, Reply)
                return answer.outcome.text

            texts = run_requests(requests, model, ledger, read)
    assert [text.partition(",")[0] for text in texts] == [echo(f"request {n}") for n in range(count)]
    assert order != sorted(order)
    assert sorted(order) == list(range(count))


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("EVENHAND_API_KEY", raising=False)
    yield
