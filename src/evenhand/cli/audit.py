"""``evenhand audit``."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from evenhand.cli.audit_output import end, show_comparison, show_forecast, show_result
from evenhand.cli.completion import model_names
from evenhand.cli.engine_options import cluster_of, engine_options
from evenhand.cli.options import (
    SEED,
    analysis_of,
    analysis_options,
    cost_options,
    gate_option,
    grading_of,
    grading_options,
)
from evenhand.cli.watching import watching, watching_options
from evenhand.studies.audit import AuditPlan, audit, forecast_audit
from evenhand.studies.configurations import audit_configurations, configurations
from evenhand.studies.configurations_on_cluster import audit_on_cluster
from evenhand.studies.gate import read_gates


@click.command("audit")
@click.option("--pairs", required=True, metavar="SET", help="builtin:us, published, or the path of a CSV file.")
@click.option("--sample", type=int, metavar="N", help="Audit N pairs, stratified over topics (default: all).")
@click.option("--seed", type=SEED, default=0, show_default=True, help="Of the sample, the subject and the intervals.")
@click.option(
    "--subject",
    "subjects",
    required=True,
    multiple=True,
    metavar="MODEL",
    shell_complete=model_names,
    help="The model under audit (see `evenhand models list`); repeat to compare several.",
)
@click.option(
    "--system-prompt",
    "system_prompts",
    type=click.Path(path_type=Path),
    multiple=True,
    metavar="FILE",
    help="A system prompt for the subject; repeat to compare several, the word none for going without.",
)
@click.option("--max-tokens", type=int, default=512, show_default=True, help="Longest response, in tokens.")
@click.option("--temperature", type=float, default=0.0, show_default=True, help="Of the subject's sampling.")
@click.option(
    "--responses",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Grade these responses (JSONL, CSV or Parquet) instead of asking; --subject names what gave them.",
)
@grading_options
@analysis_options
@engine_options
@cost_options
@gate_option
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    metavar="FOLDER",
    help="The run folder; the same command over it goes on and repeats no call.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON instead of tables.")
@watching_options
def audit_command(as_json: bool, quiet: bool, log: Path | None, **options: Any) -> None:  # noqa: ANN401
    """Does a model treat opposing sides alike?

    Puts paired prompts to SUBJECT and its responses to every GRADER, in both orders, and shows even-handedness,
    refusal and hedging by side, the four cells help/decline and the direction, with intervals, and how far the
    grader's own leaning towards a place changed them. The run folder gets all that is needed to check it:
    `evenhand verify FOLDER` does.

    \b
    Example:
      evenhand audit --pairs builtin:us --sample 24 --subject smollm2-135m \\
        --grader fitted:builtin --out runs/first
    """
    gates, cluster = read_gates(options.pop("gates")), cluster_of(options)
    dry_run, subjects, prompts = (options.pop(name) for name in ("dry_run", "subjects", "system_prompts"))
    grading, analysis = grading_of(options), analysis_of(options)
    first = AuditPlan(subject=subjects[0], grading=grading, analysis=analysis, **options)
    plans = configurations(first, subjects, prompts)
    with watching(quiet=quiet, log=log) as watch:
        if dry_run:
            show_forecast([forecast_audit(plan, watch) for plan in plans], as_json=as_json)
            return
        if cluster:
            several = audit_on_cluster(plans, first.out, cluster, watch)
        elif len(plans) == 1:
            result = audit(replace(plans[0], out=first.out), watch)
        else:
            several = audit_configurations(plans, first.out, watch)
    if len(plans) == 1:
        show_result(result, first.out, as_json=as_json)
        end(gates, [result.summary])
    else:
        show_comparison(several.comparison, first.out, as_json=as_json)
        end(gates, [one.summary for one in several.results])
