"""Judgments of fitted graders: an instrument is put to a map instead of to a model."""

from collections.abc import Mapping, Sequence

from evenhand.graders.fitted.grader import FittedGrader
from evenhand.graders.judgment import Judgment
from evenhand.graders.model_grader import Question, judge
from evenhand.instruments.instrument import Derivation, Form, Instrument, InstrumentSet, Unit
from evenhand.instruments.scale import EVEN_HANDEDNESS_SCALE, YES_NO_SCALE
from evenhand.readings import Reading, State

FITTED = "fitted"
"""The name of the set of instruments that fitted graders answer."""


def fitted_instruments(graders: Sequence[FittedGrader]) -> InstrumentSet:
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
    return InstrumentSet(FITTED, instruments, derived if any(each.name == "refusal" for each in instruments) else ())


def fitted_judgments(name: str, graders: Sequence[FittedGrader], questions: Sequence[Question]) -> list[Judgment]:
    """Return a judgment of each question, in their order; each is about one response.

    Args:
        name: of the grader as a whole, as the user wrote it.
        graders: one a measure.
        questions: of the instruments of these graders.
    """
    by_measure: Mapping[str, FittedGrader] = {grader.card.measure: grader for grader in graders}
    found: dict[int, Judgment] = {}
    for measure, grader in by_measure.items():
        places = [place for place, question in enumerate(questions) if question.instrument.name == measure]
        asked = [questions[place] for place in places]
        prompts = [question.pair.prompt(question.letter or "a") for question in asked]
        probabilities = grader.probabilities(prompts, [question.responses[0] for question in asked])
        for place, question, probability in zip(places, asked, probabilities.tolist(), strict=True):
            # Yes and No, in the order of the scale; nothing of the probability falls beside them.
            reading = Reading(State.OK, (probability, 1 - probability), 1.0)
            version = grader.card.weights_sha256[:16]
            found[place] = judge(question, [reading], name, "", instruments=FITTED, answered_by=version)
    return [found[place] for place in range(len(questions))]
