"""``evenhand instruments``."""

import click

from evenhand.cli.completion import instrument_sets
from evenhand.cli.json_output import json_option, print_json
from evenhand.instruments import BUILTIN_INSTRUMENT_SETS
from evenhand.studies.inputs import load_instruments


@click.group("instruments")
def instruments_command() -> None:
    """What graders are asked."""


@instruments_command.command("list")
@json_option
def list_command(as_json: bool) -> None:
    """List the built-in sets with the measures they give and the version of each."""
    if as_json:
        print_json({name: load_instruments(name)[0].versions for name in BUILTIN_INSTRUMENT_SETS})
        return
    for name in BUILTIN_INSTRUMENT_SETS:
        click.echo(name)
        for measure, version in load_instruments(name)[0].versions.items():
            click.echo(f"  {measure:<16} {version[:12]}")


@instruments_command.command("show")
@click.argument("name", shell_complete=instrument_sets)
@click.argument("measure")
@json_option
def show_command(name: str, measure: str, as_json: bool) -> None:
    """Print the prompt of MEASURE in the set NAME (or in a prompt file) to the letter."""
    found, _ = load_instruments(name)
    texts = {instrument.name: instrument.text for instrument in found.instruments}
    if measure not in texts:
        raise click.BadParameter(f"{name} asks: {', '.join(texts)}", param_hint="MEASURE")
    if as_json:
        print_json({"set": found.name, "measure": measure, "version": found.versions[measure], "text": texts[measure]})
    else:
        click.echo(texts[measure], nl=False)
