"""The console that commands print to: data can't write to the terminal through it."""

from collections.abc import Iterator
from typing import Any

from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderHook, RenderResult
from rich.segment import Segment

from evenhand.cli.figures import printable


def terminal(**options: Any) -> Console:  # noqa: ANN401  (those of Console)
    """Return a console without highlighting, which shows what a terminal would obey.

    Names, topics, answers and the messages of errors hold whatever the data hold. An escape sequence among them could
    colour or overwrite figures, or set the clipboard; here it is text.
    """
    console = Console(highlight=False, **options)
    console.push_render_hook(_Shown())
    return console


class _Shown(RenderHook):
    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        return [_Printable(one) for one in renderables]


class _Printable:
    """What is printed, its controls made visible after it was laid out and coloured."""

    def __init__(self, inner: ConsoleRenderable) -> None:
        self._inner = inner

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from self._segments(console, options)

    def _segments(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        for segment in console.render(self._inner, options):
            yield segment if segment.control else Segment(printable(segment.text), segment.style)
