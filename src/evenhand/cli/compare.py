"""``evenhand compare``."""

from pathlib import Path
from typing import Any

import click

from evenhand.cli.json_output import print_json
from evenhand.cli.options import SEED, analysis_of, analysis_options
from evenhand.cli.terminal import terminal
from evenhand.execution import RunFolder
from evenhand.report.compare_table import comparison_table
from evenhand.studies.compare import compare


@click.command("compare")
@click.argument("runs", type=click.Path(path_type=Path), nargs=-1, required=True, metavar="RUN RUN...")
@click.option(
    "--baseline", type=int, default=1, show_default=True, metavar="N", help="The run that others are compared with."
)
@analysis_options
@click.option("--orders", type=click.Choice(["both", "ab", "ba"]), help="Count these orders alone.")
@click.option("--seed", type=SEED, help="Of the intervals.")
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Write the comparison to FILE, as JSON.")
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON instead of tables.")
def compare_command(
    runs: tuple[Path, ...],
    baseline: int,
    out: Path | None,
    as_json: bool,
    **options: Any,  # noqa: ANN401  (what click hands over)
) -> None:
    """Are two subjects, or two system prompts, different?

    Compares the audits in the folders RUN on the paired prompts that all of them have, pair by pair: for every
    grader that judged all of them, each figure of each configuration, its difference to the first with interval and
    p, and how small a difference these pairs would show. No model is called, and the folders stay as they are.

    \b
    Example:
      evenhand compare runs/plain runs/with-prompt
    """
    orders, seed = options.pop("orders"), options.pop("seed")
    comparison = compare(runs, analysis=analysis_of(options, orders=orders, seed=seed), baseline=baseline)
    if as_json:
        print_json(comparison.as_json())
    else:
        terminal().print(comparison_table(comparison))
    if out is not None:
        # Last: what was asked for by name is an error where it can't be written, but the figures have been seen.
        RunFolder(out.parent).write_json(out.name, comparison.as_json())
