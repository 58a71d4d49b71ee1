"""The frame that charts are laid out in: a field with room on both sides, measured in pixels."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from evenhand.report.charts import theme as look

Layer: TypeAlias = dict[str, Any]
Values: TypeAlias = Sequence[Mapping[str, Any]]
AXIS_ROOM = 34
"""Pixels that an axis takes with its title."""
_STEPS = (0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 2, 4, 6, 8, 10, 15, 20, 30, 40, 50, 60, 80, 100)


@dataclass(frozen=True, slots=True)
class Axis:
    """The axis that values are read on."""

    low: float
    high: float
    title: str
    ticks: tuple[float, ...] = ()
    """Where there are grid lines; empty: wherever is handy."""

    def as_vega(self, *, top: bool = False) -> dict[str, Any]:
        """Return the encoding of a field on this axis, without the field's name."""
        axis: dict[str, Any] = {"title": self.title, "orient": "top" if top else "bottom", "tickCount": 6}
        if self.ticks:
            axis["values"] = list(self.ticks)
        return {
            "type": "quantitative",
            "scale": {"domain": [self.low, self.high], "nice": False, "zero": False},
            "axis": axis,
        }


SHARES = Axis(0, 100, "percent", (0, 25, 50, 75, 100))


def around_zero(values: Sequence[float], title: str) -> Axis:
    """Return an axis that reaches equally far to both sides of 0, and a little beyond these values.

    >>> around_zero([3.0, -7.2], "points").high, around_zero([], "points").low
    (8, -2)
    """
    reach = 1.02 * max((abs(value) for value in values), default=1)
    end = next((step for step in _STEPS if step >= reach), math.ceil(reach))
    return Axis(-end, end, title, (-end, -end / 2, 0, end / 2, end))


@dataclass(frozen=True, slots=True)
class Frame:
    """Where things stand."""

    width: int
    """Of the field in which values are read."""
    height: int
    left: int
    right: int
    top: int = 4
    axis_above: bool = False

    @classmethod
    def within(cls, height: float, left: float, right: float, *, top: float = 4, axis_above: bool = False) -> "Frame":
        """Return the frame that fills a chart's width."""
        before, after = math.ceil(left), math.ceil(right)
        return cls(look.WIDTH - before - after, math.ceil(height), before, after, math.ceil(top), axis_above)

    def spec(self, layers: Sequence[Layer], *, bottom: float = AXIS_ROOM) -> dict[str, Any]:
        """Return the specification of a chart with these layers, whose field ``y`` is pixels from the top."""
        above = AXIS_ROOM if self.axis_above else 0
        return {
            "autosize": {"type": "none"},
            "padding": {
                "left": self.left,
                "right": self.right,
                "top": self.top + above,
                "bottom": 6 if self.axis_above else math.ceil(bottom),
            },
            "width": self.width,
            "height": self.height,
            "layer": list(layers),
        }

    @property
    def pixels_down(self) -> dict[str, Any]:
        """The encoding of a field of pixels from the top, without the field's name."""
        scale = {"domain": [0, self.height], "range": [0, self.height], "nice": False, "zero": False}
        return {"type": "quantitative", "scale": scale, "axis": None}


def marks(mark: Mapping[str, Any], values: Values, **encoding: Mapping[str, Any]) -> Layer:
    """Return a layer of marks over values of its own.

    Every text of a user stands in ``values``, which Vega takes as data and never evaluates.
    """
    return {
        "data": {"values": [dict(value) for value in values]},
        "mark": dict(mark),
        "encoding": {name: dict(channel) for name, channel in encoding.items()},
    }


def texts(values: Values, frame: Frame, x: Mapping[str, Any], **look_of: str | float) -> Layer:
    """Return a layer of texts: the field ``text`` at the field ``y``."""
    return marks(
        {"type": "text", **look_of}, values, x=dict(x), y={"field": "y", **frame.pixels_down}, text={"field": "text"}
    )
