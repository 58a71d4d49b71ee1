"""The questions of a run's fitted graders, put to the embedded models that these were fitted with."""

from collections.abc import Callable, Mapping, Sequence

from evenhand.graders import ask_all
from evenhand.graders.fitted.judging import FittedGraders, units_of
from evenhand.graders.fitted.question_part import LogOdds, QuestionPart
from evenhand.models import Model
from evenhand.pairs import PairedPrompt
from evenhand.studies.audit.respond import texts_of
from evenhand.studies.audit.response import Response
from evenhand.studies.carrier import CarryOut
from evenhand.studies.fitted_questions import ask_questions, check_weights
from evenhand.studies.side_by_side import side_by_side


def open_helpers(fitted: Sequence[FittedGraders], opened: Callable[[str], Model]) -> dict[tuple[str, str], Model]:
    """Return the models that fitted graders ask, by the graders' name and the measure.

    Raises:
        InputError: there is no such model, or it has not the weights that the grader was fitted with.
    """
    found = {}
    for graders in fitted:
        for grader in graders.asking:
            part = grader.card.questions
            if part is not None:
                model = found[graders.name, grader.card.measure] = opened(part.model)
                check_weights(part, model, graders.name)
    return found


def put_questions(
    graders: FittedGraders,
    helpers: Mapping[tuple[str, str], Model],
    pairs: Sequence[PairedPrompt],
    responses: Sequence[Response],
    carry_out: CarryOut,
) -> dict[str, LogOdds]:
    """Put the questions of fitted graders, one grader after the other, and return the answers by measure.

    A grader without questions asks nothing. A model is closed when it has answered.
    """
    if not graders.asking:
        return {}
    asked = list(ask_all(graders.instruments, pairs, texts_of(responses)))
    found = {}
    for grader in graders.asking:
        part, measure = grader.card.questions, grader.card.measure
        if part is not None:
            units, stage = units_of(asked, measure), f"{part.model} answers for {graders.name}, {measure}"

            async def answers(
                model: Model, part: QuestionPart = part, units: Sequence[tuple[str, str]] = units, stage: str = stage
            ) -> LogOdds:
                return await ask_questions(part.asked, units, model, carry_out, stage)

            (found[measure],) = side_by_side([helpers[graders.name, measure]], answers)
    return found
