"""Every chart of a report as a picture of its own."""

from dataclasses import replace
from xml.etree import ElementTree

import pytest

from evenhand.report.exports import Material, export
from evenhand.report.page.blocks import Chart, Section, Table

SPEC = {
    "data": {"values": [{"name": "<b>", "share": 0.5}]},
    "mark": "bar",
    "encoding": {"x": {"field": "share", "type": "quantitative"}, "y": {"field": "name", "type": "nominal"}},
}


def charts(*names: str) -> Material:
    table = Table("Bars", ("Name", "Share"), (("<b>", "50.0"),))
    found = tuple(Chart(name, f"About {name}", "It shows a bar.", SPEC, table) for name in names)
    inner = Section("inner", "Inner", found[1:])
    return Material("A report", (Section("outer", "Outer", found[:1], (inner,)),))


def test_svg_files_stand_alone() -> None:
    pytest.importorskip("vl_convert")
    files = export(charts("one", "../two"), "svg")
    assert [file.name for file in files] == ["one.svg", "two.svg"]
    for file in files:
        assert ElementTree.fromstring(file.content).tag.endswith("svg")
        assert b"var(--" not in file.content, "a file has no page to take colours from"
        assert b"<script" not in file.content and b"<b>" not in file.content


def test_png_files_are_twice_the_size() -> None:
    pytest.importorskip("vl_convert")
    material = charts("one")
    (picture,), (drawing,) = export(material, "png"), export(material, "svg")
    assert picture.name == "one.png"
    assert picture.content.startswith(b"\x89PNG\r\n\x1a\n")
    width = int.from_bytes(picture.content[16:20])
    assert width == 2 * int(ElementTree.fromstring(drawing.content).attrib["width"])


def test_charts_of_one_name_do_not_overwrite_one_another() -> None:
    pytest.importorskip("vl_convert")
    (section,) = charts("one").sections
    twice = replace(charts("one"), sections=(section, section))
    assert [file.name for file in export(twice, "svg")] == ["one.svg", "one-2.svg"]
