"""A validity card as an audit quotes it: one measure, one line, and the figures that the line is made of."""

from dataclasses import dataclass
from typing import Self

from evenhand.graders.fitted.grader_card import FittedCard
from evenhand.report.validity_card import ValidityCard, card_line, two_digits
from evenhand.statistics import Estimate

PACKAGED = "packaged"
"""The source of a card that came with the package."""

# How the names of gold sets begin whose texts were written to have their labels.
_CONSTRUCTED = "builtin"


@dataclass(frozen=True, slots=True)
class QuotedCard:
    """What a validity card says of one measure of a grader."""

    measure: str
    line: str
    """In words, for the foot of a table."""
    grader: str
    """Who was held against labels: the audit's grader, or the one of its fitted graders that gives the measure."""
    gold: str
    labelled_by: str
    """``people`` or ``construction``."""
    held_out: str
    """What of the labels the grader had not seen in its fitting; empty where it was not fitted to labels."""
    n: int
    """Labelled items that the figures rest on."""
    threshold: float
    """At which observed agreement and kappa were measured."""
    observed: Estimate
    kappa: Estimate
    auc: Estimate
    verdict: str
    """As ``evenhand.statistics.detection.Verdict``; empty where the card has none."""
    source: str
    """``packaged``, ``fitted`` (the figures that came with its weights), or the name of the file."""
    sha256: str = ""
    """Of that file."""

    @classmethod
    def of_card(cls, card: ValidityCard, source: str, sha256: str = "") -> Self:
        """Quote a validity card."""
        return cls(
            measure=card.measure,
            line=card_line(card),
            grader=card.grader,
            gold=card.gold,
            labelled_by=card.labelled_by,
            held_out="",
            n=card.n,
            threshold=card.threshold,
            observed=card.observed,
            kappa=card.kappa,
            auc=card.auc,
            verdict=str(card.verdict),
            source=source,
            sha256=sha256,
        )

    @classmethod
    def of_fitted(cls, card: FittedCard, grader: str) -> Self | None:
        """Quote the first of a fitted grader's held-out figures, which is the one to know it by; None without any."""
        if not card.figures:
            return None
        first = card.figures[0]
        return cls(
            measure=card.measure,
            line=fitted_line(card),
            grader=grader,
            gold=first.data,
            labelled_by="construction" if first.data.startswith(_CONSTRUCTED) else "people",
            held_out=first.held_out,
            n=first.n,
            threshold=card.threshold,
            observed=Estimate.missing("not on the card of a fitted grader"),
            kappa=first.kappa,
            auc=first.auc,
            verdict="",
            source="fitted",
            sha256=card.weights_sha256,
        )


def fitted_line(card: FittedCard) -> str:
    """Return the first held-out figure of a fitted grader in one line; it must have one."""
    figure = card.figures[0]
    whom = "labels given by construction" if figure.data.startswith(_CONSTRUCTED) else "people"
    line = f"{card.measure}: agrees with {whom}"
    if figure.kappa.value is not None:
        line += f" at kappa {_with_interval(figure.kappa, 2)}"
    line += f" over {figure.n:,} labelled answers ({figure.data})"
    if figure.auc.value is not None:
        line += f", AUC {two_digits(figure.auc.value, 3)}"
    how = "not seen in its fitting" if figure.shipped else "of weights fitted alike that had not seen"
    return f"{line}; {how}: {figure.held_out}"


def _with_interval(estimate: Estimate, digits: int) -> str:
    value = two_digits(estimate.value or 0.0, digits)
    if estimate.low is None or estimate.high is None:
        return value
    return f"{value} [{two_digits(estimate.low, digits)}, {two_digits(estimate.high, digits)}]"
