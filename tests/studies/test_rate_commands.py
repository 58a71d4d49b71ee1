"""The commands in the report of a rating run ask for what the run was asked."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from conftest import read_json
from evenhand.cli.effects import effects_command
from evenhand.cli.fit import fit_command
from evenhand.cli.rate import rate_command
from evenhand.execution.cluster import Cluster
from evenhand.report.effects_summary import EffectsSummary
from evenhand.report.page import rate_record
from evenhand.report.page.blocks import Command, Section
from evenhand.studies.effects import effects
from evenhand.studies.rate import RatePlan
from evenhand.studies.rate.run import rating_record
from evenhand.studies.report import report
from hashing_grader import open_graders, preferences, questions

_COLUMNS = ["--input", "ask", "--chosen", "good one", "--rejected", "bad one"]
_USUAL = ("prompt", "chosen", "rejected")
_NAMES = ("ask", "good one", "bad one")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    open_graders(monkeypatch)
    questions(tmp_path / "q.txt")
    return tmp_path


def called(command: click.Command, *arguments: object) -> None:
    done = CliRunner().invoke(command, [str(one) for one in arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output


def parsed(command: click.Command, arguments: Sequence[str]) -> dict[str, Any]:
    return dict(command.make_context(str(command.name), [str(one) for one in arguments]).params)


def commands(run: Path) -> dict[str, list[str]]:
    """Return the arguments of the commands in a report, by command."""

    def within(sections: Sequence[Section]) -> list[str]:
        return [
            text
            for one in sections
            for text in [
                *(block.text for block in one.blocks if isinstance(block, Command)),
                *within(one.sections),
            ]
        ]

    split = [shlex.split(text) for text in within(report([run], with_reader=False).sections)]
    return {words[1]: words[2:] for words in split}


@pytest.mark.parametrize(
    ("names", "options", "of_effects"),
    [
        (_USUAL, [], []),
        (
            _USUAL,
            ["--sample", "5", "--seed", "3", "--leak-sample", "0", "--protocol", "single", "--reading", "text"],
            ["--cluster", "pair", "--equal-within", "1"],
        ),
        (_USUAL, ["--protocol", "labelled", "--reasons", "--reading", "samples:2"], ["--seed", "7"]),
        (_USUAL, ["--format", "trl", "--leak-sample", "4"], ["--equal-within", "0.123456789"]),
        (_NAMES, [*_COLUMNS, "--instrument", "compact"], []),
        (_USUAL, ["--grader", "second"], ["--grader", "second"]),
    ],
    ids=["plain", "sampled", "labelled", "format", "columns", "two graders"],
)
def test_the_commands_ask_for_the_same(
    folder: Path, names: Sequence[str], options: list[str], of_effects: list[str]
) -> None:
    pairs = preferences(folder / "it's a set.jsonl", names=names)
    given = [str(pairs), "--questions", str(folder / "q.txt"), "--grader", "first", *options]
    run = folder / "run"
    called(rate_command, *given, "--out", run, "--quiet")
    called(effects_command, run, *of_effects)
    shown = commands(run)
    asked, again = (parsed(rate_command, one) for one in ([*given, "--out", "runs/again"], shown["rate"]))
    # What the record does not say: where the files were.
    for name in ("pairs", "questions"):
        asked[name] = Path(asked[name]).name
    assert again == asked
    assert parsed(effects_command, shown["effects"]) == parsed(effects_command, [str(run), *of_effects])


@pytest.mark.parametrize("options", [[], ["--seed", "5", "--ignore-strength"]], ids=["plain", "other"])
def test_the_fit_is_made_as_it_was(folder: Path, options: list[str]) -> None:
    run, pairs = folder / "run", preferences(folder / "pairs.jsonl")
    called(rate_command, pairs, "--questions", folder / "q.txt", "--grader", "first", "--out", run, "--quiet")
    called(effects_command, run)
    called(fit_command, run, *options)
    assert parsed(fit_command, commands(run)["fit"]) == parsed(fit_command, [str(run), "--grader", "first", *options])


def test_what_no_option_says_is_said_in_words(folder: Path) -> None:
    run, pairs = folder / "run", preferences(folder / "pairs.jsonl")
    called(rate_command, pairs, "--questions", folder / "q.txt", "--grader", "first", "--out", run, "--quiet")
    effects(run, draws=150)
    assert "draws=150" in report([run], with_reader=False).page()


def test_the_engine_and_an_older_record(folder: Path) -> None:
    run, pairs = folder / "run", preferences(folder / "pairs.jsonl")
    given = [str(pairs), "--questions", str(folder / "q.txt"), "--grader", "first", "--protocol", "single"]
    called(rate_command, *given, "--out", run, "--quiet")
    called(effects_command, run)
    summary = EffectsSummary.from_json(read_json(run / "effects.json"))
    on_two = RatePlan(
        pairs="pairs.jsonl", questions="q.txt", graders=("first",), out=run, cluster=Cluster("auto", 3, 0.5)
    )
    record = rating_record(on_two, {"name": "pairs.jsonl"}, (), (), {})
    again = parsed(rate_command, [*shlex.split(rate_record.rate_command(summary, record))[2:], "--grader", "first"])
    assert (again["engine"], again["ray_workers"], again["ray_gpus"]) == ("ray", 3, 0.5)
    older = read_json(run / "record.json")
    del older["settings"]["protocol"]
    assert parsed(rate_command, shlex.split(rate_record.rate_command(summary, older))[2:])["protocol"] == "single"
