"""Write docs/cli.md from the commands' own help, so that the page cannot drift from the program."""

from collections.abc import Iterator
from pathlib import Path

import click

from evenhand.cli.root import evenhand_command

PAGE = Path(__file__).with_name("cli.md")
_INTRODUCTION = """# The command line

Made from the commands' own `--help` by `make docs`; a test holds the two together.
"""


def page() -> str:
    """Return the page as it should be."""
    return _INTRODUCTION + "".join(_sections(evenhand_command, "evenhand"))


def _sections(command: click.Command, name: str, parent: click.Context | None = None) -> Iterator[str]:
    context = click.Context(
        command, info_name=name, parent=parent, **{**command.context_settings, "terminal_width": 100}
    )
    yield f"\n## {context.command_path}\n\n```text\n{command.get_help(context).rstrip()}\n```\n"
    if isinstance(command, click.Group):
        for sub in command.list_commands(context):
            found = command.get_command(context, sub)
            if found:
                yield from _sections(found, sub, context)


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
