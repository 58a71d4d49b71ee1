"""Charts become SVG or PNG, by Vega without a browser or a network."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Literal, TypeAlias
from xml.etree import ElementTree

import vl_convert

from evenhand.report.charts import theme as look
from evenhand.report.charts.labels import plain, wrapped
from evenhand.report.page.blocks import Chart

Theme: TypeAlias = Literal["page", "file"]

_VEGA_LITE = "6.1"
_KEPT = {
    "g": ("transform", "opacity"),
    "path": ("d", "transform"),
    "line": ("x1", "y1", "x2", "y2", "transform"),
    "rect": ("x", "y", "width", "height", "rx", "transform"),
    "text": ("x", "y", "text-anchor", "transform", "font-size", "font-weight", "font-style"),
    "tspan": ("x", "y", "dx", "dy"),
}
"""What an SVG may hold, by element; all else is left out."""
_PAINT = ("fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "fill-opacity", "stroke-opacity")
_DEFAULTS = {("opacity", "1"), ("fill-opacity", "1"), ("stroke-opacity", "1"), ("stroke-dasharray", "1,0")}
_MEASURED = {"d", "transform", "x", "y", "x1", "y1", "x2", "y2", "width", "height"}
_LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}(?:e-?\d+)?")
_VARIABLE = re.compile(r"var\((--[a-z0-9-]+)\)")
_MARGIN = 16
_TITLE, _LINE = 22, 16
"""Pixels a line of a file's title and note take."""


def svg(chart: Chart, theme: Theme = "page") -> str:
    """Return a chart as an SVG element that runs nothing, loads nothing and has no ``style`` attribute.

    Args:
        chart: what is drawn.
        theme: "page" leaves title and note to the page and takes its colours from the page's CSS variables; "file" has
            all in it.
    """
    drawn = _Drawn.of(chart)
    alt = escape(plain(f"{chart.title}. {chart.alt}"), quote=True)
    if theme == "page":
        width, height = drawn.width, drawn.height
        body = drawn.body
    else:
        heading, top = _heading(chart, drawn.width)
        width, height = drawn.width + 2 * _MARGIN, drawn.height + top + _MARGIN
        body = (
            f'<rect width="{width}" height="{height}" fill="var(--paper)"/>{heading}'
            f'<g transform="translate({_MARGIN},{top})">{drawn.body}</g>'
        )
    name = re.sub(r"[^A-Za-z0-9-]", "-", chart.name)
    # Here and below only whole attributes are met: in texts, quotes are escaped.
    body = re.sub(r'fill="(pattern-\d)"', rf'fill="url(#{name}-\1)"', _patterns(body, name) + body)
    if theme == "file":
        body = re.sub(r'="var\((--[a-z0-9-]+)\)"', lambda found: f'="{look.FILE_COLOURS[found[1]]}"', body)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
        f' role="img" aria-label="{alt}" font-family="{escape(look.FONT, quote=True)}">{body}</svg>'
    )


def png(chart: Chart, scale: float = 2.0) -> bytes:
    """Return a chart with its title and note as a PNG file, ``scale`` pixels of it for each of the SVG's."""
    found: bytes = vl_convert.svg_to_png(svg(chart, "file"), scale=scale)
    return found


@dataclass(frozen=True, slots=True)
class _Drawn:
    """What Vega made of a chart, cleaned."""

    width: int
    height: int
    body: str

    @classmethod
    def of(cls, chart: Chart) -> "_Drawn":
        spec = {"$schema": f"https://vega.github.io/schema/vega-lite/v{_VEGA_LITE[0]}.json", **chart.spec}
        text = vl_convert.vegalite_to_svg(spec, vl_version=_VEGA_LITE, config=look.CONFIG, allowed_base_urls=[])
        root = ElementTree.fromstring(text)  # noqa: S314 - drawn here, from values that Vega escaped
        width, height = (math.ceil(float(root.attrib[name])) for name in ("width", "height"))
        return cls(width, height, "".join(part for child in root for part in _cleaned(child)))


def _cleaned(element: ElementTree.Element) -> Iterator[str]:
    """Yield the markup of an element that may stay; groups that hold nothing and marks without a paint go."""
    tag = element.tag.rpartition("}")[2]
    if tag not in _KEPT or element.get("display") == "none":
        return
    attributes = "".join(_attributes(element, tag))
    inside = "".join(part for child in element for part in _cleaned(child))
    if tag == "g":
        if inside:
            yield f"<g{attributes}>{inside}</g>" if attributes else inside
        return
    if tag in ("text", "tspan"):
        content = escape(element.text or "", quote=True) + inside
        if content.strip():
            yield f"<{tag}{attributes}>{content}</{tag}>"
        return
    if element.get("opacity") != "0" and any(element.get(paint, "none") != "none" for paint in ("fill", "stroke")):
        yield f"<{tag}{attributes}/>"


def _attributes(element: ElementTree.Element, tag: str) -> Iterator[str]:
    for name in dict.fromkeys((*_KEPT[tag], *_PAINT)):
        value = element.get(name)
        if value is None or (name, value) in _DEFAULTS or (name, value) == ("transform", "translate(0,0)"):
            continue
        if name in _MEASURED:
            value = _LONG_NUMBER.sub(lambda found: f"{float(found[0]):.2f}".rstrip("0").rstrip("."), value)
        yield f' {name}="{escape(value, quote=True)}"'


def _patterns(body: str, name: str) -> str:
    """Return the definitions of the patterns that a drawing fills areas with, under names of its own."""
    used = sorted(set(re.findall(r'fill="pattern-(\d)"', body)))
    if not used:
        return ""
    drawn = "".join(
        f'<pattern id="{name}-pattern-{number}" width="8" height="8" patternUnits="userSpaceOnUse">'
        f'<rect width="8" height="8" fill="{look.SERIES[int(number) - 1]}"'
        f' fill-opacity="{_TINTS[int(number) - 1]}"/>{_LINES[int(number) - 1]}</pattern>'
        for number in used
    )
    return f"<defs>{drawn}</defs>"


def _stroke(number: int, path: str, width: float = 1.6) -> str:
    return f'<path d="{path}" stroke="{look.SERIES[number - 1]}" stroke-width="{width}" fill="none"/>'


_TINTS = (1, 0.22, 0.22, 0.3, 0.22, 0.12)
_LINES = (
    "",
    _stroke(2, "M-2,2L2,-2M0,8L8,0M6,10L10,6"),
    _stroke(3, "M-2,6L2,10M0,0L8,8M6,-2L10,2"),
    _stroke(4, "M2,2h.01M6,6h.01", 2.4).replace("fill", 'stroke-linecap="round" fill'),
    _stroke(5, "M0,4H8"),
    _stroke(6, "M4,0V8M0,4H8", 1.0),
)
"""Full, strokes one way, strokes the other, dots, bars, lattice: told apart without colour too."""


def _heading(chart: Chart, width: int) -> tuple[str, int]:
    """Return a file's title and note, and the pixels down to where the chart begins."""
    parts, y = [], _MARGIN
    for line in wrapped(plain(chart.title), width, 15):
        y += _TITLE - 4
        parts.append(_text(line, y, 'font-size="15" font-weight="bold" fill="var(--ink)"'))
    y += 4
    for line in wrapped(plain(chart.table.note), width, look.TEXT):
        y += _LINE
        parts.append(_text(line, y, f'font-size="{look.TEXT}" fill="var(--muted)"'))
    return "".join(parts), y + 14


def _text(line: str, y: int, attributes: str) -> str:
    return f'<text x="{_MARGIN}" y="{y}" {attributes}>{escape(line, quote=True)}</text>'


def colours_used(markup: str) -> set[str]:
    """Return the CSS variables that a drawing of the page's theme takes its colours from.

    >>> colours_used('<path fill="var(--ink)"/>')
    {'--ink'}
    """
    return set(_VARIABLE.findall(markup))
