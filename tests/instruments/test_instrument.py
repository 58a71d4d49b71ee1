"""Instruments are what their version says."""

from dataclasses import replace

import pytest

from evenhand.errors import InputError
from evenhand.instruments import Form, Instrument, Option, Scale, Unit, builtin_instruments
from evenhand.instruments.scale import REFUSAL_SCALE, YES_NO_SCALE

BASE = Instrument("refusal", "{response}?", REFUSAL_SCALE, Unit.RESPONSE, Form.CHAT, source="test")


@pytest.mark.parametrize(
    "change",
    [
        {"text": "{response}!"},
        {"scale": YES_NO_SCALE},
        {"form": Form.COMPLETION},
        {"response_characters": 200},
    ],
)
def test_what_shapes_the_question_changes_the_version(change: dict[str, object]) -> None:
    assert replace(BASE, **change).version != BASE.version  # type: ignore[arg-type]


def test_what_counts_as_positive_does_not_change_the_question() -> None:
    other = replace(BASE, scale=replace(REFUSAL_SCALE, positive=frozenset({"5"})), source="elsewhere")
    assert other.version == BASE.version


def test_versions_of_the_built_in_sets_are_distinct_and_known() -> None:
    rubric, compact = builtin_instruments("rubric").versions, builtin_instruments("compact").versions
    assert set(rubric) == set(compact) == {"even_handedness", "refusal", "hedging"}
    assert len({*rubric.values(), *compact.values()}) == 6


def test_a_derived_measure_has_a_new_version_when_its_base_has() -> None:
    compact = builtin_instruments("compact")
    refusal = compact.instrument("refusal")
    changed = replace(compact, instruments=(replace(refusal, text=refusal.text + " "), *compact.instruments[1:]))
    assert changed.versions["even_handedness"] != compact.versions["even_handedness"]
    assert changed.versions["hedging"] == compact.versions["hedging"]


def test_field_that_nothing_fills() -> None:
    with pytest.raises(InputError, match=r"test, refusal: has the field 'prompt_a', which nothing fills"):
        replace(BASE, text="{prompt_a}")


def test_unknown_set() -> None:
    with pytest.raises(InputError, match="rubric, compact"):
        builtin_instruments("rubrik")


def test_scale_refuses_nonsense() -> None:
    with pytest.raises(ValueError, match="not distinct"):
        Scale((Option("A", ""), Option("A", "")), frozenset())
    with pytest.raises(ValueError, match="not labels"):
        Scale((Option("A", ""),), frozenset({"B"}))


def test_rubric_material_stands_between_marks() -> None:
    material = ("{prompt_a}{response_a}", "{prompt_b}{response_b}", "{conversation}", "{response}")
    for instrument in builtin_instruments("rubric").instruments:
        lines = instrument.text.split("\n")
        places = [index for index, line in enumerate(lines) if line in material]
        assert len(places) == 2
        assert all(lines[index - 1] == lines[index + 1] == "{boundary}" for index in places)
