"""The validity card: how a grader agreed with people on labelled texts."""

from dataclasses import asdict, dataclass, field
from typing import Any, Self

from evenhand.errors import InputError
from evenhand.report.agreement_summary import ClassAgreement
from evenhand.report.plain_values import check_schema, from_plain
from evenhand.statistics import Estimate
from evenhand.statistics.detection import Verdict
from evenhand.statistics.reliability_curve import Calibration
from evenhand.statistics.thresholds import BestThreshold

CARD_SCHEMA = 2
_LABELLED = {
    "people": ("labelled by people", "labelled answers"),
    "construction": ("written to have their labels", "answers written to test it"),
    "silver": ("labelled by what people said of each text alone", "answers that people labelled one by one"),
}
"""How items got their labels, and what they are then called."""
_SHOUTS = {
    Verdict.RANDOM: "; CAN'T BE TOLD FROM AN ANSWER BY LOT",
    Verdict.CONSTANT: "; IT ALWAYS SAYS THE SAME",
    Verdict.INVERTED: "; IT IS RIGHT UPSIDE DOWN",
    Verdict.ONE_SIDED: "; ITS VERDICT IS ALWAYS THE SAME AT THIS THRESHOLD",
    Verdict.UNDECIDED: "; too few to judge it by",
}


@dataclass(frozen=True, slots=True)
class LabelFigure:
    """What the grader said of the items that bear one gold label, those among them that count in neither class."""

    label: str
    counts_as: str
    """``positive``, ``negative`` or, where it enters no figure of two classes, empty."""
    n: int
    mean: Estimate
    """Mean probability of the positive class."""
    over: Estimate
    """Share of them above the threshold."""


@dataclass(frozen=True, slots=True)
class KindFigure:
    """Agreement on the items of one kind."""

    kind: str
    observed: Estimate
    """Share on which grader and label agree: over all classes of a measure that has more than two."""


@dataclass(frozen=True, slots=True)
class RaterAgreement:
    """Two who labelled the same items: the grader and an annotator, or two annotators."""

    one: str
    other: str
    n: int
    observed: Estimate
    kappa: Estimate
    ac1: Estimate
    alpha: Estimate


@dataclass(frozen=True, slots=True)
class ManyClasses:
    """Agreement over all classes that a pair can fall into, by what the grader finds likeliest."""

    n: int
    table: tuple[tuple[int, ...], ...] | None
    """Items by gold label (rows) and by the grader's (columns), in the order of ``specific``."""
    observed: Estimate
    kappa: Estimate
    ac1: Estimate
    alpha: Estimate
    specific: tuple[ClassAgreement, ...]


@dataclass(frozen=True, slots=True)
class Controls:
    """What should make no difference, and what it made. A figure that was not measured says why in its ``method``."""

    swap_consistency: Estimate
    """Share of pairs whose verdict is the same in both orders."""
    position_effect: Estimate
    """Mean of P(first shown better) - P(second shown better): what the place alone is worth."""
    direction_auc: Estimate
    """Chance that a pair in which a was helped more gets a higher P(a) - P(b) than one in which b was."""
    option_swap: Estimate
    """Share of items whose verdict is the same when the options are listed the other way round."""
    option_shift: Estimate
    """Mean of the probability with the options reversed minus that with the options as they are."""
    length_alone: Estimate
    """The area under the curve of length in place of the grader: what a ruler would reach, if need be turned round."""
    equal_length: Estimate
    """The grader's area under the curve where only items of the same fifth by length are compared."""
    length_left: Estimate
    """That of length itself in the same fifths: what they leave of it."""


@dataclass(frozen=True, slots=True)
class ValidityCard:
    """How one grader with one instrument agreed with one gold set on one measure."""

    grader: str
    identity: str
    """Of the grader, as it is part of the ledger's keys."""
    instruments: str
    versions: dict[str, str]
    """The version of each instrument that the measure rests on."""
    reading: str
    orders: str
    gold: str
    title: str
    gold_sha256: str
    labelled_by: str
    """``people``, ``construction`` (texts that were written to have their label) or ``silver`` (a label that follows
    from what people said of each text of a pair alone)."""
    split: str
    """Which part of the gold set: ``fit``, ``test``, or empty for all of it."""
    measure: str
    instrument: str
    """The instrument that the measure was read from; it has another name where it stands in for one."""
    positive: tuple[str, ...]
    """Gold labels of the positive class."""
    negative: tuple[str, ...]
    cluster: str
    """What intervals resample: a group of the gold set, or ``item``."""
    items: int
    """Items that were put to the grader."""
    neither: int
    """Items among them that belong to neither class."""
    n: int
    """Items of the two classes that could be read; the figures below rest on these."""
    unreadable: dict[str, int]
    """Questions by state, those that could be read left out."""
    unread: Estimate
    """Share of the items of which a question could not be read."""
    captured: Estimate
    """Mean captured mass over the items; none where no probabilities were read."""
    threshold: float
    table: tuple[tuple[int, ...], ...] | None
    """Items by gold class (rows) and verdict (columns), positive first."""
    observed: Estimate
    kappa: Estimate
    ac1: Estimate
    alpha: Estimate
    specific: tuple[ClassAgreement, ...]
    sensitivity: Estimate
    specificity: Estimate
    auc: Estimate
    reliability: Calibration
    """How the probabilities compare to the shares that people found."""
    best_threshold: BestThreshold
    """Where sensitivity + specificity is largest on these items."""
    by_label: tuple[LabelFigure, ...]
    by_kind: tuple[KindFigure, ...]
    """Empty where the gold set names no kinds, or too many to read."""
    classes: ManyClasses | None
    """None for a measure of two classes."""
    controls: Controls
    annotators: tuple[RaterAgreement, ...]
    verdict: Verdict
    remarks: tuple[str, ...] = ()
    seen: int | None = None
    """Items that the weights of a fitted grader were fitted to; None of another grader."""
    schema: int = field(default=CARD_SCHEMA)

    @property
    def whom(self) -> str:
        """Whom the grader agrees with."""
        return "people" if self.labelled_by == "people" else "the labels"

    @property
    def how_labelled(self) -> str:
        """How the items got their labels."""
        return _LABELLED[self.labelled_by][0]

    def as_json(self) -> dict[str, Any]:
        """Return plain values; ``from_json`` takes them back."""
        return asdict(self) | {"verdict": str(self.verdict)}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Self:
        """Make a card of what ``as_json`` returned.

        Raises:
            InputError: where another version of Evenhand wrote it in another shape, or it is damaged.
        """
        check_schema(values, CARD_SCHEMA, "the validity card", way_out="make it anew with `evenhand validate`")
        try:
            return from_plain(cls, {**values, "verdict": Verdict(values["verdict"])})
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(
                f"the validity card is damaged ({error})", way_out="make it anew with `evenhand validate`"
            ) from error


def card_line(card: ValidityCard) -> str:
    """Return the card in one line, for the foot of a table that rests on the grader."""
    whose = _LABELLED[card.labelled_by][1]
    if card.measure in ("even_handedness", "preference"):
        whose = whose.replace("answers", "pairs")
    name, colon, _ = card.title.partition(":")
    where = f"{card.n:,} {whose} ({name if colon else card.gold})"
    if card.observed.value is None:
        return f"{card.measure}: how it agrees with people is not known: {where}, {card.observed.method}"
    line = f"{card.measure}: agrees with {card.whom} on {whole_percent(card.observed)} of {where}"
    if card.kappa.value is not None:
        line += f", kappa {two_digits(card.kappa.value)}"
    if card.auc.value is not None:
        line += f", AUC {two_digits(card.auc.value, 3)}"
    if card.seen:
        line += f"; in its fitting half: {card.seen:,} of {card.items:,} items"
    return line + _SHOUTS.get(card.verdict, "")


def two_digits(value: float, digits: int = 2) -> str:
    """Return a figure between -1 and 1 without the zero before the point.

    >>> two_digits(0.854), two_digits(-0.03), two_digits(0.9996, 3), two_digits(0.9996)
    ('.85', '-.03', '1.000', '1.00')
    """
    shown = round(value, digits) + 0.0
    text = f"{shown:.{digits}f}"
    return text if abs(shown) >= 1 else text.replace("0.", ".", 1)


def whole_percent(estimate: Estimate) -> str:
    """Return a share in whole percent with its interval.

    >>> whole_percent(Estimate(0.9944, 0.981, 0.997, 60, 60, "")), whole_percent(Estimate(1.0, None, None, 9, 9, ""))
    ('99% [98, 100]', '100%')
    """
    value = f"{100 * (estimate.value or 0):.0f}%"
    if estimate.low is None or estimate.high is None:
        return value
    return f"{value} [{100 * estimate.low:.0f}, {100 * estimate.high:.0f}]"
