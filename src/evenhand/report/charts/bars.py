"""Bars of parts that add up to a whole, each part with a pattern and, where there is room, its share upon it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.report.charts import theme as look
from evenhand.report.charts.frame import SHARES, Frame, Layer, marks, texts
from evenhand.report.charts.labels import label, width_of

_STEP, _THICK, _KEY = 40, 26, 22
_BELOW = 14
"""Pixels below a bar for what doesn't fit on its parts."""
_MOST_LABEL = 190


@dataclass(frozen=True, slots=True)
class Bar:
    """A whole and its parts."""

    label: str
    shares: tuple[float, ...]
    """Of each part, from 0 to 1."""
    said: tuple[str, ...]
    """What stands on each part."""
    n: str = ""


def stacked(bars: Sequence[Bar], parts: Sequence[str], *, counted: str = "") -> dict[str, Any]:
    """Return the specification of stacked bars in percent; ``counted`` heads what stands at the end of each."""
    left = min(_MOST_LABEL, max(width_of(label(bar.label), look.TEXT) for bar in bars)) + 24
    right = 18 + max((width_of(bar.n, look.TEXT) for bar in bars), default=0)
    keys = list(_places(parts))
    rows = 1 + max((row for _, row, _ in keys), default=0)
    head = 16 * bool(counted)
    width = Frame.within(0, left, right).width
    step = _STEP + _BELOW * any(_too_narrow(bar, number, width) for bar in bars for number in range(len(parts)))
    frame = Frame.within(step * len(bars), left, right, top=8 + _KEY * rows + head)
    x = {"field": "x", **SHARES.as_vega()}
    layers: list[Layer] = []
    for number in range(len(parts)):
        layers += _part(bars, number, frame, x, step)
    layers += _below(bars, frame, step)
    names = [{"text": label(bar.label), "y": _middle(at, step)} for at, bar in enumerate(bars)]
    counts = [{"text": bar.n, "y": _middle(at, step)} for at, bar in enumerate(bars) if bar.n]
    layers.append(texts(names, frame, {"value": 2 - frame.left}, limit=(frame.left - 8) / look.WIDER))
    if counts:
        end = {"value": frame.width + frame.right - 2}
        layers.append(texts(counts, frame, end, align="right", color=look.MUTED))
        head_of = [{"text": counted, "y": -6}]
        layers.append(texts(head_of, frame, end, align="right", color=look.MUTED, fontSize=look.SMALL))
    layers += _keys(frame, keys, head)
    return frame.spec(layers)


def _middle(number: int, step: float) -> float:
    return step * number + _STEP / 2


def _too_narrow(bar: Bar, number: int, width: float) -> bool:
    share = bar.shares[number]
    return 0 < share * width < width_of(bar.said[number], look.TEXT) + 12


def _part(bars: Sequence[Bar], number: int, frame: Frame, x: dict[str, Any], step: float) -> Iterator[Layer]:
    areas, chips, words = [], [], []
    for at, bar in enumerate(bars):
        start, share = 100 * sum(bar.shares[:number]), 100 * bar.shares[number]
        top, bottom = _middle(at, step) - _THICK / 2, _middle(at, step) + _THICK / 2
        if share <= 0:
            continue
        areas.append({"x": start, "x2": start + share, "y": top, "y2": bottom})
        if not _too_narrow(bar, number, frame.width):
            half = 50 * (width_of(bar.said[number], look.TEXT) + 8) / frame.width
            x_middle, y_middle = start + share / 2, _middle(at, step)
            chips.append({"x": x_middle - half, "x2": x_middle + half, "y": y_middle - 9, "y2": y_middle + 9})
            words.append({"x": x_middle, "y": y_middle, "text": bar.said[number]})
    y, ends = {"field": "y", **frame.pixels_down}, {"x2": {"field": "x2"}, "y2": {"field": "y2"}}
    if areas:
        area = {"type": "rect", "fill": look.PATTERNS[number], "stroke": look.SERIES[number], "strokeWidth": 1}
        yield marks(area, areas, x=x, y=y, **ends)
    if chips:
        yield marks({"type": "rect", "fill": look.PAPER, "opacity": 1, "cornerRadius": 3}, chips, x=x, y=y, **ends)
        yield marks({"type": "text", "align": "center"}, words, x=x, y=y, text={"field": "text"})


def _below(bars: Sequence[Bar], frame: Frame, step: float) -> Iterator[Layer]:
    """Yield what doesn't fit on its part, below it; from the right, each as near to its part as the last one allows."""
    for at, bar in enumerate(bars):
        limit = float(frame.width) + 14
        for number in reversed(range(len(bar.shares))):
            if not _too_narrow(bar, number, frame.width):
                continue
            half = width_of(bar.said[number], look.SMALL) / 2
            place = min((sum(bar.shares[:number]) + bar.shares[number] / 2) * frame.width, limit - half)
            limit = place - half - 6
            value = [{"text": bar.said[number], "y": _middle(at, step) + _THICK / 2 + 9}]
            yield texts(value, frame, {"value": place}, align="center", fontSize=look.SMALL)


def _places(parts: Sequence[str]) -> Iterator[tuple[str, int, float]]:
    """Yield each part's name in the key, its row and how far from the left it stands."""
    row, x = 0, 0.0
    for name in map(label, parts):
        wide = 20 + width_of(name, look.TEXT) + 18
        if x and x + wide > look.WIDTH:
            row, x = row + 1, 0.0
        yield name, row, x
        x += wide


def _keys(frame: Frame, keys: Sequence[tuple[str, int, float]], head: int) -> Iterator[Layer]:
    down = {"field": "y", **frame.pixels_down}
    rows = 1 + max((row for _, row, _ in keys), default=0)
    for number, (name, row, at) in enumerate(keys):
        x, y = 2 + at - frame.left, -_KEY * (rows - row) - head + 4
        # A rectangle between pixels and not between values: its own small scale.
        box = {"type": "rect", "fill": look.PATTERNS[number], "stroke": look.SERIES[number], "strokeWidth": 1}
        yield marks(box, [{"y": y - 6, "y2": y + 6}], x={"value": x}, x2={"value": x + 14}, y=down, y2={"field": "y2"})
        yield texts([{"text": name, "y": y}], frame, {"value": x + 20})
