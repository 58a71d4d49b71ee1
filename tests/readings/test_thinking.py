"""Thinking stands apart from the answer, and so do its tokens."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import position, reply
from evenhand.readings import Reply, State, TokenPosition, read_choice
from evenhand.readings.thinking import answer_alone, missing_answer


def tokens(pieces: str) -> tuple[TokenPosition, ...]:
    return tuple(position(piece, 0.9) for piece in pieces.split("~"))


def spelled(found: Reply) -> list[str]:
    return [place.token for place in found.positions]


@pytest.mark.parametrize(
    ("text", "thinking", "answer"),
    [
        ("<think>A or C?</think>\n\n(C)", "A or C?", "(C)"),
        ("\n<think>\nA or C?\n</think>\n(C)\n", "A or C?", "(C)\n"),
        ("A or C?</think>(C)", "A or C?", "(C)"),
        ("<think>A or C?", "A or C?", ""),
        ("<think>A or C?</think>", "A or C?", ""),
        ("<think></think>(C)", "", "(C)"),
        ("<think>one</think>\n<think>two</think>\n(C)", "one\ntwo", "(C)"),
        ("A or C?</think>\n</think>(C)", "A or C?", "(C)"),
        ("<THINKING>A</THINKING>(C)", "A", "(C)"),
        ("<thought>A</thought>(C)", "A", "(C)"),
        ("<reasoning>A</reasoning>(C)", "A", "(C)"),
        ("<seed:think>A</seed:think>(C)", "A", "(C)"),
        ("[THINK]A[/THINK](C)", "A", "(C)"),
        ("◁think▷A◁/think▷(C)", "A", "(C)"),
        ("<|begin_of_thought|>A<|end_of_thought|>(C)", "A", "(C)"),
        ("<|START_THINKING|>A<|END_THINKING|>(C)", "A", "(C)"),
        ("<|channel|>analysis<|message|>A<|end|><|start|>assistant<|channel|>final<|message|>(C)", "A", "(C)"),
        ("(C)", "", "(C)"),
        ("(C), since it closes a `</think>` itself", "", None),
        ('I say "</think>" and "A"</think>(C)', 'I say "" and "A"', "(C)"),
        ("", "", ""),
        ("Models write <think> and </think>, or <think> alone.", "", None),
        ("(C) <think>or B?", "", None),
        ("(C), since the text says <thinking>", "", None),
        ("I think (C)", "", None),
        ("A [/link] and a <|strange|> mark", "", None),
    ],
)
def test_shapes(text: str, thinking: str, answer: str | None) -> None:
    found = answer_alone(Reply(text, "stop", "m"))
    assert (found.thinking, found.text) == (thinking, text if answer is None else answer)


def test_a_closing_mark_quoted_in_the_answer_hides_nothing() -> None:
    text = "<think>hm</think>(C), though it says </think> (A)"
    assert answer_alone(Reply(text, "stop", "m")).text == "(C), though it says </think> (A)"
    apart = Reply("(C), though it says </think> (A)", "stop", "m", thinking="hm")
    assert answer_alone(apart) is apart


@pytest.mark.parametrize(
    ("pieces", "text", "thinking", "left"),
    [
        # The block is in the text as well.
        ("<think>~A?~</think>~\n\n~(~C~)", "<think>A?</think>\n\n(C)", "", ["(", "C", ")"]),
        ("<~think~>~A?~</~think~>\n\n~C", "<think>A?</think>\n\nC", "", ["C"]),
        # The provider took it out of the text and left its tokens, with the marks or without.
        ("<think>~A or C?~</think>~\n\n~C~<|im_end|>", "C", "A or C?", ["C", "<|im_end|>"]),
        ("~A or~ C?~~\n\n~C~", "C", "A or C?", ["C", ""]),
        ("\n~A or~ C?~\n~C~</s>", "C", "A or C?", ["C", "</s>"]),
        ("<think>~A or C?~</think>~ C", " C", "A or C?", [" C"]),
        # It took it out, and does not tell it.
        ("<think>~A or C?~</think>~\n\n~C", "C", "", ["C"]),
        ("A or C~?~</think>~\n\n~C", "C", "", ["C"]),
        # A special token that begins the answer in the middle of a token.
        ("<think>~A~</think>(~C", "(C", "A", ["(", "C"]),
        # Half a character a token, where the joined tokens are not the text.
        ("<think>~caf~\ufffd~\ufffd~</think>~C: caf~\ufffd~\ufffd", "C: café", "café", ["C: caf", "\ufffd", "\ufffd"]),
        ("caf~\ufffd~\ufffd~C~.", "C.", "café", ["C", "."]),
        # The tokens are those of the answer alone.
        ("(~C~)", "(C)", "A or C?", ["(", "C", ")"]),
        ("C~<|im_end|>", "C", "It is C", ["C", "<|im_end|>"]),
        # No thinking: what differs is trimmed blanks or the end of the turn.
        (" C~.~", "C.", "", [" C", ".", ""]),
        ("\n\n~C~<|eot_id|>", "C", "", ["\n\n", "C", "<|eot_id|>"]),
        # Harmony.
        (
            "<|channel|>~analysis~<|message|>~final?~<|end|>~<|start|>~assistant~<|channel|>~final~<|message|>~n",
            "n",
            "final?",
            ["n"],
        ),
        # Thinking alone.
        ("<think>~A", "", "A", []),
        ("<think>~A", "<think>A", "", []),
    ],
)
def test_where_the_answers_tokens_begin(pieces: str, text: str, thinking: str, left: list[str]) -> None:
    given = replace(reply(*tokens(pieces)), text=text, thinking=thinking)
    found = answer_alone(given)
    assert spelled(found) == left
    assert answer_alone(found) == found


def test_of_a_token_across_the_border_only_those_that_begin_alike_speak() -> None:
    across = position(">C", 0.5, **{">A": 0.3, "C": 0.1, ">": 0.1})
    found = answer_alone(reply(position("<think>no</think", 0.9), across))
    assert [(token, round(2.718281828**logprob, 3)) for token, logprob in found.positions[0].top] == [
        ("C", 0.5),
        ("A", 0.3),
        ("", 0.1),
    ]


@pytest.mark.parametrize(
    ("text", "thinking", "finish", "state"),
    [
        ("", "hm", "stop", State.UNANSWERED),
        (" \n", "hm", "stop", State.UNANSWERED),
        ("", "hm", "length", State.TRUNCATED),
        ("", "", "length", State.TRUNCATED),
        ("", "", "stop", State.UNPARSEABLE),
        ("", "hm", "content_filter", State.DECLINED),
        ("C", "hm", "length", None),
    ],
)
def test_an_answer_that_is_missing(text: str, thinking: str, finish: str, state: State | None) -> None:
    found = missing_answer(Reply(text, finish, "m", thinking=thinking))
    assert (found and found[0]) == state
    if state:
        for probabilities in (read_choice(Reply(text, finish, "m", thinking=thinking, completion_tokens=50), "ABC"),):
            assert probabilities.state is state


@pytest.mark.parametrize(
    ("text", "begun", "pieces", "alone"),
    [
        ("I take (C)", "I take (", "C~)", "C)"),
        ("C)", "I take (", "C~)", "C)"),
        ("I take (C)", "I take (", "", "C)"),
        ("I take (I take (C)", "I take (", "I take (~C~)", "I take (C)"),
        ("I take (C)", "I take (", "I take (~C~)", "I take (C)"),
        ("I take (<think>A</think>C)", "I take (", "<think>~A~</think>~C~)", "C)"),
    ],
)
def test_a_begun_answer_that_the_server_repeats_is_taken_off(text: str, begun: str, pieces: str, alone: str) -> None:
    given = replace(reply(*tokens(pieces) if pieces else ()), text=text)
    assert answer_alone(given, begun).text == alone


WORDS = st.lists(st.sampled_from(["A", " (B", "C", "\n", " so", "<b>", "?", "{", " 7", "é"]), max_size=8)


@given(WORDS, WORDS, st.sampled_from(["inline", "apart", "apart without marks", "untold"]))
def test_the_answer_is_the_same_however_thinking_is_reported(thought: list[str], said: list[str], how: str) -> None:
    answer = ["(C", ")", *said]
    marked = [*(["<think>"] if how != "apart without marks" else []), "Well,", *thought, "."]
    marked += [*(["</think>"] if how != "apart without marks" else []), "\n\n"]
    joined = "".join(["Well,", *thought, "."])
    given = Reply(
        text="".join([*marked, *answer] if how == "inline" else answer).strip(),
        finish="stop",
        model="m",
        positions=tuple(position(token, 0.9) for token in [*marked, *answer]),
        thinking="" if how in ("inline", "untold") else joined,
    )
    found = answer_alone(given)
    assert spelled(found) == answer
    assert found.text == "".join(answer).strip()
    assert found.thinking == ("" if how == "untold" else joined)
    assert read_choice(given, "ABC") == read_choice(reply(*(position(token, 0.9) for token in answer)), "ABC")


@given(st.text(alphabet=st.sampled_from("<>/think[THINK]|a \n◁▷")), st.text(max_size=4))
def test_any_text_splits_once(text: str, begun: str) -> None:
    once = answer_alone(Reply(text, "stop", "m"), begun)
    assert answer_alone(once) == once


@pytest.mark.parametrize("text", ["<think>" * 20_000, "</think>" * 20_000, "<think></think>" * 10_000, "<" * 50_000])
def test_long_runs_of_marks_take_no_time(text: str) -> None:
    assert answer_alone(Reply(text, "length", "m")).model == "m"
