"""Sections in, a page out: one HTML file that needs nothing else and asks nobody for anything."""

import base64
import hashlib
import importlib.resources
import re
from collections.abc import Iterator, Sequence

import jinja2
from markupsafe import Markup, escape

import evenhand
from evenhand.report import reader as reader_room
from evenhand.report.charts import svg
from evenhand.report.page.blocks import Cell, Chart, Command, Section, Shown, Table, Text
from evenhand.report.page.figures import NONE
from evenhand.report.reader import Reader

SCRIPT_ENDS = re.compile(r"</script|<!--", re.IGNORECASE)
"""What would end a script, or change how its end is found."""
STYLE_ENDS = re.compile(r"</style", re.IGNORECASE)
_CONTENTS_DEPTH = 2
_INTERVAL = re.compile(r"(.*\S)\s+(\[.*\])", re.DOTALL)


def page(title: str, sections: Sequence[Section], run_lines: Sequence[str] = ()) -> str:
    """Return a page as HTML.

    Args:
        title: what the page is about.
        sections: what it says. Their anchors, and the names of their charts, are unique.
        run_lines: what the page is made of, a line a run; stands under the title.

    Returns:
        A document whose style and scripts are inside, each allowed by its hash and nothing else. All text is escaped.
    """
    _check_anchors(sections)
    readers = list(_readers(sections))
    style = _within(_palette() + _file("page.css") + (reader_room.style() if readers else ""), STYLE_ENDS)
    script = _within(_file("page.js"), SCRIPT_ENDS)
    reader_script = _within(reader_room.script(), SCRIPT_ENDS) if readers else ""
    places = {reader.anchor: place for place, reader in enumerate(readers, 1)}
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src {' '.join(_allowed(one) for one in (script, reader_script) if one)}",
            f"style-src {_allowed(style)}",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    return _template().render(
        title=one_line(title),
        sections=sections,
        contents_depth=_CONTENTS_DEPTH,
        run_lines=run_lines,
        policy=policy,
        style=Markup(style),  # noqa: S704  (ours)
        script=Markup(script),  # noqa: S704
        reader_script=Markup(reader_script),  # noqa: S704
        reader=lambda reader: reader_room.fragment(reader, places[reader.anchor]),
        version=evenhand.__version__,
    )


def one_line(text: str) -> str:
    r"""Return a text with its white space made single blanks.

    >>> one_line("two\n  lines")
    'two lines'
    """
    return " ".join(text.split())


def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown_as_text,
        loader=jinja2.DictLoader({"page.html.j2": _file("page.html.j2")}),
    )
    environment.filters |= {"figure": _figure_text}
    environment.tests |= {
        "text": lambda block: isinstance(block, Text),
        "command": lambda block: isinstance(block, Command),
        "table": lambda block: isinstance(block, Table),
        "chart": lambda block: isinstance(block, Chart),
        "reader": lambda block: isinstance(block, Reader),
        "shown": lambda cell: isinstance(cell, Shown),
    }
    environment.globals |= {"numeric": _numeric, "drawing": _drawing, "grouped": _grouped}
    return environment.get_template("page.html.j2")


def _palette() -> str:
    """Return the dark palette's two rules; both are more specific than the light one, wherever they stand."""
    colours = _file("dark.css")
    by_preference = f':root:not([data-theme="light"]) {{\n{colours}}}'
    return f'@media (prefers-color-scheme: dark) {{\n{by_preference}\n}}\n:root[data-theme="dark"] {{\n{colours}}}\n'


def _file(name: str) -> str:
    return importlib.resources.files("evenhand.report.page").joinpath(name).read_text("utf-8")


def _within(text: str, ends: re.Pattern[str]) -> str:
    """Return what may stand inside a script or style element, with line ends as a browser hashes them."""
    text = text.replace("\r\n", "\n")
    found = ends.search(text)
    if found:
        raise ValueError(f"a script or style of the page contains {found[0]!r}")
    return text


def _allowed(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
    return f"'sha256-{digest}'"


def _check_anchors(sections: Sequence[Section]) -> None:
    """Say which anchors come twice: a link leads to the first of them alone."""
    anchors = list(_anchors(sections))
    twice = {anchor for anchor in anchors if anchors.count(anchor) > 1}
    if twice:
        raise ValueError(f"anchors that come twice: {', '.join(sorted(twice))}")


def _anchors(sections: Sequence[Section]) -> Iterator[str]:
    for section in sections:
        yield section.anchor
        yield from (block.anchor for block in section.blocks if isinstance(block, Reader))
        yield from _anchors(section.sections)


def _readers(sections: Sequence[Section]) -> Iterator[Reader]:
    for section in sections:
        yield from (block for block in section.blocks if isinstance(block, Reader))
        yield from _readers(section.sections)


def _shown_as_text(value: object) -> object:
    """Return a text without what HTML can't hold: NUL and other control characters become a question mark in a box."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", value)
    return value


_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")


def _figure_text(text: str) -> Markup:
    """Return a figure with its interval set apart; what HTML can't hold is replaced as everywhere.

    >>> _figure_text("87.5% [60.0, 100.0]")
    Markup('87.5% <span class="interval">[60.0, 100.0]</span>')
    """
    text = _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text)
    found = _INTERVAL.fullmatch(text)
    if not found:
        return escape(text)
    return escape(found[1]) + Markup(' <span class="interval">') + escape(found[2]) + Markup("</span>")


def _numeric(table: Table) -> list[bool]:
    """Return for each column whether it holds figures and nothing else, and so is aligned at the right."""
    return [
        place > 0 and bool(table.rows) and all(_is_figure(row[place]) for row in table.rows if place < len(row))
        for place in range(len(table.columns))
    ]


def _is_figure(cell: Cell) -> bool:
    return isinstance(cell, Shown) or cell in {NONE, "-", ""} or bool(re.fullmatch(r"[-+<.\d,% \[\]–]+", cell))


def _drawing(chart: Chart) -> Markup:
    return Markup(svg(chart, theme="page"))  # noqa: S704  (drawn by us, with every text in it escaped)


def _grouped(section: Section) -> list[tuple[str, list[object]]]:
    """Return the blocks of a section with headlines that follow one another put together."""
    groups: list[tuple[str, list[object]]] = []
    for block in section.blocks:
        kind = "headlines" if isinstance(block, Text) and block.kind == "headline" else "one"
        if kind == "headlines" and groups and groups[-1][0] == kind:
            groups[-1][1].append(block)
        else:
            groups.append((kind, [block]))
    return groups
