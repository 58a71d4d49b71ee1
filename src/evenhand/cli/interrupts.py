"""Ctrl-C: the first lets the calls under way come in, the second ends at once."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells have it."""


@contextmanager
def interrupts_drain() -> Iterator[None]:
    """Handle Ctrl-C gently while this lasts; outside a run it interrupts as usual."""
    asked = 0

    def handle(_signal: int, _frame: FrameType | None) -> None:
        nonlocal asked
        asked += 1
        if asked > 1:
            # A model in this process may be in the middle of an answer that no thread can be talked out of. The
            # ledger survives an end at any moment.
            with suppress(OSError):
                os.write(2, b"\nEnded at once. Every reply that was kept stays; the same command goes on from here.\n")
            os._exit(INTERRUPTED)
        # Only what was loaded can be running, and not every command has runs.
        draining = sys.modules.get("evenhand.execution.draining")
        if draining is None or not draining.drain_running():
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
