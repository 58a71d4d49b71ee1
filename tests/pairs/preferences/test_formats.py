"""Every format: a small row of our own, told by its columns and read as it means."""

import json
from pathlib import Path
from typing import Any

import pytest

from evenhand.pairs.preference_pair import PreferencePair
from evenhand.pairs.preferences import FORMATS, PreferenceSet, ProblemKind, read_preferences

H, A = "user", "assistant"


def message(role: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **more}


def read(folder: Path, *rows: dict[str, Any], format: str | None = None) -> PreferenceSet:
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return read_preferences(path, format=format)


def one(folder: Path, row: dict[str, Any], format: str) -> PreferencePair:
    found = read(folder, row)
    assert found.format == format
    assert found.problems == ()
    assert read(folder, row, format=format).pairs == found.pairs
    (pair,) = found.pairs
    return pair


def texts(pair: PreferencePair) -> tuple[str, str, str]:
    return pair.input, pair.chosen, pair.rejected


PLAIN: list[tuple[str, dict[str, Any], tuple[str, str, str], bool, float | None]] = [
    ("trl", {"prompt": "Q?", "chosen": "yes", "rejected": "no"}, ("Q?", "yes", "no"), False, None),
    ("trl", {"prompt": "Q?", "chosen": "yes", "rejected": "no", "margin": 0.5}, ("Q?", "yes", "no"), False, 0.5),
    (
        "trl",
        {"chosen": "Tea is best hot.", "rejected": "Tea is best hidden."},
        ("Tea is best", "hot.", "hidden."),
        False,
        None,
    ),
    (
        "hh-rlhf",
        {"chosen": "\n\nHuman: Hi\n\nAssistant: Hello", "rejected": "\n\nHuman: Hi\n\nAssistant: Go"},
        ("Hi", "Hello", "Go"),
        False,
        None,
    ),
    (
        "rewardbench",
        {"prompt": "Q?", "chosen": "yes", "rejected": "no", "chosen_model": "m", "rejected_model": "n", "subset": "s"},
        ("Q?", "yes", "no"),
        False,
        None,
    ),
    ("llmbar", {"input": "Q?", "output_1": "no", "output_2": "yes", "label": 2}, ("Q?", "yes", "no"), False, None),
    (
        "judgebench",
        {"question": "Q?", "response_A": "no", "response_B": "yes", "label": "B>A"},
        ("Q?", "yes", "no"),
        False,
        None,
    ),
    ("autoj", {"prompt": "Q?", "response 1": "yes", "response 2": "no", "label": 0}, ("Q?", "yes", "no"), False, None),
    ("autoj", {"prompt": "Q?", "response 1": "no", "response 2": "yes", "label": 1}, ("Q?", "yes", "no"), False, None),
    ("autoj", {"prompt": "Q?", "response 1": "x", "response 2": "y", "label": 2}, ("Q?", "x", "y"), True, None),
    (
        "helpsteer2",
        {"prompt": "Q?", "response_1": "no", "response_2": "yes", "preference_strength": 3},
        ("Q?", "yes", "no"),
        False,
        3.0,
    ),
    (
        "helpsteer2",
        {"prompt": "Q?", "response_1": "yes", "response_2": "no", "preference_strength": -1},
        ("Q?", "yes", "no"),
        False,
        1.0,
    ),
    (
        "helpsteer3",
        {"context": [message(H, "Q?")], "response1": "x", "response2": "y", "overall_preference": 0},
        ("Q?", "x", "y"),
        True,
        None,
    ),
    (
        "helpsteer3",
        {
            "context": [message(H, "Q?"), message(A, "What?"), message(H, "This")],
            "response1": "no",
            "response2": "yes",
            "overall_preference": 2,
        },
        ("[H]: Q?\n\n[A]: What?\n\n[H]: This", "yes", "no"),
        False,
        2.0,
    ),
    (
        "alpaca",
        {"instruction": "Do", "input": "it", "output": ["yes", "no"]},
        ("Do\n\nit", "yes", "no"),
        False,
        None,
    ),
    (
        "alpaca",
        {"instruction": "Do", "input": "", "output_1": "no", "output_2": "yes", "preference": 2},
        ("Do", "yes", "no"),
        False,
        1.0,
    ),
    (
        "alpaca",
        {"instruction": "Do", "output_1": "yes", "output_2": "no", "preference": 1.25},
        ("Do", "yes", "no"),
        False,
        0.5,
    ),
    (
        "alpaca",
        {"instruction": "Do", "output_1": "x", "output_2": "y", "preference": 1.5},
        ("Do", "x", "y"),
        True,
        None,
    ),
    ("alpaca", {"instruction": "Do", "chosen": "yes", "rejected": "no"}, ("Do", "yes", "no"), False, None),
    ("icai", {"text_a": "no", "text_b": "yes", "preferred_text": "text_b"}, ("", "yes", "no"), False, None),
    (
        "icai",
        {
            "text_a": "Instruction: Q?\n\nOutput: yes",
            "text_b": "Instruction: Q?\n\nOutput: no",
            "preferred_text": "text_a",
        },
        ("Q?", "yes", "no"),
        False,
        None,
    ),
]


@pytest.mark.parametrize(("format", "row", "expected", "tie", "strength"), PLAIN)
def test_a_row_of_each(
    tmp_path: Path,
    *,
    format: str,
    row: dict[str, Any],
    expected: tuple[str, str, str],
    tie: bool,
    strength: float | None,
) -> None:
    pair = one(tmp_path, row, format)
    assert texts(pair) == expected
    assert (pair.tie, pair.strength) == (tie, strength)


def test_no_format_is_forgotten() -> None:
    elsewhere = {"pandalm", "ultrafeedback", "rewardbench2", "lmarena"}
    assert {name for name, *_ in PLAIN} | elsewhere == set(FORMATS)


def test_what_the_columns_beside_say_is_kept(tmp_path: Path) -> None:
    row = {"prompt": "Q?", "chosen": "yes", "rejected": "no", "source": "ours", "n": 3, "long": "x" * 500, "l": [1]}
    assert one(tmp_path, row, "trl").metadata == {"source": "ours", "n": "3", "row": "1"}


def test_trl_conversations(tmp_path: Path) -> None:
    pair = one(
        tmp_path,
        {
            "prompt": [message("system", "Be kind."), message(H, "Q?")],
            "chosen": [message(A, "yes")],
            "rejected": [message(A, "no")],
        },
        "trl",
    )
    assert texts(pair) == ("[S]: Be kind.\n\n[H]: Q?", "yes", "no")


def test_trl_conversations_with_the_prompt_inside(tmp_path: Path) -> None:
    shared = [message(H, "Q?"), message(A, "Which?"), message(H, "That")]
    row = {"chosen": [*shared, message(A, "yes")], "rejected": [*shared, message(A, "no")]}
    assert texts(one(tmp_path, row, "trl")) == ("[H]: Q?\n\n[A]: Which?\n\n[H]: That", "yes", "no")


def test_the_system_turn_of_a_prompt_stays_before_sides_that_repeat_the_rest(tmp_path: Path) -> None:
    row = {
        "prompt": [message("system", "Be kind."), message(H, "Q?")],
        "chosen": [message(H, "Q?"), message(A, "yes")],
        "rejected": [message(H, "Q?"), message(A, "no")],
    }
    assert texts(one(tmp_path, row, "trl")) == ("[S]: Be kind.\n\n[H]: Q?", "yes", "no")


def test_parts_and_tool_calls(tmp_path: Path) -> None:
    call = {"type": "function", "function": {"name": "look_up", "arguments": {"word": "tea"}}}
    row = {
        "prompt": [message(H, [{"type": "text", "text": "What is this?"}, {"type": "image"}])],
        "chosen": [message(A, None, tool_calls=[call]), message("tool", "a drink"), message(A, "Tea.")],
        "rejected": [message(A, [{"type": "text", "text": "No"}, "idea."])],
    }
    pair = one(tmp_path, row, "trl")
    assert pair.input == "What is this?\n[image]"
    assert pair.chosen == '[A]: [tool call] look_up({"word": "tea"})\n\n[T]: a drink\n\n[A]: Tea.'
    assert pair.rejected == "No\nidea."


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (None, ProblemKind.NULL),
        (True, ProblemKind.WRONG_TYPE),
        ([7], ProblemKind.WRONG_TYPE),
        ({"a": 1}, ProblemKind.WRONG_TYPE),
    ],
)
def test_messages_that_hold_no_text(tmp_path: Path, content: Any, kind: ProblemKind) -> None:
    row = {"prompt": "Q?", "chosen": [message(A, content)], "rejected": [message(A, "no")]}
    (problem,) = read(tmp_path, row).problems
    assert (problem.kind, problem.row, problem.lost) == (kind, 1, True)
    assert "chosen has a message" in problem.message


def test_unknown_role_is_a_problem(tmp_path: Path) -> None:
    row = {"prompt": "Q?", "chosen": [message("narrator", "yes")], "rejected": [message(A, "no")]}
    (problem,) = read(tmp_path, row).problems
    assert "unknown role 'narrator'" in problem.message


def turns(*said: str) -> str:
    return "".join(f"\n\n{'Assistant' if index % 2 else 'Human'}: {text}" for index, text in enumerate(said))


@pytest.mark.parametrize(
    ("chosen", "rejected", "expected"),
    [
        (("q", "a", "r", "yes"), ("q", "a", "r", "no"), ("[H]: q\n\n[A]: a\n\n[H]: r", "yes", "no")),
        (("q", "same"), ("q", "same"), ("q", "same", "same")),
        (("q", "a", "r", "same"), ("q", "a", "r", "same"), ("[H]: q\n\n[A]: a\n\n[H]: r", "same", "same")),
        (("q", "yes"), ("q", "no", "r", "b"), ("q", "yes", "[A]: no\n\n[H]: r\n\n[A]: b")),
        (("q", "a", "r", "yes"), ("q", "a"), ("q", "[A]: a\n\n[H]: r\n\n[A]: yes", "a")),
        (("q", "a", "r", "x"), ("q", "a", "s", "y"), ("q", "[A]: a\n\n[H]: r\n\n[A]: x", "[A]: a\n\n[H]: s\n\n[A]: y")),
        (("q", ""), ("q", "no"), ("q", "", "no")),
    ],
)
def test_transcripts_are_split_at_the_last_shared_assistant_turn(
    tmp_path: Path, chosen: tuple[str, ...], rejected: tuple[str, ...], expected: tuple[str, str, str]
) -> None:
    row = {"chosen": turns(*chosen), "rejected": turns(*rejected)}
    assert texts(one(tmp_path, row, "hh-rlhf")) == expected


def test_transcripts_without_a_shared_turn(tmp_path: Path) -> None:
    good = {"chosen": turns("q", "yes"), "rejected": turns("q", "no")}
    bad = [
        {"chosen": turns("q", "yes"), "rejected": turns("r", "no")},
        {"chosen": "no turns", "rejected": turns("q", "no")},
    ]
    found = read(tmp_path, good, *bad)
    assert len(found.pairs) == 1
    assert [(problem.row, problem.kind) for problem in found.problems] == [
        (2, ProblemKind.NO_SHARED_PROMPT),
        (3, ProblemKind.NO_SHARED_PROMPT),
    ]


def test_ultrafeedback_scores(tmp_path: Path) -> None:
    def row(better: float, worse: float) -> dict[str, Any]:
        return {
            "prompt": "Q?",
            "chosen": [message(H, "Q?"), message(A, "yes")],
            "rejected": [message(H, "Q?"), message(A, "no")],
            "messages": [message(H, "Q?"), message(A, "yes")],
            "score_chosen": better,
            "score_rejected": worse,
        }

    found = read(tmp_path, row(8.5, 6), row(7, 7), row(2, 5))
    assert found.format == "ultrafeedback"
    assert {texts(pair) for pair in found.pairs} == {("Q?", "yes", "no")}
    assert [(pair.tie, pair.strength) for pair in found.pairs] == [(False, 2.5), (True, None), (False, None)]
    (problem,) = found.problems
    assert (problem.row, problem.kind, problem.lost) == (3, ProblemKind.CONTRADICTING_SCORES, False)


@pytest.mark.parametrize(
    ("chosen", "rejected", "expected"),
    [
        (["y"], ["n1", "n2", "n3"], [("y", "n1"), ("y", "n2"), ("y", "n3")]),
        (["y1", "y2", "y3"], ["n1", "n2"], [("y1", "n1"), ("y2", "n2"), ("y3", "n1")]),
    ],
)
def test_rewardbench2_puts_every_output_into_a_pair(
    tmp_path: Path, chosen: list[str], rejected: list[str], expected: list[tuple[str, str]]
) -> None:
    found = read(tmp_path, {"prompt": "Q?", "chosen": chosen, "rejected": rejected, "subset": "s"})
    assert found.format == "rewardbench2"
    assert [(pair.chosen, pair.rejected) for pair in found.pairs] == expected
    assert len({pair.pair_id for pair in found.pairs}) == len(expected)
    assert len({pair.input_id for pair in found.pairs}) == 1


def test_rewardbench2_wrong_lists(tmp_path: Path) -> None:
    good = {"prompt": "Q?", "chosen": ["y"], "rejected": ["n"]}
    found = read(tmp_path, good, good | {"chosen": "y"}, good | {"rejected": []}, good | {"rejected": ["n", None]})
    assert [problem.kind for problem in found.problems] == [
        ProblemKind.WRONG_TYPE,
        ProblemKind.WRONG_TYPE,
        ProblemKind.NULL,
    ]


@pytest.mark.parametrize(
    ("votes", "chosen", "tie", "strength"),
    [
        ((1, 1, 1), "one", False, 3.0),
        ((2, 1, 2), "two", False, 1.0),
        ((0, 2, 2), "two", False, 2.0),
        ((0, 0, 2), "one", True, None),
        ((0, 1, 2), "one", True, None),
    ],
)
def test_pandalm_majority(
    tmp_path: Path, votes: tuple[int, int, int], chosen: str, tie: bool, strength: float | None
) -> None:
    row = {"instruction": "Do", "input": "it", "response1": "one", "response2": "two"}
    pair = one(tmp_path, row | {f"annotator{n}": vote for n, vote in enumerate(votes, start=1)}, "pandalm")
    assert (pair.input, pair.chosen, pair.tie, pair.strength) == ("Do\n\nit", chosen, tie, strength)


CONVERSATIONS = {
    "conversation_a": [message(H, [{"type": "text", "text": "Q?"}]), message(A, [{"type": "text", "text": "one"}])],
    "conversation_b": [message(H, [{"type": "text", "text": "Q?"}]), message(A, [{"type": "text", "text": "two"}])],
    "model_a": "left-7b",
    "model_b": "right-7b",
}


@pytest.mark.parametrize(
    ("winner", "chosen", "tie"),
    [
        ("model_a", "one", False),
        ("model_b", "two", False),
        ("right-7b", "two", False),
        ("tie", "one", True),
        ("tie (bothbad)", "one", True),
        ("tie (inconsistent)", "one", True),
        ("both_bad", "one", True),
    ],
)
def test_lmarena_winners(tmp_path: Path, winner: str, chosen: str, tie: bool) -> None:
    pair = one(tmp_path, CONVERSATIONS | {"winner": winner}, "lmarena")
    assert (pair.input, pair.chosen, pair.tie) == ("Q?", chosen, tie)
    assert pair.metadata["model_a" if winner != "right-7b" else "model_b"]


@pytest.mark.parametrize(
    ("flags", "chosen", "tie"),
    [((1, 0, 0), "one", False), ((False, True, False), "two", False), (("0", "0.0", "1"), "one", True)],
)
def test_lmarena_one_column_a_winner(tmp_path: Path, flags: tuple[Any, ...], chosen: str, tie: bool) -> None:
    names = ("winner_model_a", "winner_model_b", "winner_tie")
    row = {"prompt": "Q?", "response_a": "one", "response_b": "two"} | dict(zip(names, flags, strict=True))
    pair = one(tmp_path, row, "lmarena")
    assert (pair.chosen, pair.tie) == (chosen, tie)


def test_lmarena_with_two_winners_or_none(tmp_path: Path) -> None:
    row = {"prompt": "Q?", "response_a": "one", "response_b": "two", "winner_tie": 0}
    flags = [(1, 0), (1, 1), (0, 0), ("?", 0)]
    found = read(tmp_path, *(row | {"winner_model_a": a, "winner_model_b": b} for a, b in flags))
    assert len(found.pairs) == 1
    assert [problem.kind for problem in found.problems] == [ProblemKind.UNKNOWN_PREFERENCE] * 3


def test_lmarena_lists_in_strings_of_a_csv(tmp_path: Path) -> None:
    path = tmp_path / "arena.csv"
    path.write_text(
        "id,prompt,response_a,response_b,winner_model_a,winner_model_b,winner_tie\n"
        '1,"[""Q?"",""And?""]","[""one"",""more""]","[""two"",""less""]",0,1,0\n'
        '2,"[""Q?"",""And?""]","[""one"",null]","[""two"",""less""]",0,1,0\n',
        "utf-8",
    )
    found = read_preferences(path)
    assert found.format == "lmarena"
    assert texts(found.pairs[0]) == ("Q?", "[A]: two\n\n[H]: And?\n\n[A]: less", "[A]: one\n\n[H]: And?\n\n[A]: more")
    (problem,) = found.problems
    assert (problem.row, problem.kind) == (3, ProblemKind.NULL)


def test_helpsteer2_prompt_of_several_turns(tmp_path: Path) -> None:
    prompt = "Q?\n<extra_id_1>Assistant\nWhich?\n<extra_id_1>User\nThat"
    row = {"prompt": prompt, "response_1": "yes", "response_2": "no", "preference_strength": -2}
    assert one(tmp_path, row, "helpsteer2").input == "[H]: Q?\n\n[A]: Which?\n\n[H]: That"


def test_a_number_that_is_text_in_csv_is_a_preference_too(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("input,output_1,output_2,label\nQ?,no,yes,2\nQ?,no,yes,2.0\n", "utf-8")
    assert [pair.chosen for pair in read_preferences(path).pairs] == ["yes", "yes"]
