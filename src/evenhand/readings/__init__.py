"""From a reply to a probability distribution over the scale, with its captured mass and its state."""

from evenhand.readings.choice_text import read_choice_text, share_of_samples
from evenhand.readings.choices import MINIMUM_CAPTURED, read_choice
from evenhand.readings.ratings import RatingReading, read_ratings
from evenhand.readings.reading import Reading, State
from evenhand.readings.reply import Failure, FailureKind, Reply, TokenPosition

__all__ = [
    "MINIMUM_CAPTURED",
    "Failure",
    "FailureKind",
    "RatingReading",
    "Reading",
    "Reply",
    "State",
    "TokenPosition",
    "read_choice",
    "read_choice_text",
    "read_ratings",
    "share_of_samples",
]
