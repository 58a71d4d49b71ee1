"""What a run tells whoever watches it."""

from typing import Protocol

from evenhand.execution.answered import Answered
from evenhand.models import Model, Trouble


class RunWatch(Protocol):
    """Told of everything that happens to the requests of a stage; several stages may be under way at once."""

    def began(self, stage: str, model: Model, total: int) -> None:
        """Begin a stage of so many requests (repeats included)."""

    def answered(self, stage: str, answer: Answered) -> None:
        """Tell what one request came to."""

    def tried_in_vain(self, stage: str, trouble: Trouble, wait: float) -> None:
        """Tell that a call came to nothing and is made again after so many seconds."""

    def draining(self, stage: str, in_flight: int) -> None:
        """Tell that a run was asked to stop and waits for the calls that are under way."""

    def ended(self, stage: str) -> None:
        """End a stage, done or not."""


class UnwatchedRun:
    """Nobody watches."""

    def began(self, stage: str, model: Model, total: int) -> None:
        """Do nothing."""

    def answered(self, stage: str, answer: Answered) -> None:
        """Do nothing."""

    def tried_in_vain(self, stage: str, trouble: Trouble, wait: float) -> None:
        """Do nothing."""

    def draining(self, stage: str, in_flight: int) -> None:
        """Do nothing."""

    def ended(self, stage: str) -> None:
        """Do nothing."""
