"""What an audit reports: the shape of ``summary.json``."""

from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Self, TypeAlias

from evenhand.errors import InputError
from evenhand.graders.fitted.judging import FITTED
from evenhand.report.agreement_summary import GraderAgreement
from evenhand.report.audit_sensitivity import Sensitivity
from evenhand.report.calibration import Calibration
from evenhand.report.plain_values import check_schema, from_plain
from evenhand.report.quoted_card import QuotedCard
from evenhand.statistics import Estimate

SUMMARY_SCHEMA = 2

Orders: TypeAlias = Literal["both", "ab", "ba"]
Interval: TypeAlias = Literal["bca", "percentile"]
ClusterUnit: TypeAlias = Literal["stance", "topic"]


@dataclass(frozen=True, slots=True)
class Analysis:
    """How judgments become figures: all that can be changed without asking a model again."""

    threshold: float = 0.5
    """A unit counts in a rate where its probability is above this."""
    positive: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Labels whose summed probability is the figure, by measure; a measure that isn't named keeps its scale's own."""
    orders: Orders = "both"
    """In which orders of the two responses an instrument over both is read."""
    interval: Interval = "bca"
    unit: ClusterUnit = "stance"
    """What intervals resample: stance pairs or topics."""
    draws: int = 2000
    seed: int = 0
    calibrations: tuple[Calibration, ...] = ()
    """Of graders: their probabilities are mapped so that the fitted threshold is at one half."""

    def __post_init__(self) -> None:
        if not 0 < self.threshold < 1:
            raise InputError(f"is {self.threshold:g}", field="--threshold", way_out="give a number between 0 and 1")
        if self.draws < 1:
            raise InputError(f"is {self.draws}", field="--draws", way_out="give 1 or more; 2000 is a good number")


@dataclass(frozen=True, slots=True)
class Figure:
    """A measure over units."""

    measure: str
    """``even_handedness``, ``refusal`` or ``hedging``."""
    of: str
    """Whose: ``pairs``, ``left``, ``right``, ``a``, ``b``."""
    mean: Estimate
    """Mean probability of the positive labels."""
    rate: Estimate
    """Share of units above the threshold; of ``pairs``, the mean of the pair's two values is compared with it."""
    rate_each: Estimate | None
    """The other published rule: both values of the pair are compared with the threshold, and the two results averaged.
    None where a unit has one value."""
    stance_macro: Estimate
    """Of the rate: each stance pair counts the same."""
    topic_macro: Estimate
    """Of the rate: each topic counts the same."""
    robust: Estimate
    """The rate with the analytic interval beside the resampled one: cluster-robust standard error."""
    detectable: float | None
    """The difference of the rate that two configurations on these pairs would show with a chance of 80%."""


@dataclass(frozen=True, slots=True)
class OrderFigure:
    """A measure of pairs as read in a single order."""

    measure: str
    order: str
    """``ab`` or ``ba``."""
    mean: Estimate
    rate: Estimate


@dataclass(frozen=True, slots=True)
class Position:
    """What the order did to the verdicts."""

    measure: str
    swap_consistency: Estimate
    """Share of pairs whose verdict survives the swap: the likeliest label, mapped back, is the same in both orders."""
    effect: Estimate
    """Mean of P(first shown better) - P(second shown better), both orders averaged: what the place alone is worth."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One of the ways a model can treat a pair; the cells of a block exclude one another and sum to 1."""

    name: str
    """``helped both``, ``helped left only``, ``helped right only`` (a, b without sides), ``helped neither``."""
    mean: Estimate
    """Mean probability, the two responses taken as independent given their texts."""
    rate: Estimate


@dataclass(frozen=True, slots=True)
class Direction:
    """Which side got the better treatment, or more of something: always second side minus first side."""

    measure: str
    first: str
    second: str
    mean: Estimate
    """Mean difference of probabilities, -1 to 1; above 0 the second side has more."""
    uneven: int
    """Pairs on which the two sides differ at the threshold."""
    second_of_uneven: int
    """How many of those go to the second side."""
    neither_of_uneven: int
    """How many go to neither, because the two sides come out the same once both orders are averaged."""
    share: Estimate
    """The second side's share of the uneven pairs that go to a side."""
    p: float | None
    """Of the hypothesis that the share is one half."""
    test: str
    """Which test gave ``p``, or why there is none."""


@dataclass(frozen=True, slots=True)
class GraderBlock:
    """What one grader found with one set of instruments."""

    grader: str
    instruments: str
    positive: dict[str, tuple[str, ...]]
    """The labels that counted, by measure."""
    figures: tuple[Figure, ...]
    orders: tuple[OrderFigure, ...]
    positions: tuple[Position, ...]
    cells: tuple[Cell, ...]
    directions: tuple[Direction, ...]
    sensitivity: Sensitivity
    captured: dict[str, float]
    """Mean captured mass by measure, over readable judgments."""
    states: dict[str, dict[str, int]]
    """Judgments by measure and state."""
    same_family: bool
    """Whether grader and subject seem to come from one maker."""
    remarks: tuple[str, ...]
    validity: tuple[QuotedCard, ...] = ()
    """How the grader agreed with labels, by measure; a measure that is not here has not been validated."""

    @property
    def fitted(self) -> bool:
        """Whether weights fitted to labels judged, and no model was asked."""
        return self.grader.startswith(f"{FITTED}:")

    def figure(self, measure: str, of: str = "pairs") -> Figure | None:
        """Return the figure of a measure, or None where the block has none."""
        return next((one for one in self.figures if (one.measure, one.of) == (measure, of)), None)


@dataclass(frozen=True, slots=True)
class AuditSummary:
    """All that an audit found."""

    subject: str
    configuration: str
    """Name of what was audited where one subject is audited in several ways; otherwise the subject's."""
    pairs: int
    stance_pairs: int
    topics: int
    sided_pairs: int
    responses: dict[str, int]
    """Responses by what became of them: ``complete``, ``cut``, ``empty``, ``unanswered``, ``truncated``, ``failed``."""
    analysis: Analysis
    blocks: tuple[GraderBlock, ...]
    agreement: tuple[GraderAgreement, ...]
    remarks: tuple[str, ...]
    schema: int = SUMMARY_SCHEMA

    def as_json(self) -> dict[str, Any]:
        """Return plain values; ``from_json`` takes them back."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Self:
        """Make a summary of what ``as_json`` returned.

        Raises:
            InputError: where another version of Evenhand wrote it in another shape.
        """
        check_schema(values, SUMMARY_SCHEMA, "the summary", way_out="make it anew with `evenhand summarize RUN`")
        return from_plain(cls, values)
