"""The formats of a report besides the page itself."""

from collections.abc import Callable, Mapping

from evenhand.errors import InputError
from evenhand.report.exports.annex import annex
from evenhand.report.exports.chart_files import png_files, svg_files
from evenhand.report.exports.csv_files import csv_files
from evenhand.report.exports.json_text import json_file
from evenhand.report.exports.latex import latex_tables
from evenhand.report.exports.markdown import markdown_page
from evenhand.report.exports.material import ExportFile, Material
from evenhand.report.exports.placed import placed_tables
from evenhand.report.exports.system_card import latex_system_card, markdown_system_card
from evenhand.report.exports.workbook import workbook_file


def export(material: Material, format: str) -> tuple[ExportFile, ...]:
    """Return the files of a format: one, or those of a folder where it is in ``FOLDER_FORMATS``.

    Raises ``InputError`` where the format has nothing to say of these runs, or needs what is not installed.
    """
    files = FORMATS[format](material)
    if not files:
        what = "charts" if format in ("png", "svg") else "tables"
        raise InputError(f"there are no {what} in this report", field="--format", way_out="take another format")
    return files


def _markdown(material: Material) -> tuple[ExportFile, ...]:
    text = (
        markdown_system_card(material.audits) if material.audits else markdown_page(material.title, material.sections)
    )
    return (ExportFile("report.md", text.encode("utf-8")),)


def _latex(material: Material) -> tuple[ExportFile, ...]:
    text = latex_system_card(material.audits) if material.audits else latex_tables(placed_tables(material.sections))
    return (ExportFile("report.tex", text.encode("utf-8")),)


def _annex(material: Material) -> tuple[ExportFile, ...]:
    if not material.audits:
        raise InputError(
            "an annex is about an audit, and none of these runs is one",
            field="--format",
            way_out="give the folder of `evenhand audit`, or take md",
        )
    return (ExportFile("annex.md", annex(material.audits).encode("utf-8")),)


FORMATS: Mapping[str, Callable[[Material], tuple[ExportFile, ...]]] = {
    "md": _markdown,
    "latex": _latex,
    "csv": csv_files,
    "json": json_file,
    "xlsx": workbook_file,
    "annex": _annex,
    "png": png_files,
    "svg": svg_files,
}
"""``md`` and ``latex`` are the system card's table where there are audits, and every table otherwise."""

FOLDER_FORMATS = frozenset({"csv", "png", "svg"})
