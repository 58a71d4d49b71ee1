"""``evenhand fit-grader``."""

from pathlib import Path

import click

from evenhand.cli.json_output import print_json
from evenhand.cli.watching import watching, watching_options
from evenhand.pairs.gold import GoldMeasure
from evenhand.studies.fit_grader import FEATURES, TARGETS, fit_grader


@click.command("fit-grader")
@click.argument("measure", type=click.Choice([measure.value for measure in TARGETS]))
@click.option("--gold", "gold", multiple=True, required=True, metavar="NAME|FILE", help="Labels; repeat for more.")
@click.option(
    "--practice",
    multiple=True,
    metavar="NAME|FILE",
    help="Labels that teach with half the weight and do not set the probabilities; repeat for more.",
)
@click.option(
    "--folder",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Where the public gold sets are (usual: where `evenhand gold fetch` put them).",
)
@click.option(
    "--features", type=click.Choice(list(FEATURES)), help="What is seen of an answer (usual: what suits MEASURE)."
)
@click.option(
    "--leave-out",
    type=click.Choice(["cluster", "family", "model"]),
    default="cluster",
    show_default=True,
    help="What is left out in turn to choose the penalty: issues (or requests), makers of models, models.",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    metavar="CARD.json",
    help="Where the card goes; the weights go beside it.",
)
@click.option(
    "--questions",
    default="",
    metavar="MODEL",
    help="Put short questions to this embedded model, whose log odds are features, too; the grader then needs it.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the card.")
@watching_options
def fit_grader_command(
    *,
    measure: str,
    gold: tuple[str, ...],
    practice: tuple[str, ...],
    folder: Path | None,
    features: str | None,
    leave_out: str,
    output: Path,
    questions: str,
    as_json: bool,
    quiet: bool,
    log: Path | None,
) -> None:
    """Fit a grader of MEASURE to labels; it needs a model only where --questions names one.

    The fitting halves of the labels make the weights, the testing halves the figures. Issues (or requests) are never in
    both halves. Weights are plain numbers, and the card says what they were fitted to.

    \b
    Example:
      evenhand fit-grader refusal --gold xstest --gold mine.csv --output graders/mine.json
    """
    with watching(quiet=quiet, log=log) as watch:
        card = fit_grader(
            GoldMeasure(measure),
            gold,
            output,
            practice=practice,
            folder=folder,
            features=features or "",
            leave_out=leave_out,
            questions=questions,
            watch=watch,
        )
    if as_json:
        print_json(card.as_json())
        return
    asked = f" and {len(card.questions.questions)} questions to {card.questions.model}" if card.questions else ""
    click.echo(f"{output}: {card.rows} answers fitted to, {len(card.blocks)} kinds of features{asked}.")
    for figure in card.figures:
        auc, kappa = (_range(each.value, each.low, each.high) for each in (figure.auc, figure.kappa))
        click.echo(f"{figure.data}, held out, n {figure.n}: AUC {auc}, kappa {kappa}")
    if not card.figures:
        click.echo("No testing half holds both classes, so nothing says how good it is.")


def _range(value: float | None, low: float | None, high: float | None) -> str:
    if value is None:
        return "not defined"
    return f"{value:.3f}" if low is None or high is None else f"{value:.3f} [{low:.3f}, {high:.3f}]"
