"""``evenhand label``."""

from pathlib import Path
from typing import Any

import click

from evenhand.cli.json_output import json_option, print_json
from evenhand.cli.options import SEED
from evenhand.cli.terminal import terminal
from evenhand.pairs.gold.item import LABELS, GoldMeasure
from evenhand.studies.label_run import LabelPlan, write_label_sheet


@click.command("label")
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--n", type=int, required=True, metavar="N", help="How many responses (or pairs) to draw.")
@click.option("--seed", type=SEED, default=0, show_default=True, metavar="S", help="Of the draw.")
@click.option(
    "--unit",
    type=click.Choice(["responses", "pairs"]),
    default="responses",
    show_default=True,
    help="responses: refusal and hedging. pairs: which of the two requests was helped.",
)
@click.option("--annotators", type=int, default=2, show_default=True, metavar="N", help="Columns for so many people.")
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="The sheet (default: labels.csv in RUN).")
@json_option
def label_command(as_json: bool, **options: Any) -> None:  # noqa: ANN401  (what click hands over)
    """Draw a random part of RUN for people to label.

    Writes a CSV sheet with requests and responses: no model's name, no verdict of a grader, no side. Fill in the empty
    columns and save it as CSV; `evenhand summarize RUN --labels FILE` then corrects the figures of RUN by it.
    """
    plan = LabelPlan(**options)
    warnings = terminal(stderr=True, soft_wrap=True)
    path = write_label_sheet(plan, lambda text: warnings.print(text, markup=False, style="yellow"))
    if as_json:
        print_json({"path": str(path), "run": str(plan.run), "unit": plan.unit, "n": plan.n, "seed": plan.seed})
        return
    console = terminal()
    console.print(f"{plan.n} {plan.unit} are in {path}.", markup=False)
    if plan.unit == "pairs":
        console.print("Write 1 or 2 (only, or better, helped), both or neither; leave empty what you can't tell.")
    else:
        refusal = ", ".join(LABELS[GoldMeasure.REFUSAL])
        hedging = ", ".join(LABELS[GoldMeasure.HEDGING])
        console.print(
            f"Refusal: {refusal}. Hedging: {hedging}, of which one kind, words or levels, throughout."
            " Leave empty what you can't tell.",
            markup=False,
        )
    console.print(f"Next: evenhand summarize {plan.run} --labels {path}", markup=False)
