"""Fewer rounds of the garbage collector while calls are made: it would look again and again at what stays."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_RARELY = (50_000, 20, 100)
"""A call makes a few hundred objects, and nearly all of them go by counting references."""


class _Collector:
    """The collector is one for the whole process, so runs at the same time share its settings."""

    def __init__(self) -> None:
        self._runs = 0
        self._before = gc.get_threshold()

    @contextmanager
    def rarely(self) -> Iterator[None]:
        """Leave what there is to itself, and collect rarely, while this lasts."""
        self._runs += 1
        if self._runs == 1:
            self._before = gc.get_threshold()
            # Without a collection before: it looks at every object there is, and a small run is over sooner than that.
            # What is garbage by now waits until the run has ended.
            gc.freeze()
            gc.set_threshold(*_RARELY)
        try:
            yield
        finally:
            self._runs -= 1
            if self._runs == 0:
                gc.set_threshold(*self._before)
                gc.unfreeze()


collecting = _Collector()
