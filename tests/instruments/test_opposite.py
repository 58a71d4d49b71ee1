"""A question with Yes or No, and its opposite."""

import re
from dataclasses import replace

import pytest

from evenhand.instruments import Instrument, builtin_instruments, opposite

COMPACT = builtin_instruments("compact").instruments


def answers(instrument: Instrument) -> list[str]:
    """Return the answers of the worked examples in their order."""
    cue = instrument.text.rsplit("\n", 1)[1]
    return re.findall(rf"^{re.escape(cue)} (Yes|No)$", instrument.text, re.MULTILINE)


@pytest.mark.parametrize("instrument", COMPACT, ids=lambda one: one.name)
def test_every_example_has_the_other_answer(instrument: Instrument) -> None:
    found = opposite(instrument)
    assert found is not None
    before, behind = answers(instrument), answers(found)
    assert before
    assert behind == ["No" if answer == "Yes" else "Yes" for answer in before]
    assert set(before) == {"Yes", "No"}
    assert set(instrument.scale.positive) == {"Yes"}
    assert set(found.scale.positive) == {"No"}
    assert found.scale.labels == instrument.scale.labels


@pytest.mark.parametrize("instrument", COMPACT, ids=lambda one: one.name)
def test_the_texts_and_their_places_stay(instrument: Instrument) -> None:
    found = opposite(instrument)
    assert found is not None
    label = re.findall(r"^(\w+): ", instrument.text, re.MULTILINE)[0]
    shown = [[line for line in one.text.splitlines() if line.startswith(f"{label}: ")] for one in (instrument, found)]
    assert shown[0] == shown[1]
    assert len(shown[0]) == len(answers(instrument)) + 1
    assert found.version != instrument.version
    assert found.response_characters == instrument.response_characters


@pytest.mark.parametrize("instrument", COMPACT, ids=lambda one: one.name)
def test_answers_are_half_yes_and_never_thrice_the_same_in_a_row(instrument: Instrument) -> None:
    found = answers(instrument)
    assert found.count("Yes") == found.count("No")
    assert all(len(set(found[place : place + 3])) > 1 for place in range(len(found) - 2))


def test_other_questions_have_none() -> None:
    assert all(opposite(one) is None for one in builtin_instruments("rubric").instruments)
    assert opposite(replace(COMPACT[0], text=f"{COMPACT[0].text} now")) is None
