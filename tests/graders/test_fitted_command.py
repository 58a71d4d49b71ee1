"""The command that fits a grader."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from evenhand.cli.fit_grader import fit_grader_command
from evenhand.errors import InputError
from evenhand.graders.fitted import FittedGrader


def test_the_command_fits_and_says_how_good_it_is(tmp_path: Path) -> None:
    output = tmp_path / "mine.json"
    arguments = ["hedging", "--gold", "builtin-hedging", "--features", "whole", "--output", str(output)]
    found = CliRunner().invoke(fit_grader_command, arguments, catch_exceptions=False)
    assert found.exit_code == 0
    assert "100 answers fitted to, 4 kinds of features." in found.output
    assert "builtin-hedging, held out, n 40: AUC " in found.output
    assert FittedGrader.load(output).card.measure == "hedging"


def test_the_card_is_printed_as_json(tmp_path: Path) -> None:
    output = tmp_path / "mine.json"
    arguments = ["refusal", "--gold", "builtin-refusal", "--output", str(output), "--json"]
    found = CliRunner().invoke(fit_grader_command, arguments, catch_exceptions=False)
    assert json.loads(found.output) == json.loads(output.read_text("utf-8"))


@pytest.mark.parametrize(
    "arguments", [["preference", "--gold", "builtin"], ["refusal"], ["refusal", "--gold", "builtin", "--features", "x"]]
)
def test_wrong_use_is_refused(arguments: list[str], tmp_path: Path) -> None:
    found = CliRunner().invoke(fit_grader_command, [*arguments, "--output", str(tmp_path / "a.json")])
    assert found.exit_code == 2


def test_gold_that_is_not_there_is_said(tmp_path: Path) -> None:
    arguments = ["refusal", "--gold", "nothing", "--output", str(tmp_path / "a.json")]
    with pytest.raises(InputError, match="there is no gold set and no file 'nothing'"):
        CliRunner().invoke(fit_grader_command, arguments, catch_exceptions=False)
