"""``evenhand validate``."""

from pathlib import Path
from typing import Any

import click

from evenhand.cli.audit_output import show_forecast
from evenhand.cli.completion import gold_sets
from evenhand.cli.json_output import print_json
from evenhand.cli.options import SEED, asking_options, cost_options
from evenhand.cli.terminal import terminal
from evenhand.cli.watching import watching, watching_options
from evenhand.report.validity_card import card_line
from evenhand.report.validity_card_table import validity_card_table
from evenhand.studies.audit.plan import GradingPlan
from evenhand.studies.validate import ValidationResult, forecast_validation, validate
from evenhand.studies.validation_plan import ValidationPlan
from evenhand.studies.validity import CardSettings


@click.command("validate")
@asking_options
@click.option(
    "--gold",
    required=True,
    metavar="NAME|FILE",
    shell_complete=gold_sets,
    help="A set of `evenhand gold list`, a part of one (builtin-refusal), or the path of a labelled file.",
)
@click.option(
    "--gold-folder", type=click.Path(path_type=Path), metavar="FOLDER", help="Where the files of a public set are."
)
@click.option("--sample", type=int, metavar="N", help="Items of each gold set, each label by its share (default: all).")
@click.option("--seed", type=SEED, default=0, show_default=True, help="Of the sample and the intervals.")
@click.option("--kind", "kinds", multiple=True, metavar="KIND", help="Only items of this kind; repeat for more.")
@click.option("--split", type=click.Choice(["fit", "test"]), help="Only this half of the gold set.")
@click.option("--option-swap", is_flag=True, help="Ask once more with the options the other way round.")
@click.option("--threshold", type=float, default=0.5, show_default=True, help="Probability above which an item counts.")
@click.option(
    "--positive", multiple=True, metavar="M=LABELS", help="Which answers of the grader count, as in refusal=3,4,5."
)
@click.option(
    "--gold-positive", multiple=True, metavar="M=LABELS", help="Which gold labels count, as in refusal=full,partial."
)
@click.option(
    "--calibrate",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Fit threshold and probabilities to one half, write them to FILE, and show the cards of the other half.",
)
@click.option(
    "--calibration",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Apply what --calibrate has written; packaged:GRADER is one that comes along.",
)
@click.option("--draws", type=int, default=2000, show_default=True, metavar="N", help="Resamples.")
@click.option(
    "--interval",
    type=click.Choice(["bca", "percentile"]),
    default="bca",
    show_default=True,
    help="Kind of bootstrap interval.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Keep every reply, the cards and the items here; without it nothing is kept.",
)
@cost_options
@click.option("--json", "as_json", is_flag=True, help="Print the cards as JSON instead of tables.")
@watching_options
def validate_command(dry_run: bool, as_json: bool, quiet: bool, log: Path | None, **options: Any) -> None:  # noqa: ANN401  (what click hands over)
    """How does a grader agree with people?

    Puts labelled texts to the grader and prints a validity card for each measure: agreement beyond chance, sensitivity
    and specificity, the area under the curve, calibration and where the threshold belongs, with what the order of two
    responses, the order of the options and the length of a text make of it. A grader that answers at random, always the
    same or the wrong way round is named as such.
    """
    plan = _plan(options)
    with watching(quiet=quiet, log=log) as watch:
        if dry_run:
            show_forecast([forecast_validation(plan, watch)], as_json=as_json)
            return
        result = validate(plan, watch)
    if as_json:
        print_json([card.as_json() for card in result.cards])
    else:
        _show(result, plan)


def _plan(options: dict[str, Any]) -> ValidationPlan:
    grading = GradingPlan(**{name: options.pop(name) for name in ("graders", "instruments", "reading", "orders")})
    seed = options["seed"]
    card = CardSettings(**{name: options.pop(name) for name in ("threshold", "draws", "interval")}, seed=seed)
    return ValidationPlan(grading=grading, card=card, **options | {"split": options["split"] or ""})


def _show(result: ValidationResult, plan: ValidationPlan) -> None:
    console = terminal()
    for card in result.cards:
        console.print(validity_card_table(card))
        console.print()
    for card in result.cards:
        console.print(f"{card.grader}, {card_line(card)}", markup=False, style="bold")
    kept = f" All of it is in {plan.out}." if plan.out else " Nothing was kept: no --out was given."
    console.print(
        f"{result.calls} calls of models; {result.found} replies were in the ledger.{kept}",
        markup=False,
        style="dim",
    )
    if plan.calibrate is not None:
        console.print(f"The calibration is in {plan.calibrate}.", markup=False, style="dim")
