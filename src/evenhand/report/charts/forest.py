"""The most common chart: a row a figure, a point with its interval, and the figure in words at the end of the row."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.report.charts import theme as look
from evenhand.report.charts.frame import AXIS_ROOM, Axis, Frame, Layer, marks, texts
from evenhand.report.charts.labels import label, width_of
from evenhand.statistics import Estimate

_MOST_LABEL = 220
_INDENT = 14
_KEY, _HEAD = 24, 18
"""Pixels that the key takes above the rows, and a line of heads."""
_LONG = 16
"""With more rows than so many the axis stands above them."""


@dataclass(frozen=True, slots=True)
class Line:
    """A row."""

    label: str
    figures: tuple[Estimate | None, ...] = ()
    """One a series, in their order; none in a heading."""
    said: str = ""
    """The figure in words."""
    n: str = ""
    indent: bool = False

    @property
    def heading(self) -> bool:
        """Whether the row only says what those below it are of."""
        return not self.figures


@dataclass(frozen=True, slots=True)
class Mark:
    """A line across the rows at a value that figures are to be compared with."""

    value: float
    text: str = ""


def forest(
    lines: Sequence[Line],
    axis: Axis,
    *,
    series: Sequence[str] = (),
    scale: float = 100,
    mark: Mark | None = None,
    said: str = "",
    counted: str = "",
    ends: tuple[str, str] | None = None,
) -> dict[str, Any]:
    """Return the specification of a forest.

    Args:
        lines: the rows from the top.
        axis: of the values times ``scale``.
        series: what the figures of a row are, where there are several; they are told apart by shape and colour.
        scale: what a figure is multiplied by.
        mark: what to compare the figures with.
        said: heads the figures in words.
        counted: heads ``n``.
        ends: what it means to lie far left and far right.
    """
    heads = bool(said or counted or (mark and mark.text))
    step = look.ROW + (8 if len(series) > 1 else 0)
    left = min(_MOST_LABEL, max(width_of(label(line.label), look.TEXT) + _INDENT * line.indent for line in lines)) + 28
    words = max(width_of(said, look.SMALL), *(width_of(line.said, look.TEXT) for line in lines))
    numbers = max(width_of(counted, look.SMALL), *(width_of(line.n, look.TEXT) for line in lines))
    right = 16 + words + (14 + numbers if any(line.n for line in lines) else 0)
    top = 8 + _KEY * bool(series) + _HEAD * heads + _HEAD * bool(ends)
    frame = Frame.within(step * len(lines), left, right, top=top, axis_above=len(lines) > _LONG)
    rows = _Rows(lines, frame, axis, step, scale, words)
    layers = [_ground(rows)]
    if mark is not None:
        layers.append(_mark(rows, mark))
    layers += _names(rows)
    for number in range(max(1, len(series))):
        layers += _points(rows, number, max(1, len(series)))
    layers += _words(rows, said, counted)
    above = -AXIS_ROOM * frame.axis_above
    if mark is not None and mark.text:
        layers.append(_mark_text(rows, mark, above - 12))
    if ends:
        layers += _ends(frame, ends, above - 12 - _HEAD * heads)
    if series:
        layers += _keys(frame, series, above - top + 12)
    return frame.spec(layers)


@dataclass(frozen=True, slots=True)
class _Rows:
    """Where the rows stand."""

    lines: Sequence[Line]
    frame: Frame
    axis: Axis
    step: float
    scale: float
    words: float
    """Pixels of the figures in words."""

    def middle(self, number: int) -> float:
        return self.step * (number + 0.5)

    def inside(self, value: float) -> float:
        return min(self.axis.high, max(self.axis.low, self.scale * value))

    @property
    def x(self) -> dict[str, Any]:
        return {"field": "x", **self.axis.as_vega(top=self.frame.axis_above)}

    @property
    def y(self) -> dict[str, Any]:
        return {"field": "y", **self.frame.pixels_down}


def _ground(rows: _Rows) -> Layer:
    """Return the axis with its grid, drawn below all else."""
    return marks({"type": "point", "opacity": 0, "size": 0}, [{"x": rows.axis.low, "y": 0}], x=rows.x, y=rows.y)


def _names(rows: _Rows) -> Iterator[Layer]:
    frame = rows.frame
    kinds: tuple[tuple[str, int, str], ...] = (
        ("heading", 0, "bold"),
        ("row", 0, "normal"),
        ("indented", _INDENT, "normal"),
    )
    for kind, dx, weight in kinds:
        values = [
            {"text": label(line.label), "y": rows.middle(number)}
            for number, line in enumerate(rows.lines)
            if kind == ("heading" if line.heading else "indented" if line.indent else "row")
        ]
        if values:
            limit = frame.left + frame.width if kind == "heading" else (frame.left - dx - 8) / look.WIDER
            yield texts(values, frame, {"value": dx - frame.left + 2}, limit=limit, fontWeight=weight)


def _points(rows: _Rows, series: int, every: int) -> Iterator[Layer]:
    colour = look.SERIES[series]
    offset = (series - (every - 1) / 2) * 9
    points: list[dict[str, float]] = []
    spans: list[dict[str, float]] = []
    for number, line in enumerate(rows.lines):
        figure = line.figures[series] if series < len(line.figures) else None
        if figure is None or figure.value is None:
            continue
        place = rows.middle(number) + offset
        points.append({"x": rows.inside(figure.value), "y": place})
        if figure.low is not None and figure.high is not None:
            spans.append({"x": rows.inside(figure.low), "x2": rows.inside(figure.high), "y": place})
    if spans:
        line_of = {"type": "rule", "color": colour, "strokeWidth": 2}
        yield marks(line_of, spans, x=rows.x, x2={"field": "x2"}, y=rows.y)
        for end in ("x", "x2"):
            caps = [{"x": span[end], "y": span["y"]} for span in spans]
            cap = {"type": "tick", "orient": "vertical", "size": 8, "thickness": 2, "color": colour}
            yield marks(cap, caps, x=rows.x, y=rows.y)
    if points:
        yield marks(point(series), points, x=rows.x, y=rows.y)


def point(series: int, size: int = 62) -> dict[str, Any]:
    """Return the mark of a series: a shape and a colour of its own, the first one full and the others open."""
    colour = look.SERIES[series]
    return {
        "type": "point",
        "shape": look.SHAPES[series],
        "size": size,
        "filled": False,
        "fill": colour if series == 0 else look.PAPER,
        "stroke": colour,
        "strokeWidth": 2,
        "opacity": 1,
    }


def _words(rows: _Rows, said: str, counted: str) -> Iterator[Layer]:
    """Yield the figures in words and the counts, each column under its head."""
    frame = rows.frame
    head = -12 - AXIS_ROOM * frame.axis_above
    columns = (
        (said, [line.said for line in rows.lines], frame.width + 14 + rows.words, look.INK),
        (counted, [line.n for line in rows.lines], float(frame.width + frame.right - 2), look.MUTED),
    )
    for title, column, x, colour in columns:
        values = [{"text": text, "y": rows.middle(number)} for number, text in enumerate(column) if text]
        if values:
            yield texts(values, frame, {"value": x}, align="right", color=colour)
        if title:
            top = [{"text": title, "y": head}]
            yield texts(top, frame, {"value": x}, align="right", fontSize=look.SMALL, color=look.MUTED)


def _mark(rows: _Rows, mark: Mark) -> Layer:
    value = min(rows.axis.high, max(rows.axis.low, mark.value))
    dashed = {"type": "rule", "color": look.MUTED, "strokeWidth": 1.5, "strokeDash": [4, 3]}
    return marks(dashed, [{"x": value}], x=rows.x)


def _mark_text(rows: _Rows, mark: Mark, y: float) -> Layer:
    share = (mark.value - rows.axis.low) / (rows.axis.high - rows.axis.low)
    align = "left" if share < 0.3 else "right" if share > 0.7 else "center"
    x = {"value": share * rows.frame.width}
    return texts([{"text": mark.text, "y": y}], rows.frame, x, align=align, fontSize=look.SMALL, color=look.MUTED)


def _ends(frame: Frame, ends: tuple[str, str], y: float) -> Iterator[Layer]:
    for text, x, align in ((f"← {label(ends[0])}", 0, "left"), (f"{label(ends[1])} →", frame.width, "right")):
        value = [{"text": text, "y": y}]
        yield texts(value, frame, {"value": x}, align=align, fontSize=look.SMALL, color=look.MUTED)


def _keys(frame: Frame, series: Sequence[str], y: float) -> Iterator[Layer]:
    """Yield the key: what each shape is."""
    x = 6.0 - frame.left
    down = {"field": "y", **frame.pixels_down}
    for number, name in enumerate(series):
        yield marks(point(number), [{"y": y}], x={"value": x}, y=down)
        shown = label(name)
        yield texts([{"text": shown, "y": y}], frame, {"value": x + 11})
        x += 11 + width_of(shown, look.TEXT) + 20
