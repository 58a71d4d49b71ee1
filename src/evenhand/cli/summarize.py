"""``evenhand summarize``."""

from pathlib import Path
from typing import Any

import click

from evenhand.cli.audit_output import end, show_corrected, show_summary
from evenhand.cli.options import SEED, analysis_of, analysis_options, card_option, gate_option
from evenhand.cli.unkept import say_unkept
from evenhand.studies.corrected import correct_run
from evenhand.studies.gate import read_gates
from evenhand.studies.resummarize import resummarize


@click.command("summarize")
@click.argument("run", type=click.Path(path_type=Path))
@analysis_options
@card_option
@click.option("--orders", type=click.Choice(["both", "ab", "ba"]), help="Count these orders alone.")
@click.option("--seed", type=SEED, help="Of the intervals.")
@click.option(
    "--labels",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Correct the shares by people's labels: the sheet of `evenhand label`, filled in.",
)
@gate_option
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON instead of tables.")
def summarize_command(run: Path, labels: Path | None, as_json: bool, **options: Any) -> None:  # noqa: ANN401
    """Work the figures of RUN out anew, with another threshold or another statistic; no model is called.

    What is not said stays as it was. summary.json and the analysis in record.json are replaced.
    """
    gates = read_gates(options.pop("gates"))
    cards = options.pop("cards")
    analysis = analysis_of(options, orders=options.pop("orders"), seed=options.pop("seed"))
    summary = resummarize(run, analysis, cards, unkept=say_unkept)
    if labels is None:
        show_summary(summary, as_json=as_json)
    else:
        found = correct_run(run, labels, analysis=summary.analysis, unkept=say_unkept)
        show_corrected(summary, found, as_json=as_json)
    end(gates, [summary])
