"""How a command lets its run be watched: its options, and the watch that they ask for."""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click
from rich.console import Console

from evenhand.cli.json_log import JsonLog
from evenhand.cli.live import LiveWatch
from evenhand.cli.outlet import outlet
from evenhand.cli.progress import PlainWatch
from evenhand.cli.watches import Watches
from evenhand.studies.watch import StudyWatch, UnwatchedStudy

_Function = TypeVar("_Function", bound=Callable[..., Any])


def watching_options(command: _Function) -> _Function:
    """Give a command the options ``--quiet`` and ``--log``; ``watching`` takes what they hold."""
    command = click.option(
        "--log",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Append what happens to FILE, a JSON object a line.",
    )(command)
    return click.option("--quiet", is_flag=True, help="Show no progress; errors are shown.")(command)


@contextmanager
def watching(*, quiet: bool = False, log: Path | None = None) -> Iterator[StudyWatch]:
    """Give a watch for the length of a ``with``: a live view on a terminal, plain lines elsewhere, and the log."""
    with ExitStack() as stack:
        # The log first: where it can't be written, nothing else was begun.
        journal = stack.enter_context(JsonLog(log, _complain)) if log else None
        shown: StudyWatch
        if quiet:
            shown = UnwatchedStudy()
        else:
            stream = outlet(sys.stderr)
            console = Console(file=stream, highlight=False)
            # Asked of the stream itself: colours can be forced on a console that is no terminal.
            live = stream.isatty() and not console.is_dumb_terminal
            shown = stack.enter_context(LiveWatch(console)) if live else stack.enter_context(PlainWatch(stream))
        yield Watches(shown, journal) if journal else shown


def _complain(text: str) -> None:
    outlet(sys.stderr).write(f"{text}\n")
