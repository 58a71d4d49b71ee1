"""The key of a request names everything that determines its reply."""

from dataclasses import fields, replace

import pytest

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
