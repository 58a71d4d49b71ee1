"""``--json``: one JSON value on standard output, and nothing else there."""

import json
from typing import Any

import click

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
"""The option, for commands with nothing to add to its help."""


def print_json(value: Any) -> None:  # noqa: ANN401
    """Print plain values as JSON with sorted keys."""
    click.echo(json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False))
