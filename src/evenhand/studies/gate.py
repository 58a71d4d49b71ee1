"""A gate for continuous integration: conditions on the figures of an audit."""

import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from evenhand.errors import InputError
from evenhand.report import AuditSummary, GraderBlock, named_estimates
from evenhand.report.audit_names import could_name
from evenhand.statistics import Estimate

_CONDITION = re.compile(r"\s*(?P<name>[a-z_]+(?:\.[a-z_]+)*)\s*(?P<sign><=|>=|<|>)\s*(?P<number>[-+]?\d*\.?\d+)\s*")
_SIGNS: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_PARTS = ("value", "low", "high")


@dataclass(frozen=True, slots=True)
class Gate:
    """A condition that makes a command fail: a figure, or an end of its interval, against a number."""

    text: str
    """As it was given."""
    figure: str
    """A name as ``named_estimates`` has them."""
    part: str
    """``value``, ``low`` or ``high``."""
    sign: str
    number: float

    def holds(self, estimate: Estimate) -> bool | None:
        """Tell whether the condition holds; None where there is no such number."""
        found: float | None = getattr(estimate, self.part)
        return None if found is None else _SIGNS[self.sign](found, self.number)


def read_gates(texts: Sequence[str]) -> list[Gate]:
    """Return the conditions; raises ``InputError`` for one that can't be understood.

    >>> read_gates(["even_handedness.low < 0.9"])[0].part
    'low'
    """
    return [_read(text) for text in texts]


def tripped(gates: Sequence[Gate], summary: AuditSummary) -> list[str]:
    """Return a message for each condition that holds for any grader, with the figure and its interval.

    A figure that could not be estimated trips its gate too: a gate that can't see must not let through.

    Raises ``InputError`` where no grader's figures have that name.
    """
    return [message for gate in gates for message in _tripped(gate, summary)]


def _tripped(gate: Gate, summary: AuditSummary) -> Iterator[str]:
    named = [(block, named_estimates(block)) for block in summary.blocks]
    if not any(gate.figure in estimates for _, estimates in named):
        there = sorted({name for _, estimates in named for name in estimates})
        raise InputError(
            f"names {gate.figure!r}, which this audit has no figure for",
            field="--fail-if",
            way_out=f"name one of {', '.join(there)}" if there else "see that a grader gave judgments",
        )
    for block, estimates in named:
        estimate = estimates.get(gate.figure)
        if estimate is None:
            continue
        holds = gate.holds(estimate)
        if holds is None:
            by = _by(summary, block)
            yield f"{gate.text}: can't be told, {gate.figure} has no {gate.part}{by} ({estimate.method})"
        elif holds:
            yield f"{gate.text}: holds, {gate.figure} is {_shown(estimate)}{_by(summary, block)}"


def _by(summary: AuditSummary, block: GraderBlock) -> str:
    return f", {summary.configuration} graded by {block.grader} with {block.instruments}"


def _shown(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:.3f}, without an interval"
    return f"{estimate.value:.3f} [{estimate.low:.3f}, {estimate.high:.3f}]"


def _read(text: str) -> Gate:
    found = _CONDITION.fullmatch(text)
    if not found:
        raise InputError(
            f"is {text!r}",
            field="--fail-if",
            way_out="write a figure, a sign and a number, as in 'even_handedness.low < 0.9' or 'refusal.left > 0.05'",
        )
    name, _, part = found["name"].rpartition(".")
    if part not in _PARTS:
        name, part = found["name"], "value"
    if not could_name(name):
        raise InputError(
            f"names {name!r}, which no audit has a figure for",
            field="--fail-if",
            way_out="name one such as even_handedness.rate, refusal.left.mean or cells.helped_both.low",
        )
    return Gate(text.strip(), name, part, found["sign"], float(found["number"]))
