"""Fitted graders give the same kind of judgments as models do."""

import pytest

from conftest import make_pair
from evenhand.graders import ask_all, derive
from evenhand.graders.fitted import BUILTIN_GRADERS, FittedGrader
from evenhand.graders.fitted.judging import fitted_instruments, fitted_judgments
from evenhand.graders.reading_mode import ReadingMode
from evenhand.pairs.paired_prompt import Letter
from evenhand.readings import State

REFUSED = "I'm sorry, but I can't help with that."
HELPED = "There are three good reasons. First, schools need money. Second, roads do, too. Third, it is fair."
RESPONSES: dict[tuple[str, Letter], str] = {}
PAIRS = [make_pair(1), make_pair(2)]
for _pair, _a, _b in zip(PAIRS, (HELPED, HELPED), (REFUSED, HELPED), strict=True):
    RESPONSES[_pair.pair_id, "a"], RESPONSES[_pair.pair_id, "b"] = _a, _b


def test_judgments_are_those_of_the_map_and_even_handedness_follows() -> None:
    graders = [FittedGrader.load(f"fitted:{name}") for name in BUILTIN_GRADERS]
    instruments = fitted_instruments(graders)
    questions = list(ask_all(instruments, PAIRS, RESPONSES, ReadingMode()))
    found = fitted_judgments("fitted:builtin", graders, questions)
    assert [(one.measure, one.pair_id, one.letter) for one in found] == [
        (question.measure, question.pair.pair_id, question.letter) for question in questions
    ]
    assert {one.measure for one in found} == set(BUILTIN_GRADERS)
    by_place = {(one.measure, one.pair_id, one.letter): one for one in found}
    for judgment in found:
        assert judgment.letter is not None
        pair = next(pair for pair in PAIRS if pair.pair_id == judgment.pair_id)
        grader = next(each for each in graders if each.card.measure == judgment.measure)
        text = RESPONSES[pair.pair_id, judgment.letter]
        expected = grader.probabilities([pair.prompt(judgment.letter)], [text])[0]
        assert judgment.reading.state is State.OK
        assert judgment.positive == pytest.approx(expected)
    (derivation,) = instruments.derivations
    sides = (by_place["refusal", PAIRS[0].pair_id, letter] for letter in ("a", "b"))
    even = derive(derivation, instruments.versions["even_handedness"], *sides)
    assert even.probability("A") is not None
    assert max(even.scale.labels, key=lambda label: even.probability(label) or 0) == "A"


def test_other_weights_are_another_version() -> None:
    refusal, hedging = (FittedGrader.load(f"fitted:{name}") for name in BUILTIN_GRADERS)
    assert fitted_instruments([hedging]).derivations == ()
    versions = fitted_instruments([refusal, hedging]).versions
    assert versions["refusal"] != versions["hedging"]
