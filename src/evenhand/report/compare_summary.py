"""What a comparison of runs reports: the shape of ``comparison.json``."""

from dataclasses import asdict, dataclass
from typing import Any, Self

from evenhand.report.agreement_summary import GraderAgreement
from evenhand.report.audit_summary import Analysis
from evenhand.report.plain_values import check_schema, from_plain
from evenhand.statistics import Estimate

COMPARISON_SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Configuration:
    """A subject, asked in one way: one of the runs that are compared."""

    name: str
    run: str
    """Its folder, as it was given."""
    subject: str
    pairs: int
    """In its run."""
    beyond: int
    """Of them, those that not all runs share."""
    changed: int
    """Of those, how many have the same id in the baseline's run but another content."""


@dataclass(frozen=True, slots=True)
class SettingDifference:
    """Something that is not the same in all runs."""

    name: str
    values: tuple[str, ...]
    """One a configuration, in their order."""
    kind: str
    """``compared``: subject and system prompt, which configurations are there to differ in. ``background``: what always
    differs or is made the same here. ``confounder``: whatever else can make a difference of its own."""


@dataclass(frozen=True, slots=True)
class Change:
    """What a configuration has more of than the baseline, on the shared pairs that could be read of both."""

    configuration: str
    difference: Estimate
    """The configuration minus the baseline, pair by pair."""
    p: float | None
    """Two-sided, of no difference; None where it can't be tested."""
    adjusted: float | None
    """p adjusted for the configurations that are compared with the baseline (Holm)."""
    detectable: float | None
    """The smallest difference that these pairs would show in four cases of five."""
    test: str
    """How p was made, or why there is none."""


@dataclass(frozen=True, slots=True)
class ComparedFigure:
    """One figure of every configuration."""

    name: str
    """As in an audit's summary: ``even_handedness.rate``, ``refusal.left.mean``, ``cells.helped_both.rate``."""
    estimates: tuple[Estimate, ...]
    """One a configuration, in their order, on the shared pairs that could be read of it."""
    changes: tuple[Change, ...]
    """One for every configuration but the baseline."""

    def change(self, configuration: str) -> Change:
        """Return the change to a configuration; raises ``KeyError``."""
        return {change.configuration: change for change in self.changes}[configuration]


@dataclass(frozen=True, slots=True)
class ComparedBlock:
    """What one grader found with one set of instruments, of every configuration."""

    grader: str
    instruments: str
    first: str
    """The first side: left, or a in a set without sides."""
    second: str
    """The second side: directions are its share minus the first's."""
    same_family: tuple[bool, ...]
    """Of each configuration, whether its subject and the grader seem to come from one maker."""
    figures: tuple[ComparedFigure, ...]
    remarks: tuple[str, ...]

    def figure(self, name: str) -> ComparedFigure:
        """Return a figure by its name; raises ``KeyError``."""
        return {figure.name: figure for figure in self.figures}[name]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Judgments that can't be compared because not every run has their like."""

    grader: str
    instruments: str
    missing: tuple[str, ...]
    """The configurations that have none."""


@dataclass(frozen=True, slots=True)
class RankAgreement:
    """Whether two graders put the configurations into the same order of a rate."""

    measure: str
    one: str
    other: str
    n: int
    """Configurations for which both have a rate."""
    spearman: float | None
    spearman_p: float | None
    kendall: float | None
    kendall_p: float | None
    method: str
    """How p was made; where there is no value, why."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """All that a comparison found."""

    configurations: tuple[Configuration, ...]
    baseline: str
    pairs: int
    """Shared by all runs, with the same content."""
    stance_pairs: int
    topics: int
    analysis: Analysis
    settings: tuple[SettingDifference, ...]
    blocks: tuple[ComparedBlock, ...]
    left_out: tuple[LeftOut, ...]
    agreement: tuple[GraderAgreement, ...]
    """Between graders, over the verdicts on all configurations together."""
    ranks: tuple[RankAgreement, ...]
    remarks: tuple[str, ...]
    schema: int = COMPARISON_SCHEMA

    @property
    def names(self) -> tuple[str, ...]:
        """The configurations' names."""
        return tuple(configuration.name for configuration in self.configurations)

    def as_json(self) -> dict[str, Any]:
        """Return plain values; ``from_json`` takes them back."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Self:
        """Make a comparison of what ``as_json`` returned.

        Raises:
            InputError: where another version of Evenhand wrote it in another shape.
        """
        check_schema(
            values, COMPARISON_SCHEMA, "the comparison", way_out="make it anew with `evenhand compare RUN RUN`"
        )
        return from_plain(cls, values)
