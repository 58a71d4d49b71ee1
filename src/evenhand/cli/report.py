"""``evenhand report``."""

from pathlib import Path

import click

from evenhand.cli.json_output import json_option, print_json
from evenhand.cli.terminal import terminal
from evenhand.studies.report.write import FORMATS, write_report


@click.command("report")
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RUN...")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="The file, or the folder where a format comes to several files (csv, png, svg). Without it: report.html and"
    " so on in the folder of the first RUN.",
)
@click.option(
    "--format",
    "kind",
    type=click.Choice(FORMATS),
    default="html",
    show_default=True,
    help="html: the page. md, latex: a table for a system card. annex: for a procurement file. csv, json, xlsx: the"
    " figures. png, svg: every chart.",
)
@json_option
def report_command(runs: tuple[Path, ...], out: Path | None, kind: str, as_json: bool) -> None:
    """Make one page of RUN: figures, charts, every pair to be read, and how to repeat it.

    RUN is the folder of an audit, a comparison, ratings or a validation; several come side by side. The page is
    one HTML file that needs no network. No model is called.

    \b
    Example:
      evenhand report runs/first --out report.html
      evenhand report runs/first --format annex --out annex.md
    """
    errors = terminal(stderr=True, soft_wrap=True)
    written = write_report(runs, kind, out, say=lambda remark: errors.print(f"Note: {remark}", markup=False))
    if as_json:
        print_json({"written": str(written), "format": kind})
        return
    terminal(soft_wrap=True).print(f"Written: {written}", markup=False)
