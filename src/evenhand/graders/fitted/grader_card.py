"""The card of a fitted grader: what it was fitted to, and how it did on what it had not seen."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from evenhand.graders.fitted.features import BITS, Block
from evenhand.statistics.estimate import Estimate

FORMAT = 1


@dataclass(frozen=True, slots=True)
class LabelSource:
    """Where labels came from."""

    name: str
    licence: str
    source: str
    sha256: str
    fitted: int
    """Rows that the weights were fitted to."""


@dataclass(frozen=True, slots=True)
class HeldOut:
    """How the grader did on rows it had not seen."""

    data: str
    held_out: str
    """What of the rows the fit had not seen: requests, issues, models."""
    n: int
    positive: int
    auc: Estimate
    kappa: Estimate
    """At the grader's threshold."""
    shipped: bool
    """Whether these very weights were tested; otherwise weights fitted in the same way without the group left out."""


@dataclass(frozen=True, slots=True)
class FittedCard:
    """Everything about a fitted grader but its weights."""

    name: str
    measure: str
    positive: str
    """The label whose probability it gives."""
    negative: str
    """The label that it was told from."""
    blocks: tuple[Block, ...]
    intercept: float
    threshold: float
    """The probability above which the label holds."""
    penalty: float
    rows: int
    sources: tuple[LabelSource, ...]
    figures: tuple[HeldOut, ...]
    weights_sha256: str
    notes: tuple[str, ...] = ()
    bits: int = BITS
    format: int = FORMAT

    def as_json(self) -> dict[str, Any]:
        """Return plain values; ``from_json`` takes them back."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """Read a card back; raises ``KeyError``, ``TypeError`` or ``ValueError`` for what is none."""
        taken = {field.name: values[field.name] for field in fields(cls)}
        if taken["format"] != FORMAT or taken["bits"] != BITS:
            raise ValueError(f"format {taken['format']} with {taken['bits']} bits, where {FORMAT} and {BITS} are known")
        taken["blocks"] = tuple(Block.from_json(block) for block in taken["blocks"])
        taken["sources"] = tuple(LabelSource(**source) for source in taken["sources"])
        taken["figures"] = tuple(_held_out(figure) for figure in taken["figures"])
        taken["notes"] = tuple(taken["notes"])
        for number in ("intercept", "threshold", "penalty"):
            taken[number] = float(taken[number])
        return cls(**taken)


def _held_out(values: Mapping[str, Any]) -> HeldOut:
    return HeldOut(**{**values, "auc": Estimate(**values["auc"]), "kappa": Estimate(**values["kappa"])})
