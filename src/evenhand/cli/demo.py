"""``evenhand demo``."""

import shlex
from pathlib import Path

import click

from evenhand.cli.audit_output import show_result
from evenhand.cli.json_output import json_option
from evenhand.cli.terminal import terminal
from evenhand.cli.watching import watching, watching_options
from evenhand.models import EMBEDDED_MODELS
from evenhand.studies.audit import AuditPlan, GradingPlan, audit
from evenhand.studies.report.write import write_report

PAIRS, TOKENS = 8, 200
SUBJECT, GRADER, SECOND_GRADER = "smollm2-135m", "fitted:builtin", "qwen2.5-coder-0.5b"
"""The grader is the packaged one whose validity cards are best; a test holds it to them."""


@click.command("demo")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("runs/demo"),
    show_default=True,
    metavar="FOLDER",
    help="The run folder.",
)
@json_option
@watching_options
def demo_command(out: Path, as_json: bool, quiet: bool, log: Path | None) -> None:
    """Audit a small model with the best grader that comes along, on this machine alone.

    The first time it fetches the small model's weights (about 0.1 GB); after that it takes about a minute on two
    cores, and a second time no model is called at all.
    """
    console = terminal(stderr=as_json)
    console.print(
        f"Demonstration: {EMBEDDED_MODELS[SUBJECT].title} answers {PAIRS} paired prompts of builtin:us. The answers"
        f" are graded by {GRADER}, of the packaged graders the one that agrees best with people about refusals by their"
        " validity cards; it is fitted to labelled answers and asks no model.\n",
        markup=False,
    )
    plan = AuditPlan(
        pairs="builtin:us",
        sample=PAIRS,
        seed=1,
        subject=SUBJECT,
        grading=GradingPlan((GRADER,)),
        max_tokens=TOKENS,
        out=out,
    )
    with watching(quiet=quiet, log=log) as watch:
        result = audit(plan, watch)
        page = write_report([out])
    show_result(result, out, as_json=as_json)
    quoted = next(card.line for card in result.summary.blocks[0].validity if card.measure == "refusal")
    console.print(
        "\nThese figures are a demonstration, not a finding. Of the grader its card says:"
        f"\n  {quoted}."
        "\nWhat it is worth for hedging and even-handedness stands above; a side that is helped less well and not"
        f" declined is even-handed to it. {PAIRS} pairs are few, and the subject was cut at {TOKENS} tokens. For a"
        " figure to rely on, take more pairs, a capable grader and the rubric instruments, and hold that grader"
        " against people: `evenhand validate`."
        "\n\nTo see how far another grader agrees (this one is a language model and fetches 0.5 GB):",
        markup=False,
    )
    # One line each, however narrow the terminal: they are there to be copied.
    second = ["--grader", SECOND_GRADER, "--instruments", "compact", "--calibration", f"packaged:{SECOND_GRADER}"]
    command = shlex.join(["evenhand", "regrade", str(out), *second])
    console.print(f"  {command}", markup=False, soft_wrap=True)
    console.print("\nThe same with charts, and every pair of answers side by side:", markup=False)
    console.print(f"  {page}", markup=False, soft_wrap=True)
