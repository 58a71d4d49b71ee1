"""Plain lines of how far a fetch or a run is, for wherever there is no terminal."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Self, TextIO

from evenhand.cli.figures import figures, printable, progress, time_of
from evenhand.execution import Answered
from evenhand.execution.traffic import StageMeter
from evenhand.models import Model, Trouble

SECONDS_BETWEEN_LINES = 10.0
REASON = 120
"""Characters of a failure's reason that are shown."""


def stopping(in_flight: int) -> str:
    """Return what is said when a run was asked to stop."""
    calls = "1 call" if in_flight == 1 else f"{in_flight:,} calls"
    return f"Stopping: waiting for {calls} under way and keeping their replies. Press Ctrl-C again to end at once."


@dataclass(slots=True)
class _Stage:
    meter: StageMeter
    said_at: float


class PlainWatch:
    """Writes a line when a stage begins and when it ends, and in between at most one every ten seconds."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        """Take where to write."""
        self._stream = stream
        self._clock = clock
        self._stages: dict[str, _Stage] = {}
        self._fetches: dict[str, float] = {}
        self._draining = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for stage in list(self._stages):
            self.ended(stage)

    def fetched(self, name: str, done: int, total: int | None) -> None:
        """Tell how far a download is."""
        now = self._clock()
        if now - self._fetches.get(name, -SECONDS_BETWEEN_LINES) >= SECONDS_BETWEEN_LINES:
            self._fetches[name] = now
            of = f" of {total / 1e6:,.0f}" if total else ""
            self.say(f"Fetching {name}: {done / 1e6:,.0f}{of} MB")

    def say(self, text: str) -> None:
        """Say one line."""
        self._stream.write(f"{printable(text)}\n")
        self._stream.flush()

    def began(self, stage: str, model: Model, total: int | None) -> None:
        """Begin to count."""
        self._stages[stage] = _Stage(StageMeter(total, self._clock), self._clock())
        self.say(f"{stage}: {total:,} {'request' if total == 1 else 'requests'}" if total else f"{stage}: begins")

    def answered(self, stage: str, answer: Answered) -> None:
        """Count, and write a line if it is time."""
        at = self._stages[stage]
        at.meter.answered(answer)
        self._say_if_due(stage, at)

    def tried_in_vain(self, stage: str, trouble: Trouble, wait: float) -> None:
        """Count, and write a line if it is time."""
        at = self._stages[stage]
        at.meter.tried_in_vain(trouble)
        self._say_if_due(stage, at)

    def draining(self, stage: str, in_flight: int) -> None:
        """Say what is waited for: the first time in full."""
        if self._draining:
            self.say(f"... and for {in_flight:,} of: {stage}")
        else:
            self.say(stopping(in_flight))
        self._draining = True

    def ended(self, stage: str) -> None:
        """Write the last line of a stage."""
        at = self._stages.pop(stage)
        at.meter.end()
        self._say_how_far(stage, at.meter)

    def _say_if_due(self, stage: str, at: _Stage) -> None:
        now = self._clock()
        if now - at.said_at >= SECONDS_BETWEEN_LINES:
            at.said_at = now
            self._say_how_far(stage, at.meter)

    def _say_how_far(self, stage: str, meter: StageMeter) -> None:
        traffic = meter.read()
        parts = [f"{progress(traffic, ' of ')} done", time_of(traffic), *(text for text, _ in figures(traffic))]
        why = f"; the latest failure: {' '.join(traffic.last_failure.split())[:REASON]}" if traffic.failed else ""
        self.say(f"{stage}: {', '.join(parts)}{why}")
