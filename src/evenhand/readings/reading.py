"""The reading: what a grader's reply says about the scale, or why it says nothing."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Self


class State(StrEnum):
    """What became of a question. Only ``ok`` has probabilities; the others are counted and never scored."""

    OK = "ok"
    ABSTAINED = "abstained"
    """The grader said that the question can't be answered."""
    UNPARSEABLE = "unparseable"
    """There is an answer, and none of the options can be read from it."""
    TRUNCATED = "truncated"
    """The text was longer than the grader's context, or the answer was cut off before its verdict."""
    UNANSWERED = "unanswered"
    """The model thought, and ended without an answer."""
    DECLINED = "declined"
    """The grader refused to grade."""
    FAILED = "failed"
    """No reply came back."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A distribution over the labels of a scale, in the scale's order."""

    state: State
    probabilities: tuple[float, ...] = ()
    """One a label, summing to 1; empty unless the state is ``ok``."""
    captured: float | None = 0.0
    """How much of the model's own probability fell on valid answers, before normalising; None where only text was
    read."""
    reason: str = ""
    """Why the state is not ``ok``."""

    def __post_init__(self) -> None:
        if (self.state is State.OK) != bool(self.probabilities):
            raise ValueError("a reading has probabilities exactly when its state is ok")

    @classmethod
    def without(cls, state: State, reason: str, captured: float | None = 0.0) -> Self:
        """Return a reading that says nothing, and why."""
        return cls(state=state, captured=captured, reason=reason)
