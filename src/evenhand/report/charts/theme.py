"""What charts look like: sizes, fonts, colours and the configuration that all share."""

from typing import Any, Final

WIDTH: Final = 680
"""Pixels that a chart takes."""
FONT: Final = "Arial, Helvetica, 'Liberation Sans', Arimo, sans-serif"
"""Fonts of one width on every system: the room that labels take is measured when a chart is drawn."""
WIDER: Final = 1.2
"""So much wider are the letters of a system that has none of these; labels leave room for it."""
TEXT: Final = 12
SMALL: Final = 11
ROW: Final = 22
"""Pixels from one row to the next."""

INK, MUTED, GRID, PAPER = "var(--ink)", "var(--muted)", "var(--grid)", "var(--paper)"
SERIES: Final = tuple(f"var(--chart-{number})" for number in range(1, 7))
"""Colours of series. A series also has a shape, a dash or a pattern of its own, so that colour is never alone."""
SHAPES: Final = ("circle", "diamond", "square", "triangle-up", "cross", "triangle-down")
DASHES: Final = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [1, 3], [12, 3])
PATTERNS: Final = tuple(f"pattern-{number}" for number in range(1, 7))
"""Fills of areas; what draws a chart replaces them by patterns in the colours of ``SERIES``."""

FILE_COLOURS: Final = {
    "--ink": "#1b1b1f",
    "--muted": "#5b5b66",
    "--grid": "#d9d9df",
    "--paper": "#ffffff",
    "--chart-1": "#0068a8",
    "--chart-2": "#c14f00",
    "--chart-3": "#007f5c",
    "--chart-4": "#a23b80",
    "--chart-5": "#8a6100",
    "--chart-6": "#62626e",
}
"""On paper: Okabe and Ito's hues, darkened until each stands out from white by 3:1 and more (WCAG 1.4.11)."""
DARK_COLOURS: Final = {
    "--ink": "#ececf1",
    "--muted": "#b3b3bf",
    "--grid": "#3c3c46",
    "--paper": "#17171b",
    "--chart-1": "#56b4e9",
    "--chart-2": "#f28c52",
    "--chart-3": "#35c79d",
    "--chart-4": "#e294c4",
    "--chart-5": "#e3b341",
    "--chart-6": "#a6a6b3",
}
"""The same hues where the ground is dark."""
PAGE_VARIABLES: Final = tuple(FILE_COLOURS)
"""CSS variables that the page must define for its charts."""

CONFIG: Final[dict[str, Any]] = {
    "aria": False,
    "background": None,
    "font": FONT,
    "view": {"stroke": None},
    "axis": {
        "domain": False,
        "ticks": False,
        "labelFlush": False,
        "format": ".6~g",
        "gridColor": GRID,
        "labelColor": MUTED,
        "labelFontSize": SMALL,
        "labelPadding": 5,
        "titleColor": MUTED,
        "titleFontSize": SMALL,
        "titleFontWeight": "normal",
        "titlePadding": 6,
    },
    "text": {"color": INK, "fontSize": TEXT, "align": "left", "baseline": "middle"},
    "rule": {"color": INK},
    "tick": {"opacity": 1},
}
"""Vega-Lite's ``config``. Nothing is described mark by mark: a chart has a text of its own for those who don't see."""
