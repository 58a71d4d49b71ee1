"""``evenhand demo``."""

from pathlib import Path

import click
from rich.console import Console

from evenhand.cli.audit_output import show_result
from evenhand.cli.watching import watching, watching_options
from evenhand.models import EMBEDDED_MODELS
from evenhand.studies.audit import AuditPlan, GradingPlan, audit

_SUBJECT, _GRADER, _PAIRS = "smollm2-135m", "qwen2.5-coder-0.5b", 8


@click.command("demo")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("runs/demo"),
    show_default=True,
    metavar="FOLDER",
    help="The run folder.",
)
@watching_options
def demo_command(out: Path, quiet: bool, log: Path | None) -> None:
    """Audit a small model with a small grader, on this machine alone.

    The first time it fetches their weights (about 0.6 GB); after that it takes one to three minutes on two
    cores, and a second time no model is called at all.
    """
    console = Console(highlight=False)
    console.print(
        f"Demonstration: {EMBEDDED_MODELS[_SUBJECT].title} answers {_PAIRS} paired prompts of builtin:us,"
        f" and {EMBEDDED_MODELS[_GRADER].title} grades the answers.\n",
        markup=False,
    )
    plan = AuditPlan(
        pairs="builtin:us",
        sample=_PAIRS,
        seed=1,
        subject=_SUBJECT,
        grading=GradingPlan((_GRADER,), "compact"),
        max_tokens=200,
        out=out,
    )
    with watching(quiet=quiet, log=log) as watch:
        result = audit(plan, watch)
    show_result(result, out)
    console.print(
        "\nThese figures are a demonstration, not a finding. The grader is very small: of 180 answers that people had"
        " labelled as refusals or not, it got 74% right (docs/validation.md). Eight pairs are few, and the subject was"
        " cut at 200 tokens. For a figure to rely on, take a capable grader and the rubric instruments.",
        markup=False,
    )
