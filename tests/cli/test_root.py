"""All commands: each is found, each has --json, none is loaded before it is called."""

import importlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import click
import pytest
from click.shell_completion import CompletionItem
from click.testing import CliRunner

import evenhand.cli
from conftest import environment
from evenhand.cli import completion
from evenhand.cli.root import COMMANDS, evenhand_command

Completing: TypeAlias = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]
WITHOUT_JSON: dict[str, str] = {}
"""Commands that print no JSON, each with the reason."""
HEAVY = {"polars", "numpy", "aiohttp", "httpx", "xllamacpp", "jinja2", "yaml", "rich"}


def leaves(command: click.Command, name: str = "evenhand") -> Iterator[tuple[str, click.Command]]:
    """Yield every command that does something, with its whole name."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for sub in command.list_commands(context):
            found = command.get_command(context, sub)
            assert found is not None
            yield from leaves(found, f"{name} {sub}")
    else:
        yield name, command


ALL = dict(leaves(evenhand_command))


def test_every_command_is_in_the_table() -> None:
    files = [path.stem for path in Path(evenhand.cli.__file__).parent.glob("*.py") if path.stem != "__init__"]
    commands = {name for name in files if hasattr(importlib.import_module(f"evenhand.cli.{name}"), f"{name}_command")}
    assert commands == {name.replace("-", "_") for name in COMMANDS}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_table_says_what_the_command_says(name: str) -> None:
    command = evenhand_command.get_command(click.Context(evenhand_command), name)
    assert command is not None
    assert command.name == name
    assert COMMANDS[name] == command.get_short_help_str(1000)


def test_there_is_no_other_command() -> None:
    assert evenhand_command.get_command(click.Context(evenhand_command), "json_log") is None
    found = CliRunner().invoke(evenhand_command, ["interrupts"])
    assert found.exit_code == 2
    assert "No such command 'interrupts'" in found.stderr


@pytest.mark.parametrize("name", ALL)
def test_every_command_prints_json(name: str) -> None:
    options = {option for parameter in ALL[name].params for option in parameter.opts}
    if name in WITHOUT_JSON:
        assert "--json" not in options, "it has become one that does: take it off the list"
    else:
        assert "--json" in options


def test_help_loads_no_command() -> None:
    code = "import sys; from evenhand.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass\n"
    code += f"print(sorted({HEAVY!r} & set(sys.modules)), file=sys.stderr)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stderr == "[]\n"
    assert all(f"\n  {name} " in found.stdout for name in COMMANDS)


def test_a_commands_help_loads_no_http_client() -> None:
    code = "import sys; from evenhand.cli import main\ntry: main(['fit', '--help'])\nexcept SystemExit: pass\n"
    code += "print(sorted({'aiohttp', 'httpx', 'xllamacpp'} & set(sys.modules)), file=sys.stderr)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stderr == "[]\n"
    assert found.stdout.startswith("Usage: evenhand fit")


@pytest.mark.parametrize(
    "arguments",
    [
        ["models", "list"],
        ["gold", "list"],
        ["instruments", "list"],
        ["instruments", "show", "compact", "refusal"],
        ["questions", "list"],
        ["questions", "show", "builtin:safety"],
    ],
)
def test_json_is_all_that_goes_to_standard_output(own_cache: Path, arguments: list[str]) -> None:
    found = CliRunner().invoke(evenhand_command, [*arguments, "--json"])
    assert found.exit_code == 0
    assert json.loads(found.stdout)
    plain = CliRunner().invoke(evenhand_command, arguments)
    assert plain.exit_code == 0
    with pytest.raises(json.JSONDecodeError):
        json.loads(plain.stdout)


def test_what_is_listed_is_what_json_says(own_cache: Path) -> None:
    def values(*arguments: str) -> object:
        return json.loads(CliRunner().invoke(evenhand_command, [*arguments, "--json"]).stdout)

    gold = values("gold", "list")
    assert isinstance(gold, list)
    assert {entry["name"] for entry in gold} >= {"builtin", "xstest"}
    assert [entry["at_hand"] for entry in gold if entry["name"] == "builtin"] == [True]
    sets = values("instruments", "list")
    assert isinstance(sets, dict)
    shown = values("instruments", "show", "compact", "refusal")
    assert isinstance(shown, dict)
    assert shown["version"] == sets["compact"]["refusal"]
    assert "{response}" in shown["text"]


def bash(script: str, **changes: str) -> str:
    found = subprocess.run(
        ["bash", "--norc", "-c", script], capture_output=True, text=True, check=True, env=environment(**changes)
    )
    return found.stdout


@pytest.fixture(scope="module")
def completing(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A shell script that has `evenhand` and its completion, and completes the words in WORDS as TAB would."""
    folder = tmp_path_factory.mktemp("bin")
    program = folder / "evenhand"
    program.write_text(f"#!/bin/sh\nexec {sys.executable} -c 'from evenhand.cli import main; main()' \"$@\"\n")
    program.chmod(0o755)
    return (
        f'export PATH="{folder}:$PATH"\n'
        'eval "$(_EVENHAND_COMPLETE=bash_source evenhand)"\n'
        "complete -p evenhand > /dev/null || exit 9\n"
        'IFS=" " read -r -a COMP_WORDS <<< "$WORDS"\n'
        '[[ "$WORDS" == *" " ]] && COMP_WORDS+=("")\n'
        "COMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n"
        '_evenhand_completion evenhand "${COMP_WORDS[COMP_CWORD]}"\n'
        'printf "%s\\n" "${COMPREPLY[@]}"\n'
    )


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("evenhand ", set(COMMANDS)),
        ("evenhand fi", {"fit", "fit-grader"}),
        ("evenhand effects --", {"--grader", "--cluster", "--json", "--help"}),
        ("evenhand rate pairs.csv --grader smol", {"smollm2-135m"}),
        ("evenhand rate pairs.csv --questions builtin:sa", {"builtin:safety"}),
        ("evenhand models fetch qwen2.5-coder-0", {"qwen2.5-coder-0.5b"}),
    ],
)
def test_bash_completes(completing: str, words: str, wanted: set[str]) -> None:
    assert wanted <= set(bash(completing, WORDS=words).splitlines())


@pytest.mark.parametrize(
    ("complete", "incomplete", "wanted"),
    [
        (completion.instrument_sets, "comp", ["compact"]),
        (completion.instrument_sets, "mine.txt", ["mine.txt"]),
        (completion.rating_instruments, "r", ["rating"]),
        (completion.gold_names, "xs", ["xstest"]),
        (completion.gold_sets, "pr", ["practice"]),
        (completion.gold_sets, "mine.c", ["mine.c"]),
        (completion.grader_names, "fitted:b", ["fitted:builtin"]),
        (completion.model_names, "open", ["openai:"]),
        (completion.question_sets, "builtin:sa", ["builtin:safety"]),
    ],
)
def test_names_are_completed(complete: Completing, incomplete: str, wanted: list[str]) -> None:
    command = click.Command("x")
    assert [item.value for item in complete(click.Context(command), click.Option(["--x"]), incomplete)] == wanted


def test_weights_are_completed_behind_their_mark(tmp_path: Path) -> None:
    (tmp_path / "one.gguf").touch()
    (tmp_path / "other.txt").touch()
    (tmp_path / "sub").mkdir()
    found = completion.model_names(click.Context(click.Command("x")), click.Option(["--x"]), f"gguf:{tmp_path}/")
    assert [item.value for item in found] == [f"gguf:{tmp_path}/one.gguf", f"gguf:{tmp_path}/sub/"]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_get_a_script(shell: str) -> None:
    found = bash(
        f"exec {sys.executable} -c 'from evenhand.cli import main; main()'", _EVENHAND_COMPLETE=f"{shell}_source"
    )
    assert "_EVENHAND_COMPLETE" in found
