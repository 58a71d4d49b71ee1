"""A map of correlations: a circle or a cross a pair, the larger and fuller the stronger."""

from collections.abc import Iterator, Sequence
from typing import Any

from evenhand.report.charts import theme as look
from evenhand.report.charts.frame import Frame, Layer, marks, texts
from evenhand.report.charts.labels import label, rounded, width_of

_MOST_LABEL = 200
_LARGEST, _SMALLEST = 40, 11
_WRITTEN = 26
"""In cells of so many pixels and more the number is written."""


def heat_map(names: Sequence[str], groups: Sequence[int], table: Sequence[Sequence[float | None]]) -> dict[str, Any]:
    """Return the specification of a map.

    Args:
        names: of rows and columns; columns bear their number.
        groups: the cluster of each; members of one stand side by side and get a box around their cells.
        table: correlations, -1 to 1; None where there is none.
    """
    numbered = [f"{number + 1}  {label(name)}" for number, name in enumerate(names)]
    left = min(_MOST_LABEL, max(width_of(name, look.TEXT) for name in numbered)) + 28
    side = max(_SMALLEST, min(_LARGEST, (look.WIDTH - left - 12) / len(names)))
    field = side * len(names)
    frame = Frame.within(field, left, look.WIDTH - left - field, top=24)
    scale = {"domain": [0, frame.width], "range": [0, frame.width], "nice": False, "zero": False}
    x = {"field": "x", "type": "quantitative", "scale": scale, "axis": None}
    y = {"field": "y", **frame.pixels_down}
    ends = {"x2": {"field": "x2"}, "y2": {"field": "y2"}}
    rule, lines = {"type": "rule", "color": look.GRID}, [side * number for number in range(len(names) + 1)]
    far = [{"from": 0, "to": field, "at": at} for at in lines]
    across = {"field": "from", "type": "quantitative", "scale": scale, "axis": None}
    down = {"field": "from", **frame.pixels_down}
    layers: list[Layer] = [
        marks(rule, far, x=across, x2={"field": "to"}, y={**y, "field": "at"}),
        marks(rule, far, x={**x, "field": "at"}, y=down, y2={"field": "to"}),
    ]
    layers += _signs(table, side, x, y)
    boxes = list(_boxes(groups, side))
    if boxes:
        box = {"type": "rect", "filled": False, "stroke": look.INK, "strokeWidth": 2}
        layers.append(marks(box, boxes, x=x, y=y, **ends))
    size = max(8, min(look.TEXT, int(side * 0.8)))
    rows = [{"text": name, "y": side * (number + 0.5)} for number, name in enumerate(numbered)]
    layers.append(texts(rows, frame, {"value": -8}, align="right", limit=(left - 12) / look.WIDER, fontSize=size))
    heads = [{"text": str(number + 1), "x": side * (number + 0.5)} for number in range(len(names))]
    style = {
        "type": "text",
        "align": "center",
        "color": look.MUTED,
        "fontSize": max(7, min(look.SMALL, int(side * 0.7))),
    }
    layers.append(marks(style, heads, x=x, y={"value": -10}, text={"field": "text"}))
    return frame.spec(layers, bottom=8)


def _signs(
    table: Sequence[Sequence[float | None]], side: float, x: dict[str, Any], y: dict[str, Any]
) -> Iterator[Layer]:
    """Yield the marks: positive ones full circles below the diagonal's numbers, negative ones crosses."""
    written = side >= _WRITTEN
    for series, shape in ((0, "circle"), (1, "cross")):
        found = [
            {"x": side * (across + 0.5), "y": side * (down + 0.5), "size": abs(value)}
            for down, row in enumerate(table)
            for across, value in enumerate(row)
            if value is not None and down > across and (value >= 0) == (series == 0) and abs(value) >= 0.01
        ]
        if found:
            colour = look.SERIES[series]
            sign = {"type": "point", "shape": shape, "filled": True, "fill": colour, "stroke": colour, "opacity": 1}
            area = {"domain": [0, 1], "range": [0, (0.8 * side) ** 2]}
            size = {"field": "size", "type": "quantitative", "scale": area, "legend": None}
            yield marks(sign, found, x=x, y=y, size=size)
    if written:
        numbers = [
            {"x": side * (across + 0.5), "y": side * (down + 0.5), "text": _short(value)}
            for down, row in enumerate(table)
            for across, value in enumerate(row)
            if value is not None and across > down
        ]
        style = {"type": "text", "align": "center", "fontSize": look.SMALL - 1}
        yield marks(style, numbers, x=x, y=y, text={"field": "text"})


def _short(value: float) -> str:
    return rounded(value, 2, signed=True).replace("0.", ".", 1)


def _boxes(groups: Sequence[int], side: float) -> Iterator[dict[str, float]]:
    start = 0
    for at in range(1, len(groups) + 1):
        if at == len(groups) or groups[at] != groups[start]:
            if at - start > 1:
                yield {"x": side * start, "x2": side * at, "y": side * start, "y2": side * at}
            start = at
