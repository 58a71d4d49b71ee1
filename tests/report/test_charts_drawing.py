"""Drawings run nothing, load nothing, and show hostile texts as texts."""

import re
import struct
import zlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest

from chart_material import HOSTILE, some
from evenhand.report.charts import PAGE_VARIABLES, WIDTH, png, svg
from evenhand.report.charts.bars import Bar, stacked
from evenhand.report.charts.curves import Curve, Spot, curves
from evenhand.report.charts.forest import Line, Mark, forest
from evenhand.report.charts.frame import SHARES, Axis, around_zero
from evenhand.report.charts.heat import heat_map
from evenhand.report.charts.labels import label, plain, wrapped
from evenhand.report.charts.theme import DARK_COLOURS, FILE_COLOURS
from evenhand.report.page.blocks import Chart, Table
from evenhand.statistics import Estimate

NAME = "{http://www.w3.org/2000/svg}"
ELEMENTS = {"svg", "g", "path", "line", "rect", "text", "tspan", "defs", "pattern"}
ATTRIBUTES = {
    *(
        "id",
        "role",
        "aria-label",
        "width",
        "height",
        "viewBox",
        "font-family",
        "font-size",
        "font-weight",
        "font-style",
    ),
    *("d", "x", "y", "x1", "x2", "y1", "y2", "dx", "dy", "rx", "transform", "text-anchor", "patternUnits"),
    *("fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "opacity", "fill-opacity"),
    "stroke-opacity",
}
TABLE = Table("caption", ("",), (), "A note about <b>all</b> of it.")


def drawn(spec: dict[str, Any], name: str = "a-chart") -> Chart:
    return Chart(name, "A <title>", f"About {HOSTILE}", spec, TABLE)


def some_forest(*names: str) -> Chart:
    lines = [Line(name, (some(0.2 + 0.1 * at), some(0.5)), "said", "12") for at, name in enumerate(names)]
    mark = Mark(50, "half")
    spec = forest([Line(HOSTILE), *lines], SHARES, series=("one", HOSTILE), mark=mark, said="x", counted="n")
    return drawn(spec)


ALL = {
    "forest": some_forest(HOSTILE, "b"),
    "ends": drawn(forest([Line("a", (some(0.1),))], around_zero([20], "points"), mark=Mark(0), ends=(HOSTILE, "b"))),
    "bars": drawn(stacked([Bar(HOSTILE, (0.9, 0.08, 0.02), ("90", "8", "2"), "12")], ["a", HOSTILE, "c"], counted="n")),
    "curves": drawn(
        curves(
            (Curve(HOSTILE, (Spot(0.1, 90, 80, 95), Spot(0.9, 20, 10, 30))), Curve("b", (Spot(0.1, 9), Spot(0.9, 2)))),
            Axis(0, 1, "threshold"),
            SHARES,
            at=0.5,
            said_at="here",
            span=(0.4, 0.6),
        )
    ),
    "points": drawn(curves((Curve("a", (Spot(10, 20, 5, 30),)),), SHARES, SHARES, line=False, diagonal=True)),
    "heat": drawn(heat_map([HOSTILE, "b", "c"], [1, 1, 2], [[1, 0.8, -0.3], [0.8, 1, None], [-0.3, None, 1]])),
}


def parsed(text: str) -> ElementTree.Element:
    return ElementTree.fromstring(text)


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("theme", ["page", "file"])
def test_a_drawing_holds_marks_and_nothing_that_runs_or_loads(kind: str, theme: Any) -> None:
    text = svg(ALL[kind], theme)
    for element in parsed(text).iter():
        assert element.tag.removeprefix(NAME) in ELEMENTS
        for name, value in element.attrib.items():
            assert name in ATTRIBUTES
            assert "url(" not in value or re.fullmatch(r"url\(#a-chart-pattern-\d\)", value)
            assert name != "id" or value.startswith("a-chart-")
    assert "<script" not in text
    assert "xlink" not in text


@pytest.mark.parametrize("kind", ALL)
def test_a_page_decides_on_the_colours(kind: str) -> None:
    allowed = {"none", *(f"var({name})" for name in PAGE_VARIABLES)}
    for element in parsed(svg(ALL[kind])).iter():
        for paint in ("fill", "stroke"):
            value = element.get(paint, "none")
            assert value in allowed or value.startswith("url(#")


@pytest.mark.parametrize("kind", ALL)
def test_a_file_has_colours_of_its_own_and_says_what_it_is(kind: str) -> None:
    text = svg(ALL[kind], "file")
    root = parsed(text)
    used = {element.get(paint) for element in root.iter() for paint in ("fill", "stroke")} - {None, "none"}
    assert {value for value in used if value is not None and not value.startswith("url(#")} <= {*FILE_COLOURS.values()}
    words = [element.text for element in root.iter(f"{NAME}text")]
    assert words[:2] == ["A <title>", "A note about <b>all</b> of it."]
    assert root.attrib["role"] == "img"
    assert "A <title>. About </text><script>alert(1)</script>" in root.attrib["aria-label"]


def test_labels_are_cut_and_shown_to_the_letter() -> None:
    words = [element.text or "" for element in parsed(svg(some_forest(HOSTILE))).iter(f"{NAME}text")]
    found = [text for text in words if text.startswith("</text><script>")]
    assert len(found) >= 3
    assert max(map(len, found)) <= 36
    assert all("\x00" not in text and "\u202e" not in text for text in words)


def test_what_looks_like_an_expression_is_a_text() -> None:
    names = ["datum.x", "'+alert(1)+'", "{{x}}", "signal", "var(--ink)", '="var(--ink)"', 'fill="pattern-1"']
    words = {element.text for element in parsed(svg(some_forest(*names), "file")).iter(f"{NAME}text")}
    assert words >= set(names)


def data_of(spec: object) -> Iterator[str]:
    """Yield every text of a specification outside its data."""
    if isinstance(spec, dict):
        for key, value in spec.items():
            yield str(key)
            if key != "values" or not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
                yield from data_of(value)
    elif isinstance(spec, list):
        for one in spec:
            yield from data_of(one)
    elif isinstance(spec, str):
        yield spec


@pytest.mark.parametrize("kind", ALL)
def test_texts_of_others_stand_in_the_data_only(kind: str) -> None:
    outside = list(data_of(ALL[kind].spec))
    assert not any("alert" in text or "yyy" in text for text in outside)
    assert not {"expr", "signal", "calculate", "filter", "transform", "labelExpr", "test", "url", "href"} & set(outside)


def test_two_rows_of_one_name_stay_two() -> None:
    words = [element.text for element in parsed(svg(some_forest("same", "same"))).iter(f"{NAME}text")]
    assert words.count("same") == 2


def test_points_stand_where_their_values_are() -> None:
    lines = [Line(str(at), (Estimate(at / 100, None, None, 1, 1, ""),)) for at in (0, 50, 100)]
    text = svg(drawn(forest(lines, SHARES)))
    marks = [element for element in parsed(text).iter(f"{NAME}path") if element.get("fill") == "var(--chart-1)"]
    places = [float(re.findall(r"translate\(([\d.]+),", mark.attrib["transform"])[0]) for mark in marks]
    grid = [element for element in parsed(text).iter(f"{NAME}line") if element.get("stroke") == "var(--grid)"]
    width = max(float((re.findall(r"translate\(([\d.]+),", line.get("transform", "")) or ["0"])[0]) for line in grid)
    assert places[0] == 0
    assert places[1:] == pytest.approx([width / 2, width], abs=1)


def test_bars_are_as_long_as_their_shares() -> None:
    text = svg(drawn(stacked([Bar("a", (0.75, 0.25), ("75", "25"))], ["x", "y"])))
    lengths = [
        float(found[1])
        for element in parsed(text).iter(f"{NAME}path")
        if element.get("fill", "").startswith("url(")
        and (found := re.match(r"M[\d.]+,[\d.]+h([\d.]+)v26", element.attrib["d"]))
    ]
    assert len(lengths) == 2
    assert lengths[0] / lengths[1] == pytest.approx(3, rel=0.02)


def test_charts_of_a_page_are_of_one_width() -> None:
    assert {parsed(svg(chart)).get("width") for chart in ALL.values()} == {str(WIDTH)}


def test_the_same_chart_is_the_same_drawing() -> None:
    assert svg(some_forest("a")) == svg(some_forest("a"))


def test_names_with_anything_in_them_make_ids_that_are_none_of_others() -> None:
    chart = replace(ALL["bars"], name='x" onload="y')
    root = parsed(svg(chart))
    assert {element.get("id") for element in root.iter(f"{NAME}pattern")} == {
        f"x--onload--y-pattern-{number}" for number in (1, 2, 3)
    }


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_a_picture_can_be_opened_and_is_not_blank(scale: float) -> None:
    chart = ALL["bars"]
    data = png(chart, scale)
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", data[16:24])
    root = parsed(svg(chart, "file"))
    assert (width, height) == (float(root.attrib["width"]) * scale, float(root.attrib["height"]) * scale)
    at, packed = 8, b""
    while at < len(data):
        (size,) = struct.unpack(">I", data[at : at + 4])
        if data[at + 4 : at + 8] == b"IDAT":
            packed += data[at + 8 : at + 8 + size]
        at += size + 12
    pixels = zlib.decompress(packed)
    assert len(pixels) == height * (1 + 4 * width)
    assert len(set(pixels)) > 50


def test_labels() -> None:
    assert plain("a\r\n\tb\u2028c\ud800\ufffe") == "a b c\ufffd\ufffd"
    assert len(label("x" * 100)) == 36
    assert list(wrapped("one two three", 60, 12)) == ["one two", "three"]
    assert list(wrapped("", 60, 12)) == []


def contrast(one: str, other: str) -> float:
    def light(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    most, least = sorted((light(one), light(other)), reverse=True)
    return (most + 0.05) / (least + 0.05)


@pytest.mark.parametrize("colours", [FILE_COLOURS, DARK_COLOURS])
def test_colours_stand_out_from_the_ground(colours: dict[str, str]) -> None:
    paper = colours["--paper"]
    assert all(contrast(colours[name], paper) >= 4.5 for name in ("--ink", "--muted"))
    assert all(contrast(colours[f"--chart-{number}"], paper) >= 3 for number in range(1, 7))
