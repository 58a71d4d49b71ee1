"""What one grader said with one set of instruments."""

from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.graders import Judgment
from evenhand.instruments import InstrumentSet
from evenhand.report.quoted_card import QuotedCard


@dataclass(frozen=True, slots=True)
class Graded:
    """The judgments that become one block of a summary."""

    grader: str
    instruments: InstrumentSet
    judgments: Sequence[Judgment]
    validity: tuple[QuotedCard, ...] = ()
    """What its validity cards say."""
