"""``evenhand models``."""

from pathlib import Path

import click
from rich.table import Table

from evenhand.cli.completion import embedded_names
from evenhand.cli.json_output import json_option, print_json
from evenhand.cli.terminal import terminal
from evenhand.cli.watching import watching, watching_options
from evenhand.errors import InputError
from evenhand.models import EMBEDDED_MODELS, EmbeddedModelEntry, weights_path
from evenhand.models.catalog import is_here


@click.group("models")
def models_command() -> None:
    """The embedded models: list them, fetch their weights, tell where they are."""


@models_command.command("list")
@json_option
def list_command(as_json: bool) -> None:
    """List the embedded models. Any other GGUF file is gguf:PATH."""
    if as_json:
        rows = [
            {
                "name": entry.name,
                "title": entry.title,
                "bytes": entry.bytes,
                "sha256": entry.sha256,
                "licence": entry.licence,
                "good_for": entry.good_for,
                "fetched": is_here(entry),
            }
            for entry in EMBEDDED_MODELS.values()
        ]
        print_json(rows)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for header in ("name", "MB", "licence", "here", "good for"):
        table.add_column(header, justify="right" if header == "MB" else "left", no_wrap=header == "name")
    for entry in EMBEDDED_MODELS.values():
        table.add_row(
            entry.name,
            f"{entry.bytes / 1e6:,.0f}",
            entry.licence,
            "yes" if is_here(entry) else "no",
            entry.good_for,
        )
    terminal().print(table)


@models_command.command("fetch")
@click.argument("name", shell_complete=embedded_names)
@json_option
@watching_options
def fetch_command(name: str, as_json: bool, quiet: bool, log: Path | None) -> None:
    """Fetch the weights of NAME into the cache, from the first source that serves them, and check their hash."""
    with watching(quiet=quiet, log=log) as watch:
        path = weights_path(_entry(name), watch)
    _tell(path, name, as_json=as_json)


@models_command.command("path")
@click.argument("name", shell_complete=embedded_names)
@json_option
def path_command(name: str, as_json: bool) -> None:
    """Print where the weights of NAME are, if they were fetched."""
    entry = _entry(name)
    if not is_here(entry):
        raise InputError(f"{name} was not fetched", way_out=f"run `evenhand models fetch {name}`")
    _tell(weights_path(entry), name, as_json=as_json)


def _tell(path: Path, name: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"name": name, "path": str(path), "sha256": _entry(name).sha256})
    else:
        click.echo(str(path))


def _entry(name: str) -> EmbeddedModelEntry:
    if name not in EMBEDDED_MODELS:
        raise InputError(f"there is no embedded model {name!r}", way_out=f"use {', '.join(EMBEDDED_MODELS)}")
    return EMBEDDED_MODELS[name]
