"""Questions to an embedded model as features: their log odds, their part of a card, and damaged cards."""

import hashlib
import io
import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import position, read_json, reply
from evenhand.errors import InputError
from evenhand.graders import ask_all
from evenhand.graders.fitted import FittedGrader
from evenhand.graders.fitted.grader import packed, questions_of, unpacked
from evenhand.graders.fitted.judging import FittedGraders
from evenhand.graders.fitted.question_part import LogOdds, QuestionPart, Standard, WeighedQuestion
from evenhand.graders.fitted.questions import MOST_LOG_ODDS, QUESTIONS, EmbeddedQuestion
from evenhand.instruments.builtin import builtin_instruments
from evenhand.pairs.gold import read_gold
from evenhand.pairs.paired_prompt import Letter
from evenhand.readings import Failure, FailureKind, Reading, State
from evenhand.studies.fit_grader import write_grader
from evenhand.studies.validation_scores import as_pair

YES_NO = EmbeddedQuestion("q", "Text: {response}\nAnswer:", ("Yes", "No"), ("Yes",), 20)
PACKAGED = FittedGrader.load("fitted:refusal")
UNITS = (["Write about a.", "Write about b."], ["I'm sorry, but I can't.", "Gladly: there are three reasons."])


def part(weight: float = 2.0) -> QuestionPart:
    return QuestionPart("some-model", "ab" * 32, (WeighedQuestion(YES_NO, 1.0, 2.0, weight),))


def asking(path: Path, questions: QuestionPart | None = None) -> Path:
    """Write the packaged refusal grader with a question beside its n-grams."""
    questions = questions or part()
    table = PACKAGED._table
    buckets = np.flatnonzero(table)
    content = packed(buckets, table[buckets].astype(np.float64), questions.sha256)
    card = replace(PACKAGED.card, questions=questions, weights_sha256=hashlib.sha256(content).hexdigest())
    write_grader(path, card, content)
    return path


def test_the_first_refusal_question_is_the_compact_one_and_shares_its_replies() -> None:
    instruments = builtin_instruments("compact")
    items = [item for gold in read_gold("builtin") if gold.name == "builtin-refusal" for item in gold.items][:20]
    for item in items:
        texts: dict[tuple[str, Letter], str] = {(item.item_id, "a"): item.responses[0]}
        first = next(iter(ask_all(instruments, [as_pair(item, "x")], texts)))
        assert QUESTIONS["refusal"][0].request(item.prompts[0], item.responses[0]) == first.requests[0]


@pytest.mark.parametrize(
    "question", [each for questions in QUESTIONS.values() for each in questions], ids=lambda q: q.name
)
def test_no_question_is_of_a_request_alone_or_of_one_side(question: EmbeddedQuestion) -> None:
    asked = question.request("Request 1", "Response 1").prompt
    assert asked != question.request("Request 1", "Response 2").prompt
    assert (asked != question.request("Request 2", "Response 1").prompt) == bool(question.request_characters)
    if "for" in question.labels:
        assert len({"for", "against"} & set(question.positive)) != 1


def test_what_is_shown_is_the_beginning_and_the_end() -> None:
    question = replace(YES_NO, first=4, last=3)
    assert question.request("", "abcdefg").prompt == "Text: abcdefg\nAnswer:"
    assert question.request("", "abc efgh ijk").prompt == "Text: abc [...] ijk\nAnswer:"
    assert YES_NO.request("", "{prompt} " * 9).prompt.count("{prompt}") == 2


@pytest.mark.parametrize(("yes", "expected"), [(0.8, math.log(4)), (0.2, -math.log(4)), (1 - 1e-9, MOST_LOG_ODDS)])
def test_log_odds_are_of_the_captured_distribution(yes: float, expected: float) -> None:
    found = YES_NO.log_odds(reply(position(" Yes", yes, **{" No": 1 - yes})))
    assert found == pytest.approx(expected)
    halved = YES_NO.log_odds(reply(position(" Yes", yes / 2, **{" No": (1 - yes) / 2, " the": 0.5})))
    assert halved == pytest.approx(expected)


def test_several_answers_count_together_and_one_alone_is_taken_for_the_most() -> None:
    question = replace(YES_NO, labels=("for", "against", "both"), positive=("both",))
    found = question.log_odds(reply(position(" both", 0.5, **{" for": 0.25, " against": 0.25})))
    assert found == pytest.approx(0)
    assert question.log_odds(reply(position(" for", 0.9))) == -MOST_LOG_ODDS


def test_what_can_not_be_read_says_so() -> None:
    lost = YES_NO.log_odds(Failure(FailureKind.TRANSPORT, "no route"))
    assert isinstance(lost, Reading)
    assert (lost.state, lost.reason) == (State.FAILED, "question 'q': no route")
    prose = YES_NO.log_odds(reply(position(" The", 0.99)))
    assert isinstance(prose, Reading)
    assert prose.state is State.UNPARSEABLE


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"text": "Is it so?"}, "doesn't show the answer"),
        ({"text": "{{ response }}"}, "doesn't show the answer"),
        ({"text": "{response} {conversation}"}, "has the field 'conversation'"),
        ({"positive": ()}, "no answers to tell apart"),
        ({"positive": ("Yes", "No")}, "no answers to tell apart"),
        ({"positive": ("Maybe",)}, "no answers to tell apart"),
        ({"labels": ("Yes", "Yes")}, "no answers to tell apart"),
        ({"first": 0}, "shows nothing"),
    ],
)
def test_what_is_no_question_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        replace(YES_NO, **change)


def test_a_card_with_questions_comes_back_and_its_figures_follow(tmp_path: Path) -> None:
    grader = FittedGrader.load(asking(tmp_path / "own.json"))
    assert grader.card.questions == part()
    assert read_json(tmp_path / "own.json")["format"] == 2
    assert "questions" not in json.loads(json.dumps(PACKAGED.card.as_json()))
    plain = PACKAGED.probabilities(*UNITS)
    answers = LogOdds(np.array([[1.0], [5.0]]), (None, None))
    found = grader.probabilities(*UNITS, answers)
    assert found[0] == pytest.approx(plain[0])
    # Two spreads above the centre, of weight 2.
    assert np.log(found[1] / (1 - found[1])) == pytest.approx(np.log(plain[1] / (1 - plain[1])) + 4)


def test_without_answers_there_is_an_error_and_no_silent_zero(tmp_path: Path) -> None:
    grader = FittedGrader.load(asking(tmp_path / "own.json"))
    with pytest.raises(InputError, match="asks 1 questions of some-model, and no model can be asked here"):
        grader.probabilities(*UNITS)
    with pytest.raises(ValueError, match="2 responses"):
        grader.probabilities(*UNITS, LogOdds(np.zeros((1, 1)), (None,)))


def test_an_answer_that_could_not_be_read_makes_a_judgment_that_could_not(tmp_path: Path) -> None:
    graders = FittedGraders.load(f"fitted:{asking(tmp_path / 'own.json')}")
    (item, *_) = (item for gold in read_gold("builtin") if gold.name == "builtin-refusal" for item in gold.items)
    texts: dict[tuple[str, Letter], str] = {(item.item_id, "a"): "Gladly.", (item.item_id, "b"): "Never."}
    questions = list(ask_all(graders.instruments, [as_pair(item, "x")], texts))
    problem = Reading.without(State.TRUNCATED, "too long")
    answers = LogOdds(np.array([[np.nan], [1.0]]), (problem, None))
    lost, fine = graders.judgments(questions, {"refusal": answers})
    assert lost.reading == problem
    assert (fine.reading.state, fine.positive is None) == (State.OK, False)


@pytest.mark.parametrize(
    "tamper",
    [
        lambda card: card["questions"]["questions"][0].update(weight=9.0),
        lambda card: card["questions"].update(model_sha256="cd" * 32),
        lambda card: card["questions"]["questions"][0]["question"].update(text="Is this bad? {response}"),
        lambda card: card["questions"]["questions"][0]["question"].update(positive=["Nothing"]),
        lambda card: card["questions"]["questions"][0].update(spread=0.0),
        lambda card: card["questions"]["questions"][0].update(centre="NaN"),
        lambda card: card["questions"].update(questions=[]),
        lambda card: card.update(questions=None),
        lambda card: card.update(format=1),
        lambda card: (card.pop("questions"), card.update(format=1)),
    ],
    ids=["weight", "model", "text", "positive", "spread", "centre", "none", "null", "format", "taken out"],
)
def test_a_card_that_was_tampered_with_is_refused(tmp_path: Path, tamper: Callable[[Any], object]) -> None:
    path = asking(tmp_path / "own.json")
    card = read_json(path)
    tamper(card)
    path.write_text(json.dumps(card), "utf-8")
    with pytest.raises(InputError, match=r"own\.json: (is no card of a fitted grader|the questions are not those)"):
        FittedGrader.load(path)


def test_questions_beside_weights_of_a_grader_without_are_refused(tmp_path: Path) -> None:
    path = asking(tmp_path / "own.json")
    table = PACKAGED._table
    buckets = np.flatnonzero(table)
    content = packed(buckets, table[buckets].astype(np.float64))
    assert questions_of(content) == ""
    assert (unpacked(content) == table).all()
    card = FittedGrader.load(path).card
    write_grader(path, replace(card, weights_sha256=PACKAGED.card.weights_sha256), content)
    assert PACKAGED.card.weights_sha256 == hashlib.sha256(content).hexdigest()
    with pytest.raises(InputError, match="the questions are not those of its weights"):
        FittedGrader.load(path)


def test_a_hash_of_questions_that_is_none_is_refused(tmp_path: Path) -> None:
    written = io.BytesIO()
    objects = np.array([{}], dtype=object)
    np.savez(written, steps=np.array([1]), weights=np.array([1.0]), questions_sha256=objects, allow_pickle=True)
    path = asking(tmp_path / "own.json")
    digest = hashlib.sha256(written.getvalue()).hexdigest()
    write_grader(path, replace(FittedGrader.load(path).card, weights_sha256=digest), written.getvalue())
    with pytest.raises(InputError, match="the questions are not those of its weights"):
        FittedGrader.load(path)


def test_log_odds_are_brought_to_one_scale_and_what_is_missing_is_the_mean() -> None:
    values = np.array([[1.0, 10.0], [3.0, 30.0], [np.nan, 20.0]])
    standard = Standard.of(values)
    np.testing.assert_allclose(standard.centres, [2, 20])
    features = standard.features(values)
    np.testing.assert_allclose(features[0], [-1 / math.sqrt(2), -math.sqrt(1.5) / math.sqrt(2)])
    assert features[2, 0] == 0
    with pytest.raises(InputError, match="question 2 has the same answer about every text"):
        Standard.of(np.array([[1.0, 3.0], [2.0, 3.0]]))
