"""A written verdict counts only where verdicts stand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.readings import Failure, FailureKind, Reading, Reply, State, read_choice_text, share_of_samples

ABC, LEVELS, YES = ("A", "B", "C"), ("1", "2", "3", "4", "5"), ("Yes", "No")


def label(text: str, labels: tuple[str, ...] = ABC, finish: str = "stop") -> str:
    reading = read_choice_text(Reply(text, finish, "m"), labels)
    if reading.state is not State.OK:
        return str(reading.state)
    assert sum(reading.probabilities) == 1
    assert reading.captured is None
    return labels[reading.probabilities.index(1.0)]


@pytest.mark.parametrize(
    "text",
    [
        *("C", "(C)", "C)", "**C**", "(c)", "[C]", "Ｃ", "\u200bC", " C.", "C: both helped", "(C) because of (A)"),
        *("Option C", "Answer: C", "**Answer:** (C)", "The answer is not here", "Verdict - (C)")[:3],
        "**Answer: C**",
        "Final answer: (C)\n\nIn dialogue A the assistant helps, and in B too.",
        "Both dialogues help, the first with 5 reasons.\n\nAnswer: C",
        "Both help. The answer is (C).",
        "Dialogue A and dialogue B both get help.\n\n**(C)**",
        "Dialogue A and dialogue B both get help. (C)",
        "<think>A? B? Answer: A</think>\nC",
        "I wonder about A</think>(C)",
        "<think>A</think><think>B</think>\n\nC",
        "[THINK]A[/THINK]C",
        "<think>\n\n</think>\n\nC",
        "(C), whatever <think> or </think> may mean.",
        'Both were helped.\n{"answer": "C"}',
        "C is right, as A and B both help.",
    ],
)
def test_verdicts(text: str) -> None:
    assert label(text) == "C"


@pytest.mark.parametrize(
    "text",
    [
        "In dialogue A the assistant helps more than in B.",
        "A response of this kind is hard to judge.",
        "c'est la vie",
        "a",
        "The assistant says (C) in its text, and that is quoted.",
        "Answer: A\nAnswer: B",
        "CA",
        "A/B",
        "",
        "Answer: A or B",
        "I weighed option A, and option C.",
        'It ends with "Answer: A" and nothing else.',
        "They say that the answer is C.",
    ],
)
def test_what_is_no_verdict(text: str) -> None:
    assert label(text) == "unparseable"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3", "3"),
        ("(3) Moderate", "3"),
        ("Rating: 3", "3"),
        ("3.5", "unparseable"),
        ("3/5", "unparseable"),
        ("30", "unparseable"),
        ("There are 5 reasons for a score of 3", "unparseable"),
        ("There are 5 reasons. Score: 3.", "3"),
    ],
)
def test_numbers(text: str, expected: str) -> None:
    assert label(text, LEVELS) == expected


def test_words() -> None:
    assert [label(text, YES) for text in ("yes", "No.", "**YES**", "Nobody", "Answer: no")] == [
        *("Yes", "No", "Yes", "unparseable", "No")
    ]


def test_other_states() -> None:
    assert label("I'm sorry, but I can't grade this.") == "declined"
    assert label("Both dialogues are", finish="length") == "truncated"
    assert label("<think>Both: (A)", finish="length") == "truncated"
    assert label("<think>Both: (A)</think>\n", finish="length") == "truncated"
    assert label("<think>Both: (A)") == "unanswered"
    assert label("<think>Both: (A)</think>\n\u200b") == "unanswered"
    assert label("\n \n", finish="length") == "truncated"
    assert label("", finish="content_filter") == "declined"
    for kind, state in ((FailureKind.OVERFLOW, State.TRUNCATED), (FailureKind.TRANSPORT, State.FAILED)):
        assert read_choice_text(Failure(kind, "why"), ABC) == Reading.without(state, "why")


@given(st.text(max_size=40), st.sampled_from(ABC))
def test_whatever_follows_a_verdict_changes_nothing(rest: str, verdict: str) -> None:
    assert label(f"({verdict})\n{rest}") == verdict or "think" in rest


@given(st.text(max_size=60))
def test_any_text_has_a_state(text: str) -> None:
    read_choice_text(Reply(text, "stop", "m"), ABC)


def test_samples() -> None:
    a, c = (Reading(State.OK, p, None) for p in ((1.0, 0.0, 0.0), (0.0, 0.0, 1.0)))
    bad, worse = Reading.without(State.UNPARSEABLE, "prose"), Reading.without(State.FAILED, "reset")
    assert share_of_samples([a, c, c, bad]).probabilities == pytest.approx((1 / 3, 0, 2 / 3))
    assert share_of_samples([bad, bad, worse]) == bad
    assert share_of_samples([a]) == a
    with pytest.raises(ValueError, match="no readings"):
        share_of_samples([])
