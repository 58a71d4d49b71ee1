"""The option-swap control: the same question with its options the other way round."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from evenhand.instruments import Instrument, InstrumentSet, opposite

REVERSED = "options reversed"


def with_options_reversed(instruments: InstrumentSet) -> InstrumentSet | None:
    """Return a set whose every instrument has its options the other way round, or None where one has no other way.

    Where an instrument lists its options, the list is reversed; labels and meanings stay together, so that answers are
    read as before and only the place of each option changes. A question to be answered with Yes or No lists none: there
    the opposite is asked, and what was a Yes, in the worked examples too, is a No.
    """
    turned = [_listed_in_reverse(one) or opposite(one) for one in instruments.instruments]
    if any(one is None for one in turned):
        return None
    found = tuple(one for one in turned if one is not None)
    return replace(instruments, name=f"{instruments.name}, {REVERSED}", instruments=found)


def positive_when_reversed(
    positive: Mapping[str, Sequence[str]], instruments: InstrumentSet, turned: InstrumentSet
) -> dict[str, tuple[str, ...]]:
    """Return which answers to the reversed questions count, where the user says which of the others do.

    Of an opposite question these are the answers that don't count as they are.
    """
    found = {measure: tuple(labels) for measure, labels in positive.items()}
    for one, other in zip(instruments.instruments, turned.instruments, strict=True):
        if one.name in found and one.scale.positive != other.scale.positive:
            found[one.name] = tuple(label for label in other.scale.labels if label not in found[one.name])
    return found


def _listed_in_reverse(instrument: Instrument) -> Instrument | None:
    """Return the instrument with the last list of "(label) meaning" lines reversed; None where there is no such list.

    >>> from evenhand.instruments import builtin_instruments
    >>> turned = _listed_in_reverse(builtin_instruments("rubric").instrument("refusal"))
    >>> [line[:3] for line in turned.text.splitlines() if line.startswith("(")]
    ['(5)', '(4)', '(3)', '(2)', '(1)']
    """
    lines = instrument.text.split("\n")
    labels = instrument.scale.labels
    starts = [re.compile(rf"\s*\(?{re.escape(label)}[).:]\s") for label in labels]
    for first in range(len(lines) - len(labels), -1, -1):
        block = lines[first : first + len(labels)]
        if all(start.match(line) for start, line in zip(starts, block, strict=True)):
            text = "\n".join([*lines[:first], *reversed(block), *lines[first + len(labels) :]])
            return replace(instrument, text=text, source=f"{instrument.source}, {REVERSED}")
    return None
