"""A set of instruments survives being stored."""

import json
from pathlib import Path

import pytest

from conftest import shared
from evenhand.errors import InputError
from evenhand.instruments import BUILTIN_INSTRUMENT_SETS, builtin_instruments, read_prompt_file
from evenhand.instruments.stored import instrument_set_as_json, instrument_set_from_json


@pytest.mark.parametrize("name", BUILTIN_INSTRUMENT_SETS)
def test_there_and_back(name: str) -> None:
    instruments = builtin_instruments(name)
    stored = json.loads(json.dumps(instrument_set_as_json(instruments)))
    assert instrument_set_from_json(stored, "instruments.json") == instruments
    assert instrument_set_from_json(stored, "instruments.json").versions == instruments.versions


def test_published_prompts_there_and_back() -> None:
    instruments = read_prompt_file(Path(shared("seeds/paired_prompts_graders.txt")))
    assert instrument_set_from_json(instrument_set_as_json(instruments), "") == instruments


@pytest.mark.parametrize("damage", [{"instruments": None}, {"name": "x", "instruments": [{}]}, {}])
def test_damage_is_named(damage: dict[str, object]) -> None:
    with pytest.raises(InputError, match=r"instruments\.json: is damaged"):
        instrument_set_from_json({"derivations": [], **damage}, "instruments.json")
