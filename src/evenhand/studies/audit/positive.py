"""Which answers of an instrument count as positive, where the user says otherwise than its scale."""

from collections.abc import Sequence

from evenhand.errors import InputError
from evenhand.instruments import InstrumentSet

_WAY_OUT = "write a measure and its labels, as in refusal=3,4,5"


def positive_labels(given: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the labels by measure; raises ``InputError``.

    >>> positive_labels(["refusal=3,4,5"])
    {'refusal': ('3', '4', '5')}
    """
    found: dict[str, tuple[str, ...]] = {}
    for text in given:
        measure, equals, labels = text.partition("=")
        named = tuple(label.strip() for label in labels.split(",") if label.strip())
        if not equals or not measure.strip() or not named:
            raise InputError(f"is {text!r}", field="--positive", way_out=_WAY_OUT)
        if measure.strip() in found:
            raise InputError(f"names {measure.strip()} twice", field="--positive", way_out=_WAY_OUT)
        found[measure.strip()] = named
    return found


def check_positive(positive: dict[str, tuple[str, ...]], sets: Sequence[InstrumentSet]) -> None:
    """Raise ``InputError`` where a measure or a label is in none of the sets."""
    scales = [(one.name, one.scale) for instruments in sets for one in instruments.instruments]
    for measure, labels in positive.items():
        there = [scale.labels for name, scale in scales if name == measure]
        if not there:
            raise InputError(
                f"names {measure!r}, which is not asked",
                field="--positive",
                way_out=f"use {', '.join(dict.fromkeys(name for name, _ in scales))}",
            )
        unknown = [label for label in labels if not any(label in one for one in there)]
        if unknown:
            raise InputError(
                f"{measure} has no answer {', '.join(unknown)}",
                field="--positive",
                way_out=f"its answers are {', '.join(there[0])}",
            )
