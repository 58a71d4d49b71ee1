"""Questions are asked in both orders and their answers mapped back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import make_pair, position, reply
from evenhand.graders import Judgment, ask_all, derive, judge
from evenhand.instruments import builtin_instruments
from evenhand.pairs.paired_prompt import Letter
from evenhand.readings import Failure, FailureKind, State

RUBRIC, COMPACT = builtin_instruments("rubric"), builtin_instruments("compact")
PAIR = make_pair()


def texts(**by_letter: str) -> dict[tuple[str, Letter], str]:
    letters: tuple[Letter, ...] = ("a", "b")
    return {(PAIR.pair_id, letter): by_letter[letter] for letter in letters if letter in by_letter}


BOTH = texts(a="text of a", b="text of b")


def test_rubric_asks_pairs_in_both_orders_and_responses_once() -> None:
    asked = list(ask_all(RUBRIC, [PAIR], BOTH))
    assert [(q.instrument.name, q.letter, q.order) for q in asked] == [
        ("even_handedness", None, "ab"),
        ("even_handedness", None, "ba"),
        ("refusal", "a", None),
        ("refusal", "b", None),
        ("hedging", "a", None),
        ("hedging", "b", None),
    ]
    ab, ba = (q.requests[0].messages[0].content for q in asked[:2])
    assert ab.index("text of a") < ab.index("text of b")
    assert ba.index("text of b") < ba.index("text of a")
    assert "first for in_favour, the second for against" in ab
    assert "first for against, the second for in_favour" in ba


def test_a_missing_response_leaves_its_questions_out() -> None:
    asked = list(ask_all(RUBRIC, [PAIR], texts(b="text")))
    assert [(q.instrument.name, q.letter) for q in asked] == [("refusal", "b"), ("hedging", "b")]


def test_compact_shows_as_much_as_it_says() -> None:
    asked = list(ask_all(COMPACT, [PAIR], texts(a="x" * 1000)))
    shown = {q.instrument.name: q.requests[0].prompt.count("x" * 100) for q in asked}
    assert shown["refusal"] == 2
    assert shown["hedging"] == 10
    assert all(q.requests[0].max_tokens == 1 and not q.requests[0].messages for q in asked)


HOSTILE = st.text(alphabet=st.sampled_from("ab={}\n<>|0123456789f"), max_size=60)


@given(HOSTILE, HOSTILE)
def test_no_text_contains_its_boundary_and_none_is_altered(a: str, b: str) -> None:
    asked = list(ask_all(RUBRIC, [PAIR], texts(a=a, b=b)))
    for question in asked:
        text = question.requests[0].messages[0].content
        mark = text.split("two lines that read ")[1].split(". [H]")[0]
        assert mark not in a + b
        assert text.count(mark) == 5
        for response in (a, b) if question.letter is None else (a,) if question.letter == "a" else (b,):
            assert f"{response}\n{mark}" in text


def test_a_text_that_knows_its_boundary_gets_another() -> None:
    def mark(a: str) -> str:
        question = next(iter(ask_all(RUBRIC, [PAIR], texts(a=a, b="b"))))
        return question.requests[0].messages[0].content.split("two lines that read ")[1].split(". [H]")[0]

    assert mark("text") != mark(f"text {mark('text')}")


def judged(order: str, **probabilities: float) -> Judgment:
    question = next(q for q in ask_all(RUBRIC, [PAIR], BOTH) if q.order == order)
    first = max(probabilities, key=lambda name: probabilities[name])
    others = {name: p for name, p in probabilities.items() if name != first}
    return judge(question, [question.read(reply(position(first, probabilities[first], **others)))], "g", "k")


def test_labels_are_mapped_back() -> None:
    ab, ba = judged("ab", A=0.6, B=0.1, C=0.3), judged("ba", A=0.6, B=0.1, C=0.3)
    assert ab.reading.probabilities == pytest.approx((0.6, 0.1, 0.3))
    assert ba.reading.probabilities == pytest.approx((0.1, 0.6, 0.3))
    assert ab.positive == pytest.approx(0.3) == ba.positive
    assert ba.probability("B") == pytest.approx(0.6)


def test_refusal_counts_levels_four_and_five() -> None:
    question = next(q for q in ask_all(RUBRIC, [PAIR], BOTH) if q.instrument.name == "refusal")
    found = judge(question, [question.read(reply(position("1", 0.4, **{"3": 0.2, "4": 0.3, "5": 0.1})))], "g", "k")
    assert found.positive == pytest.approx(0.4)


def test_a_failure_is_judged_as_what_it_is() -> None:
    question = next(iter(ask_all(RUBRIC, [PAIR], BOTH)))
    found = judge(question, [question.read(Failure(FailureKind.OVERFLOW, "too long"))], "g", "k")
    assert (found.reading.state, found.positive, found.probability("C")) == (State.TRUNCATED, None, None)


def refusal(letter: str, p: float | None) -> Judgment:
    question = next(q for q in ask_all(COMPACT, [PAIR], BOTH) if (q.instrument.name, q.letter) == ("refusal", letter))
    if p is None:
        return judge(question, [question.read(Failure(FailureKind.OVERFLOW, "too long"))], "g", "k")
    return judge(
        question, [question.read(reply(position(" Yes", max(p, 1e-12), **{" No": max(1 - p, 1e-12)})))], "g", "k"
    )


@given(st.floats(0, 1), st.floats(0, 1))
def test_derived_even_handedness(p: float, q: float) -> None:
    found = derive(COMPACT.derivations[0], "v", refusal("a", p), refusal("b", q))
    a, b, c = found.reading.probabilities
    assert a + b + c == pytest.approx(1)
    assert c == pytest.approx(p * q + (1 - p) * (1 - q), abs=1e-9)
    assert b - a == pytest.approx(p - q, abs=1e-9)
    assert (found.measure, found.letter, found.order, found.key) == ("even_handedness", None, None, "")


def test_derived_from_something_unreadable() -> None:
    found = derive(COMPACT.derivations[0], "v", refusal("a", 0.5), refusal("b", None))
    assert found.reading.state is State.TRUNCATED
    assert "response b: too long" in found.reading.reason
