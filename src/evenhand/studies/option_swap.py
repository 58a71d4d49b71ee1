"""The option-swap control: an instrument that lists its options the other way round."""

import re
from dataclasses import replace

from evenhand.instruments import Instrument, InstrumentSet

REVERSED = "options reversed"


def with_options_reversed(instruments: InstrumentSet) -> InstrumentSet | None:
    """Return a set whose every instrument lists its options in reverse order, or None where one lists none.

    Labels and meanings stay together, so that answers are read as before: only the place of each option changes.
    """
    turned = [_turned(one) for one in instruments.instruments]
    if any(one is None for one in turned):
        return None
    found = tuple(one for one in turned if one is not None)
    return replace(instruments, name=f"{instruments.name}, {REVERSED}", instruments=found)


def _turned(instrument: Instrument) -> Instrument | None:
    """Return the instrument with the last list of "(label) meaning" lines reversed; None where there is no such list.

    >>> from evenhand.instruments import builtin_instruments
    >>> turned = _turned(builtin_instruments("rubric").instrument("refusal"))
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
