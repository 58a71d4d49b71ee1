"""``evenhand inspect-data``."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from evenhand.cli.json_output import print_json
from evenhand.cli.options import SEED
from evenhand.cli.terminal import terminal
from evenhand.pairs.preference_audit import DEFAULT_MAX_CHARACTERS
from evenhand.pairs.preferences import FORMATS, Columns
from evenhand.report.data_audit_table import data_audit_table
from evenhand.studies.inspect_data import inspect_data

_Function = TypeVar("_Function", bound=Callable[..., Any])

_OPTIONS = (
    click.option("--format", metavar="NAME", help=f"{', '.join(FORMATS)} (default: told from the columns)."),
    click.option("--input", "input_column", metavar="COLUMN", help="Column of the input, in any other format."),
    click.option("--a", "a_column", metavar="COLUMN", help="Column of the first output."),
    click.option("--b", "b_column", metavar="COLUMN", help="Column of the second output."),
    click.option("--preference", "preference_column", metavar="COLUMN", help="Column that says which one is better."),
    click.option("--values", metavar="MEANING", help="What --preference holds: a=0,b=1,tie=2, or signed."),
    click.option("--chosen", "chosen_column", metavar="COLUMN", help="Column of the chosen output."),
    click.option("--rejected", "rejected_column", metavar="COLUMN", help="Column of the rejected output."),
    click.option("--strength", "strength_column", metavar="COLUMN", help="Column that says how strong it is."),
)


def reading_options(command: _Function) -> _Function:
    """Give a command the options that say how preference pairs are read; ``columns_of_options`` takes them up."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def columns_of_options(options: dict[str, Any]) -> Columns:
    """Take the column options out of a command's options."""
    names = ("input", "a", "b", "preference", "chosen", "rejected", "strength")
    return Columns(**{name: options.pop(f"{name}_column") for name in names}, values=options.pop("values"))


@click.command("inspect-data")
@click.argument("file")
@reading_options
@click.option(
    "--max-characters",
    type=int,
    default=DEFAULT_MAX_CHARACTERS,
    show_default=True,
    metavar="N",
    help="A pair with more, input and outputs together, is over-long.",
)
@click.option("--seed", type=SEED, default=0, show_default=True, help="Of the interval.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of the table.")
def inspect_data_command(file: str, as_json: bool, **options: Any) -> None:  # noqa: ANN401 - what click hands over
    """What is in preference data, and what is wrong with them?

    FILE is JSON lines, JSON, CSV or Parquet, each also gzipped, or hf:OWNER/NAME. Calls no model and writes
    nothing. Counts what can spoil a measurement, with the first rows of each kind, and says how well length
    alone predicts the preference.

    \b
    Example:
      evenhand inspect-data pairs.jsonl
      evenhand inspect-data votes.csv --input prompt --a left --b right --preference winner
    """
    columns = columns_of_options(options)
    audit = inspect_data(file, columns=columns, **options)
    if as_json:
        print_json(audit.as_json())
    else:
        terminal().print(data_audit_table(audit))
