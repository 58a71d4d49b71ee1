"""The graders' side of an audit: responses in, judgments out."""

from collections.abc import Mapping, Sequence
from itertools import islice

from evenhand.execution import Answered
from evenhand.graders import Judgment, Question, ask_all, derive, judge
from evenhand.graders.fitted.judging import FittedGraders
from evenhand.graders.fitted.question_part import LogOdds
from evenhand.instruments import InstrumentSet
from evenhand.models import Model
from evenhand.pairs import PairedPrompt
from evenhand.pairs.paired_prompt import Letter
from evenhand.readings import Reading, Reply
from evenhand.studies.audit.respond import texts_of
from evenhand.studies.audit.response import Response
from evenhand.studies.carrier import CarryOut


async def grade(
    grader: Model,
    questions: Sequence[Question],
    instruments: InstrumentSet,
    pairs: Sequence[PairedPrompt],
    carry_out: CarryOut,
) -> list[Judgment]:
    """Return a grader's judgments, those that follow from others at the end."""
    asked = [question for question in questions for _ in range(question.count)]
    requests = (request for question in questions for request in question.requests)

    def read(answer: Answered) -> tuple[Reading, str, str]:
        model = answer.outcome.model if isinstance(answer.outcome, Reply) else ""
        return asked[answer.place].read(answer.outcome), answer.key, model

    stage = f"{grader.name} grades, {instruments.name}"
    answers = iter(await carry_out(stage, requests, grader, len(asked), read))
    judgments = []
    for question in questions:
        readings, keys, models = zip(*islice(answers, question.count), strict=True)
        judgments.append(
            judge(
                question,
                readings,
                grader.name,
                " ".join(keys),
                instruments=instruments.name,
                answered_by=next((model for model in models if model), ""),
            )
        )
    return judgments + derived(judgments, instruments, pairs)


def weigh(
    graders: FittedGraders,
    pairs: Sequence[PairedPrompt],
    responses: Sequence[Response],
    log_odds: Mapping[str, LogOdds] | None = None,
) -> list[Judgment]:
    """Return the judgments of fitted graders, those that follow from others at the end.

    It takes no call: of graders with questions, ``log_odds`` are what ``put_questions`` returned.
    """
    instruments = graders.instruments
    judgments = graders.judgments(list(ask_all(instruments, pairs, texts_of(responses))), log_odds)
    return judgments + derived(judgments, instruments, pairs)


def derived(judgments: Sequence[Judgment], instruments: InstrumentSet, pairs: Sequence[PairedPrompt]) -> list[Judgment]:
    """Return the judgments that follow from those of the two responses to each pair."""
    versions = instruments.versions
    found: Mapping[tuple[str, str, Letter | None], Judgment] = {
        (judgment.measure, judgment.pair_id, judgment.letter): judgment for judgment in judgments
    }
    following = []
    for derivation in instruments.derivations:
        for pair in pairs:
            a = found.get((derivation.from_instrument, pair.pair_id, "a"))
            b = found.get((derivation.from_instrument, pair.pair_id, "b"))
            if a and b:
                following.append(derive(derivation, versions[derivation.name], a, b))
    return following
