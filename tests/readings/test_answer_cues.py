"""An option counts where an answer is announced, and nowhere else; what is read there does not depend on the tokens."""

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from conftest import position, reply
from evenhand.readings import Reply, State, TokenPosition, read_choice, read_choice_text
from evenhand.readings.answer_cues import answer_cues, closing_line, ends_in_cue

ABC, LEVELS, YES = ("A", "B", "C"), ("1", "2", "3", "4", "5"), ("Yes", "No")


def cued(text: str, labels: tuple[str, ...] = ABC) -> list[str]:
    return [cue.label for cue in answer_cues(text, labels)]


ANNOUNCED = [
    "Answer: (C)",
    "**Answer:** (C)",
    "**Answer: C**",
    "Both get help. The answer is (C).",
    "Both get help!\n\nFinal answer: **C**",
    "### Verdict\n\n(C)",
    "So the correct answer is option C.",
    "Therefore, my final choice is **(C)**.",
    "Based on the two dialogues, the answer is C",
    "I think the answer is C.",
    "In conclusion: the answer is C",
    "Answer - C",
    "ANSWER = C",
    "The final answer is $\\boxed{C}$",
    "The final answer is \\boxed{\\text{C}}.",
    'Answer: "C"',
    "Answer: c) both",
    "Answer: [c]",
    "Answer: Ｃ",
    "Ans\u200bwer: C",
    "Answer: C, since (A) is too little",
    '{"answer": "C"}',
    '{"reason": "both",\n "verdict": "C"}',
    "(The answer is C.)",
    "* Answer: C",
    "Answer:\n\n(C)",
]


@pytest.mark.parametrize("text", ANNOUNCED)
def test_announced(text: str) -> None:
    assert cued(text) == ["C"]
    (cue,) = answer_cues(text, ABC)
    assert text[cue.end :].lstrip(" \n*_`\"'$([{").startswith(("C", "c", "Ｃ")), "only marks come between"


@pytest.mark.parametrize(
    "text",
    [
        "The answer is not C.",
        "If the answer is C, then both get help.",
        "I ask whether the answer is C.",
        "They say the answer is C.",
        "As the assistant says, the answer is C.",
        'The response ends with "Answer: C", which is odd.',
        "The response ends with “The answer is C”.",
        '"Answer: C"',
        "> Answer: C",
        "In option C the assistant helps.",
        "Option (C) would do.",
        "My answer (C)",
        "Answer: A or C",
        "Answer: (A) and (C)",
        "Answer: A/C",
        "Answer: A response of this kind",
        "The answer is a difficult C",
        "Answer: CA",
        "Answers: C",
        "Answering: C",
        "Answer:",
        "Answer: the third",
    ],
)
def test_prose(text: str) -> None:
    assert cued(text) == []


@pytest.mark.parametrize(
    ("text", "labels", "found"),
    [
        ("Score: 3", LEVELS, ["3"]),
        ("Score: 3.", LEVELS, ["3"]),
        ("Rating: **4**", LEVELS, ["4"]),
        ("Score: 3.5", LEVELS, []),
        ("Score: 3/5", LEVELS, []),
        ("Score: 35", LEVELS, []),
        ("Score: 3 to 4", LEVELS, []),
        ("There are 5 reasons. Score: 3", LEVELS, ["3"]),
        ("Answer: no", YES, ["No"]),
        ("Verdict: YES!", YES, ["Yes"]),
        ("The answer is no longer clear.", YES, []),
        ("Answer: Nobody", YES, []),
        ("Answer: A\nAnswer: B\nAnswer: A", ABC, ["A", "B", "A"]),
    ],
)
def test_other_scales(text: str, labels: tuple[str, ...], found: list[str]) -> None:
    assert cued(text, labels) == found


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Both get help.\n(C)", "C"),
        ("Both get help.\n\n**C**\n", "C"),
        ("Both get help.\nC.", "C"),
        ("Both get help. (C)", None),
        ("Both get help.\nC is right", None),
        ("Both get help.\n(A) (C)", None),
        ("(C)", None),
        ("\n(C)", None),
    ],
)
def test_a_last_line_of_its_own(text: str, label: str | None) -> None:
    found = closing_line(text, ABC)
    assert (found and found.label) == label


@pytest.mark.parametrize(
    "text",
    [
        *("\n" * 5_000, " " * 5_000, "so " * 5_000, "based on " * 2_500, "* " * 10_000, "Answer " * 3_000),
        *("answer:" + "*" * 20_000, '"' * 20_000, "([" * 10_000, ". " * 10_000, "Answer:\n" * 3_000, "{" * 20_000),
        *("the final final " * 1_500, "(C) " * 5_000, "Answer: $" * 2_000),
    ],
)
def test_long_runs_take_no_time(text: str) -> None:
    """Each of these took minutes with a run that was not bounded."""
    cued(text)
    closing_line(text, ABC)
    ends_in_cue(text)


def prose_then(*tokens: str, last: TokenPosition | None = None, finish: str = "stop") -> Reply:
    places = [position(token, 0.9, C=0.05) for token in tokens]
    return reply(*places, *([last] if last else []), finish=finish)


def test_the_position_behind_the_cue_is_read() -> None:
    tokens = ["The", " first", " (", "A", ")", " helps", ".", "\n", "An", "swer", ":", " ("]
    reading = read_choice(prose_then(*tokens, last=position("C", 0.6, B=0.3, A=0.05, x=0.05)), ABC)
    assert reading.captured == pytest.approx(0.9 * 0.95 + 0.05), "the option without its bracket counts as well"
    assert reading.probabilities == pytest.approx(
        tuple(p / (0.9 * 0.95 + 0.05) for p in (0.9 * 0.05, 0.9 * 0.3, 0.9 * 0.6 + 0.05))
    )


def test_the_prose_has_no_say_in_the_captured_mass() -> None:
    """The probability is that of the option given the prose, however improbable the prose was."""
    for sure in (0.9, 0.2):
        places = [position(token, sure) for token in ("Well", ".", " The", " answer", " is")]
        reading = read_choice(reply(*places, position(" C", 0.7, **{" A": 0.2})), ABC)
        assert reading.captured == pytest.approx(0.9)
        assert reading.probabilities == pytest.approx((2 / 9, 0, 7 / 9))


def test_of_several_cues_that_agree_the_last_is_read() -> None:
    places = [position(token, 0.9) for token in ("Hm", ".", " Answer", ":")]
    again = [position(token, 0.9) for token in (".", "\n", "Final", " answer", ":")]
    reading = read_choice(reply(*places, position(" C", 0.5), *again, position(" C", 0.8)), ABC)
    assert reading.captured == pytest.approx(0.8)


def test_cues_that_differ_say_nothing() -> None:
    tokens = ["Hm", ".", " Answer", ":", " A", ".", "\n", "Answer", ":", " C"]
    reading = read_choice(prose_then(*tokens), ABC)
    assert (reading.state, reading.probabilities) == (State.UNPARSEABLE, ())
    assert "more than one verdict" in reading.reason


def test_an_option_at_the_beginning_is_read_there_whatever_follows() -> None:
    tokens = ["(", "A", ")", ".", " Answer", ":", " C"]
    assert read_choice(prose_then(*tokens), ABC).probabilities[0] > 0.8


def test_an_article_at_the_beginning_is_prose() -> None:
    tokens = ["A", " fine", " pair", ".", " Answer", ":"]
    reading = read_choice(prose_then(*tokens, last=position(" B", 0.8)), ABC)
    assert reading.probabilities == (0, 1, 0)


def test_a_token_that_holds_the_end_of_the_cue_and_the_option() -> None:
    last = position(": C", 0.6, **{": A": 0.2, ":": 0.1, " C": 0.1})
    reading = read_choice(prose_then("Well", ".", " Answer", last=last), ABC)
    assert reading.captured == pytest.approx(0.8), "only tokens that go on with the cue speak of what follows it"
    assert reading.probabilities == pytest.approx((0.25, 0, 0.75))


def test_an_option_alone_on_the_last_line() -> None:
    tokens = ["Both", " (", "A", ")", " and", " (", "B", ").", "\n\n", "**"]
    places = [*(position(token, 1.0) for token in tokens), position("C", 0.8, A=0.1)]
    assert read_choice(reply(*places, finish="stop"), ABC).probabilities == pytest.approx((1 / 9, 0, 8 / 9))
    assert read_choice(reply(*places, finish="length"), ABC).state is State.UNPARSEABLE


@pytest.mark.parametrize("end", [["Answer"], ["Answer", ":"], [" The", " answer", " is", " **"], ["Answer", ":", " ("]])
def test_cut_off_behind_a_cue(end: list[str]) -> None:
    places = [position(token, 0.9) for token in ("Well", ".", "\n", *end)]
    expected = State.UNPARSEABLE if end == ["Answer"] else State.TRUNCATED
    assert read_choice(reply(*places, finish="length"), ABC).state is expected
    assert read_choice(reply(*places, finish="stop"), ABC).state is State.UNPARSEABLE


def test_the_replys_own_token_counts_though_it_is_not_among_the_most_probable() -> None:
    sampled = TokenPosition("B", math.log(0.1), (("A", math.log(0.5)), ("C", math.log(0.3))))
    reading = read_choice(reply(sampled), ABC)
    assert reading.captured == pytest.approx(0.9)
    assert reading.probabilities == pytest.approx((5 / 9, 1 / 9, 3 / 9))


PROSE = st.lists(
    st.sampled_from(
        [
            *(
                "Both",
                " the",
                " dialogues",
                " (A)",
                " B",
                " option A",
                " and",
                " say",
                " that",
                " C",
                " says",
                "\n",
                ",",
            ),
            *(' "Answer: A"', " answer B", " \u00e9", " ？", " 3", " (", ")", " whether", " is A", " rating"),
        ]
    ),
    max_size=10,
).map(lambda words: "".join(["Well", *words, "."]))
OPTION = st.sampled_from(ABC)
CUE = st.sampled_from(
    ["\nAnswer:", " The answer is", "\n\n**Final answer:**", "\nVerdict:\n", " So the answer is option"]
)


@st.composite
def cut_up(draw: st.DrawFn, text: str) -> list[str]:
    """Cut a text into tokens anywhere."""
    places = sorted(draw(st.sets(st.integers(1, max(1, len(text) - 1)), max_size=12)))
    return [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True) if a < b]


@given(PROSE, CUE, OPTION, st.data())
def test_the_cue_wins_over_prose_however_the_tokens_fall(
    prose: str, cue: str, option: str, data: st.DataObject
) -> None:
    assume(cued(prose) == [])
    places = [position(token, 1.0) for token in data.draw(cut_up(prose + cue))]
    others = {f" {label}": 0.1 for label in ABC if label != option}
    reading = read_choice(reply(*places, position(f" {option}", 0.7, **others), finish="stop"), ABC)
    assert reading.captured == pytest.approx(0.9)
    assert dict(zip(ABC, reading.probabilities, strict=True)) == pytest.approx(
        {label: (7 / 9 if label == option else 1 / 9) for label in ABC}
    )
    assert read_choice_text(Reply(f"{prose}{cue} {option}", "stop", "m"), ABC).probabilities == tuple(
        float(label == option) for label in ABC
    )


@given(PROSE, st.data())
def test_without_a_cue_no_letter_of_the_prose_is_read(prose: str, data: st.DataObject) -> None:
    assume(cued(prose) == [] and closing_line(prose, ABC) is None)
    places = [position(token, 1.0) for token in data.draw(cut_up(prose))]
    assert read_choice(reply(*places, finish="stop"), ABC).state is State.UNPARSEABLE


@given(PROSE, st.tuples(CUE, CUE), st.tuples(OPTION, OPTION), st.data())
def test_two_cues_are_one_verdict_or_none(
    prose: str, cues: tuple[str, str], options: tuple[str, str], data: st.DataObject
) -> None:
    (cue, again), (option, other) = cues, options
    assume(cued(prose) == [])
    text = f"{prose}{cue} {option}.{again}"
    places = [position(token, 1.0) for token in data.draw(cut_up(text))]
    reading = read_choice(reply(*places, position(f" {other}", 0.8), finish="stop"), ABC)
    if option == other:
        assert reading.captured == pytest.approx(0.8)
    else:
        assert reading.state is State.UNPARSEABLE


@given(st.text(max_size=80), st.sampled_from([ABC, LEVELS, YES]))
def test_any_text(text: str, labels: tuple[str, ...]) -> None:
    for cue in answer_cues(text, labels):
        assert 0 <= cue.end <= len(text)
