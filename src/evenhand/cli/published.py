"""``evenhand published``."""

from pathlib import Path

import click

from evenhand.cli.json_output import json_option, print_json
from evenhand.cli.options import from_option
from evenhand.cli.watching import watching, watching_options
from evenhand.studies.published import CITE, COMMIT, LICENCE, REPOSITORY, fetch_published


@click.group("published")
def published_command() -> None:
    """The publication's own paired prompts and grader prompts."""


@published_command.command("fetch")
@from_option
@json_option
@watching_options
def fetch_command(folder: Path | None, as_json: bool, quiet: bool, log: Path | None) -> None:
    """Bring eval_set.csv and prompts.py into the cache and check their SHA-256.

    After it `--pairs published` and `--instruments published` work. The files come from the publication's
    repository at one commit; their licence is CC BY 4.0 and their authors are to be cited.
    """
    click.echo(f"{REPOSITORY} at {COMMIT}, licence {LICENCE}.\n{CITE}", err=True)
    with watching(quiet=quiet, log=log) as watch:
        files = fetch_published(folder, watch)
    if as_json:
        print_json({"files": {file.name: str(file.path) for file in files}, "licence": LICENCE, "cite": CITE})
        return
    for file in files:
        click.echo(str(file.path))
