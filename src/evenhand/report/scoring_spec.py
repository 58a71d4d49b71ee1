"""A scoring spec: questions and what a rating point of each is worth. The shape of ``spec.json``."""

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from evenhand.errors import InputError
from evenhand.statistics import Estimate

SPEC_SCHEMA = 1
SPEC_KIND = "evenhand scoring spec"


@dataclass(frozen=True, slots=True)
class SpecQuestion:
    """A question and its weight."""

    id: str
    text: str
    tags: tuple[str, ...]
    direction: str | None
    """Which rating is commonly thought better, as its author said; the weight's sign is what the data say."""
    weight: float
    """Log odds of being chosen that a rating point is worth; 0 where the fit left the question out."""
    estimate: Estimate
    """The same without the penalty's pull, with its interval; the penalised weight may lie nearer to 0."""
    standard_weight: float
    """The weight times the root mean square of the differences: comparable between questions."""
    centre: float
    """Mean rating over all outputs, which stands in where an output has no rating."""
    abstained_weight: float
    """Log odds of being chosen for an output of which the grader says that the question can't be answered."""
    stability: float
    """Share of half-samples in which the weight is not 0."""
    selected: bool
    """Whether that share reaches the spec's ``selection_share``."""
    pairs: int
    """Pairs on which both outputs have a rating."""


@dataclass(frozen=True, slots=True)
class HeldOut:
    """How well pairs are predicted by fits that have not seen them; ties do not enter."""

    auc: Estimate
    """Over randomly signed pairs."""
    accuracy: Estimate
    log_loss: Estimate
    """.693 is a coin's."""
    calibration_error: float | None
    """Expected calibration error, 0 to .5."""
    calibration_slope: float | None
    """1 is calibrated; below 1 the probabilities are too sure."""


@dataclass(frozen=True, slots=True)
class Ceiling:
    """What the same questions could reach with a grader that answers without noise."""

    reliability: Estimate
    """Of the score's difference, the mean of both orders."""
    auc: float | None
    accuracy: float | None


@dataclass(frozen=True, slots=True)
class FitSettings:
    """How the weights came about."""

    penalty: float
    """Lambda, on the scale of the mean loss."""
    inverse_penalty: float
    """C in the terms of scikit-learn: 1 / (lambda x sum of the rows' weights)."""
    l1_ratio: float
    rule: str
    folds: int
    searched_pairs: int
    """Pairs on which the penalty was chosen and the stability found."""
    path: tuple[tuple[float, float, float], ...]
    """Penalty, mean held-out log loss and its standard error."""
    stability_penalty: float
    half_samples: int
    selection_share: float
    strengths: bool
    """Whether the strengths of the preferences weighed the pairs."""


@dataclass(frozen=True, slots=True)
class ScoringSpec:
    """What predicts preference: a score is the sum of weight x (rating - centre) over the questions.

    The difference of two outputs' scores is the log odds that the first is chosen.
    """

    grader: str
    protocol: str
    questions: tuple[SpecQuestion, ...]
    held_out: HeldOut
    length: HeldOut
    """Of the length of the outputs alone."""
    best_question: str
    """The single question taken in most folds."""
    best_single: HeldOut
    """Of the best single question, chosen anew in each fold."""
    gain_over_length: Estimate
    """Area under the curve minus that of length alone."""
    ceiling: Ceiling
    fit: FitSettings
    pairs: int
    """Pairs that entered the fit."""
    ties: int
    """How many of them are ties."""
    inputs: int
    provenance: dict[str, Any]
    """Versions, the seed, and the SHA-256 of the files that the spec was made from."""
    remarks: tuple[str, ...]
    kind: str = SPEC_KIND
    schema: int = SPEC_SCHEMA

    def score(self, ratings: Mapping[str, float | None], abstained: Collection[str] = ()) -> float:
        """Return the score of an output.

        Args:
            ratings: by question id, 0 to 10; None or absent where there is none.
            abstained: ids of the questions that the grader said can't be answered.
        """
        total = 0.0
        for question in self.questions:
            rating = ratings.get(question.id)
            if rating is not None:
                total += question.weight * (rating - question.centre)
            elif question.id in abstained:
                total += question.abstained_weight
        return total

    def as_json(self) -> dict[str, Any]:
        """Return plain values; ``from_json`` takes them back."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: object, *, source: str = "") -> Self:
        """Make a spec of what ``as_json`` returned; raises ``InputError`` if it is none, or of another schema."""
        if not isinstance(values, dict) or values.get("kind") != SPEC_KIND:
            raise InputError("is no scoring spec", source=source, way_out="make one with `evenhand fit`")
        if values.get("schema") != SPEC_SCHEMA:
            raise InputError(
                f"has the schema {values.get('schema')!r}, and this version reads {SPEC_SCHEMA}",
                source=source,
                field="schema",
                way_out="make the spec again with `evenhand fit`",
            )
        try:
            return cls(
                **{
                    **values,
                    "questions": tuple(_question(question) for question in values["questions"]),
                    **{name: _held_out(values[name]) for name in ("held_out", "length", "best_single")},
                    "gain_over_length": Estimate(**values["gain_over_length"]),
                    "ceiling": Ceiling(
                        **{**values["ceiling"], "reliability": Estimate(**values["ceiling"]["reliability"])}
                    ),
                    "fit": FitSettings(**{**values["fit"], "path": tuple(tuple(row) for row in values["fit"]["path"])}),
                    "remarks": tuple(values["remarks"]),
                }
            )
        except (KeyError, TypeError) as error:
            raise InputError(
                f"is damaged ({error})", source=source, way_out="make the spec again with `evenhand fit`"
            ) from error


def _question(values: dict[str, Any]) -> SpecQuestion:
    return SpecQuestion(**{**values, "tags": tuple(values["tags"]), "estimate": Estimate(**values["estimate"])})


def _held_out(values: dict[str, Any]) -> HeldOut:
    found: dict[str, Any] = {
        name: Estimate(**value) if isinstance(value, dict) else value for name, value in values.items()
    }
    return HeldOut(**found)
