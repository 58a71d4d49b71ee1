"""Numbers that no run can be made with are refused before anything is asked."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from evenhand.cli.root import COMMANDS, evenhand_command
from evenhand.errors import InputError
from evenhand.models import AccessError, ModelRole, open_model

AUDIT = ["audit", "--pairs", "builtin:us", "--subject", "smollm2-135m", "--grader", "fitted:builtin", "--out"]
WITH_SEED = [
    name
    for name in COMMANDS
    if any("--seed" in one.opts for one in evenhand_command.get_command(None, name).params)  # type: ignore[arg-type,union-attr]
]


@pytest.mark.parametrize(
    ("option", "value"),
    [("--draws", "1"), ("--draws", "-3"), ("--temperature", "nan"), ("--temperature", "inf"), ("--temperature", "-1")],
)
def test_numbers_of_an_audit(tmp_path: Path, option: str, value: str) -> None:
    with pytest.raises(InputError, match=rf"{option}: is .*way out"):
        CliRunner().invoke(evenhand_command, [*AUDIT, str(tmp_path / "run"), option, value], catch_exceptions=False)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", WITH_SEED)
def test_a_seed_below_0(name: str) -> None:
    found = CliRunner().invoke(evenhand_command, [name, "--seed", "-1"])
    assert found.exit_code == 2
    assert "Traceback" not in found.output


def test_every_command_that_draws_has_a_seed() -> None:
    assert {"audit", "compare", "effects", "fit", "inspect-data", "label", "rate", "summarize", "validate"} <= {
        *WITH_SEED
    }


async def _asked(monkeypatch: pytest.MonkeyPatch) -> None:
    from evenhand.instruments import Message, Request

    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    model = open_model("openai:gpt-4.1-mini", ModelRole.GRADER)
    try:
        await model.answer(Request(messages=(Message("user", "Hello"),), max_tokens=1))
    finally:
        await model.rest()


def test_a_provider_that_needs_a_key_is_not_asked_without_one(monkeypatch: pytest.MonkeyPatch) -> None:
    import asyncio

    with pytest.raises(AccessError, match=r"was not asked: there is no key.*OPENAI_API_KEY"):
        asyncio.run(_asked(monkeypatch))
