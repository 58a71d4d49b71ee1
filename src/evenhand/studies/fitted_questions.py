"""The questions of fitted graders, put to the embedded model that they were fitted with."""

from collections.abc import Iterator, Sequence

import numpy as np

from evenhand.errors import InputError
from evenhand.execution import Answered
from evenhand.graders.fitted.question_part import LogOdds, QuestionPart
from evenhand.graders.fitted.questions import EmbeddedQuestion
from evenhand.instruments import Request
from evenhand.models import Model
from evenhand.readings import Reading
from evenhand.studies.carrier import CarryOut


async def ask_questions(
    questions: Sequence[EmbeddedQuestion],
    units: Sequence[tuple[str, str]],
    model: Model,
    carry_out: CarryOut,
    stage: str,
) -> LogOdds:
    """Put questions about requests and responses to a model, question by question.

    Args:
        questions: what to ask.
        units: requests and responses.
        model: whom to ask.
        carry_out: has the requests answered.
        stage: what a watch is told.
    """

    def requests() -> Iterator[Request]:
        for question in questions:
            for prompt, response in units:
                yield question.request(prompt, response)

    def read(answer: Answered) -> float | Reading:
        return questions[answer.place // len(units)].log_odds(answer.outcome)

    found = await carry_out(stage, requests(), model, len(questions) * len(units), read) if units else []
    by_unit = [found[row :: len(units)] for row in range(len(units))]
    problems = tuple(next((one for one in row if isinstance(one, Reading)), None) for row in by_unit)
    values = [[np.nan if isinstance(one, Reading) else one for one in row] for row in by_unit]
    return LogOdds(np.array(values, dtype=np.float64).reshape(len(units), len(questions)), problems)


def check_weights(part: QuestionPart, model: Model, grader: str) -> None:
    """Raise ``InputError`` where a model is not the one whose log odds a grader was fitted with."""
    sha256 = weights_sha256(model)
    if sha256 != part.model_sha256:
        raise InputError(
            f"was fitted with {part.model} of weights {part.model_sha256[:16]}, and those here are {sha256[:16]}",
            source=grader,
            way_out="use those weights, or fit the grader again with `evenhand fit-grader --questions`",
        )


def weights_sha256(model: Model) -> str:
    """Return the SHA-256 of an embedded model's weights; raises ``InputError`` for another model."""
    sha256 = model.describe().get("weights_sha256")
    if not isinstance(sha256, str):
        raise InputError(
            f"{model.name} is no embedded model: nothing tells whether it will be the same when the grader is used",
            field="--questions",
            way_out="name an embedded model or gguf:PATH",
        )
    return sha256
