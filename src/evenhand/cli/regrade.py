"""``evenhand regrade``."""

from pathlib import Path
from typing import Any

import click

from evenhand.cli.audit_output import end, show_forecast, show_result
from evenhand.cli.options import analysis_of, analysis_options, cost_options, gate_option, grading_of, grading_options
from evenhand.cli.watching import watching, watching_options
from evenhand.studies.gate import read_gates
from evenhand.studies.regrade import RegradePlan, forecast_regrade, regrade


@click.command("regrade")
@click.argument("run", type=click.Path(path_type=Path))
@grading_options
@analysis_options
@cost_options
@gate_option
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON instead of tables.")
@watching_options
def regrade_command(as_json: bool, quiet: bool, log: Path | None, **options: Any) -> None:  # noqa: ANN401
    """Put the responses of RUN to other graders, or to the same with other instruments.

    The subject is not asked again. What other graders found stays; with several, RUN's figures tell how far they
    agree.
    """
    gates, dry_run = read_gates(options.pop("gates")), options.pop("dry_run")
    grading, analysis = grading_of(options), analysis_of(options)
    plan = RegradePlan(grading=grading, analysis=analysis, **options)
    with watching(quiet=quiet, log=log) as watch:
        if dry_run:
            show_forecast([forecast_regrade(plan, watch)], as_json=as_json)
            return
        result = regrade(plan, watch)
    show_result(result, plan.run, as_json=as_json)
    end(gates, [result.summary])
