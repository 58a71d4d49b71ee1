"""What a page takes in where it has a reader: its markup, and once the script and the style of all readers."""

import importlib.resources
import re

import jinja2
from markupsafe import Markup

from evenhand.report.reader.reader import Reader

_SCRIPTS = ("texts", "store", "finding", "list", "pair", "export", "controls", "app", "listen")
_BASE64 = re.compile(r"[A-Za-z0-9+/=]*")


def fragment(reader: Reader, number: int) -> Markup:
    """Return the markup of a reader; ``number`` is its place among the readers of the page.

    Raises:
        ValueError: where a part is no Base64, and so could end the element that holds it.
    """
    for part in (reader.index, *reader.views, *reader.chunks):
        if not _BASE64.fullmatch(part):
            raise ValueError(f"a part of the reader {reader.anchor} is not Base64")
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    template = environment.from_string(_file("reader.html.j2"))
    return Markup(template.render(reader=reader, number=number, id=f"reader-{number}"))  # noqa: S704  (escaped by Jinja)


def script() -> str:
    """Return the script of all readers of a page."""
    inside = "\n".join(_file("browser", f"{name}.js") for name in _SCRIPTS)
    return f'(() => {{\n"use strict";\n{inside}}})();\n'


def style() -> str:
    """Return the style of all readers of a page; it uses the colours that the page defines."""
    return _file("reader.css")


def _file(*names: str) -> str:
    return importlib.resources.files("evenhand.report.reader").joinpath(*names).read_text("utf-8")
