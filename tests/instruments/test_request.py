"""The key of a request names everything that determines its reply."""

import hashlib
import json
from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.instruments import Message, Request

CHAT = Request(messages=(Message("user", "x" * 500),), max_tokens=3)


def test_every_field_and_the_model_are_in_the_key() -> None:
    changes = {
        "messages": (Message("user", "x" * 250 + "y" + "x" * 249),),
        "max_tokens": 4,
        "temperature": 0.5,
        "seed": 1,
        "top_logprobs": 5,
        "stop": ("}",),
    }
    assert {field.name for field in fields(Request)} == set(changes) | {"prompt"} == set(CHAT.as_json())
    keys = {CHAT.key("m")} | {replace(CHAT, **{name: value}).key("m") for name, value in changes.items()}  # type: ignore[arg-type]
    assert len(keys | {CHAT.key("n"), Request(prompt="x" * 500, max_tokens=3).key("m")}) == len(changes) + 3


def test_roles_and_turns_are_in_the_key() -> None:
    one = Request(messages=(Message("system", "a"), Message("user", "b")))
    other = Request(messages=(Message("user", "a"), Message("user", "b")))
    assert one.key("m") != other.key("m")


def test_lone_surrogates_have_a_key() -> None:
    assert Request(prompt="\ud800").key("m") != Request(prompt="\ud801").key("m")


@pytest.mark.parametrize("wrong", [{}, {"messages": (Message("user", "a"),), "prompt": "b"}])
def test_messages_or_prompt(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="either messages or a prompt"):
        Request(**wrong)  # type: ignore[arg-type]


ROLES = st.sampled_from(("system", "user", "assistant"))
REQUESTS = st.builds(
    lambda turns, prompt, **rest: Request(messages=tuple(turns), prompt="" if turns else prompt, **rest),
    turns=st.lists(st.builds(Message, ROLES, st.text()), max_size=3),
    prompt=st.text(min_size=1),
    max_tokens=st.integers(1, 10**9),
    temperature=st.floats(0, 2) | st.integers(0, 2),
    seed=st.integers(),
    top_logprobs=st.integers(0, 100),
    stop=st.lists(st.text(), max_size=2).map(tuple),
)


@given(st.text(), REQUESTS)
def test_the_key_is_that_of_the_sorted_json(identity: str, request: Request) -> None:
    """It is put together by hand for speed; a ledger made by any version must be found again."""
    content = json.dumps([identity, request.as_json()], sort_keys=True)
    assert request.key(identity) == hashlib.sha256(content.encode()).hexdigest()
