"""A report's charts as pictures, a file each."""

from collections.abc import Iterator

from evenhand.report.exports.material import ExportFile, Material
from evenhand.report.exports.placed import charts_of, unique_stem
from evenhand.report.page.blocks import Chart


def svg_files(material: Material) -> tuple[ExportFile, ...]:
    """Return every chart as SVG, in colours for paper."""
    from evenhand.report.charts import drawing  # noqa: PLC0415  (loads Vega, which no other format needs)

    return tuple(
        ExportFile(f"{stem}.svg", drawing.svg(chart, theme="file").encode("utf-8")) for stem, chart in _named(material)
    )


def png_files(material: Material) -> tuple[ExportFile, ...]:
    """Return every chart as PNG, at twice the size of a screen."""
    from evenhand.report.charts import drawing  # noqa: PLC0415  (loads Vega, which no other format needs)

    return tuple(ExportFile(f"{stem}.png", drawing.png(chart, scale=2)) for stem, chart in _named(material))


def _named(material: Material) -> Iterator[tuple[str, Chart]]:
    taken: set[str] = set()
    for chart in charts_of(material.sections):
        yield unique_stem(chart.name, taken), chart
