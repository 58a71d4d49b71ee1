"""Stopping a run without losing what is paid for: nothing new is asked, what is under way comes in and is kept."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from evenhand.errors import StoppedError


class Stop:
    """Whether a run is to draw no more requests, and the error it then ends with."""

    def __init__(self, on_stop: Callable[[], None]) -> None:
        """Take what to do once, when it comes to that."""
        self.error: BaseException | None = None
        self._on_stop = on_stop

    def because(self, error: BaseException) -> None:
        """Stop; the first reason stays."""
        if self.error is None:
            self.error = error
            self._on_stop()


_running: dict[Stop, asyncio.AbstractEventLoop] = {}


@contextmanager
def drained_on_request(stop: Stop) -> Iterator[None]:
    """Let ``drain_running`` reach a run while it lasts."""
    _running[stop] = asyncio.get_running_loop()
    try:
        yield
    finally:
        del _running[stop]


def drain_running() -> bool:
    """Ask all runs of this process to stop; returns whether there are any. It may be called from a signal handler."""
    for stop, loop in list(_running.items()):
        loop.call_soon_threadsafe(stop.because, StoppedError("the run was asked to stop"))
    return bool(_running)
