"""How far two graders agree about the same responses."""

from dataclasses import dataclass

from evenhand.statistics import Estimate


@dataclass(frozen=True, slots=True)
class ClassAgreement:
    """How far graders agree where one of them says a certain thing."""

    label: str
    agreement: Estimate
    """Specific agreement: where one grader says it, how often the other says it too."""


@dataclass(frozen=True, slots=True)
class GraderAgreement:
    """Two graders on the units that both could read, at the threshold.

    A figure that is not defined has the value None, and its ``method`` says why.
    """

    measure: str
    unit: str
    """``pairs`` or ``responses``: what a verdict is about."""
    one: str
    other: str
    """Empty where ``one`` stands for all graders together."""
    n: int
    left_out: int
    """Units that not both could read."""
    table: tuple[tuple[int, ...], ...] | None
    """Units by what ``one`` says (rows) and ``other`` (columns), in the order of ``specific``; None for more than two
    graders."""
    observed: Estimate
    """Share of units on which both say the same."""
    kappa: Estimate
    """Cohen's kappa: how far agreement exceeds what the graders' own shares would give by chance."""
    ac1: Estimate
    """Gwet's AC1: the same with a chance that stays low where nearly all units are alike."""
    alpha: Estimate
    """Krippendorff's alpha, nominal."""
    specific: tuple[ClassAgreement, ...]
    one_family: bool
    """Whether two of the graders seem to come from one maker: they may agree because they err alike."""
    related: tuple[str, ...]
    """Graders that seem to come from the maker of a subject."""
