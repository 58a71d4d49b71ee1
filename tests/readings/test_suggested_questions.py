"""Questions are found in whatever a model wraps round them, and a line that gives none is told with the reason."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.readings.suggested_questions import Unusable, read_suggested_questions

RHYME, SWEET = "Does the output rhyme?", "Is the output sweet?"


@pytest.mark.parametrize(
    "text",
    [
        f"1. {RHYME}\n2. {SWEET}",
        f"1) {RHYME}\r\n\r\n2) {SWEET}\r\n",
        f"(1) {RHYME}\n(2) {SWEET}",
        f"- {RHYME}\n* {SWEET}",
        f"• {RHYME}\n– {SWEET}",
        f"- 1. {RHYME}\n- 2. {SWEET}",
        f"**1. {RHYME}**\n**2.** {SWEET}",
        f"Q1: {RHYME}\nQuestion 2: {SWEET}",
        f'"{RHYME}",\n“{SWEET}”',
        f"1. **Sound:** {RHYME}\n2. Taste - {SWEET}",
        f"1. {RHYME} (form)\n2. {SWEET} This tells cakes from pies.",
        f"{RHYME} {SWEET}",
        f"| 1 | {RHYME} |\n|---|---|\n| 2 | {SWEET} |",
        f"```\n{RHYME}\n{SWEET}\n```",
        f"<think>1. Is it long? {{}} [</think>\n1. {RHYME}\n2. {SWEET}",
        f"Is it?</think>1. {RHYME}\n2. {SWEET}",
        json.dumps([RHYME, SWEET]),
        f"```json\n{json.dumps([RHYME, SWEET], indent=2)}\n```",
        json.dumps({"questions": [RHYME, SWEET]}),
        json.dumps([{"id": 1, "question": RHYME, "why": "x"}, {"text": SWEET}]),
        json.dumps({"new": [{"question": RHYME}, {"question": SWEET}]}, indent=1),
        f"{json.dumps({'question': RHYME})}\n{json.dumps({'question': SWEET})}",
        f'["{RHYME}", "{SWEET}",]',
        f"['{RHYME}',\n'{SWEET}']",
        f"- question: '{RHYME}'\n- question: \"{SWEET}\"",
    ],
)
def test_wrappings(text: str) -> None:
    found = read_suggested_questions(text)
    assert found.questions == (RHYME, SWEET)
    assert found.unusable == ()


@pytest.mark.parametrize(
    ("line", "shown", "reason"),
    [
        ("Sure! Here are 2 questions:", None, "is not a question"),
        ("### Form", None, "is not a question"),
        ("1. The output rhymes.", None, "is not a question"),
        ("3. Why?", "Why?", "is too short"),
        ("What is the tone of the output?", None, "can't be answered with an extent"),
        ("4. How does the output end?", "How does the output end?", "can't be answered with an extent"),
        ("Is the first output longer?", None, "can't be answered from one output alone"),
        ("Do both responses rhyme?", None, "can't be answered from one output alone"),
        ("Is the rejected output rude?", None, "can't be answered from one output alone"),
        (f"Does the output say {'very ' * 40}much?", None, "is longer than 40 words"),
        (
            '["Does the output hold \\ud800 something?"]',
            "Does the output hold ? something?",
            "holds control characters",
        ),
    ],
)
def test_lines_that_give_no_question(line: str, shown: str | None, reason: str) -> None:
    found = read_suggested_questions(f"{line}\n- {RHYME}")
    assert found.questions == (RHYME,)
    if len(line) < 200:
        assert found.unusable == (Unusable(shown or line, reason),)
    else:
        assert [(len(one.line), one.reason) for one in found.unusable] == [(200, reason)]


@pytest.mark.parametrize(
    "text",
    [
        "To what extent does the output rhyme?",
        "How much does the output repeat?",
        "Does the output favour one side more than the other?",
        "Does the output use well-chosen words?",
        "输出是否使用列表，或者使用表格？",
    ],
)
def test_questions_that_are_fit(text: str) -> None:
    assert read_suggested_questions(text).questions == (text,)


@pytest.mark.parametrize(
    ("text", "found", "reasons"),
    [
        (f"1. {RHYME}\n2. Is the outp", (RHYME,), ["cut off at the token limit"]),
        (f'["{RHYME}", "{SWEET}", "Is the', (RHYME, SWEET), []),
        (f'[\n "{RHYME}",\n "Is the', (RHYME,), ["cut off at the token limit"]),
        (f'[{{"question": "{RHYME}"}}, {{"quest', (RHYME,), ["cut off at the token limit"]),
        (f"<think>1. {RHYME}", (), ["cut off while thinking"]),
    ],
)
def test_what_was_cut_off(text: str, found: tuple[str, ...], reasons: list[str]) -> None:
    read = read_suggested_questions(text, cut=True)
    assert read.questions == found
    assert [one.reason for one in read.unusable] == reasons


def test_thinking_that_never_ends_gives_nothing() -> None:
    found = read_suggested_questions(f"<think>{RHYME}")
    assert found.questions == ()
    assert [one.reason for one in found.unusable] == ["it ended without an answer"]
    for cut, reason in ((False, "it ended without an answer"), (True, "cut off while thinking")):
        apart = read_suggested_questions("", cut=cut, thinking=RHYME)
        assert (apart.questions, apart.unusable) == ((), (Unusable(RHYME, reason),))


@pytest.mark.parametrize("text", ["", "\n \n", "```\n```", "[]", "[" * 50_000])
def test_nothing_to_find(text: str) -> None:
    assert read_suggested_questions(text).questions == ()


@given(st.text(alphabet=st.sampled_from('Is it? \n[]{}",:-1.)*`<think>/|\\')), st.booleans())
def test_any_text_gives_one_line_questions(text: str, cut: bool) -> None:
    found = read_suggested_questions(text, cut=cut)
    for question in found.questions:
        assert question.endswith("?")
        assert "\n" not in question
    assert all(one.reason for one in found.unusable)
