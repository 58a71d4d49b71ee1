"""Curves of several figures over one quantity, named at their ends."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.report.charts import theme as look
from evenhand.report.charts.forest import point
from evenhand.report.charts.frame import Axis, Frame, Layer, marks
from evenhand.report.charts.labels import label, width_of

_HEIGHT = 260
_APART = 15
"""Pixels between the names of two curves."""
_MOST_LABEL = 170


@dataclass(frozen=True, slots=True)
class Spot:
    """A point of a curve."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Curve:
    """A figure over the quantity."""

    name: str
    spots: tuple[Spot, ...]


def curves(
    drawn: Sequence[Curve],
    across: Axis,
    up: Axis,
    *,
    line: bool = True,
    dots: bool = True,
    diagonal: bool = False,
    at: float | None = None,
    said_at: str = "",
    span: tuple[float, float] | None = None,
) -> dict[str, Any]:
    """Return the specification of curves.

    Args:
        drawn: the curves.
        across: the axis of the quantity.
        up: the axis of the figures.
        line: joined by lines, with intervals as bands; otherwise points with whiskers.
        dots: with a mark on each spot.
        diagonal: where both axes are one quantity, the line on which they are equal.
        at: a value across that is marked.
        said_at: what it is.
        span: the interval of that value.
    """
    named = [curve for curve in drawn if curve.spots]
    right = min(_MOST_LABEL, max((width_of(label(curve.name), look.TEXT) for curve in named), default=0)) + 34
    frame = Frame.within(_HEIGHT, 58, right, top=10 + 18 * bool(said_at))
    x, y = {"field": "x", **across.as_vega()}, {"field": "y", **up.as_vega()}
    # Left, and not below: the encoding is that of a row's values.
    y["axis"] = {**y["axis"], "orient": "left"}
    layers: list[Layer] = []
    if span is not None:
        band = {"type": "rect", "fill": look.MUTED, "opacity": 0.14}
        layers.append(marks(band, [{"x": span[0], "x2": span[1]}], x=x, x2={"field": "x2"}))
    if diagonal:
        dash = {"type": "line", "color": look.MUTED, "strokeWidth": 1.2, "strokeDash": [4, 3]}
        layers.append(marks(dash, [{"x": end, "y": end} for end in (across.low, across.high)], x=x, y=y))
    if at is not None:
        layers.append(marks({"type": "rule", "color": look.MUTED, "strokeWidth": 1.5}, [{"x": at}], x=x))
    for number, curve in enumerate(named):
        layers += _curve(number, curve, x, y, line=line, dots=dots)
    layers += _names(named, frame, up)
    if at is not None and said_at:
        share = (at - across.low) / (across.high - across.low)
        align = "left" if share < 0.3 else "right" if share > 0.7 else "center"
        value = {"text": said_at, "x": at}
        style = {"type": "text", "align": align, "color": look.MUTED, "fontSize": look.SMALL}
        layers.append(marks(style, [value], x=x, y={"value": -10}, text={"field": "text"}))
    return frame.spec(layers, bottom=40)


def _curve(
    number: int, curve: Curve, x: dict[str, Any], y: dict[str, Any], *, line: bool, dots: bool
) -> Iterator[Layer]:
    colour = look.SERIES[number]
    sure = [
        {"x": spot.x, "y": spot.low, "y2": spot.high}
        for spot in curve.spots
        if spot.low is not None and spot.high is not None
    ]
    spots = [{"x": spot.x, "y": spot.y} for spot in curve.spots]
    if sure and line:
        yield marks(
            {"type": "area", "fill": colour, "opacity": 0.14}, sure, x=x, y={**y, "stack": None}, y2={"field": "y2"}
        )
    elif sure:
        yield marks({"type": "rule", "color": colour, "strokeWidth": 2}, sure, x=x, y=y, y2={"field": "y2"})
        for end in ("y", "y2"):
            caps = [{"x": one["x"], "y": one[end]} for one in sure]
            cap = {"type": "tick", "orient": "horizontal", "size": 8, "thickness": 2, "color": colour}
            yield marks(cap, caps, x=x, y=y)
    if line:
        drawn = {"type": "line", "color": colour, "strokeWidth": 2, "strokeDash": look.DASHES[number]}
        yield marks(drawn, spots, x=x, y=y)
    if dots:
        yield marks(point(number, 40), spots, x=x, y=y)


def _names(named: Sequence[Curve], frame: Frame, up: Axis) -> Iterator[Layer]:
    """Yield the names at the ends of the curves, moved apart where they would overlap."""
    wanted = sorted(
        (frame.height * (up.high - curve.spots[-1].y) / (up.high - up.low), number)
        for number, curve in enumerate(named)
    )
    places = _spread([place for place, _ in wanted], frame.height - 4)
    # In pixels, on no scale: names may have to stand beside the field.
    for (_, number), place in zip(wanted, places, strict=True):
        y = {"value": place}
        yield marks(point(number, 40), [{}], x={"value": frame.width + 12}, y=y)
        name = [{"text": label(named[number].name)}]
        text = {"type": "text", "limit": _MOST_LABEL}
        yield marks(text, name, x={"value": frame.width + 20}, y=y, text={"field": "text"})


def _spread(places: Sequence[float], lowest: float) -> list[float]:
    """Return rising places as near to the wanted ones as names have room.

    >>> _spread([10.0, 12.0, 200.0, 201.0], 205.0)
    [10.0, 25.0, 190.0, 205.0]
    """
    found: list[float] = []
    for place in places:
        found.append(max(place, found[-1] + _APART) if found else place)
    for at in reversed(range(len(found))):
        found[at] = min(found[at], lowest if at == len(found) - 1 else found[at + 1] - _APART)
    return found


def maximum(values: Sequence[float], *, scale: float = 100) -> float:
    """Return the upper end of an axis in percent from 0 on that holds values times ``scale``.

    >>> maximum([0.031]), maximum([62], scale=1)
    (5, 100)
    """
    most = max((scale * value for value in values), default=100.0)
    return next(end for end in (5, 10, 25, 50, 100) if end >= most or end == 100)
