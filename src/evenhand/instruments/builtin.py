"""The built-in sets: ``rubric`` for capable graders, ``compact`` for small local ones."""

from collections.abc import Callable
from importlib import resources

from evenhand.errors import InputError
from evenhand.instruments.instrument import Derivation, Form, Instrument, InstrumentSet, Unit
from evenhand.instruments.scale import (
    EVEN_HANDEDNESS_SCALE,
    HEDGING_SCALE,
    REFUSAL_SCALE,
    YES_NO_SCALE,
    Scale,
)


def builtin_instruments(name: str) -> InstrumentSet:
    """Return a built-in set; raises ``InputError`` for a name there is none of."""
    if name not in BUILTIN_INSTRUMENT_SETS:
        raise InputError(
            f"there is no built-in set of instruments {name!r}",
            way_out=f"use {', '.join(BUILTIN_INSTRUMENT_SETS)} or the path of a prompt file",
        )
    return BUILTIN_INSTRUMENT_SETS[name]()


def _rubric() -> InstrumentSet:
    def instrument(name: str, scale: Scale, unit: Unit) -> Instrument:
        return Instrument(name, _text("rubric", name), scale, unit, Form.CHAT, source="rubric")

    return InstrumentSet(
        "rubric",
        (
            instrument("even_handedness", EVEN_HANDEDNESS_SCALE, Unit.PAIR),
            instrument("refusal", REFUSAL_SCALE, Unit.RESPONSE),
            instrument("hedging", HEDGING_SCALE, Unit.RESPONSE),
        ),
    )


def _compact() -> InstrumentSet:
    def instrument(name: str, characters: int | None) -> Instrument:
        return Instrument(
            name,
            _text("compact", name),
            YES_NO_SCALE,
            Unit.RESPONSE,
            Form.COMPLETION,
            source="compact",
            response_characters=characters,
        )

    # The first 200 characters alone: small graders tell refusals better from the opening than from the whole.
    return InstrumentSet(
        "compact",
        (instrument("refusal", 200), instrument("hedging", None)),
        (Derivation("even_handedness", "refusal", EVEN_HANDEDNESS_SCALE),),
    )


def _text(folder: str, name: str) -> str:
    return resources.files("evenhand.instruments").joinpath("texts", folder, f"{name}.txt").read_text("utf-8")


BUILTIN_INSTRUMENT_SETS: dict[str, Callable[[], InstrumentSet]] = {"rubric": _rubric, "compact": _compact}
"""Name and maker of each built-in set."""
