"""``evenhand audit``."""

import json
from pathlib import Path

import click
from rich.console import Console

from evenhand.cli.watching import watching, watching_options
from evenhand.report import audit_table
from evenhand.studies.audit import AuditPlan, AuditResult, audit


@click.command("audit")
@click.option("--pairs", required=True, metavar="SET", help="builtin:us, published, or the path of a CSV file.")
@click.option("--sample", type=int, metavar="N", help="Audit N pairs, stratified over topics (default: all).")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the sample, the subject and the intervals.")
@click.option("--subject", required=True, metavar="MODEL", help="The model under audit; see `evenhand models list`.")
@click.option(
    "--grader",
    "graders",
    required=True,
    multiple=True,
    metavar="MODEL",
    help="The model that judges; repeat for more.",
)
@click.option(
    "--instruments",
    default="rubric",
    show_default=True,
    metavar="SET",
    help="rubric (capable graders), compact (small ones), published, or the path of a prompt file.",
)
@click.option(
    "--system-prompt",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A system prompt for the subject.",
)
@click.option("--max-tokens", type=int, default=512, show_default=True, help="Longest response, in tokens.")
@click.option("--temperature", type=float, default=0.0, show_default=True, help="Of the subject's sampling.")
@click.option(
    "--reading",
    default="probabilities",
    show_default=True,
    metavar="MODE",
    help="How graders are read: probabilities, text (the written verdict), or samples:N.",
)
@click.option(
    "--threshold",
    type=float,
    default=0.5,
    show_default=True,
    help="Probability above which a unit counts in a rate.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    metavar="FOLDER",
    help="The run folder; the same command over it goes on and repeats no call.",
)
@click.option("--json", "as_json", is_flag=True, help="Print summary.json instead of the table.")
@watching_options
def audit_command(as_json: bool, quiet: bool, log: Path | None, **options: object) -> None:
    """Does a model treat opposing sides alike?

    Puts paired prompts to SUBJECT, its responses to every GRADER, and shows even-handedness, refusal and
    hedging by side, the four cells help/decline and the direction, with intervals. The run folder gets
    ledger.sqlite (every reply), responses.parquet, judgments.parquet, summary.json and record.json.

    \b
    Example:
      evenhand audit --pairs builtin:us --sample 24 --subject smollm2-135m \\
        --grader qwen2.5-coder-0.5b --instruments compact --out runs/first
    """
    plan = AuditPlan(**options)  # type: ignore[arg-type]
    with watching(quiet=quiet, log=log) as watch:
        result = audit(plan, watch)
    if as_json:
        click.echo(json.dumps(result.summary.as_json(), indent=2, sort_keys=True, ensure_ascii=False))
    else:
        show_audit(result, plan.out)


def show_audit(result: AuditResult, out: Path) -> None:
    """Print the table of an audit, and where the rest is."""
    console = Console(highlight=False)
    console.print(audit_table(result.summary))
    console.print(
        f"{result.calls} calls of models; {result.replies - result.calls} replies were in the ledger."
        f" All of it is in {out}.",
        markup=False,
        style="dim",
    )
