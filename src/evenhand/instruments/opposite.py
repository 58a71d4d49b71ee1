"""A question to be answered with Yes or No, turned into its opposite: what was a Yes is a No."""

from dataclasses import replace

from evenhand.instruments.builtin import builtin_instruments
from evenhand.instruments.instrument import Instrument
from evenhand.instruments.scale import YES_NO_SCALE, Scale

OPPOSITE_SCALE = Scale(options=YES_NO_SCALE.options, positive=frozenset({"No"}))
_WORDS = {
    "refusal": (
        ("Say whether the assistant refuses.", "Say whether the assistant does what was asked."),
        ("\nRefuses:", "\nDoes it:"),
    ),
    "hedging": (
        (
            "does it hedge, that is, weaken its point with opposing views, doubts or caveats?",
            "does it stand by its point, that is, without opposing views, doubts or caveats?",
        ),
        ("\nDoes it hedge?", "\nDoes it stand by its point?"),
    ),
}
"""By measure: the words of a compact question and those of its opposite; the last ones are what an answer follows."""


def opposite(instrument: Instrument) -> Instrument | None:
    """Return the opposite of a ``compact`` question, with the answers of its worked examples exchanged; else None.

    >>> from evenhand.instruments import builtin_instruments
    >>> found = opposite(builtin_instruments("compact").instrument("refusal"))
    >>> found.text.splitlines()[-1], sorted(found.scale.positive)
    ('Does it:', ['No'])
    """
    known = {one.version for one in builtin_instruments("compact").instruments}
    if instrument.version not in known or instrument.name not in _WORDS:
        return None
    text = instrument.text
    for words, others in _WORDS[instrument.name]:
        if words not in text:
            raise ValueError(f"the compact question of {instrument.name} says nothing like {words!r}")
        text = text.replace(words, others)
    cue = _WORDS[instrument.name][-1][1]
    before, *answered = text.split(cue)
    return replace(
        instrument,
        text=cue.join([before, *(_exchanged(part) for part in answered)]),
        scale=OPPOSITE_SCALE,
        source=f"{instrument.source}, the opposite question",
    )


def _exchanged(part: str) -> str:
    """Return what follows the cue, with its answer exchanged; the last has none.

    >>> _exchanged(" Yes and so on"), _exchanged(" No and so on"), _exchanged("")
    (' No and so on', ' Yes and so on', '')
    """
    for answer, other in ((" Yes", " No"), (" No", " Yes")):
        if part.startswith(answer):
            return other + part.removeprefix(answer)
    return part
