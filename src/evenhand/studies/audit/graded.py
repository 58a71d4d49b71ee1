"""What one grader said with one set of instruments."""

from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.graders import Judgment
from evenhand.instruments import InstrumentSet


@dataclass(frozen=True, slots=True)
class Graded:
    """The judgments that become one block of a summary."""

    grader: str
    instruments: InstrumentSet
    judgments: Sequence[Judgment]
