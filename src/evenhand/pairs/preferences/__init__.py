"""Preference pairs from the files that people have: one reader a format, and how the format is told."""

from evenhand.pairs.preferences.columns import Columns
from evenhand.pairs.preferences.detect import FORMATS
from evenhand.pairs.preferences.problem import Problem, ProblemKind
from evenhand.pairs.preferences.read import (
    PreferenceSet,
    PreferenceStream,
    RowOutcome,
    collected,
    read_preferences,
    stream_of_records,
    stream_preferences,
)
from evenhand.pairs.preferences.records import records_of

__all__ = [
    "FORMATS",
    "Columns",
    "PreferenceSet",
    "PreferenceStream",
    "Problem",
    "ProblemKind",
    "RowOutcome",
    "collected",
    "read_preferences",
    "records_of",
    "stream_of_records",
    "stream_preferences",
]
