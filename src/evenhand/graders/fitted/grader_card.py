"""The card of a fitted grader: what it was fitted to, and how it did on what it had not seen."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from evenhand.graders.fitted.features import BITS, Block
from evenhand.graders.fitted.question_part import QuestionPart
from evenhand.statistics.estimate import Estimate

FORMAT = 1
FORMAT_WITH_QUESTIONS = 2
"""So that a version that knows nothing of questions takes no card for one without."""


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
    questions: QuestionPart | None = None
    """What an embedded model is asked about an answer besides; None where no model is needed."""

    @property
    def format(self) -> int:
        """The card's format."""
        return FORMAT if self.questions is None else FORMAT_WITH_QUESTIONS

    def as_json(self) -> dict[str, Any]:
        """Return plain values; ``from_json`` takes them back."""
        values = asdict(self) | {"format": self.format}
        values.pop("questions")
        return values if self.questions is None else values | {"questions": self.questions.as_json()}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """Read a card back; raises ``KeyError``, ``TypeError`` or ``ValueError`` for what is none."""
        taken = {field.name: values[field.name] for field in fields(cls) if field.name != "questions"}
        known, expected = values["format"], FORMAT_WITH_QUESTIONS if "questions" in values else FORMAT
        if known != expected or taken["bits"] != BITS:
            raise ValueError(f"format {known} with {taken['bits']} bits, where {expected} and {BITS} are known")
        taken["questions"] = QuestionPart.from_json(values["questions"]) if "questions" in values else None
        taken["blocks"] = tuple(Block.from_json(block) for block in taken["blocks"])
        taken["sources"] = tuple(LabelSource(**source) for source in taken["sources"])
        taken["figures"] = tuple(_held_out(figure) for figure in taken["figures"])
        taken["notes"] = tuple(taken["notes"])
        for number in ("intercept", "threshold", "penalty"):
            taken[number] = float(taken[number])
        return cls(**taken)


def _held_out(values: Mapping[str, Any]) -> HeldOut:
    return HeldOut(**{**values, "auc": Estimate(**values["auc"]), "kappa": Estimate(**values["kappa"])})
