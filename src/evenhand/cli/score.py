"""``evenhand score``."""

from pathlib import Path

import click
from rich.table import Table
from rich.text import Text

from evenhand.cli.audit_output import show_forecast
from evenhand.cli.completion import model_names, rating_instruments
from evenhand.cli.json_output import json_text
from evenhand.cli.options import cost_options
from evenhand.cli.terminal import terminal
from evenhand.cli.watching import watching, watching_options
from evenhand.studies.score import ScorePlan, forecast_score, score

_SHOWN = 20


@click.command("score")
@click.argument("spec", type=click.Path(path_type=Path))
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--grader",
    metavar="MODEL",
    shell_complete=model_names,
    help="The model that rates (default: the one the spec was fitted to).",
)
@click.option(
    "--instrument",
    metavar="NAME",
    shell_complete=rating_instruments,
    help="rating or compact (default: the one the spec was fitted to).",
)
@click.option("--input", "input_column", metavar="COLUMN", help="Column of the inputs (default: told from its name).")
@click.option(
    "--output", "output_column", metavar="COLUMN", help="Column of the outputs (default: told from its name)."
)
@click.option("--out", type=click.Path(path_type=Path), required=True, metavar="FOLDER", help="The run folder.")
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print a JSON line an output instead of the table; with --dry-run, one JSON value.",
)
@cost_options
@watching_options
def score_command(dry_run: bool, as_json: bool, quiet: bool, log: Path | None, **options: object) -> None:
    """Score new outputs with the scoring spec of `evenhand fit`.

    SPEC is a spec.json or the run folder it is in; FILE holds an input and an output a row (JSONL, JSON, CSV or
    Parquet). Each output is rated by itself. The difference of two scores is the log odds that the first is
    preferred. The run folder gets scores.parquet and ledger.sqlite.
    """
    plan = ScorePlan(**options)  # type: ignore[arg-type]
    with watching(quiet=quiet, log=log) as watch:
        if dry_run:
            show_forecast([forecast_score(plan, watch)], as_json=as_json)
            return
        result = score(plan, watch)
    if as_json:
        for row in result.table.iter_rows(named=True):
            click.echo(json_text(row))
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("row", justify="right")
    table.add_column("score", justify="right")
    table.add_column("unrated", justify="right")
    table.add_column("output", overflow="ellipsis", no_wrap=True)
    for row in result.table.sort("score", descending=True).head(_SHOWN).iter_rows(named=True):
        start = " ".join(row["output"].split())[:200]
        table.add_row(str(row["row"]), f"{row['score']:+.3f}", str(row["unrated"]), Text(start))
    console = terminal()
    console.print(table)
    if result.table.height > _SHOWN:
        console.print(
            f"The {_SHOWN} highest of {result.table.height:,}; all are in {plan.out}/scores.parquet.", markup=False
        )
    console.print(f"{result.calls} calls of models; {result.found} replies were in the ledger.", markup=False)
