"""``evenhand batch``."""

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from evenhand.cli.audit import audit_command
from evenhand.cli.batch_output import show_cancelled, show_collected, show_status, show_submitted, show_written
from evenhand.cli.figures import printable
from evenhand.cli.inspect_data import columns_of_options
from evenhand.cli.json_output import json_option
from evenhand.cli.options import analysis_of, grading_of, models_option
from evenhand.cli.rate import rate_command
from evenhand.cli.watching import watching, watching_options
from evenhand.errors import InputError
from evenhand.execution.batch import BatchLimits
from evenhand.studies.audit import AuditPlan
from evenhand.studies.audit.run import stages_of_audit
from evenhand.studies.batch import Submitted, WriteOptions, Written, cancel, collect, status, submit, write
from evenhand.studies.batch.folders import runs_with_batches
from evenhand.studies.configurations import configurations
from evenhand.studies.rate import RatePlan
from evenhand.studies.rate.run import stages_of_rate

_LEFT_OUT = frozenset({"gates", "engine", "ray_address", "ray_workers", "ray_gpus"})
"""Options that have no meaning where requests are only written."""
_FOLDER = click.argument("folder", type=click.Path(path_type=Path))


def _like(command: click.Command) -> Callable[[click.Command], click.Command]:
    """Give a command the arguments and options of another, so that the two can't drift apart."""

    def decorate(written: click.Command) -> click.Command:
        written.params[:0] = [each for each in command.params if each.name not in _LEFT_OUT]
        return written

    return decorate


def _writing_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--retry-refused", is_flag=True, help="Write requests, too, that the provider has refused."),
        click.option(
            "--anew", is_flag=True, help="Drop the files that were written before and not submitted, and begin again."
        ),
        click.option(
            "--max-megabytes", type=float, default=200.0, show_default=True, metavar="MB", help="Of a batch file."
        ),
        click.option(
            "--max-requests", type=int, default=50_000, show_default=True, metavar="N", help="In a batch file."
        ),
    ):
        command = option(command)
    return command


@click.group("batch")
def batch_command() -> None:
    """A run by way of a provider's batch files, at half the price.

    \b
    evenhand batch write rate PAIRS ... --out FOLDER   the requests without a reply, into files
    evenhand batch submit FOLDER                       the files to the provider
    evenhand batch status FOLDER                       how far it is, for up to 24 hours
    evenhand batch cancel FOLDER                       should it not be wanted any more
    evenhand batch collect FOLDER                      the replies into the ledger
    evenhand rate PAIRS ... --out FOLDER               the run itself, which makes no call

    An audit takes two rounds: its graders are asked about the subject's responses. For any endpoint with the
    batch API of OpenAI.
    """


@batch_command.group("write")
def write_command() -> None:
    """Write the requests of a run that its ledger has no reply for to batch files in FOLDER/batches."""


@_like(rate_command)
@write_command.command("rate")
@_writing_options
def write_rate_command(quiet: bool, log: Path | None, as_json: bool, **options: Any) -> None:  # noqa: ANN401  (what click hands over)
    """Write what `evenhand rate` with the same options would ask.

    No model is called. With --dry-run nothing is written; --max-cost is for what one command writes.
    """
    how = _how(options)
    plan = RatePlan(columns=columns_of_options(options), **options)
    with watching(quiet=quiet, log=log) as watch:
        written = write(plan.out, stages_of_rate(plan, watch), how, watch)
    show_written([(plan.out, written)], plan.out, dry_run=how.dry_run, as_json=as_json)


@_like(audit_command)
@write_command.command("audit")
@_writing_options
def write_audit_command(quiet: bool, log: Path | None, as_json: bool, **options: Any) -> None:  # noqa: ANN401  (what click hands over)
    """Write what `evenhand audit` with the same options would ask.

    First the subject; graders once its responses are in the ledger. Models on this machine have no batch API, and
    are asked at once. With --dry-run nothing is asked or written; --max-cost is for what one command writes.
    """
    how = _how(options)
    subjects, prompts = (options.pop(name) for name in ("subjects", "system_prompts"))
    grading, analysis = grading_of(options), analysis_of(options)
    first = AuditPlan(subject=subjects[0], grading=grading, analysis=analysis, **options)
    found: list[tuple[Path, Written]] = []
    with watching(quiet=quiet, log=log) as watch:
        for plan in configurations(first, subjects, prompts):
            written = write(plan.out, stages_of_audit(plan, watch), how, watch)
            found.append((plan.out, written))
            if how.max_cost is not None:
                how = replace(how, max_cost=max(0.0, how.max_cost - (written.forecast.most_cost or 0.0)))
    show_written(found, first.out, dry_run=how.dry_run, as_json=as_json)


@batch_command.command("submit")
@_FOLDER
@click.option("--limit", type=int, metavar="N", help="Submit N files at most (default: all).")
@click.option(
    "--create-again",
    is_flag=True,
    help="Where a submission was cut off: make the batch without asking whether there is one.",
)
@models_option
@json_option
@watching_options
def submit_command(
    folder: Path,
    as_json: bool,
    quiet: bool,
    log: Path | None,
    limit: int | None,
    **options: Any,  # noqa: ANN401
) -> None:
    """Upload the batch files of FOLDER, and have a batch made of each.

    What is submitted already is not submitted again, even where the command was cut off in the middle. The key is
    read from the environment, as for every other command, and written nowhere.
    """
    found: list[tuple[Path, Submitted]] = []
    with watching(quiet=quiet, log=log) as watch:
        for run in runs_with_batches(folder):
            if limit is None or limit > 0 or not found:
                submitted = submit(run, limit=limit, watch=watch, **options)
                limit = None if limit is None else limit - len(submitted.files)
                found.append((run, submitted))
                if submitted.stopped:
                    break
    show_submitted(found, folder, as_json=as_json)
    _end_with([str(submitted.stopped) for _, submitted in found if submitted.stopped])


@batch_command.command("status")
@_FOLDER
@models_option
@json_option
def status_command(folder: Path, models: Path | None, as_json: bool) -> None:
    """Ask the provider how far the batches of FOLDER are. Nothing is changed."""
    found = [(run, status(run, models)) for run in runs_with_batches(folder)]
    show_status(found, folder, as_json=as_json)


@batch_command.command("cancel")
@_FOLDER
@click.option(
    "--file",
    "names",
    multiple=True,
    metavar="FILE",
    help="Cancel the batch of this file alone, as 0002.jsonl (may be repeated; default: all).",
)
@models_option
@json_option
@watching_options
def cancel_command(folder: Path, as_json: bool, quiet: bool, log: Path | None, **options: Any) -> None:  # noqa: ANN401
    """Have the provider end the batches of FOLDER that are under way.

    What was answered until then is paid for; `evenhand batch collect` brings it, and writes the rest into files that
    are sent only when they are submitted. To cancel again changes nothing.
    """
    with watching(quiet=quiet, log=log) as watch:
        found = [(run, cancel(run, watch=watch, **options)) for run in _runs(folder, options["names"], "--file")]
    show_cancelled(found, folder, as_json=as_json)
    _end_with([problem for _, cancelled in found for problem in cancelled.problems])


@batch_command.command("collect")
@_FOLDER
@click.option(
    "--give-up",
    multiple=True,
    metavar="FILE",
    help="Give up the batch of this file, as 0002.jsonl, which can't be had any more; `write` may write it again.",
)
@models_option
@json_option
@watching_options
def collect_command(folder: Path, as_json: bool, quiet: bool, log: Path | None, **options: Any) -> None:  # noqa: ANN401
    """Put the replies of the batches that have ended into the ledger of FOLDER.

    Lines may come in any order; duplicate, unknown and missing ones are counted. Requests that may be answered
    another time are written to new batch files, for the next `evenhand batch submit`; those that were refused are
    noted in the ledger. To collect again changes nothing.
    """
    with watching(quiet=quiet, log=log) as watch:
        found = [(run, collect(run, watch=watch, **options)) for run in _runs(folder, options["give_up"], "--give-up")]
    show_collected(found, folder, as_json=as_json)
    _end_with([problem for _, collected in found for problem in collected.problems])


def _runs(folder: Path, names: tuple[str, ...], option: str) -> list[Path]:
    """Return the run folders; names of files can be given where it is one."""
    runs = runs_with_batches(folder)
    if names and len(runs) > 1:
        raise InputError(
            "can't be told apart: there are several run folders",
            field=option,
            way_out=f"name the one that it is in, such as {runs[0]}",
        )
    return runs


def _how(options: dict[str, Any]) -> WriteOptions:
    """Take what says how files are written out of a command's options."""
    requests, megabytes = options.pop("max_requests"), options.pop("max_megabytes")
    return WriteOptions(
        limits=BatchLimits(requests, int(megabytes * 1_000_000)),
        anew=options.pop("anew"),
        retry_refused=options.pop("retry_refused"),
        dry_run=options.pop("dry_run"),
        max_cost=options.get("max_cost"),
    )


def _end_with(problems: list[str]) -> None:
    for problem in problems:
        click.echo(f"Error: {printable(problem)}", err=True)
    if problems:
        sys.exit(1)
