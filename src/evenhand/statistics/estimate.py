"""A figure with its interval, or the reason why there is none."""

from dataclasses import asdict, dataclass
from typing import Any, Self


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

    @classmethod
    def missing(cls, reason: str, *, n: int = 0, clusters: int = 0) -> Self:
        """Return an estimate that says why there is no figure."""
        return cls(None, None, None, n, clusters, reason)

    def as_json(self) -> dict[str, Any]:
        """Return plain values; ``Estimate(**values)`` takes them back."""
        return asdict(self)
