"""What is counted while a run goes on, on a clock that the test turns."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.execution import Answered
from evenhand.execution.traffic import StageMeter, Traffic, together
from evenhand.instruments import Request
from evenhand.models import Trouble
from evenhand.readings import Failure, FailureKind, Reply

REQUEST = Request(prompt="p")


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def by_call(tokens: tuple[int, int, int] = (10, 2, 4), cost: float | None = 0.0, tries: int = 1) -> Answered:
    prompt, completion, cached = tokens
    reply = Reply("t", "stop", "m", prompt_tokens=prompt, completion_tokens=completion, cached_tokens=cached)
    return Answered(REQUEST, "key", reply, "now", called=True, tries=tries, cost=cost)


def from_ledger() -> Answered:
    return Answered(
        REQUEST, "key", Reply("t", "stop", "m", prompt_tokens=999, completion_tokens=99), "then", called=False
    )


def failure(reason: str = "reset", *, called: bool = True, tries: int = 1, cost: float | None = 0.0) -> Answered:
    return Answered(REQUEST, "key", Failure(FailureKind.TRANSPORT, reason), "", called=called, tries=tries, cost=cost)


# Sixty-fourths of a second add up without rounding, which could count a call to the second next to its own.
exact_waits = st.integers(1, 2000).map(lambda number: number / 64)
gaps = st.floats(0.0, 100.0)
costs = st.none() | st.floats(0.0, 1.0)
tokens = st.integers(0, 500).flatmap(
    lambda prompt: st.tuples(st.just(prompt), st.integers(0, 500), st.integers(0, prompt))
)
# A request and how it goes: the seconds before each thing that happens to it, its failed tries, and what it comes to.
outcomes = st.one_of(
    st.just(from_ledger()),
    st.builds(by_call, tokens, costs),
    st.builds(failure, st.text(), called=st.booleans(), cost=costs),
)
histories = st.lists(st.tuples(gaps, st.lists(st.sampled_from(Trouble), max_size=3), outcomes), max_size=60)


@settings(deadline=None)
@given(histories, st.integers(0, 10))
def test_everything_is_counted_once(history: list[tuple[float, list[Trouble], Answered]], left: int) -> None:
    clock = Clock()
    meter = StageMeter(len(history) + left, clock)
    tries = 0
    for gap, troubles, answer in history:
        for trouble in troubles if answer.called else []:
            clock.now += gap
            meter.tried_in_vain(trouble)
            tries += 1
        clock.now += gap
        meter.answered(answer)
        tries += answer.called
    found = meter.read()
    replies = [answer.outcome for _, _, answer in history if answer.called and isinstance(answer.outcome, Reply)]
    assert found.done == len(history)
    assert found.by_call == len(replies)
    assert found.failed == sum(isinstance(answer.outcome, Failure) for _, _, answer in history)
    assert found.calls == tries
    assert sum(found.retries.values()) == tries - sum(answer.called for _, _, answer in history)
    assert found.prompt_tokens == sum(reply.prompt_tokens for reply in replies)
    assert found.completion_tokens == sum(reply.completion_tokens for reply in replies)
    assert found.cached_tokens == sum(reply.cached_tokens for reply in replies)
    known = [answer.cost for _, _, answer in history if answer.called and answer.cost is not None]
    assert found.paid == pytest.approx(sum(known))
    unpriced = any(answer.called and answer.cost is None for _, _, answer in history)
    assert found.cost is None if unpriced else found.cost == pytest.approx(sum(known))
    assert found.seconds == pytest.approx(clock.now - 1000.0)
    assert json.loads(json.dumps(found.as_json(), allow_nan=False))["done"] == len(history)
    if found.seconds_left is not None:
        assert found.seconds_left >= 0
        assert (found.seconds_left == 0) == (left == 0)


@settings(deadline=None)
@given(st.lists(st.floats(0.01, 0.4), min_size=2, max_size=60), st.floats(0.0, 5.0))
def test_a_young_stage_has_the_rate_of_all_its_calls(waits: list[float], silence: float) -> None:
    clock = Clock()
    meter = StageMeter(len(waits) + 30, clock)
    for wait in waits:
        clock.now += wait
        meter.answered(by_call())
    clock.now += silence
    found = meter.read()
    rate = len(waits) / (sum(waits) + silence)
    assert found.calls_per_second == pytest.approx(rate)
    assert found.tokens_per_second == pytest.approx(12 * rate)
    assert found.seconds_left == pytest.approx(30 / rate)


@settings(deadline=None, max_examples=30)
@given(st.floats(0.02, 50.0), st.floats(0.02, 50.0))
def test_a_rate_forgets_what_is_long_past(before: float, after: float) -> None:
    """Whatever the speed was, after a while it is the present one, for fast models and for slow ones."""
    clock = Clock()
    meter, answer = StageMeter(None, clock), by_call()
    for wait in (before, after):
        until = clock.now + max(400.0 if wait is after else 100.0, 12 * wait)
        while clock.now < until:
            clock.now += wait
            meter.answered(answer)
    rate = meter.read().calls_per_second
    assert rate == pytest.approx(1 / after, rel=0.1)


@settings(deadline=None)
@given(st.lists(st.tuples(exact_waits, st.lists(exact_waits, max_size=5)), min_size=2, max_size=40))
def test_replies_from_the_ledger_leave_the_rate_alone(calls: list[tuple[float, list[float]]]) -> None:
    plain_clock, mixed_clock = Clock(), Clock()
    hits = sum(len(found) for _, found in calls)
    plain, mixed = StageMeter(len(calls) + 7, plain_clock), StageMeter(len(calls) + hits + 7, mixed_clock)
    for wait, found in calls:
        for gap in found:
            mixed_clock.now += gap
            mixed.answered(from_ledger())
        plain_clock.now += wait
        mixed_clock.now += wait
        plain.answered(by_call())
        mixed.answered(by_call())
    assert mixed.read().from_ledger == hits
    assert mixed.read().calls_per_second == pytest.approx(plain.read().calls_per_second)
    assert mixed.read().seconds_left == pytest.approx(plain.read().seconds_left)


def test_a_rate_falls_while_nothing_comes_and_reading_changes_nothing() -> None:
    clock = Clock()
    meter = StageMeter(100, clock)
    for _ in range(50):
        clock.now += 0.1
        meter.answered(by_call())
    rates = []
    for _ in range(20):
        clock.now += 10
        assert meter.read() == meter.read()
        rates.append(meter.read().calls_per_second)
    assert rates == sorted(rates, key=lambda rate: -(rate or 0))
    assert rates[-1] == pytest.approx(50 / 205)


@pytest.mark.parametrize("answers", [[], [by_call()], [from_ledger()] * 9])
def test_no_rate_and_no_time_left_without_enough_to_go_by(answers: list[Answered]) -> None:
    clock = Clock()
    meter = StageMeter(10, clock)
    for answer in answers:
        clock.now += 1
        meter.answered(answer)
    found = meter.read()
    assert (found.calls_per_second, found.tokens_per_second, found.seconds_left) == (None, None, None)


@pytest.mark.parametrize(("total", "answers"), [(None, 3), (0, 3), (2, 3)])
def test_a_total_that_is_not_known_or_wrong(total: int | None, answers: int) -> None:
    clock = Clock()
    meter = StageMeter(total, clock)
    for _ in range(answers):
        clock.now += 1
        meter.answered(by_call())
    found = meter.read()
    assert (found.total, found.done, found.seconds_left) == (None, 3, None)
    assert found.calls_per_second == pytest.approx(1.0)


def test_after_the_end_the_clock_stands_and_rates_are_over_all_the_calls() -> None:
    clock = Clock()
    meter = StageMeter(4, clock)
    for wait, answer in ((5.0, from_ledger()), (1.0, by_call()), (200.0, by_call()), (3.0, failure("why", cost=None))):
        clock.now += wait
        meter.answered(answer)
    meter.end()
    clock.now += 50
    found = meter.read()
    assert not found.under_way
    assert found.seconds == pytest.approx(209)
    assert found.calls_per_second == pytest.approx(3 / 204)
    assert found.seconds_left is None
    assert found.last_failure == "why"
    assert found.cost is None


def test_stages_together() -> None:
    over = Traffic(
        total=5, by_call=5, calls=6, retries={Trouble.TIMEOUT: 1}, paid=1.0, seconds=9.0, calls_per_second=7.0
    )
    fast = Traffic(
        total=10, by_call=2, calls=2, prompt_tokens=100, cached_tokens=25, paid=0.5, seconds=4.0,
        calls_per_second=2.0, tokens_per_second=20.0, seconds_left=4.0, under_way=True,
    )  # fmt: skip
    slow = Traffic(
        total=10, by_call=1, failed=1, last_failure="why", calls=3, retries={Trouble.TIMEOUT: 1, Trouble.SERVER: 1},
        unpriced=2, seconds=4.0, calls_per_second=1.0, tokens_per_second=5.0, seconds_left=8.0, under_way=True,
    )  # fmt: skip
    found = together([over, fast, slow])
    assert (found.total, found.done, found.calls, found.failed, found.last_failure) == (25, 9, 11, 1, "why")
    assert found.retries == {Trouble.TIMEOUT: 2, Trouble.SERVER: 1}
    assert (found.paid, found.cost, found.cached_share) == (1.5, None, 0.25)
    assert (found.calls_per_second, found.tokens_per_second) == (3.0, 25.0), "only of those under way"
    assert (found.seconds_left, found.seconds, found.under_way) == (8.0, 9.0, True)
    unknown = Traffic(under_way=True)
    assert together([fast, unknown]).seconds_left is None
    assert together([fast, unknown]).total is None
    assert together([fast, over]).cost == 1.5
    assert together([]).as_json()["done"] == 0
