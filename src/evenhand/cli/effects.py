"""``evenhand effects``."""

from pathlib import Path
from typing import Any

import click

from evenhand.cli.json_output import print_json
from evenhand.cli.options import SEED
from evenhand.cli.terminal import terminal
from evenhand.cli.unkept import say_unkept
from evenhand.report.effects_table import effects_table
from evenhand.studies.effects import effects


@click.command("effects")
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--grader", metavar="MODEL", help="Only this grader's ratings (default: every grader's).")
@click.option(
    "--cluster",
    type=click.Choice(["input", "pair"]),
    default="input",
    show_default=True,
    help="What intervals keep together; pair speaks of these inputs alone.",
)
@click.option(
    "--equal-within",
    type=float,
    default=0.5,
    show_default=True,
    metavar="POINTS",
    help="Ratings that differ by less count as equal.",
)
@click.option("--seed", type=SEED, default=0, show_default=True, help="Of the intervals.")
@click.option("--json", "as_json", is_flag=True, help="Print effects.json instead of the tables.")
def effects_command(run: Path, as_json: bool, **options: Any) -> None:  # noqa: ANN401  (what click hands over)
    """Which questions tell the chosen output from the rejected one?

    Reads the ratings that `evenhand rate` left in the folder RUN, and writes effects.json there: for every
    question how surely it tells chosen from rejected, how reliable it is, what it shares with other questions,
    what could not be rated, and how far telling the grader the label moves it. Length is the baseline.
    """
    summary = effects(run, **options, unkept=say_unkept)
    if as_json:
        print_json(summary.as_json())
    else:
        terminal().print(effects_table(summary))
