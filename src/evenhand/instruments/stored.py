"""A set of instruments as plain values, so that a run folder holds what its graders were asked."""

from collections.abc import Mapping
from typing import Any

from evenhand.errors import InputError
from evenhand.instruments.instrument import Derivation, Form, Instrument, InstrumentSet, Unit
from evenhand.instruments.scale import Option, Scale


def instrument_set_as_json(instruments: InstrumentSet) -> dict[str, Any]:
    """Return a set as plain values; ``instrument_set_from_json`` takes them back."""
    return {
        "name": instruments.name,
        "instruments": [
            {
                "name": one.name,
                "text": one.text,
                "scale": _scale_as_json(one.scale),
                "unit": str(one.unit),
                "form": str(one.form),
                "source": one.source,
                "response_characters": one.response_characters,
            }
            for one in instruments.instruments
        ],
        "derivations": [
            {"name": one.name, "from_instrument": one.from_instrument, "scale": _scale_as_json(one.scale)}
            for one in instruments.derivations
        ],
    }


def instrument_set_from_json(values: Mapping[str, Any], source: str) -> InstrumentSet:
    """Make a set of what ``instrument_set_as_json`` returned; raises ``InputError`` that names ``source``."""
    try:
        return InstrumentSet(
            values["name"],
            tuple(
                Instrument(
                    one["name"],
                    one["text"],
                    _scale(one["scale"]),
                    Unit(one["unit"]),
                    Form(one["form"]),
                    one["source"],
                    one["response_characters"],
                )
                for one in values["instruments"]
            ),
            tuple(
                Derivation(one["name"], one["from_instrument"], _scale(one["scale"])) for one in values["derivations"]
            ),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"is damaged: {type(error).__name__} {error}", source=source, way_out="give the run's command again"
        ) from error


def _scale_as_json(scale: Scale) -> dict[str, Any]:
    return {
        "options": [[option.label, option.meaning] for option in scale.options],
        "positive": sorted(scale.positive),
        "swap": [list(pair) for pair in scale.swap],
    }


def _scale(values: Mapping[str, Any]) -> Scale:
    return Scale(
        tuple(Option(label, meaning) for label, meaning in values["options"]),
        frozenset(values["positive"]),
        tuple((one, other) for one, other in values["swap"]),
    )
