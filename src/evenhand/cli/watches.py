"""One watch that hands everything on to several."""

from evenhand.execution import Answered
from evenhand.models import Model, Trouble
from evenhand.studies.watch import StudyWatch


class Watches:
    """Tells every one of its watches what it is told, in their order."""

    def __init__(self, *watches: StudyWatch) -> None:
        """Take the watches."""
        self._watches = watches

    def fetched(self, name: str, done: int, total: int | None) -> None:
        """Hand on."""
        for watch in self._watches:
            watch.fetched(name, done, total)

    def say(self, text: str) -> None:
        """Hand on."""
        for watch in self._watches:
            watch.say(text)

    def began(self, stage: str, model: Model, total: int) -> None:
        """Hand on."""
        for watch in self._watches:
            watch.began(stage, model, total)

    def answered(self, stage: str, answer: Answered) -> None:
        """Hand on."""
        for watch in self._watches:
            watch.answered(stage, answer)

    def tried_in_vain(self, stage: str, trouble: Trouble, wait: float) -> None:
        """Hand on."""
        for watch in self._watches:
            watch.tried_in_vain(stage, trouble, wait)

    def draining(self, stage: str, in_flight: int) -> None:
        """Hand on."""
        for watch in self._watches:
            watch.draining(stage, in_flight)

    def ended(self, stage: str) -> None:
        """Hand on."""
        for watch in self._watches:
            watch.ended(stage)
