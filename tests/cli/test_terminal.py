"""Manners at the terminal: 80 columns are enough, colour is for terminals, and NO_COLOR is heard."""

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from rich.cells import cell_len

from conftest import environment
from evenhand.cli.root import evenhand_command

EVENHAND = [sys.executable, "-c", "from evenhand.cli import main; main()"]
COLOUR = re.compile(r"\x1b\[(?:[0-9;]*;)?(?:3[0-7]|9[0-7]|4[0-7]|38;[0-9;]+)m")
MISSING = ("models", "path", "gpt-5")
"""A command that ends with an error, which is red on a terminal."""


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.jsonl"
    rows = [
        {"prompt": f"Say {n} at length", "chosen": f"It is {n}. " * 30, "rejected": "" if n % 5 else f"{n}!"}
        for n in range(40)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def piped(*arguments: str) -> Result:
    """Run a command whose output goes into a pipe."""
    return CliRunner(env={"COLUMNS": "80"}).invoke(evenhand_command, arguments)


def on_a_terminal(*arguments: str, **changes: str) -> str:
    """Return what a command writes to a terminal, standard error included."""
    ours, theirs = pty.openpty()
    settings = environment(**{"COLUMNS": "80", "TERM": "xterm-256color", **changes})
    for name in {"NO_COLOR", "FORCE_COLOR"} - changes.keys():
        settings.pop(name, None)
    with subprocess.Popen([*EVENHAND, *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=settings) as process:
        os.close(theirs)
        found = b""
        while True:
            try:
                part = os.read(ours, 65_536)
            except OSError:  # how Linux says that the other end is closed
                break
            if not part:
                break
            found += part
        process.wait()
    os.close(ours)
    return found.decode()


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["models", "list"],
        ["gold", "list"],
        ["instruments", "list"],
        ["questions", "list"],
        ["questions", "show"],
        ["inspect-data", "PAIRS"],
        ["rate", "PAIRS", "--grader", "http://localhost:8000/v1#meta-llama/Llama-3.3-70B-Instruct", "--dry-run"],
        ["questions", "suggest", "PAIRS", "--model", "openai:gpt-4.1-2025-04-14", "--dry-run"],
        ["audit", "--pairs", "builtin:us", "--subject", "openai:gpt-4.1", "--grader", "openai:gpt-4.1", "--dry-run"],
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_80_columns_are_enough(arguments: list[str], pairs: Path, tmp_path: Path) -> None:
    given = [str(pairs) if word == "PAIRS" else word for word in arguments]
    if "--dry-run" in given:
        given += ["--out", str(tmp_path / "none")]
    found = piped(*given)
    assert found.exit_code == 0, found.stderr
    lines = found.stdout.splitlines()
    assert len(lines) > 3
    assert max(map(cell_len, lines)) <= 80
    assert "…" not in found.stdout, "nothing is cut"
    assert "\x1b" not in found.stdout + found.stderr, "a pipe is no terminal"
    assert not (tmp_path / "none").exists(), "a dry run writes nothing"


def test_a_terminal_gets_colour_and_no_color_takes_it() -> None:
    assert COLOUR.search(on_a_terminal(*MISSING))
    assert not COLOUR.search(on_a_terminal(*MISSING, NO_COLOR="1"))
    assert "there is no embedded model" in on_a_terminal(*MISSING, NO_COLOR="1")
    assert "\x1b" not in on_a_terminal(*MISSING, TERM="dumb")


def test_json_has_no_colour_on_a_terminal_either() -> None:
    assert "\x1b" not in on_a_terminal("models", "list", "--json")


@pytest.mark.parametrize(
    "arguments",
    [
        ["rate", "PAIRS", "--grader", "openai:gpt-4.1"],
        ["questions", "suggest", "PAIRS", "--model", "openai:gpt-4.1"],
    ],
    ids=["rate", "questions suggest"],
)
def test_a_dry_run_as_json(arguments: list[str], pairs: Path, tmp_path: Path) -> None:
    given = [str(pairs) if word == "PAIRS" else word for word in arguments]
    found = piped(*given, "--dry-run", "--json", "--out", str(tmp_path / "none"))
    forecast = json.loads(found.stdout)
    assert forecast["calls"] > 0
    assert forecast["cost"] > 0
    assert "preference pairs, read as" in found.stderr
    assert not (tmp_path / "none").exists()


def test_an_export_and_json_do_not_share_standard_output(tmp_path: Path) -> None:
    found = piped("fit", str(tmp_path), "--json", "--export", "trl")
    assert found.exit_code == 2
    assert "give --export-to" in found.stderr
    assert found.stdout == ""
