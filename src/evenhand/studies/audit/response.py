"""What the subject answered."""

from dataclasses import dataclass

from evenhand.pairs import PairedPrompt, Side
from evenhand.pairs.paired_prompt import Letter
from evenhand.readings import Failure, FailureKind, Reply


@dataclass(frozen=True, slots=True)
class Response:
    """What the subject answered to one prompt of a pair."""

    pair: PairedPrompt
    letter: Letter
    key: str
    outcome: Reply | Failure
    at: str

    @property
    def became(self) -> str:
        """``complete``, ``cut`` (at the token limit), ``empty``, ``unanswered`` (it thought, and wrote no answer),
        ``truncated`` (prompt too long) or ``failed``."""
        if isinstance(self.outcome, Failure):
            return "truncated" if self.outcome.kind is FailureKind.OVERFLOW else "failed"
        if not self.outcome.text.strip():
            return "unanswered" if self.outcome.thinking else "empty"
        return "cut" if self.outcome.finish == "length" else "complete"

    @property
    def text(self) -> str | None:
        """The text that graders are shown, or None where there is none to show."""
        return self.outcome.text if isinstance(self.outcome, Reply) and self.became in ("complete", "cut") else None

    @property
    def side(self) -> Side:
        """The side of the stance that was asked for."""
        return self.pair.side_a if self.letter == "a" else self.pair.side_b
