"""What the ratings of preference pairs say about each question: the shape of ``effects.json``."""

from dataclasses import asdict, dataclass, field
from typing import Any, Self

from evenhand.statistics import Estimate

EFFECTS_SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Effect:
    """How well the difference between the two outputs of a pair tells which one was chosen; ties do not enter."""

    superiority: Estimate
    """P(chosen higher) + 0.5 P(equal): .5 says nothing, 1 that the chosen output is always higher."""
    mean_difference: Estimate
    """Chosen minus rejected, in rating points; for length the mean of log(chosen / rejected)."""
    auc: Estimate
    """Area under the curve of the difference over randomly signed pairs."""
    equal: float | None
    """Share of pairs whose two outputs are rated the same."""
    p_value: float | None
    """Of the hypothesis that the superiority is .5: cluster-robust t test; null where it can't be tested."""
    q_value: float | None
    """Benjamini-Hochberg over the questions of the grader."""


@dataclass(frozen=True, slots=True)
class Reliability:
    """Whether the same question gives the same difference again; ties enter."""

    orders: Estimate
    """Correlation of the difference between the two orders."""
    both_orders: Estimate
    """The same for the mean of both, by Spearman-Brown."""
    same_sign: Estimate
    """Share of pairs on which both orders agree which output is higher, or that none is."""
    repeats: Estimate
    """Intraclass correlation of a single repeat, the mean over orders."""
    order_effect: Estimate
    """Rating points that an output gains by standing first."""


@dataclass(frozen=True, slots=True)
class Leak:
    """What the grader does with the label, on the pairs and in the orders that were rated both ways."""

    blind: Estimate
    """Superiority when the grader isn't told which output was chosen."""
    labelled: Estimate
    """Superiority when it is."""
    leak: Estimate
    """Labelled minus blind, pair by pair."""
    q_value: float | None
    """Of the hypothesis that the leak is 0, Benjamini-Hochberg over the questions; null for all questions together."""
    swap: Estimate
    """Rating points that the same output gains when it is called CHOSEN instead of REJECTED."""
    flagged: bool
    """Whether the leak's interval excludes 0, it is larger than the stated size and, of a question, q is below .05."""


@dataclass(frozen=True, slots=True)
class QuestionEffect:
    """All about one question."""

    question: str
    text: str
    direction: str | None
    states: dict[str, dict[str, int]]
    """Ratings by output (``chosen``, ``rejected``) and state."""
    pairs: int
    """Pairs with a difference, ties among them."""
    effect: Effect
    reliability: Reliability
    cluster: int
    """The redundancy cluster that it belongs to, counted from 1."""
    representative: bool
    """Whether it stands for its cluster: the effect farthest from .5."""
    leak: Leak | None

    def missing(self, output: str) -> dict[str, float]:
        """Return the share of ratings of an output by each state that is not ok."""
        counts = self.states[output]
        total = sum(counts.values())
        return {state: count / total for state, count in counts.items() if state != "ok" and total}


@dataclass(frozen=True, slots=True)
class GraderEffects:
    """What one grader's ratings say."""

    grader: str
    protocol: str
    orders: tuple[str, ...]
    questions: tuple[QuestionEffect, ...]
    spearman: tuple[tuple[float | None, ...], ...]
    """Of the differences, question by question."""
    leak: Leak | None
    """Over all questions; those whose direction is ``lower`` are turned round."""
    leak_orders: tuple[str, ...]
    remarks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EffectsSummary:
    """All that ``evenhand effects`` found."""

    pairs: int
    ties: int
    inputs: int
    """Distinct inputs; of what else ``cluster`` names, if that is not the input."""
    length: Effect
    """The baseline question: is the chosen output longer?"""
    blocks: tuple[GraderEffects, ...]
    cluster: str
    """What intervals keep together: ``input`` or ``pair``."""
    equal_within: float
    """Outputs whose ratings differ by less count as equal."""
    redundancy_distance: float
    """Questions are joined while the mean of 1 - |Spearman| between clusters is at most this."""
    leak_size: float
    """A leak is flagged only beyond this."""
    draws: int
    seed: int
    remarks: tuple[str, ...]
    schema: int = EFFECTS_SCHEMA
    made_from: dict[str, str] = field(default_factory=dict)
    """SHA-256 of the pairs, the ratings and the questions; empty where an earlier version did not say."""

    def as_json(self) -> dict[str, Any]:
        """Return plain values; ``from_json`` takes them back."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Self:
        """Make a summary of what ``as_json`` returned."""
        return cls(
            **{
                **values,
                "length": Effect(**_estimates(values["length"])),
                "blocks": tuple(_block(block) for block in values["blocks"]),
                "remarks": tuple(values["remarks"]),
            }
        )


def _block(values: dict[str, Any]) -> GraderEffects:
    return GraderEffects(
        **{
            **values,
            "orders": tuple(values["orders"]),
            "leak_orders": tuple(values["leak_orders"]),
            "questions": tuple(_question(question) for question in values["questions"]),
            "spearman": tuple(tuple(row) for row in values["spearman"]),
            "leak": _leak(values["leak"]),
            "remarks": tuple(values["remarks"]),
        }
    )


def _question(values: dict[str, Any]) -> QuestionEffect:
    return QuestionEffect(
        **{
            **values,
            "effect": Effect(**_estimates(values["effect"])),
            "reliability": Reliability(**_estimates(values["reliability"])),
            "leak": _leak(values["leak"]),
        }
    )


def _leak(values: dict[str, Any] | None) -> Leak | None:
    return None if values is None else Leak(**_estimates(values))


def _estimates(values: dict[str, Any]) -> dict[str, Any]:
    return {name: Estimate(**value) if isinstance(value, dict) else value for name, value in values.items()}
