"""Options that several commands share: what graders are asked, how figures are made, what a run may cost."""

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import click

from evenhand.cli.completion import grader_names, instrument_sets
from evenhand.studies.audit.plan import AnalysisPlan, GradingPlan

SEED = click.IntRange(min=0)
"""Of whatever is drawn; generators of random numbers take none below 0."""
_Command = TypeVar("_Command", bound=Callable[..., Any])


def _together(*options: Callable[[_Command], _Command]) -> Callable[[_Command], _Command]:
    def decorate(command: _Command) -> _Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


card_option: Callable[[Any], Any] = click.option(
    "--card",
    "cards",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Quote this validity card of a grader: the validation.json of `evenhand validate`; repeat for another.",
)
"""Validity cards of the user's."""

asking_options: Callable[[Any], Any] = _together(
    click.option(
        "--grader",
        "graders",
        required=True,
        multiple=True,
        metavar="MODEL",
        shell_complete=grader_names,
        help="What judges: a model, or fitted:builtin, fitted:NAME, fitted:PATH; repeat for more.",
    ),
    click.option(
        "--instruments",
        default="rubric",
        show_default=True,
        metavar="SET",
        shell_complete=instrument_sets,
        help="What models are asked: rubric (capable ones), compact (small ones), published, or a prompt file's path.",
    ),
    click.option(
        "--reading",
        default="probabilities",
        show_default=True,
        metavar="MODE",
        help="How graders are read: probabilities, text (the written verdict), or samples:N.",
    ),
    click.option(
        "--orders",
        default="both",
        show_default=True,
        type=click.Choice(["both", "ab", "ba"]),
        help="In which orders a grader sees the two responses.",
    ),
)
"""Who grades, and what graders are asked."""

grading_options: Callable[[Any], Any] = _together(
    asking_options,
    click.option(
        "--blind-groups", is_flag=True, help="Ask once more with the names of the groups hidden, and compare."
    ),
    card_option,
)
"""The same in an audit."""

analysis_options: Callable[[Any], Any] = _together(
    click.option("--threshold", type=float, help="Probability above which a unit counts in a rate (usual: 0.5)."),
    click.option(
        "--positive",
        multiple=True,
        metavar="M=LABELS",
        help="Which answers count, as in refusal=3,4,5 (usual: 4,5); repeat for another measure.",
    ),
    click.option(
        "--interval", type=click.Choice(["bca", "percentile"]), help="Kind of bootstrap interval (usual: bca)."
    ),
    click.option("--unit", type=click.Choice(["stance", "topic"]), help="What intervals resample (usual: stance)."),
    click.option("--draws", type=int, metavar="N", help="Resamples (usual: 2000)."),
    click.option(
        "--calibration",
        "calibrations",
        multiple=True,
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Of a grader, as `evenhand validate --calibrate` wrote it, or packaged:GRADER; repeat for another.",
    ),
)
"""How judgments become figures."""

from_option: Callable[[Any], Any] = click.option(
    "--from",
    "folder",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Take the files from a folder instead of the network.",
)
"""Where files that are fetched may lie already."""

models_option: Callable[[Any], Any] = click.option(
    "--models",
    type=click.Path(path_type=Path),
    envvar="EVENHAND_MODELS",
    metavar="FILE",
    help="Settings of models: bodies, headers, limits, prices (TOML; also EVENHAND_MODELS).",
)
"""How models are reached."""

max_cost_option: Callable[[Any], Any] = click.option(
    "--max-cost", type=float, metavar="USD", help="End before this run has cost more."
)

cost_options: Callable[[Any], Any] = _together(
    click.option("--dry-run", is_flag=True, help="Say what it would take (calls, tokens, cost, hours), and stop."),
    max_cost_option,
    models_option,
)
"""What a run may cost, and how its models are reached."""

gate_option: Callable[[Any], Any] = click.option(
    "--fail-if",
    "gates",
    multiple=True,
    metavar="CONDITION",
    help="Exit with code 3 where it holds, as in 'even_handedness.low < 0.9'; repeat for more.",
)


def grading_of(options: dict[str, Any]) -> GradingPlan:
    """Take the grading options out of a command's options."""
    given = {field.name: options.pop(field.name) for field in fields(GradingPlan)}
    return GradingPlan(**(given | {name: tuple(given[name]) for name in ("graders", "cards")}))


def analysis_of(options: dict[str, Any], **more: Any) -> AnalysisPlan:  # noqa: ANN401
    """Take the analysis options out of a command's options."""
    names = ("threshold", "positive", "interval", "unit", "draws", "calibrations")
    taken = {name: options.pop(name) for name in names}
    return AnalysisPlan(**(taken | {name: tuple(taken[name]) or None for name in ("positive", "calibrations")}), **more)
