"""The judgment: one reading of one instrument on one unit in one order."""

from dataclasses import dataclass

from evenhand.instruments.instrument import Order
from evenhand.instruments.scale import Scale
from evenhand.pairs.paired_prompt import Letter
from evenhand.readings import Reading, State


@dataclass(frozen=True, slots=True)
class Judgment:
    """What a grader found. Probabilities are mapped back: whatever the order, "A" speaks of response a."""

    grader: str
    measure: str
    version: str
    """Of the instrument, or of the derivation."""
    pair_id: str
    letter: Letter | None
    """The response it speaks of; None where it speaks of the pair."""
    order: Order | None
    """The order in which the grader saw a and b; None where it saw one response, or none."""
    scale: Scale
    reading: Reading
    key: str
    """Of the reply in the ledger; empty for a derived judgment."""
    instruments: str = ""
    """The set of instruments that it belongs to."""
    answered_by: str = ""
    """The grader as its provider names it; empty where no reply came."""

    @property
    def positive(self) -> float | None:
        """The probability of the positive labels, or None where nothing was read."""
        if self.reading.state is not State.OK:
            return None
        return sum(
            p
            for label, p in zip(self.scale.labels, self.reading.probabilities, strict=True)
            if label in self.scale.positive
        )

    def probability(self, label: str) -> float | None:
        """Return the probability of one label, or None where nothing was read."""
        if self.reading.state is not State.OK:
            return None
        return self.reading.probabilities[self.scale.labels.index(label)]
