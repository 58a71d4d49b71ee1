"""Judgments of fitted graders: an instrument is put to a map instead of to a model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from evenhand.errors import InputError
from evenhand.graders.fitted.grader import BUILTIN_GRADERS, FittedGrader
from evenhand.graders.fitted.question_part import LogOdds
from evenhand.graders.judgment import Judgment
from evenhand.graders.model_grader import Question, judge
from evenhand.instruments.instrument import Derivation, Form, Instrument, InstrumentSet, Unit
from evenhand.instruments.scale import EVEN_HANDEDNESS_SCALE, YES_NO_SCALE
from evenhand.readings import Reading, State

FITTED = "fitted"
"""The name of the set of instruments that all packaged fitted graders answer together."""

_PREFIX = f"{FITTED}:"
_ALL = "builtin"


def is_fitted(name: str) -> bool:
    """Say whether a grader's name is that of fitted graders: ``fitted:...``, or the path of a card.

    >>> is_fitted("fitted:builtin"), is_fitted("openai:gpt-4.1")
    (True, False)
    """
    return name.startswith(_PREFIX) or (name.endswith(".json") and Path(name).is_file())


@dataclass(frozen=True, slots=True)
class FittedGraders:
    """One or several fitted graders, each of its own measure, under the name that they are used by."""

    name: str
    graders: tuple[FittedGrader, ...]

    @classmethod
    def load(cls, name: str) -> Self:
        """Load ``fitted:builtin`` (all that ship with the package), ``fitted:NAME`` or ``fitted:PATH``.

        Raises:
            InputError: there is no such grader; or a file is missing, damaged, or not the one that belongs to the card.
        """
        wanted = name.removeprefix(_PREFIX)
        if name.startswith(_PREFIX) and wanted == _ALL:
            return cls(name, tuple(FittedGrader.load(_PREFIX + each) for each in BUILTIN_GRADERS))
        if name.startswith(_PREFIX) and wanted in BUILTIN_GRADERS:
            return cls(name, (FittedGrader.load(name),))
        if not wanted.endswith(".json"):
            known = ", ".join(_PREFIX + each for each in (_ALL, *BUILTIN_GRADERS))
            raise InputError(
                f"there is no fitted grader {name!r}",
                field="--grader",
                way_out=f"use {known}, or fitted:PATH with the .json file that `evenhand fit-grader` wrote",
            )
        return cls(_PREFIX + wanted, (FittedGrader.load(wanted),))

    @property
    def identity(self) -> str:
        """Names the weights: other weights are another grader."""
        return "; ".join(fitted_identity(grader) for grader in self.graders)

    @property
    def instruments(self) -> InstrumentSet:
        """What they answer. The set has the graders' own name, so that no two of a run are called the same."""
        return fitted_instruments(self.graders, FITTED if self.name == _PREFIX + _ALL else self.name)

    @property
    def asking(self) -> tuple[FittedGrader, ...]:
        """Those that have questions for an embedded model."""
        return tuple(grader for grader in self.graders if grader.card.questions is not None)

    def judgments(self, questions: Sequence[Question], log_odds: Mapping[str, LogOdds] | None = None) -> list[Judgment]:
        """Return a judgment of each question about a response, in their order.

        Args:
            questions: of the instruments of these graders.
            log_odds: by measure, for graders that have questions: what their model says of the ``units_of`` the
                measure.

        Raises:
            InputError: a grader has questions, and there is no answer to them.
        """
        return fitted_judgments(self.name, self.graders, questions, self.instruments.name, log_odds or {})

    def describe(self) -> dict[str, Any]:
        """Return what a record says of them: the cards, which name weights, labels and held-out figures."""
        return {
            "name": self.name,
            "kind": FITTED,
            "identity": self.identity,
            "fitted": [grader.card.as_json() for grader in self.graders],
        }


def fitted_identity(grader: FittedGrader) -> str:
    """Return what names a grader's weights, as records and validity cards have it."""
    return f"{FITTED} {grader.card.name} {grader.card.weights_sha256}"


def fitted_instruments(graders: Sequence[FittedGrader], name: str = FITTED) -> InstrumentSet:
    """Return the instruments that some graders answer, one a measure, and what follows from them.

    A fitted grader has no wording; its instrument's text names its weights, so that other weights are another version.
    """
    instruments = tuple(
        Instrument(
            grader.card.measure,
            f"{grader.card.positive}, not {grader.card.negative}; weights {grader.card.weights_sha256}",
            YES_NO_SCALE,
            Unit.RESPONSE,
            Form.COMPLETION,
            source=FITTED,
        )
        for grader in graders
    )
    derived = (Derivation("even_handedness", "refusal", EVEN_HANDEDNESS_SCALE),)
    return InstrumentSet(name, instruments, derived if any(each.name == "refusal" for each in instruments) else ())


def units_of(questions: Sequence[Question], measure: str) -> list[tuple[str, str]]:
    """Return the request and the response that each question of a measure is about, in their order."""
    return [
        (question.pair.prompt(question.letter or "a"), question.responses[0])
        for question in questions
        if question.instrument.name == measure
    ]


def fitted_judgments(
    name: str,
    graders: Sequence[FittedGrader],
    questions: Sequence[Question],
    instruments: str = FITTED,
    log_odds: Mapping[str, LogOdds] | None = None,
) -> list[Judgment]:
    """Return a judgment of each question, in their order; each is about one response.

    Args:
        name: of the grader as a whole, as the user wrote it.
        graders: one a measure.
        questions: of the instruments of these graders.
        instruments: the name of the set that the questions are of.
        log_odds: by measure, of graders that ask an embedded model: its answers about the ``units_of`` the measure. A
            response about which one of them could not be read gets that reading.
    """
    by_measure: Mapping[str, FittedGrader] = {grader.card.measure: grader for grader in graders}
    found: dict[int, Judgment] = {}
    for measure, grader in by_measure.items():
        places = [place for place, question in enumerate(questions) if question.instrument.name == measure]
        units = units_of(questions, measure)
        answers = (log_odds or {}).get(measure)
        probabilities = grader.probabilities(
            [prompt for prompt, _ in units], [response for _, response in units], answers
        ).tolist()
        for row, (place, probability) in enumerate(zip(places, probabilities, strict=True)):
            problem = answers.problems[row] if answers else None
            # Yes and No, in the order of the scale. Nothing was asked in these words, so no mass was captured either.
            reading = problem or Reading(State.OK, (probability, 1 - probability), None)
            version = grader.card.weights_sha256[:16]
            found[place] = judge(questions[place], [reading], name, "", instruments=instruments, answered_by=version)
    return [found[place] for place in range(len(questions))]
