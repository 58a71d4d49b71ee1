"""``evenhand fit``."""

from pathlib import Path
from typing import Any

import click

from evenhand.cli.json_output import print_json
from evenhand.cli.options import SEED
from evenhand.cli.terminal import terminal
from evenhand.cli.unkept import say_unkept
from evenhand.report.fit_table import fit_table
from evenhand.report.spec_exports import EXPORTS, export_spec
from evenhand.studies.fit import fit, write_export


@click.command("fit")
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--grader", metavar="MODEL", help="Whose ratings; needed where several graders rated.")
@click.option("--seed", type=SEED, default=0, show_default=True, help="Of folds and samples.")
@click.option(
    "--strength/--ignore-strength",
    "use_strength",
    default=True,
    help="Whether strong preferences weigh more, where the data have strengths (default: they do).",
)
@click.option("--json", "as_json", is_flag=True, help="Print spec.json instead of the tables.")
@click.option(
    "--export",
    "shape",
    type=click.Choice(list(EXPORTS)),
    help="Also write the spec as a Pi scoring spec (JSON), promptfoo assertions (YAML) or a TRL reward function"
    " (Python).",
)
@click.option(
    "--export-to",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Where to (default: print it, and nothing else).",
)
def fit_command(run: Path, as_json: bool, shape: str | None, export_to: Path | None, **options: Any) -> None:  # noqa: ANN401
    """Which questions, with which weights, predict the preference?

    Fits a scoring spec to the ratings that `evenhand rate` left in the folder RUN, and writes spec.json there:
    weights with intervals, and how well they predict pairs that the fit has not seen, beside length alone and
    the best single question.

    \b
    Example:
      evenhand fit runs/rated --export trl --export-to reward.py
    """
    if export_to is not None and shape is None:
        raise click.UsageError("--export-to needs --export: say in which shape.")
    if as_json and shape is not None and export_to is None:
        raise click.UsageError("--json and --export both print: give --export-to for the export.")
    spec = fit(run, **options, unkept=say_unkept)
    export = export_spec(spec, shape) if shape else None
    if export is not None and export_to is None:
        click.echo(export.text, nl=False)
    elif as_json:
        print_json(spec.as_json())
    else:
        terminal().print(fit_table(spec))
    if export is not None:
        if export_to is not None:
            write_export(export, export_to)
        for lost in export.lost:
            click.echo(f"Not in the export: {lost}", err=True)
