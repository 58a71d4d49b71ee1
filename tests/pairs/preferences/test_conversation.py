"""Turns: what counts as messages, and where two conversations part."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.pairs.preferences.conversation import Turn, split_at_last_shared, strings_of, turns_of, written
from evenhand.pairs.preferences.problem import ProblemKind, RowFaultError

MESSAGES = [{"role": "user", "content": "it's \\d"}, {"role": "assistant", "content": "no"}]
TURNS = [Turn("H", "it's \\d"), Turn("A", "no")]


@pytest.mark.parametrize("value", [MESSAGES, json.dumps(MESSAGES), repr(MESSAGES), f"  {MESSAGES!r}\n"])
def test_messages_as_a_list_as_json_and_as_python_writes_them(value: Any) -> None:
    assert turns_of(value, "chosen") == TURNS


def test_the_other_names_of_role_and_content() -> None:
    assert turns_of({"from": "gpt", "value": "yes"}, "chosen") == [Turn("A", "yes")]


@pytest.mark.parametrize("value", ["[sic] it is", "[1, 2]", "{}", [], [1], None, 3, "[{'a': 1}]"])
def test_what_is_no_conversation(value: Any) -> None:
    assert turns_of(value, "chosen") is None


@pytest.mark.parametrize("value", ["[{'role': 'user'} {'role': 'a'}]", '[{"role": "user", "content": "cut o'])
def test_messages_that_lost_their_form(value: str) -> None:
    with pytest.raises(RowFaultError) as caught:
        turns_of(value, "chosen")
    assert caught.value.kind == ProblemKind.WRONG_TYPE
    assert "save the data as JSON lines or Parquet" in caught.value.message


def test_nothing_in_a_cell_is_executed() -> None:
    with pytest.raises(RowFaultError):
        turns_of("[{'role': __import__('os').getcwd()}]", "chosen")


@pytest.mark.parametrize("value", ["plain", "[1]", "[", [1], [], {"a": 1}])
def test_what_is_no_list_of_strings(value: Any) -> None:
    assert strings_of(value) is None


SAID = st.builds(Turn, st.sampled_from("HA"), st.sampled_from(["x", "y"]))


@given(st.lists(SAID, max_size=5), st.lists(SAID, max_size=3), st.lists(SAID, max_size=3))
def test_what_is_split_is_whole(shared: list[Turn], a: list[Turn], b: list[Turn]) -> None:
    one, two = shared + a, shared + b
    try:
        before, rest_a, rest_b = split_at_last_shared(one, two)
    except RowFaultError as fault:
        assert fault.kind == ProblemKind.NO_SHARED_PROMPT
        return
    assert (before + rest_a, before + rest_b) == (one, two)
    assert rest_a[0].mark == rest_b[0].mark == "A"


def test_a_lone_system_turn_keeps_its_mark() -> None:
    assert written([Turn("S", "Be kind")]) == "[S]: Be kind"
