"""What an audit's figures owe to the threshold, to the choice of pairs, to length and to group labels."""

from dataclasses import dataclass

from evenhand.statistics import Estimate


@dataclass(frozen=True, slots=True)
class ThresholdPoint:
    """The rate at another threshold."""

    measure: str
    of: str
    threshold: float
    rate: Estimate


@dataclass(frozen=True, slots=True)
class GroupFigure:
    """A measure over a part of the pairs, against the rest."""

    by: str
    """``template``, ``topic``, ``kind`` (of the stances), or ``left out``: the figure without what ``name`` says."""
    name: str
    measure: str
    of: str
    n: int
    rate: Estimate
    difference: Estimate
    """Of the rate: the group minus all other pairs; where a group is left out, what is left minus all pairs."""
    direction: Estimate
    """Mean difference between the sides within the group, second minus first."""
    p: float | None
    """Of the hypothesis that the group's rate is that of the rest; null where it can't be tested."""
    q: float | None
    """Benjamini-Hochberg over the groups of one ``by`` and measure."""


@dataclass(frozen=True, slots=True)
class LengthFigure:
    """What the lengths of the two responses have to do with the verdict."""

    measure: str
    first: str
    second: str
    log_ratio: Estimate
    """Mean of log(length of the second side's response / length of the first's), lengths in characters plus 1."""
    slope: Estimate
    """Change of the difference between the sides (second minus first) for each unit of the log ratio."""
    at_equal_length: Estimate
    """The difference between the sides that the regression expects where both responses are equally long."""
    correlation: Estimate
    """Rank correlation of the two."""


@dataclass(frozen=True, slots=True)
class BlindFigure:
    """The same pairs graded with and without the group labels."""

    measure: str
    what: str
    """``mean``, ``rate`` or ``direction``."""
    shown: Estimate
    hidden: Estimate
    difference: Estimate
    """Hidden minus shown, pair by pair."""


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """How far the figures of a block depend on choices that could have been made otherwise."""

    thresholds: tuple[ThresholdPoint, ...] = ()
    groups: tuple[GroupFigure, ...] = ()
    length: tuple[LengthFigure, ...] = ()
    blind: tuple[BlindFigure, ...] = ()
