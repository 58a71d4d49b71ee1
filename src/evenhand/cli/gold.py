"""``evenhand gold``."""

from pathlib import Path

import click

from evenhand.cli.watching import watching, watching_options
from evenhand.pairs.gold import PUBLIC_SETS
from evenhand.studies.gold import fetch_gold, gold_entries


@click.group("gold")
def gold_command() -> None:
    """Labelled data that graders are validated on: list the sets that have a name, bring the public ones here."""


@gold_command.command("list")
def list_command() -> None:
    """List the gold sets by name, with licence and source, and say which can be read now."""
    for entry in gold_entries():
        click.echo(f"{entry.name:<12} {'at hand' if entry.at_hand else 'not fetched':<12} {entry.title}")
        click.echo(f"{'':<25} {entry.licence}, {entry.source}")


@gold_command.command("fetch")
@click.argument("name", metavar="NAME")
@click.option(
    "--from",
    "folder",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Take the files from a folder instead of the network.",
)
@watching_options
def fetch_command(name: str, folder: Path | None, quiet: bool, log: Path | None) -> None:
    """Bring the files of the gold set NAME into the cache and check their SHA-256.

    They come from the repository of their authors at one commit, under the authors' licence, and the authors are to
    be cited. FOLDER may hold the files themselves, or be a checkout of that repository.
    """
    if name in PUBLIC_SETS:
        known = PUBLIC_SETS[name]
        click.echo(f"{known.source}, licence {known.licence}.\nCite: {known.cite}.", err=True)
    with watching(quiet=quiet, log=log) as watch:
        paths = fetch_gold(name, folder, watch)
    for path in paths:
        click.echo(str(path))
