"""What a validation is asked to do."""

from dataclasses import dataclass, field
from pathlib import Path

from evenhand.errors import InputError
from evenhand.pairs.gold.item import LABELS
from evenhand.studies.audit.plan import FEWEST_DRAWS, GradingPlan
from evenhand.studies.audit.positive import positive_labels
from evenhand.studies.validity import CardSettings

_SPLITS = ("", "fit", "test")


@dataclass(frozen=True, slots=True)
class ValidationPlan:
    """Which graders to validate, and against what."""

    grading: GradingPlan
    gold: str
    """``builtin``, the name of a known gold set, or the path of a file."""
    gold_folder: Path | None = None
    """Where known gold sets lie, if not where they were fetched to."""
    sample: int | None = None
    """Items of each gold set; all without."""
    seed: int = 0
    split: str = ""
    """``fit`` or ``test``: only this part of the gold set."""
    kinds: tuple[str, ...] = ()
    """Only items of these kinds; all without."""
    positive: tuple[str, ...] = ()
    """Labels of an instrument that count as positive, such as ``refusal=3,4,5``."""
    gold_positive: tuple[str, ...] = ()
    """Labels of the gold set that count as positive, such as ``refusal=full,partial``."""
    option_swap: bool = False
    """Ask once more with the options the other way round."""
    calibrate: Path | None = None
    """Fit a calibration to one half and write it here; the cards are then those of the other half, calibrated."""
    calibration: Path | None = None
    """A calibration to apply."""
    card: CardSettings = field(default_factory=CardSettings)
    out: Path | None = None
    max_cost: float | None = None
    models: Path | None = None

    def __post_init__(self) -> None:
        if not 0 < self.card.threshold < 1:
            raise InputError(
                f"is {self.card.threshold:g}", field="--threshold", way_out="give a number between 0 and 1"
            )
        if self.card.draws < FEWEST_DRAWS:
            raise InputError(
                f"is {self.card.draws}", field="--draws", way_out=f"give {FEWEST_DRAWS} or more; 2,000 are usual"
            )
        if self.sample is not None and self.sample < 1:
            raise InputError(f"is {self.sample}", field="--sample", way_out="give 1 or more")
        if self.split not in _SPLITS:
            raise InputError(f"is {self.split!r}", field="--split", way_out="use fit or test, or leave it away")
        if self.calibrate is not None and (len(self.grading.graders) > 1 or self.calibration or self.split):
            raise InputError(
                "fits one grader anew, on one half of the gold set",
                field="--calibrate",
                way_out="name one grader, and neither --calibration nor --split",
            )
        if self.positive and (self.calibrate or self.calibration):
            raise InputError(
                "changes what a calibration is of",
                field="--positive",
                way_out="leave it away: a calibration is of the labels that an instrument counts",
            )
        self.gold_labels  # noqa: B018  (says what is wrong with them)

    @property
    def gold_labels(self) -> dict[str, tuple[str, ...]]:
        """The positive gold labels by measure, where they are named."""
        found = positive_labels(self.gold_positive)
        known = {str(measure): labels for measure, labels in LABELS.items()}
        for measure, labels in found.items():
            unknown = [label for label in labels if label not in known.get(measure, ())]
            if unknown:
                raise InputError(
                    f"{measure} has no gold label {', '.join(unknown)}",
                    field="--gold-positive",
                    way_out=f"use {', '.join(known[measure])}" if measure in known else f"name {', '.join(known)}",
                )
        return found
