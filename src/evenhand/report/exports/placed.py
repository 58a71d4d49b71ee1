"""The tables and charts of a report, each with the place where it stands."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from evenhand.report.page.blocks import Cell, Chart, Section, Table, Text

_LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class Placed:
    """A table of a report; that of a chart too."""

    name: str
    """Unique in the report, and fit for a file's name."""
    headings: tuple[str, ...]
    """Of the sections that it stands in, the outermost first."""
    table: Table
    run: int
    """Of which run its figures are unless they say otherwise, counted from 1."""
    file: str
    """In which file of that run's folder they stand unless they say otherwise."""


def placed_tables(sections: Sequence[Section]) -> tuple[Placed, ...]:
    """Return every table in the order of the page."""
    taken: set[str] = set()
    found = _tables(sections, (), 1, "")
    return tuple(
        replace(one, name=unique_stem(one.name, taken)) for one in found if one.table.columns or one.table.rows
    )


def charts_of(sections: Sequence[Section]) -> tuple[Chart, ...]:
    """Return every chart in the order of the page."""
    return tuple(_charts(sections))


def shown(cell: Cell) -> str:
    """Return what a cell says."""
    return cell if isinstance(cell, str) else cell.text


def sentence(text: Text) -> str:
    """Return what a paragraph says."""
    return text.text if isinstance(text.text, str) else "".join(shown(cell) for cell in text.text)


def file_stem(text: str) -> str:
    """Return a text as the name of a file, without its ending, that any file system takes.

    >>> file_stem("Refusal, by side: 50%"), file_stem("../../etc/passwd"), file_stem("CON"), file_stem("中文")
    ('refusal-by-side-50', 'etc-passwd', 'con-table', 'table')
    """
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii").casefold()
    stem = re.sub(r"[^a-z0-9]+", "-", plain)[:_LONGEST_NAME].strip("-")
    # Names that Windows keeps for devices.
    if re.fullmatch(r"con|prn|aux|nul|com[0-9]|lpt[0-9]", stem):
        stem += "-table"
    return stem or "table"


def unique_stem(name: str, taken: set[str]) -> str:
    """Return a name as that of a file which is not taken, and take it."""
    stem = file_stem(name)
    found, number = stem, 1
    while found in taken:
        number += 1
        found = f"{stem}-{number}"
    taken.add(found)
    return found


def _tables(sections: Sequence[Section], above: tuple[str, ...], run: int, file: str) -> Iterator[Placed]:
    for section in sections:
        headings = (*above, section.heading)
        own_run, own_file = section.run or run, section.file or file
        for block in section.blocks:
            if isinstance(block, Table):
                yield Placed(block.caption, headings, block, own_run, own_file)
            elif isinstance(block, Chart):
                yield Placed(block.name, headings, block.table, own_run, own_file)
        yield from _tables(section.sections, headings, own_run, own_file)


def _charts(sections: Sequence[Section]) -> Iterator[Chart]:
    for section in sections:
        yield from (block for block in section.blocks if isinstance(block, Chart))
        yield from _charts(section.sections)
