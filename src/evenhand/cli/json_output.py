"""``--json``: one JSON value on standard output, and nothing else there."""

import json
import re
from typing import Any

import click

_OBEYED = re.compile("[\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Controls that JSON would leave as they are, and marks that turn the direction of a line."""

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
"""The option, for commands with nothing to add to its help."""


def print_json(value: Any) -> None:  # noqa: ANN401
    """Print plain values as JSON with sorted keys."""
    click.echo(json_text(value, indent=2))


def json_text(value: Any, indent: int | None = None) -> str:  # noqa: ANN401
    r"""Return plain values as JSON with sorted keys and nothing that a terminal would obey; it reads back the same.

    >>> json_text({"a": "\x9b31m"})
    '{"a": "\\u009b31m"}'
    """
    text = json.dumps(value, indent=indent, sort_keys=True, ensure_ascii=False)
    return _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
