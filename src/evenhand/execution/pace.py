"""The pace of calls: how many at once and how many a minute, found out from how the model takes them."""

import asyncio
import time
from collections.abc import Awaitable, Callable

from evenhand.models import Limits, Trouble

FIRST_ROOM = 32
"""Calls at once that a run begins with; it has yet to be seen what the model takes."""
_DOWN = frozenset({Trouble.SERVER, Trouble.TIMEOUT, Trouble.CONNECTION})
"""What may be a sign of too much, or just bad luck: it counts where it comes often."""
_OFTEN = 0.2
_LEAST_SEEN = 32
_MINUTE = 60.0


class Pace:
    """Lets calls of one model go, in the order in which they ask.

    The number at once doubles with every round of calls that go well, until the model says that it is too much; then
    it is halved, once for all calls that were under way, and from there grows by one a round (additive increase,
    multiplicative decrease; Chiu and Jain 1989). Errors of a server, resets and timeouts halve it where a fifth of the
    last round's calls or more came to that; now and then they happen anywhere, and say nothing of too much.
    """

    def __init__(
        self,
        most: int,
        limits: Limits,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Take how many calls at once are allowed at most, and the limits a minute."""
        self.most = most
        self.room = float(min(most, FIRST_ROOM))
        """How many calls may be under way at once."""
        self.under_way = 0
        self._clock, self._sleep = clock, sleep
        self._gate = asyncio.Lock()
        self._freed = asyncio.Event()
        self._not_before = 0.0
        self._doubling = True
        self._cut_at = float("-inf")
        self._troubled = 0.0
        self._requests = _Bucket(limits.requests_per_minute, clock) if limits.requests_per_minute else None
        self._tokens = _Bucket(limits.tokens_per_minute, clock) if limits.tokens_per_minute else None
        self._free = self._requests is None and self._tokens is None

    @property
    def counts_tokens(self) -> bool:
        """Whether it matters how many tokens a call has."""
        return self._tokens is not None

    async def begin(self, tokens: int = 0) -> float:
        """Return once a call of so many tokens may be made, with the time at which it begins."""
        if self._free and not self._gate.locked() and self.under_way < int(self.room):
            now = self._clock()
            if now >= self._not_before:  # Nothing to wait for, and nobody who was here before.
                self.under_way += 1
                return now
        async with self._gate:
            while self.under_way >= int(self.room):
                self._freed.clear()
                await self._freed.wait()
            while (wait := self._wait(tokens)) > 0:
                await self._sleep(wait)
            for bucket, amount in ((self._requests, 1), (self._tokens, tokens)):
                if bucket:
                    bucket.take(amount)
            self.under_way += 1
        return self._clock()

    def end(self, *, unused_tokens: int = 0) -> None:
        """Tell that a call is over, however it ended, and how many of its tokens it did not use."""
        self.under_way -= 1
        self._freed.set()
        if self._tokens:
            self._tokens.take(-unused_tokens)

    def went_well(self) -> None:
        """Tell that a call was answered."""
        self._saw(0.0)
        # More room is of use only while others wait for their turn.
        if self._gate.locked() and self.room < self.most:
            self.room = min(float(self.most), self.room + (1.0 if self._doubling else 1.0 / self.room))

    def went_wrong(self, trouble: Trouble, began: float, wait: float) -> None:
        """Tell that a call that began at some time was not answered, and how long the model asked to be left alone."""
        now = self._clock()
        self._not_before = max(self._not_before, now + wait)
        if trouble in _DOWN:
            self._saw(1.0)
        told = trouble is Trouble.RATE_LIMIT
        if began > self._cut_at and (told or (trouble in _DOWN and self._troubled >= _OFTEN)):
            self.room = max(1.0, self.room / 2)
            self._doubling = self._doubling and not told
            self._cut_at = now

    def _saw(self, trouble: float) -> None:
        # A moving share over about a round.
        self._troubled += (trouble - self._troubled) / max(_LEAST_SEEN, self.room)

    def _wait(self, tokens: int) -> float:
        waits = [self._not_before - self._clock()]
        if self._requests:
            waits.append(self._requests.wait(1))
        if self._tokens:
            waits.append(self._tokens.wait(tokens))
        return max(waits)


class _Bucket:
    """A budget that fills with time: in no minute more than the limit is taken from it.

    It holds one second's share, and what is more than it holds is taken as a debt that has to be made good first: only
    by a single call of that size can the limit be passed.
    """

    def __init__(self, a_minute: float, clock: Callable[[], float]) -> None:
        self._holds = max(1.0, a_minute / _MINUTE)
        # What a full bucket holds and what flows into it within a minute are the limit; single calls are just spaced.
        self._flow = (a_minute - self._holds if self._holds > 1 else a_minute) / _MINUTE
        self._level, self._clock, self._then = self._holds, clock, clock()

    def wait(self, amount: float) -> float:
        self._fill()
        return max(0.0, (min(amount, self._holds) - self._level) / self._flow)

    def take(self, amount: float) -> None:
        self._fill()
        self._level = min(self._holds, self._level - amount)

    def _fill(self) -> None:
        now = self._clock()
        self._level = min(self._holds, self._level + (now - self._then) * self._flow)
        self._then = now
