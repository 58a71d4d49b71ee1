"""The live view of a run on a terminal."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import Self

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.live import Live
from rich.padding import Padding
from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn, TransferSpeedColumn
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from evenhand.cli.figures import cost, figures, printable, progress, rate, shortened, time_of
from evenhand.cli.progress import REASON, stopping
from evenhand.execution import Answered
from evenhand.execution.traffic import StageMeter, Traffic, together
from evenhand.models import Model, Trouble

_DRAWINGS_PER_SECOND = 4
_BAR = 20
_NARROWEST_NAME = 16
_COUNTS = len("1,234/5,678")
_TIME = len("12:34:56 left")
_INDENT = 2


class LiveWatch:
    """Draws a bar and a line of figures for each stage under way; a stage that ended stays above them.

    Drawing is the work of a thread of its own, a few times a second, so that telling of an answer costs no more than
    counting it.
    """

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        """Draw on a console that is a terminal."""
        self._console, self._clock = console, clock
        # Held while counts change or are read, and never while anything is printed: printing waits for the drawing
        # thread, which waits for this.
        self._lock = threading.RLock()
        self._stages: dict[str, StageMeter] = {}
        self._past: list[Traffic] = []
        self._in_flight: dict[str, int] = {}
        self._live: Live | None = None
        self._downloads = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=_BAR),
            DownloadColumn(),
            TransferSpeedColumn(),
            console=console,
            auto_refresh=False,
        )
        self._download: tuple[str, TaskID] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for stage in list(self._stages):
            self.ended(stage)
        self._drop_download()
        self._rest()

    def fetched(self, name: str, done: int, total: int | None) -> None:
        """Show a download."""
        if self._download is None or self._download[0] != name:
            self._drop_download()
            shown = f"Fetching {shortened(printable(name), max(_NARROWEST_NAME, self._console.width - 58))}"
            self._download = (name, self._downloads.add_task(shown, total=total))
            self._show()
        self._downloads.update(self._download[1], completed=done if total is None else min(done, total))
        if done == total:
            self._drop_download()
            self._rest()

    def say(self, text: str) -> None:
        """Say one line."""
        self._drop_download()
        self._console.print(Text(printable(text)), soft_wrap=True)

    def began(self, stage: str, model: Model, total: int | None) -> None:
        """Begin a bar."""
        self._drop_download()
        with self._lock:
            self._stages[stage] = StageMeter(total, self._clock)
        self._show()

    def answered(self, stage: str, answer: Answered) -> None:
        """Count."""
        with self._lock:
            self._stages[stage].answered(answer)
            if self._in_flight and answer.called and self._in_flight.get(stage):
                self._in_flight[stage] -= 1

    def tried_in_vain(self, stage: str, trouble: Trouble, wait: float) -> None:
        """Count."""
        with self._lock:
            self._stages[stage].tried_in_vain(trouble)

    def draining(self, stage: str, in_flight: int) -> None:
        """Say what is waited for, for as long as it is."""
        with self._lock:
            self._in_flight[stage] = in_flight
        # The next Ctrl-C ends the process on the spot, with the cursor as it then is.
        self._console.show_cursor(True)

    def ended(self, stage: str) -> None:
        """Leave the last state of a stage above the view."""
        with self._lock:
            meter = self._stages.pop(stage)
            meter.end()
            traffic = meter.read()
            self._past.append(traffic)
            self._in_flight.pop(stage, None)
        self._console.print(Group(*stage_lines({stage: traffic}, self._console)))
        self._rest()

    def _view(self) -> RenderableType:
        with self._lock:
            stages = {stage: meter.read() for stage, meter in self._stages.items()}
            past, in_flight = list(self._past), sum(self._in_flight.values())
        lines: list[RenderableType] = [self._downloads.get_renderable()] if self._download else []
        lines += stage_lines(stages, self._console)
        if stages and len(stages) + len(past) > 1:
            lines.append(_everything(together([*past, *stages.values()]), self._console))
        if in_flight:
            lines.append(Text(stopping(in_flight), style="bold yellow"))
        return Group(*lines)

    def _show(self) -> None:
        if self._live is None:
            # Standard output may go elsewhere, so what is written there is not drawn here.
            self._live = Live(
                _Drawing(self._view),
                console=self._console,
                refresh_per_second=_DRAWINGS_PER_SECOND,
                transient=True,
                redirect_stdout=False,
            )
            self._live.start(refresh=True)

    def _rest(self) -> None:
        if self._live is not None and not self._stages and self._download is None:
            live, self._live = self._live, None
            live.stop()

    def _drop_download(self) -> None:
        if self._download is not None:
            task, self._download = self._download[1], None
            self._downloads.remove_task(task)


def stage_lines(stages: Mapping[str, Traffic], console: Console) -> list[RenderableType]:
    """Return the lines of stages: for each a bar, its figures, and the latest failure if there is one."""
    lines: list[RenderableType] = []
    counts = max((len(progress(traffic)) for traffic in stages.values()), default=0)
    counts, bar = max(counts, _COUNTS), _BAR
    name = console.width - bar - counts - _TIME - 3
    if name < _NARROWEST_NAME:
        bar, name = 0, name + bar + 1
    for stage, traffic in stages.items():
        table = Table.grid(padding=(0, 1, 0, 0), pad_edge=False)
        table.add_column(width=max(name, 1), no_wrap=True)
        if bar:
            table.add_column(width=bar)
        table.add_column(width=counts, justify="right", no_wrap=True)
        table.add_column(width=_TIME, no_wrap=True)
        cells: list[RenderableType] = [Text(shortened(printable(stage).replace("\n", " "), max(name, 1)))]
        if bar:
            cells.append(_bar(traffic))
        table.add_row(*cells, progress(traffic), time_of(traffic))
        lines.append(table)
        lines += _packed(figures(traffic), console)
        if traffic.failed:
            reason = printable(" ".join(traffic.last_failure.split()))[:REASON]
            lines.append(_indented(Text(reason, style="red", overflow="ellipsis", no_wrap=True)))
    return lines


def _bar(traffic: Traffic) -> ProgressBar:
    if not traffic.under_way:
        whole = traffic.total is None or traffic.done >= traffic.total
        colour = "bar.finished" if whole and not traffic.failed else "yellow"
        return ProgressBar(
            total=max(1, traffic.total or traffic.done),
            completed=traffic.done or whole,
            width=_BAR,
            complete_style=colour,
            finished_style=colour,
        )
    return ProgressBar(total=traffic.total, completed=traffic.done, width=_BAR, pulse=traffic.total is None)


def _packed(parts: list[tuple[str, str]], console: Console) -> Iterator[RenderableType]:
    """Put as many parts into a line as it takes."""
    gap = _gap(console)
    line = Text(style="dim")
    for text, style in parts:
        if line and len(line) + len(gap) + len(text) > console.width - _INDENT:
            yield _indented(line)
            line = Text(style="dim")
        if line:
            line.append(gap)
        line.append(text, style=style)
    if line:
        yield _indented(line)


def _indented(line: Text) -> Padding:
    return Padding(line, (0, 0, 0, _INDENT), expand=False)


def _everything(traffic: Traffic, console: Console) -> Text:
    parts = ["All together", time_of(traffic)]
    if traffic.calls_per_second is not None and traffic.tokens_per_second is not None:
        parts += [rate(traffic.calls_per_second, "calls"), rate(traffic.tokens_per_second, "tokens")]
    if traffic.paid or traffic.unpriced:
        parts.append(cost(traffic))
    return Text(_gap(console).join(parts), style="bold", overflow="ellipsis", no_wrap=True)


def _gap(console: Console) -> str:
    return " | " if console.options.ascii_only else " · "


class _Drawing:
    """Drawn anew each time, so that what is printed above the view never comes with a view from before."""

    def __init__(self, draw: Callable[[], RenderableType]) -> None:
        self._draw = draw

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self._draw()
