"""``evenhand instruments``."""

import click

from evenhand.instruments import BUILTIN_INSTRUMENT_SETS
from evenhand.studies.inputs import load_instruments


@click.group("instruments")
def instruments_command() -> None:
    """What graders are asked."""


@instruments_command.command("list")
def list_command() -> None:
    """List the built-in sets with the measures they give and the version of each."""
    for name in BUILTIN_INSTRUMENT_SETS:
        click.echo(name)
        for measure, version in load_instruments(name)[0].versions.items():
            click.echo(f"  {measure:<16} {version[:12]}")


@instruments_command.command("show")
@click.argument("name")
@click.argument("measure")
def show_command(name: str, measure: str) -> None:
    """Print the prompt of MEASURE in the set NAME (or in a prompt file) to the letter."""
    found, _ = load_instruments(name)
    texts = {instrument.name: instrument.text for instrument in found.instruments}
    if measure not in texts:
        raise click.BadParameter(f"{name} asks: {', '.join(texts)}", param_hint="MEASURE")
    click.echo(texts[measure], nl=False)
