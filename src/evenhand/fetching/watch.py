"""What a fetch tells whoever watches it."""

from typing import Protocol


class FetchWatch(Protocol):
    """Told how far a fetch is, and what a user should know of it."""

    def fetched(self, name: str, done: int, total: int | None) -> None:
        """``done`` bytes of the file are there, of ``total`` if that is known."""

    def say(self, text: str) -> None:
        """Say one line."""


class Unwatched:
    """Nobody watches."""

    def fetched(self, name: str, done: int, total: int | None) -> None:
        """Do nothing."""

    def say(self, text: str) -> None:
        """Do nothing."""
