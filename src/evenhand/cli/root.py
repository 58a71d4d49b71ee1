"""The command ``evenhand`` and how it ends."""

import errno
import importlib
import sys
from collections.abc import Mapping

import click
from click.shell_completion import CompletionItem

import evenhand
from evenhand.cli.interrupts import INTERRUPTED, interrupts_drain
from evenhand.errors import EvenhandError, StoppedError

COMMANDS: Mapping[str, str] = {
    "audit": "Does a model treat opposing sides alike?",
    "batch": "A run by way of a provider's batch files, at half the price.",
    "compare": "Are two subjects, or two system prompts, different?",
    "demo": "Audit a small model with the best grader that comes along, on this machine alone.",
    "effects": "Which questions tell the chosen output from the rejected one?",
    "fit": "Which questions, with which weights, predict the preference?",
    "fit-grader": "Fit a grader of MEASURE to labels; it needs a model only where --questions names one.",
    "gold": "Labelled data that graders are validated on: list the sets that have a name, bring the public ones here.",
    "inspect-data": "What is in preference data, and what is wrong with them?",
    "instruments": "What graders are asked.",
    "label": "Draw a random part of RUN for people to label.",
    "models": "The embedded models: list them, fetch their weights, tell where they are.",
    "published": "The publication's own paired prompts and grader prompts.",
    "questions": "What is asked about outputs: list the built-in questions, show a set, let a model suggest new ones.",
    "rate": "To what extent does each question hold of the chosen and of the rejected output?",
    "regrade": "Put the responses of RUN to other graders, or to the same with other instruments.",
    "report": "Make one page of RUN: figures, charts, every pair to be read, and how to repeat it.",
    "score": "Score new outputs with the scoring spec of `evenhand fit`.",
    "summarize": "Work the figures of RUN out anew, with another threshold or another statistic; no model is called.",
    "validate": "How does a grader agree with people?",
    "verify": "Does the summary of RUN follow from its ledger?",
}
"""What each command is for. One that is called ``fit-grader`` is ``fit_grader_command`` in ``cli/fit_grader.py``, which
is loaded when it is called: help and completion need this table alone."""


class _LoadedWhenCalled(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        name = cmd_name.replace("-", "_")
        command: click.Command = getattr(importlib.import_module(f"evenhand.cli.{name}"), f"{name}_command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        limit = formatter.width - 6 - max(map(len, COMMANDS))
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, click.Command(name, help=text).get_short_help_str(limit)) for name, text in _sorted_commands()]
            )

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        names = [CompletionItem(name, help=text) for name, text in _sorted_commands() if name.startswith(incomplete)]
        return names + click.Command.shell_complete(self, ctx, incomplete)


def _sorted_commands() -> list[tuple[str, str]]:
    return sorted(COMMANDS.items())


@click.group(cls=_LoadedWhenCalled, context_settings={"max_content_width": 100})
@click.version_option(evenhand.__version__, prog_name="evenhand")
def evenhand_command() -> None:
    """Measure whether a language model treats opposing sides alike, and what preference data reward.

    Every figure comes with its interval, with what could not be read, and with a record from which somebody
    else can repeat it.
    """


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; an error that is meant for the user ends it with one message and exit code 1."""
    try:
        with interrupts_drain():
            code = evenhand_command.main(arguments, prog_name="evenhand", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, click.Abort, StoppedError):
        _say("Stopped. Every reply that came back is kept; the same command goes on from here.")
        sys.exit(INTERRUPTED)
    except EvenhandError as error:
        _say(f"Error: {error}", style="bold red")
        sys.exit(1)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EIO):
            raise
        # What was being written is not ours to name: often it is what the output was sent to.
        _say(f"Error: {error.strerror}. The way out: make room; what a model answered is kept.", style="bold red")
        sys.exit(1)
    sys.exit(code if isinstance(code, int) else 0)


def _say(text: str, style: str | None = None) -> None:
    from evenhand.cli.terminal import terminal  # noqa: PLC0415  (help and completion go without)

    terminal(stderr=True, soft_wrap=True).print(text, style=style, markup=False)
