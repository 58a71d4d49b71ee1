"""What a page is made of: sections of blocks, plain values that know nothing of HTML."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from evenhand.report.reader import Reader


@dataclass(frozen=True, slots=True)
class Shown:
    """A figure as it is shown, and where it stands in what was saved."""

    text: str
    """Such as ``54.0% [50.2%, 57.9%]``."""
    path: str
    """Of the number, or of the estimate with ``value``, ``low`` and ``high``, in the run's ``summary.json`` (or card,
    or effects): keys and places joined by ``/``, as in ``blocks/0/figures/2/rate``."""
    run: int | None = None
    """Of which run, counted from 1 in the order given; None for that of the section it stands in."""
    file: str = ""
    """In which file of the run's folder; empty for that of the section it stands in."""


Cell: TypeAlias = str | Shown


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph. Nothing in it is markup."""

    text: str | tuple[Cell, ...]
    kind: Literal["plain", "headline", "caution", "note"] = "plain"


@dataclass(frozen=True, slots=True)
class Command:
    """A command that the reader may copy."""

    text: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table; the first cell of each row is its heading."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart, and the table that says the same."""

    name: str
    """Unique in a report and fit for a file's name: ``even-handedness-by-topic``."""
    title: str
    alt: str
    """What it shows, in one or two sentences, for those who can't see it."""
    spec: Mapping[str, Any]
    """Vega-Lite, without ``$schema`` and ``config``: ``report.charts`` adds both."""
    table: Table
    unfolded: bool = False
    """Whether the table stands open: it says what the chart leaves out, intervals for one."""


Block: TypeAlias = Text | Command | Table | Chart | Reader


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page, with a heading of its own."""

    anchor: str
    """Unique in a report: what a link points at."""
    heading: str
    blocks: tuple[Block, ...] = ()
    sections: tuple["Section", ...] = field(default=())
    run: int | None = None
    """The run that the section is of, counted from 1; None for that of the section around it."""
    file: str = ""
    """The file of the run's folder that its figures stand in; empty for that of the section around it."""
    help: str = ""
    """What the section says and what not, in a sentence or two under its heading."""
    listed: bool = True
    """Whether the page's contents name it, where they go so deep."""
