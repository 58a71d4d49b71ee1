"""The part of a fitted grader that is answered by an embedded model: questions, and what their log odds weigh."""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from evenhand.errors import InputError
from evenhand.graders.fitted.features import Floats
from evenhand.graders.fitted.questions import EmbeddedQuestion
from evenhand.readings import Reading

SCALE = 1.0
"""Length of the log odds of an answer that lies a spread from the centre in each; that of a block of n-grams is 1."""


@dataclass(frozen=True, slots=True)
class LogOdds:
    """What a model answered to the questions about some answers."""

    values: Floats
    """Log odds, shape (answers, questions); NaN where they could not be read."""
    problems: tuple[Reading | None, ...]
    """Of each answer the first reading that is not ok."""


@dataclass(frozen=True, slots=True)
class Standard:
    """Brings log odds to a common scale: what is taken off and divided by, one a question."""

    centres: Floats
    spreads: Floats

    @classmethod
    def of(cls, values: Floats) -> Self:
        """Return that of log odds, shape (answers, questions), NaN left out.

        Raises:
            InputError: a question has the same answer everywhere, or none at all.
        """
        columns = [column[~np.isnan(column)] for column in values.T]
        same = [place for place, column in enumerate(columns) if not column.size or not column.std()]
        if same:
            raise InputError(
                f"question {same[0] + 1} has the same answer about every text",
                field="--questions",
                way_out="ask another model, or leave --questions away",
            )
        means, spreads = ([each(column) for column in columns] for each in (np.mean, np.std))
        return cls(np.array(means, dtype=np.float64), np.array(spreads, dtype=np.float64))

    def features(self, values: Floats, scale: float = SCALE) -> Floats:
        """Return features of log odds; 0 for an answer whose log odds are not known."""
        return np.nan_to_num((values - self.centres) / self.spreads, nan=0.0) * (scale / math.sqrt(values.shape[1]))


@dataclass(frozen=True, slots=True)
class WeighedQuestion:
    """A question and what its log odds add to a margin: weight x (log odds - centre) / spread."""

    question: EmbeddedQuestion
    centre: float
    spread: float
    weight: float

    def as_json(self) -> dict[str, Any]:
        """Return plain values, with the hash of all that shapes the question."""
        return {
            "question": self.question.as_json(),
            "sha256": self.question.version,
            "centre": self.centre,
            "spread": self.spread,
            "weight": self.weight,
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """Read one back; raises ``KeyError``, ``TypeError`` or ``ValueError`` for what is none."""
        question = EmbeddedQuestion.from_json(values["question"])
        if question.version != values["sha256"]:
            raise ValueError(f"question {question.name!r} is not the one that its weight belongs to")
        numbers = [float(values[name]) for name in ("centre", "spread", "weight")]
        if not all(map(math.isfinite, numbers)) or numbers[1] <= 0:
            raise ValueError(f"question {question.name!r} has numbers that can't be weights")
        return cls(question, *numbers)


@dataclass(frozen=True, slots=True)
class QuestionPart:
    """Questions to one embedded model, which is named by its weights."""

    model: str
    """Its name, as ``open_model`` takes it."""
    model_sha256: str
    questions: tuple[WeighedQuestion, ...]

    @property
    def asked(self) -> tuple[EmbeddedQuestion, ...]:
        """The questions alone."""
        return tuple(each.question for each in self.questions)

    @property
    def sha256(self) -> str:
        """SHA-256 (hex) of the part; the file of weights holds it, so that their hash is that of all weights."""
        return hashlib.sha256(json.dumps(self.as_json(), sort_keys=True).encode()).hexdigest()

    def margins(self, values: npt.NDArray[np.float64]) -> Floats:
        """Return what log odds, shape (answers, questions), add to the margins; NaN where one is not known."""
        total = np.zeros(len(values))
        for column, each in enumerate(self.questions):
            total += each.weight * ((values[:, column] - each.centre) / each.spread)
        return total

    def as_json(self) -> dict[str, Any]:
        """Return plain values; ``from_json`` takes them back."""
        return {
            "model": self.model,
            "model_sha256": self.model_sha256,
            "questions": [each.as_json() for each in self.questions],
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """Read a part back; raises ``KeyError``, ``TypeError`` or ``ValueError`` for what is none."""
        questions = tuple(WeighedQuestion.from_json(each) for each in values["questions"])
        if not questions:
            raise ValueError("there are no questions")
        return cls(str(values["model"]), str(values["model_sha256"]), questions)


def weighed_questions(
    asked: Sequence[EmbeddedQuestion], standard: Standard, shares: Floats, scale: float = SCALE
) -> tuple[WeighedQuestion, ...]:
    """Return questions with their weights.

    Args:
        asked: the questions.
        standard: what brought their log odds to a common scale.
        shares: the weight of each of its ``features``.
        scale: with which they were made.
    """
    found = zip(asked, standard.centres.tolist(), standard.spreads.tolist(), shares.tolist(), strict=True)
    step = scale / math.sqrt(len(asked))
    return tuple(WeighedQuestion(question, centre, spread, share * step) for question, centre, spread, share in found)
