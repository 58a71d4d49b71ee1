"""The command ``evenhand`` and how it ends."""

import sys

import click
from rich.console import Console

import evenhand
from evenhand.cli.audit import audit_command
from evenhand.cli.compare import compare_command
from evenhand.cli.demo import demo_command
from evenhand.cli.effects import effects_command
from evenhand.cli.fit import fit_command
from evenhand.cli.fit_grader import fit_grader_command
from evenhand.cli.gold import gold_command
from evenhand.cli.inspect_data import inspect_data_command
from evenhand.cli.instruments import instruments_command
from evenhand.cli.interrupts import INTERRUPTED, interrupts_drain
from evenhand.cli.label import label_command
from evenhand.cli.models import models_command
from evenhand.cli.published import published_command
from evenhand.cli.questions import questions_command
from evenhand.cli.rate import rate_command
from evenhand.cli.regrade import regrade_command
from evenhand.cli.score import score_command
from evenhand.cli.summarize import summarize_command
from evenhand.cli.validate import validate_command
from evenhand.cli.verify import verify_command
from evenhand.errors import EvenhandError
from evenhand.execution import StoppedError


@click.group(context_settings={"max_content_width": 100})
@click.version_option(evenhand.__version__, prog_name="evenhand")
def evenhand_command() -> None:
    """Measure whether a language model treats opposing sides alike, and what preference data reward.

    Every figure comes with its interval, with what could not be read, and with a record from which somebody
    else can repeat it.
    """


for _command in (
    audit_command,
    compare_command,
    demo_command,
    effects_command,
    fit_command,
    fit_grader_command,
    gold_command,
    inspect_data_command,
    instruments_command,
    label_command,
    models_command,
    published_command,
    questions_command,
    rate_command,
    regrade_command,
    score_command,
    summarize_command,
    validate_command,
    verify_command,
):
    evenhand_command.add_command(_command)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; an error that is meant for the user ends it with one message and exit code 1."""
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    try:
        with interrupts_drain():
            code = evenhand_command.main(arguments, prog_name="evenhand", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, click.Abort, StoppedError):
        console.print("Stopped. Every reply that came back is kept; the same command goes on from here.")
        sys.exit(INTERRUPTED)
    except EvenhandError as error:
        console.print(f"Error: {error}", style="bold red", markup=False)
        sys.exit(1)
    sys.exit(code if isinstance(code, int) else 0)
