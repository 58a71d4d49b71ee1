"""What the commands about audits print, and how they end."""

import sys
from collections.abc import Sequence
from pathlib import Path

from evenhand.cli.json_output import print_json
from evenhand.cli.terminal import terminal
from evenhand.errors import EvenhandError
from evenhand.execution.forecast import Forecast
from evenhand.report import AuditSummary, audit_table
from evenhand.report.compare_summary import Comparison
from evenhand.report.compare_table import comparison_table
from evenhand.report.corrected_summary import CorrectedSummary
from evenhand.report.corrected_table import corrected_table
from evenhand.report.forecast_table import forecast_json, forecast_table
from evenhand.studies.audit import AuditResult
from evenhand.studies.gate import Gate, tripped

GATE_CLOSED = 3
"""The exit code where a condition of ``--fail-if`` holds."""


def show_result(result: AuditResult, out: Path, *, as_json: bool = False) -> None:
    """Print the figures of an audit, and where the rest is."""
    show_summary(result.summary, as_json=as_json)
    if not as_json:
        terminal().print(
            f"{result.calls} calls of models; {result.found} replies were in the ledger. All of it is in {out}.",
            markup=False,
            style="dim",
        )


def show_summary(summary: AuditSummary, *, as_json: bool = False) -> None:
    """Print the figures of an audit."""
    if as_json:
        print_json(summary.as_json())
    else:
        terminal().print(audit_table(summary))


def show_corrected(summary: AuditSummary, corrected: CorrectedSummary, *, as_json: bool = False) -> None:
    """Print the figures of an audit, and what people's labels make of them."""
    if as_json:
        print_json({"summary": summary.as_json(), "corrected": corrected.as_json()})
        return
    show_summary(summary)
    terminal().print(corrected_table(corrected))


def show_comparison(comparison: Comparison, out: Path, *, as_json: bool = False) -> None:
    """Print what a comparison found."""
    if as_json:
        print_json(comparison.as_json())
        return
    console = terminal()
    console.print(comparison_table(comparison))
    console.print(f"Each configuration has a run folder in {out}.", markup=False, style="dim")


def show_forecast(forecasts: Sequence[Forecast], *, as_json: bool = False) -> None:
    """Print what runs would take, all together."""
    forecast = Forecast(tuple(stage for one in forecasts for stage in one.stages))
    if as_json:
        print_json(forecast_json(forecast))
    else:
        terminal().print(forecast_table(forecast))


def end(gates: Sequence[Gate], summaries: Sequence[AuditSummary]) -> None:
    """End the command with code 3 where a gate's condition holds of a summary, saying the figure and its interval.

    Raises:
        EvenhandError: nothing at all could be measured of one of them.
    """
    for summary in summaries:
        if not any(figure.mean.n for block in summary.blocks for figure in block.figures):
            raise EvenhandError(
                f"nothing could be measured of {summary.configuration}. The way out: see why in the column reason of"
                " responses.parquet and judgments.parquet, and give the same command again"
            )
    messages = [message for summary in summaries for message in tripped(gates, summary)]
    if messages:
        console = terminal(stderr=True, soft_wrap=True)
        for message in messages:
            console.print(message, style="bold red", markup=False)
        sys.exit(GATE_CLOSED)
