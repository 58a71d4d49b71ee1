"""A figure with its interval, or the reason why there is none."""

from dataclasses import asdict, dataclass, replace
from typing import Any, Self

LEVEL = 0.95
"""Of every interval: how often it should hold the truth."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value, its 95% interval and what it rests on."""

    value: float | None
    """None where nothing could be estimated."""
    low: float | None
    high: float | None
    n: int
    """Rows that went in."""
    clusters: int
    """Distinct clusters (stance pairs, say) among them."""
    method: str
    """How the interval was made; where there is none, why."""
    standard_error: float | None = None
    """Cluster-robust: the analytic cross-check on the interval. None where it was not computed or there is none."""
    design_effect: float | None = None
    """Its square over what the variance would be if rows were independent."""

    def within(self, least: float, largest: float) -> Self:
        """Return the estimate with its interval cut to the values that there can be: it loses nothing by that.

        >>> Estimate(0.9, 0.7, 1.1, 12, 3, "m").within(0.0, 1.0).high
        1.0
        """
        if self.low is None or self.high is None:
            return self
        return replace(self, low=max(least, self.low), high=min(largest, self.high))

    @classmethod
    def missing(cls, reason: str, *, n: int = 0, clusters: int = 0) -> Self:
        """Return an estimate that says why there is no figure."""
        return cls(None, None, None, n, clusters, reason)

    def as_json(self) -> dict[str, Any]:
        """Return plain values; ``Estimate(**values)`` takes them back."""
        return asdict(self)
