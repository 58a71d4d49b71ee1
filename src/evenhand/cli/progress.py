"""A progress bar on a terminal, plain lines elsewhere."""

import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

_SECONDS_BETWEEN_LINES = 10.0


class ConsoleWatch:
    """Shows on standard error how far a fetch or a study is."""

    def __init__(self, *, quiet: bool = False) -> None:
        """Show nothing but what must be said if ``quiet``."""
        self._console = Console(stderr=True, highlight=False)
        self._quiet = quiet
        self._live = self._console.is_terminal and not quiet
        self._bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=self._console,
        )
        self._downloads = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            DownloadColumn(),
            TransferSpeedColumn(),
            console=self._console,
            transient=True,
        )
        self._stage: TaskID | None = None
        self._download: tuple[str, TaskID] | None = None
        self._name, self._total, self._done, self._called, self._last = "", 0, 0, 0, 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live:
            self._bars.stop()
            self._downloads.stop()

    def fetched(self, name: str, done: int, total: int | None) -> None:
        """Show a download."""
        if self._live:
            if self._download is None or self._download[0] != name:
                self._bars.stop()
                self._download = (name, self._downloads.add_task(f"Fetching {name}", total=total))
                self._downloads.start()
            self._downloads.update(self._download[1], completed=min(done, total or done))
            if done == total:
                self._downloads.stop()
                if self._stage is not None:
                    self._bars.start()
        elif not self._quiet and self._due():
            of = f" of {total / 1e6:,.0f}" if total else ""
            self._console.print(f"Fetching {name}: {done / 1e6:,.0f}{of} MB", soft_wrap=True)

    def say(self, text: str) -> None:
        """Say one line."""
        if not self._quiet:
            self._console.print(text, markup=False, soft_wrap=True)

    def stage(self, name: str, total: int) -> None:
        """Begin a bar."""
        self._name, self._total, self._done, self._called = name, total, 0, 0
        if self._live:
            self._stage = self._bars.add_task(name, total=total)
            self._bars.start()
        elif not self._quiet:
            self._last = time.monotonic()
            self._console.print(f"{name}: {total} requests", markup=False, soft_wrap=True)

    def advance(self, *, called: bool) -> None:
        """Move the bar."""
        self._done += 1
        self._called += called
        if self._live and self._stage is not None:
            self._bars.advance(self._stage)
        elif not self._quiet and (self._done == self._total or self._due()):
            self._console.print(
                f"{self._name}: {self._done} of {self._total}, {self._called} by a call",
                markup=False,
                soft_wrap=True,
            )

    def _due(self) -> bool:
        now = time.monotonic()
        if now - self._last < _SECONDS_BETWEEN_LINES:
            return False
        self._last = now
        return True
