"""What a study tells whoever watches it."""

from typing import Protocol

from evenhand.execution import RunWatch, UnwatchedRun
from evenhand.fetching import FetchWatch, Unwatched


class StudyWatch(FetchWatch, RunWatch, Protocol):
    """Told how far a study is, and of the downloads that it needs."""


class UnwatchedStudy(Unwatched, UnwatchedRun):
    """Nobody watches."""
