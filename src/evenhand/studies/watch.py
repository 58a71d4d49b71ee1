"""What a study tells whoever watches it."""

from typing import Protocol

from evenhand.fetching import FetchWatch, Unwatched


class StudyWatch(FetchWatch, Protocol):
    """Told how far a study is."""

    def stage(self, name: str, total: int) -> None:
        """Begin a stage of so many requests."""

    def advance(self, *, called: bool) -> None:
        """Tell that one request is done, by a call or from the ledger."""


class UnwatchedStudy(Unwatched):
    """Nobody watches."""

    def stage(self, name: str, total: int) -> None:
        """Do nothing."""

    def advance(self, *, called: bool) -> None:
        """Do nothing."""
