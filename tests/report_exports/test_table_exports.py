"""Tables as CSV, JSON and a workbook: figures are numbers, texts are texts, and none is a formula."""

import csv
import io
import json
import sys
import zipfile
from typing import Any
from xml.etree import ElementTree

import pytest

from evenhand.errors import InputError
from evenhand.report.exports import FOLDER_FORMATS, FORMATS, export
from evenhand.report.exports.spreadsheet_cells import guarded
from evenhand.report.page.blocks import Section, Table
from export_materials import HOSTILE, a_material

MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


def rows(content: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True))


def test_figures_are_numbers_with_the_ends_of_their_interval() -> None:
    figures, *_ = export(a_material(), "csv")
    assert figures.name == "figures.csv"
    assert rows(figures.content) == [
        ["Name", "Rate", "Rate low", "Rate high", "Count"],
        ["whole", "-0.25", "-0.5", "0.0", "5"],
        ["bare", "0.5", "", "", "-7"],
        ["absent", "", "", "", ""],
        ["elsewhere", "0.75", "0.5", "1.0", "lost"],
    ]


def test_a_figure_is_looked_for_in_its_own_run_and_file_alone() -> None:
    """With nothing saved under that name what is shown stays, and never a figure of another file."""
    material = a_material()
    (section,) = material.sections
    other = Section("x", "X", section.blocks, run=2, file="summary.json")
    without = type(material)("T", (section, other), material.saved)
    found = {file.name: rows(file.content) for file in export(without, "csv")}
    assert found["figures.csv"][1][1] == "-0.25"
    assert found["figures-2.csv"][1] == ["whole", guarded("-25.0% [-50.0%, 0.0%]"), "5"]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_cell_comes_back_from_csv(text: str) -> None:
    material = a_material(text, "next")
    texts = next(file for file in export(material, "csv") if file.name == "texts.csv")
    assert rows(texts.content) == [[guarded(text), "next"]] * 2
    assert b"\n" not in texts.content.replace(b"\r\n", b"") or "\n" in text


def test_names_of_files_are_names() -> None:
    tables = tuple(Table(caption, ("a",), (("1",),)) for caption in ("../../x", "same", "Same", "", "CON", "é|中"))
    names = [file.name for file in export(type(a_material())("T", (Section("s", "S", tables),)), "csv")]
    assert names == ["x.csv", "same.csv", "same-2.csv", "table.csv", "con-table.csv", "e.csv"]


def test_json_has_numbers_and_nulls() -> None:
    (file,) = export(a_material("\x1b[31m", "\ud83d"), "json")
    found = json.loads(file.content)
    assert found["title"] == "A report"
    assert found["runs"] == ["one run"]
    figures = found["tables"][0]
    assert figures["section"] == ["Figures"]
    assert figures["columns"] == ["Name", "Rate", "Rate low", "Rate high", "Count"]
    assert figures["rows"][0] == ["whole", -0.25, -0.5, 0.0, 5]
    assert figures["rows"][2] == ["absent", None, None, None, None]
    assert "shares from 0 to 1" in found["units"]
    assert figures["rows"][1] == ["bare", 0.5, None, None, "-7"]
    assert [table["name"] for table in found["tables"]] == ["figures", "a-chart", "texts"]


def sheets(content: bytes) -> dict[str, list[list[tuple[str, str]]]]:
    """Return the cells of each sheet, as type and text; a formula's type is `formula`."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        strings = [
            "".join(part.text or "" for part in item.iter(f"{MAIN}t"))
            for item in ElementTree.fromstring(archive.read("xl/sharedStrings.xml"))
        ]
        book = ElementTree.fromstring(archive.read("xl/workbook.xml"))
        names = [sheet.attrib["name"] for sheet in book.iter(f"{MAIN}sheet")]
        found = {}
        for number, name in enumerate(names, 1):
            page = ElementTree.fromstring(archive.read(f"xl/worksheets/sheet{number}.xml"))
            found[name] = [[_cell(cell, strings) for cell in row] for row in page.iter(f"{MAIN}row")]
        assert not [name for name in archive.namelist() if "hyperlink" in name.casefold() or "external" in name]
    return found


def _cell(cell: Any, strings: list[str]) -> tuple[str, str]:
    if cell.find(f"{MAIN}f") is not None:
        return "formula", ""
    value = cell.findtext(f"{MAIN}v") or ""
    return ("text", strings[int(value)]) if cell.get("t") == "s" else ("number", value)


def test_a_workbook_has_a_sheet_a_table_with_numbers_and_no_formula() -> None:
    pytest.importorskip("xlsxwriter", reason="the extra xlsx is not installed")
    (file,) = export(a_material(*HOSTILE), "xlsx")
    found = sheets(file.content)
    assert list(found) == ["Contents", "Figures", "Bars", "Texts"]
    assert found["Figures"][0] == [("text", name) for name in ("Name", "Rate", "Rate low", "Rate high", "Count")]
    assert found["Figures"][1][1:4] == [("number", "-0.25"), ("number", "-0.5"), ("number", "0")]
    every = [cell for sheet in found.values() for row in sheet for cell in row]
    assert "formula" not in {kind for kind, _ in every}
    assert ("text", "=1+1") in every, "a text that looks like a formula stays as it is"
    assert ("text", "http://evil.example www.evil.example a@b.example") in every


def test_a_text_that_no_cell_holds_is_cut_with_a_note() -> None:
    pytest.importorskip("xlsxwriter", reason="the extra xlsx is not installed")
    (file,) = export(a_material("x" * 40_000), "xlsx")
    (long,) = {text for row in sheets(file.content)["Texts"] for _, text in row if len(text) > 100}
    assert len(long) == 32_767
    assert long.endswith("[cut here: 40,000 characters in all]")


def test_without_the_library_the_way_out_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)
    with pytest.raises(InputError, match=r"install evenhand\[xlsx\], or take csv"):
        export(a_material(), "xlsx")


def test_what_has_nothing_to_say_says_so() -> None:
    empty = type(a_material())("T", ())
    for name in FOLDER_FORMATS:
        with pytest.raises(InputError, match="there are no"):
            export(empty, name)
    assert set(FORMATS) >= FOLDER_FORMATS
