"""``evenhand rate``."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from evenhand.cli.audit_output import show_forecast
from evenhand.cli.completion import model_names, question_sets, rating_instruments
from evenhand.cli.engine_options import cluster_of, engine_options
from evenhand.cli.inspect_data import columns_of_options, reading_options
from evenhand.cli.json_output import json_option, print_json
from evenhand.cli.options import SEED, cost_options
from evenhand.cli.terminal import terminal
from evenhand.cli.watching import watching, watching_options
from evenhand.report.figure_texts import count
from evenhand.studies.rate import RatePlan, forecast_rate, rate
from evenhand.studies.rate.cluster import rate_on_cluster


@click.command("rate")
@click.argument("pairs")
@click.option(
    "--questions",
    default="builtin",
    show_default=True,
    metavar="Q",
    shell_complete=question_sets,
    help="builtin, builtin:TAG,TAG, or the path of a YAML, TOML or text file.",
)
@click.option(
    "--grader",
    "graders",
    required=True,
    multiple=True,
    metavar="MODEL",
    shell_complete=model_names,
    help="The model that rates; repeat for more.",
)
@reading_options
@click.option(
    "--instrument",
    default="rating",
    show_default=True,
    metavar="NAME",
    shell_complete=rating_instruments,
    help="rating (capable graders), compact (small ones), or the path of a prompt file.",
)
@click.option(
    "--protocol",
    type=click.Choice(["blind", "labelled", "single"]),
    default="blind",
    show_default=True,
    help="Neutral names in both orders, CHOSEN and REJECTED as published, or one output a call.",
)
@click.option("--sample", type=int, metavar="N", help="Rate N pairs (default: all).")
@click.option(
    "--leak-sample",
    type=int,
    default=25,
    show_default=True,
    metavar="N",
    help="Pairs that are also rated labelled and with exchanged labels, to measure the leak; 0 for none.",
)
@click.option("--seed", type=SEED, default=0, show_default=True, help="Of the samples.")
@click.option(
    "--reading",
    default="probabilities",
    show_default=True,
    metavar="MODE",
    help="probabilities, text (the number as written), or samples:N.",
)
@click.option("--reasons", is_flag=True, help="Let the grader write its sentence of reason after the ratings.")
@click.option("--out", type=click.Path(path_type=Path), required=True, metavar="FOLDER", help="The run folder.")
@engine_options
@cost_options
@json_option
@watching_options
def rate_command(dry_run: bool, as_json: bool, quiet: bool, log: Path | None, **options: Any) -> None:  # noqa: ANN401  (what click hands over)
    """To what extent does each question hold of the chosen and of the rejected output?

    Rates both outputs of every pair in PAIRS on every question from 0 to 10. The run folder gets ledger.sqlite
    (every reply), pairs.parquet, ratings.parquet, questions.json and record.json; then `evenhand effects FOLDER`
    says which questions tell chosen from rejected, and `evenhand fit FOLDER` makes a scoring spec of them.
    """
    columns, cluster = columns_of_options(options), cluster_of(options)
    plan = RatePlan(columns=columns, cluster=cluster, **options)
    with watching(quiet=quiet, log=log) as watch:
        if dry_run:
            show_forecast([forecast_rate(plan, watch)], as_json=as_json)
            return
        result = rate_on_cluster(plan, watch) if cluster else rate(plan, watch)
    if as_json:
        print_json(asdict(result) | {"out": str(plan.out), "graders": list(plan.graders)})
        return
    console = terminal()
    parts = ((result.pairs, "pair"), (result.questions, "question"), (len(plan.graders), "grader"))
    console.print(", ".join(count(*part) for part in parts), markup=False)
    for protocol, states in result.states.items():
        counts = ", ".join(f"{count:,} {state}" for state, count in sorted(states.items(), key=lambda item: -item[1]))
        console.print(f"{protocol}: {counts}", markup=False)
    console.print(
        f"{result.calls} calls of models; {result.found} replies were in the ledger.\n"
        f"Next: evenhand effects {plan.out}",
        markup=False,
    )
