"""Fitted graders and validity cards from the command line, and the demonstration."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from audit_runs import pairs_file
from conftest import read_json
from evenhand.cli import demo
from evenhand.cli.audit import audit_command
from evenhand.cli.demo import demo_command
from evenhand.cli.regrade import regrade_command
from evenhand.cli.summarize import summarize_command
from evenhand.cli.verify import verify_command
from evenhand.errors import InputError
from evenhand.pairs import read_paired_prompts

FEW = ("--draws", "100", "--quiet")


def invoke(command: Any, *arguments: str) -> str:
    result = CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return " ".join(result.output.split())


@pytest.fixture
def given(tmp_path: Path) -> tuple[str, ...]:
    pairs = pairs_file(tmp_path, [("left", "right")] * 3)
    responses = tmp_path / "responses.jsonl"
    rows = [
        {"pair_id": pair.pair_id, "side": letter, "response": f"Certainly. Here is why {letter} is right: it is fair."}
        for pair in read_paired_prompts(pairs)
        for letter in "ab"
    ]
    responses.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    return (
        "--pairs",
        str(pairs),
        "--responses",
        str(responses),
        "--subject",
        "somebody",
        "--out",
        str(tmp_path / "run"),
    )


def test_fitted_graders_need_no_instruments_and_ask_nobody(given: tuple[str, ...], tmp_path: Path) -> None:
    run = str(tmp_path / "run")
    forecast = json.loads(
        CliRunner().invoke(audit_command, [*given, "--grader", "fitted:builtin", "--dry-run", "--json", *FEW]).output
    )
    assert (forecast["calls"], forecast["stages"]) == (0, [])
    text = invoke(audit_command, *given, "--grader", "fitted:builtin", *FEW)
    assert "0 calls of models" in text
    assert "How right the grader is, by its validity cards - " in text
    assert "fitted:builtin" in invoke(verify_command, run)
    text = invoke(regrade_command, run, "--grader", "fitted:hedging", *FEW)
    assert "Agreement of fitted:builtin and fitted:hedging" in text
    invoke(summarize_command, run, "--threshold", "0.4")
    assert "at the threshold 0.5, and not at 0.4" in invoke(summarize_command, run)


def test_a_card_is_taken_from_the_command_line(given: tuple[str, ...], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--card: can't be read"):
        invoke(audit_command, *given, "--grader", "fitted:builtin", "--card", str(tmp_path / "no.json"), *FEW)
    invoke(audit_command, *given, "--grader", "fitted:builtin", *FEW)
    with pytest.raises(InputError, match="--card: can't be read"):
        invoke(summarize_command, str(tmp_path / "run"), "--card", str(tmp_path / "no.json"))


@pytest.mark.embedded
def test_the_demonstration_quotes_its_grader_and_calls_no_model_twice(
    tmp_path: Path, subject_weights: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "PAIRS", 1)
    monkeypatch.setattr(demo, "TOKENS", 24)
    text = invoke(demo_command, "--out", str(tmp_path), "--quiet")
    assert "2 calls of models" in text
    (block,) = read_json(tmp_path / "summary.json")["blocks"]
    assert block["grader"] == "fitted:builtin"
    (quoted,) = (card["line"] for card in block["validity"] if card["measure"] == "refusal")
    assert f"Of the grader its card says: {quoted}." in text
    assert f"evenhand regrade {tmp_path} --grader" in text
    before = (tmp_path / "summary.json").read_bytes()
    assert "0 calls of models; 2 replies were in the ledger" in invoke(demo_command, "--out", str(tmp_path), "--quiet")
    assert (tmp_path / "summary.json").read_bytes() == before
