"""``evenhand verify``."""

import sys
from pathlib import Path

import click
from rich.table import Table

from evenhand.cli.json_output import print_json
from evenhand.cli.terminal import terminal
from evenhand.studies.verify import verify


@click.command("verify")
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the checks as JSON.")
def verify_command(run: Path, as_json: bool) -> None:
    """Does the summary of RUN follow from its ledger?

    Works everything between the two out anew, calling no model, and compares it with what lies in the folder:
    pairs, instruments, system prompt, responses, judgments, figures. The exit code is 1 where anything differs.
    """
    found = verify(run)
    if as_json:
        print_json(found.as_json())
    else:
        console = terminal()
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
        for check in found.checks:
            table.add_row("matches" if check.holds else "DIFFERS", check.name, check.detail)
        console.print(table)
        verdict = "follows from its ledger" if found.holds else "does not follow from its ledger"
        console.print(f"{run} {verdict} (written by Evenhand {found.written_by}).", markup=False)
    sys.exit(0 if found.holds else 1)
