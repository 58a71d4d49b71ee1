"""``evenhand gold``."""

from dataclasses import asdict
from pathlib import Path

import click
from rich.table import Table
from rich.text import Text

from evenhand.cli.completion import gold_names
from evenhand.cli.json_output import json_option, print_json
from evenhand.cli.options import from_option
from evenhand.cli.terminal import terminal
from evenhand.cli.watching import watching, watching_options
from evenhand.pairs.gold import PUBLIC_SETS
from evenhand.studies.gold import fetch_gold, gold_entries


@click.group("gold")
def gold_command() -> None:
    """Labelled data that graders are validated on: list the sets that have a name, bring the public ones here."""


@gold_command.command("list")
@json_option
def list_command(as_json: bool) -> None:
    """List the gold sets by name: what each is for, its licence and source, and which can be read now."""
    if as_json:
        print_json([asdict(entry) for entry in gold_entries()])
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("name", no_wrap=True)
    table.add_column("here", no_wrap=True)
    table.add_column("what it is", overflow="fold")
    for entry in gold_entries():
        here = "at hand" if entry.at_hand else "not fetched"
        use = f"{', '.join(entry.measures)}: {entry.use}"
        table.add_row(entry.name, here, Text("\n".join((entry.title, use, f"{entry.licence}, {entry.source}"))))
    terminal().print(table)


@gold_command.command("fetch")
@click.argument("name", metavar="NAME", shell_complete=gold_names)
@from_option
@json_option
@watching_options
def fetch_command(name: str, folder: Path | None, as_json: bool, quiet: bool, log: Path | None) -> None:
    """Bring the files of the gold set NAME into the cache and check their SHA-256.

    They come from the repository of their authors at one commit, under the authors' licence, and the authors are to
    be cited. FOLDER may hold the files themselves, or be a checkout of that repository.
    """
    known = PUBLIC_SETS.get(name.partition("-")[0])
    if known is not None:
        click.echo(f"{known.source}, licence {known.licence}.\nCite: {known.cite}.", err=True)
    with watching(quiet=quiet, log=log) as watch:
        paths = fetch_gold(name, folder, watch)
    if as_json:
        print_json({"name": name, "files": [str(path) for path in paths]})
        return
    for path in paths:
        click.echo(str(path))
