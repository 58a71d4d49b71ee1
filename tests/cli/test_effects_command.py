"""`evenhand effects` and `evenhand fit` as a user runs them."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from evenhand.cli.effects import effects_command
from evenhand.cli.fit import fit_command
from evenhand.errors import InputError
from rating_runs import world, write_run


@pytest.fixture
def run(tmp_path: Path) -> Path:
    made = world([0.5, 0.0], 80)
    rows = list(made.ratings(lambda p, q, o: tuple(made.qualities[p, q])))
    return write_run(tmp_path / "run", rows, made.pairs())


def effects(*arguments: object) -> Result:
    return CliRunner().invoke(effects_command, [str(argument) for argument in arguments], catch_exceptions=False)


def fit(*arguments: object) -> Result:
    return CliRunner().invoke(fit_command, [str(argument) for argument in arguments], catch_exceptions=False)


def test_effects(run: Path) -> None:
    assert "Which questions tell the chosen output" in effects(run).output
    found = json.loads(effects(run, "--json", "--grader", "g", "--seed", 3).output)
    assert found == json.loads((run / "effects.json").read_text("utf-8"))
    assert found["seed"] == 3


def test_fit(run: Path) -> None:
    assert "Scoring spec from the ratings of g" in fit(run).output
    found = json.loads(fit(run, "--json", "--ignore-strength").output)
    assert found == json.loads((run / "spec.json").read_text("utf-8"))


@pytest.mark.parametrize("shape", ["pi", "promptfoo", "trl"])
def test_exports(run: Path, tmp_path: Path, shape: str) -> None:
    printed = fit(run, "--export", shape)
    file = tmp_path / "export"
    kept = fit(run, "--export", shape, "--export-to", file)
    assert file.read_text("utf-8") == printed.stdout
    assert "Not in the export: the intervals" in printed.stderr
    assert "Scoring spec" in kept.stdout


def test_wrong_uses(run: Path, tmp_path: Path) -> None:
    assert "--export-to needs --export" in fit(run, "--export-to", tmp_path / "x").output
    with pytest.raises(InputError, match=r"has no pairs.parquet"):
        effects(tmp_path / "absent")
