"""The pace of calls: as many at once as the model takes, never more a minute than is allowed."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.execution.pace import FIRST_ROOM, Pace
from evenhand.models import Limits, Trouble


class Clock:
    """A clock that a sleeper moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds + 1e-9


def paced(most: int, work: Callable[[Pace, Clock], Coroutine[Any, Any, None]], limits: Limits | None = None) -> Pace:
    clock = Clock()
    pace = Pace(most, limits or Limits(), clock=clock, sleep=clock.sleep)
    asyncio.run(work(pace, clock))
    return pace


class Crowd:
    """Many workers that want to make a call each; the test lets a round of calls end at once."""

    def __init__(self, pace: Pace, size: int = 3000) -> None:
        self.pace, self.inside = pace, list[asyncio.Future[bool]]()
        self.trouble = Trouble.SERVER
        self.workers = [asyncio.create_task(self.work()) for _ in range(size)]

    async def work(self) -> None:
        began = await self.pace.begin()
        done: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self.inside.append(done)
        if await done:
            self.pace.went_well()
        else:
            self.pace.went_wrong(self.trouble, began, 0.0)
        self.pace.end()

    async def round(self, *, well: bool = True) -> int:
        for _ in range(2000):
            await asyncio.sleep(0)
        calls, self.inside = self.inside, []
        for call in calls:
            call.set_result(well)
        return len(calls)

    def leave(self) -> None:
        for worker in self.workers:
            worker.cancel()


def test_it_doubles_until_it_is_too_much_then_halves_once_and_creeps() -> None:
    rounds: list[int] = []

    async def work(pace: Pace, clock: Clock) -> None:
        crowd = Crowd(pace)
        crowd.trouble = Trouble.RATE_LIMIT
        for well in (True, True, True, False, True, True, True):
            clock.now += 1
            rounds.append(await crowd.round(well=well))
        crowd.leave()

    paced(1000, work)
    assert rounds[:4] == [FIRST_ROOM, 2 * FIRST_ROOM, 4 * FIRST_ROOM, 8 * FIRST_ROOM]
    assert rounds[4:] == [4 * FIRST_ROOM, 4 * FIRST_ROOM, 4 * FIRST_ROOM + 1]


@pytest.mark.parametrize(
    ("trouble", "room"),
    [
        (Trouble.RATE_LIMIT, FIRST_ROOM / 2),
        (Trouble.TIMEOUT, FIRST_ROOM / 2),
        (Trouble.BAD_REPLY, FIRST_ROOM),
        (Trouble.REFUSED, FIRST_ROOM),
    ],
)
def test_only_what_says_too_much_slows_it_down(trouble: Trouble, room: float) -> None:
    async def work(pace: Pace, clock: Clock) -> None:
        crowd = Crowd(pace, 100)
        crowd.trouble = trouble
        await crowd.round(well=False)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        crowd.leave()

    assert paced(100, work).room == room


def test_errors_now_and_then_do_not_slow_it_down() -> None:
    async def work(pace: Pace, clock: Clock) -> None:
        for number in range(2000):
            began = await pace.begin()
            if number % 20 == 0:
                pace.went_wrong(Trouble.SERVER, began, 0.0)
            else:
                pace.went_well()
            pace.end()
            clock.now += 0.1

    assert paced(100, work).room == FIRST_ROOM


def test_it_never_ends_below_one() -> None:
    async def work(pace: Pace, clock: Clock) -> None:
        crowd = Crowd(pace, 200)
        for _ in range(20):
            clock.now += 1
            await crowd.round(well=False)
        crowd.leave()

    assert paced(100, work).room == 1.0


def test_the_model_takes_no_more_than_it_says() -> None:
    async def work(pace: Pace, clock: Clock) -> None:
        crowd = Crowd(pace)
        for _ in range(10):
            assert await crowd.round() <= 40
        crowd.leave()

    assert paced(40, work).room == 40.0


def test_nobody_waits_and_so_it_does_not_grow() -> None:
    async def work(pace: Pace, clock: Clock) -> None:
        for _ in range(100):
            await pace.begin()
            pace.went_well()
            pace.end()

    assert paced(100, work).room == FIRST_ROOM


def test_a_wait_that_is_asked_for_holds_all_back() -> None:
    async def work(pace: Pace, clock: Clock) -> None:
        began = await pace.begin()
        pace.went_wrong(Trouble.RATE_LIMIT, began, 30.0)
        pace.end()
        assert await pace.begin() >= began + 30.0
        assert await pace.begin() < began + 31.0

    paced(10, work)


def most_in_a_minute(calls: list[tuple[float, float]]) -> float:
    return max(sum(size for time, size in calls if start <= time < start + 60) for start, _ in calls)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 600), st.integers(2, 200), st.floats(0, 3))
def test_never_more_requests_a_minute_than_allowed(a_minute: int, count: int, idle: float) -> None:
    calls: list[tuple[float, float]] = []

    async def work(pace: Pace, clock: Clock) -> None:
        for _ in range(count):
            calls.append((await pace.begin(), 1))
            clock.now += idle
            pace.end()

    paced(1000, work, Limits(requests_per_minute=a_minute))
    assert most_in_a_minute(calls) <= a_minute + 1e-6


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 900), min_size=2, max_size=150))
def test_tokens_a_minute_are_passed_by_one_call_at_most(sizes: list[int]) -> None:
    calls: list[tuple[float, float]] = []

    async def work(pace: Pace, clock: Clock) -> None:
        for size in sizes:
            calls.append((await pace.begin(size), size))
            pace.end()

    paced(1000, work, Limits(tokens_per_minute=6000))
    assert most_in_a_minute(calls) <= 6000 + max(sizes)


def test_tokens_that_were_not_used_are_given_back() -> None:
    async def work(pace: Pace, clock: Clock) -> None:
        for _ in range(50):
            await pace.begin(1000)
            pace.end(unused_tokens=990)
        assert clock.now < 100.0 + 60 * 50 * 1000 / 60_000

    paced(10, work, Limits(tokens_per_minute=60_000))
