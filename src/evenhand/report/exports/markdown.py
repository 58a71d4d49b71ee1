"""Tables and texts as Markdown in which nothing that was measured is markup."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import replace

from evenhand.report.exports.placed import sentence, shown
from evenhand.report.page.blocks import Block, Chart, Command, Section, Table, Text

_MARKUP = re.compile(r"[\\`*_\[\]|~$^]|(?<!\w)@|@(?=\w)|:(?=//)|(?<=[wW]{3})\.")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_BLOCK = re.compile(r"[#+\-=:]|[0-9]+(?=[.)])")
_NUMBER = re.compile(r"[+-]?[0-9.,]+(?:%|\s|$)")
_DEEPEST = 6


def markdown_page(title: str, sections: Sequence[Section]) -> str:
    """Return the texts and tables of a report; a chart is told by its table."""
    parts = [f"# {inline(title)}"]
    for section in sections:
        parts += _section(section, 2)
    return "\n\n".join(parts) + "\n"


def markdown_table(table: Table) -> str:
    """Return a table as GitHub and Pandoc read it, its caption above and its note below."""
    width = max([len(table.columns), *map(len, table.rows)], default=0)
    rows = [[inline(shown(cell)) for cell in row] + [""] * (width - len(row)) for row in table.rows]
    head = [inline(name) for name in table.columns] + [""] * (width - len(table.columns))
    right = [bool(rows) and all(_figure(shown(row[at])) for row in table.rows if at < len(row)) for at in range(width)]
    lines = [
        _row(head),
        _row(["---:" if at and right[at] else "---" for at in range(width)]),
        *map(_row, rows),
    ]
    parts = [f"**{inline(table.caption)}**"] if inline(table.caption) else []
    parts += ["\n".join(lines)] if width else []
    parts += [paragraph(table.note)] if table.note.strip() else []
    return "\n\n".join(parts)


def inline(text: str) -> str:
    r"""Return a text of one line in which no character is markup.

    >>> inline("a|b <b>`x`"), inline("see [it](javascript:x)\nand www.x.org")
    ('a\\|b &lt;b&gt;\\`x\\`', 'see \\[it\\](javascript:x) and www\\.x.org')
    """
    plain = " ".join(visible(text).split())
    plain = re.sub(r"[&<>]", lambda found: _ENTITIES[found[0]], plain)
    return _MARKUP.sub(lambda found: f"\\{found[0]}", plain)


def paragraph(text: str) -> str:
    r"""Return a text as a paragraph: its beginning makes neither a heading nor a list of it.

    >>> paragraph("# not a heading"), paragraph("1. not a list"), paragraph("- nor this")
    ('\\# not a heading', '1\\. not a list', '\\- nor this')
    """
    plain = inline(text)
    found = _BLOCK.match(plain)
    if not found:
        return plain
    return f"{found[0]}\\{plain[found.end() :]}" if found[0].isdecimal() else f"\\{plain}"


def bullets(lines: Sequence[str]) -> str:
    """Return a list of plain texts."""
    return "\n".join(f"- {paragraph(line)}" for line in lines)


def code(text: str) -> str:
    """Return a text as a block of code, whatever it holds."""
    lines = "\n".join(visible(line) for line in re.split(r"\r\n|\r|\n", text))
    longest = max(map(len, re.findall(r"`+", lines)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{lines}\n{fence}"


def visible(text: str) -> str:
    """Return a text without what can't be seen and what turns the direction of writing; a mark stands there instead.

    >>> visible("a" + chr(0x202E) + "b" + chr(27) + "[31m")
    'a\ufffdb\ufffd[31m'
    """
    return "".join(
        " " if letter in "\t\n\r\u2028\u2029" else "\ufffd" if unicodedata.category(letter) in _HIDDEN else letter
        for letter in text
        if letter not in "\u200c\u200d\u00ad"
    )


_HIDDEN = frozenset(("Cc", "Cf", "Cs"))


def _section(section: Section, level: int) -> Iterator[str]:
    yield f"{'#' * min(level, _DEEPEST)} {inline(section.heading)}"
    for block in section.blocks:
        text = _block(block, section.heading)
        if text:
            yield text
    for inner in section.sections:
        yield from _section(inner, level + 1)


def _block(block: Block, heading: str) -> str:
    if isinstance(block, Text):
        text = paragraph(sentence(block))
        return f"**{inline(sentence(block))}**" if block.kind == "headline" and text else text
    if isinstance(block, Command):
        return f"{paragraph(block.label)}\n\n{code(block.text)}" if block.label else code(block.text)
    if isinstance(block, Chart):
        # Nothing is said twice in a row: a chart's title is often that of its table, or of the section.
        said_below = inline(block.title) in ("", inline(heading), inline(block.table.caption))
        title = "" if said_below else f"**{inline(block.title)}**\n\n"
        return title + _under(block.table, heading)
    return _under(block, heading) if isinstance(block, Table) else ""


def _under(table: Table, heading: str) -> str:
    return markdown_table(replace(table, caption="") if table.caption == heading else table)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _figure(text: str) -> bool:
    return text.strip() in ("", "-", "–") or _NUMBER.match(text.strip()) is not None
