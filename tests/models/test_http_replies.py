"""Replies in every shape that endpoints send, and what is sent for odd texts."""

import math
from typing import Any

import pytest
from aiohttp import web

from evenhand.instruments import Message, Request
from evenhand.models import Model, TransportError
from evenhand.models.fast_json import encoded, parsed
from evenhand.models.http_replies import read_reply
from evenhand.readings import Reply, State, read_choice
from http_loopback import CHAT, GOOD, ask, loopback


def answer(message: dict[str, Any], tokens: str = "", finish: str = "stop", **logprobs: Any) -> dict[str, Any]:
    listed = [
        {"token": token, "logprob": -0.1, "top_logprobs": [{"token": token, "logprob": -0.1}]}
        for token in (tokens.split("~") if tokens else [])
    ]
    choice = {"message": message, "finish_reason": finish, "logprobs": {"content": listed, **logprobs}}
    return {"choices": [choice], "usage": {"prompt_tokens": 5, "completion_tokens": len(listed)}}


def read(found: dict[str, Any]) -> Reply:
    reply = read_reply(found, "m")
    assert reply is not None
    return reply


@pytest.mark.parametrize(
    ("message", "tokens"),
    [
        ({"content": "(C)", "reasoning_content": "A or C?\n"}, "(C~)"),
        ({"content": "(C)", "reasoning_content": "A or C?"}, "<think>~A or~ C?~</think>~\n\n~(C~)~<|im_end|>"),
        ({"content": "(C)", "reasoning": "A or C?"}, "~A or~ C?~~(C~)"),
        ({"content": "(C)", "reasoning": "A or C?", "reasoning_content": "A or C?"}, "(C~)"),
        ({"content": "\n\n(C)", "reasoning_content": "\nA or C?\n"}, "\nA or~ C?\n~</think>~\n\n~(C~)"),
        ({"content": "<think>A or C?</think>(C)"}, "<think>~A or~ C?~</think>~(C~)"),
        ({"content": "A or C?</think>(C)", "reasoning_content": None}, "A or~ C?~</think>~(C~)"),
        (
            {
                "content": [
                    {"type": "thinking", "thinking": [{"type": "text", "text": "A or C?"}]},
                    {"type": "text", "text": "(C)"},
                ]
            },
            "(C~)",
        ),
        ({"content": [{"type": "thinking", "thinking": "A or C?"}, {"type": "text", "text": "(C)"}]}, "(C~)"),
    ],
)
def test_thinking_is_told_apart(message: dict[str, Any], tokens: str) -> None:
    reply = read(answer(message, tokens))
    assert reply.thinking == "A or C?"
    assert reply.text.strip() == "(C)"
    assert [place.token for place in reply.positions if place.token.strip()][:2] == ["(C", ")"]
    assert read_choice(reply, "ABC").probabilities == (0, 0, 1)


def test_probabilities_of_thinking_in_a_list_of_their_own_are_left() -> None:
    thought = [{"token": "A", "logprob": -0.5, "top_logprobs": []}]
    reply = read(answer({"content": "C", "reasoning_content": "A"}, "C", reasoning_content=thought))
    assert [place.token for place in reply.positions] == ["C"]


@pytest.mark.parametrize(
    ("message", "finish", "state"),
    [
        ({"content": None, "reasoning_content": "A or C?"}, "stop", State.UNANSWERED),
        ({"content": "", "reasoning": "A or C?"}, "length", State.TRUNCATED),
        ({"content": "<think>A or C?"}, "length", State.TRUNCATED),
        ({"content": ""}, "content_filter", State.DECLINED),
        ({"content": None, "refusal": "I'm sorry, but I can't grade this."}, "stop", State.DECLINED),
    ],
)
def test_no_answer_is_a_state_and_not_a_missing_probability(message: dict[str, Any], finish: str, state: State) -> None:
    """Thinking has tokens with probabilities; that the answer has none must not end the run."""
    tokens = "I'm sorry~, but" if "refusal" in message else "<think>~A or C?"
    found = answer(message, tokens, finish)
    if "refusal" in message:
        logprobs = found["choices"][0]["logprobs"]
        logprobs["content"], logprobs["refusal"] = None, logprobs["content"]
    with loopback() as server:
        server.answer = lambda body, count: web.json_response(found)
        assert read_choice(ask(server.model), "ABC").state is state


@pytest.mark.parametrize(
    "found",
    [
        {},
        {"choices": [{}]},
        {"choices": [{"message": {"content": 5}}]},
        {"choices": [{"message": {"content": {"text": "C"}}}]},
        {"choices": [{"message": {"content": ["C"]}}]},
        {"choices": [{"message": {"content": "C", "reasoning": ["A"]}}]},
        {"choices": [{"message": "C"}]},
        {"choices": [{"text": ["C"]}]},
        {"choices": [{"message": {"content": "C"}, "finish_reason": 3}]},
        {"choices": [{"message": {"content": "C"}}], "usage": {"prompt_tokens": "many"}},
        {"choices": [{"message": {"content": "C"}}], "usage": {"prompt_tokens": math.inf}},
        {"choices": [{"message": {"content": "C"}, "logprobs": {"content": [{"token": None, "logprob": -1}]}}]},
        {"choices": [{"message": {"content": "C"}, "logprobs": {"content": [{"token": "C", "logprob": None}]}}]},
        {"choices": [{"message": {"content": "C"}, "logprobs": {"content": [{"token": "C"}]}}]},
        {"choices": [{"message": {"content": "C"}, "logprobs": {"content": ["C"]}}]},
        {
            "choices": [
                {
                    "message": {"content": "C"},
                    "logprobs": {
                        "content": [{"token": "C", "logprob": -1, "top_logprobs": [{"token": 7, "logprob": -1}]}]
                    },
                }
            ]
        },
        {"choices": [{"text": "C", "logprobs": {"tokens": ["C"], "token_logprobs": [-1, -2]}}]},
    ],
)
def test_unknown_shapes_are_no_replies(found: dict[str, Any]) -> None:
    """What got into the ledger would be read again and again."""
    assert read_reply(found, "m") is None


def test_counts_of_tokens() -> None:
    assert read({**GOOD, "usage": {"prompt_tokens": 9, "prompt_cache_hit_tokens": 4}}).cached_tokens == 4
    bare = read({"choices": [{"message": {"content": "C"}}]})
    assert (bare.prompt_tokens, bare.completion_tokens, bare.finish, bare.model) == (0, 1, "stop", "m")


def test_json_of_every_kind() -> None:
    assert parsed(b'{"n": 123456789012345678901234567890}')["n"] == pytest.approx(1.2345678901234568e29)
    assert parsed(b'"\\ud83d"') == "\ud83d"
    assert parsed(b"[-Infinity]") == [-math.inf]
    for wrong in (b"[NaN]", b"[Infinity]", b"{", b"", b"\xff", b"[" * 200_000, b'{"a": 1} {"b": 2}'):
        with pytest.raises(ValueError):
            parsed(wrong)
    assert encoded({"n": 10**30}) == b'{"n":' + str(10**30).encode() + b"}"
    assert parsed(encoded({"text": "é\n", "list": ("a",), "n": 10**9})) == {"text": "é\n", "list": ["a"], "n": 10**9}


@pytest.mark.parametrize(
    ("text", "sent"),
    [("half \ud83d", "half ?"), ("whole \U0001f600", "whole \U0001f600"), ("NUL \0, \u2028", "NUL \0, \u2028")],
)
def test_any_text_can_be_sent(text: str, sent: str) -> None:
    with loopback() as server:
        ask(server.model, Request(messages=(Message("user", text),)))
        assert server.asked[0].body["messages"][0]["content"] == sent


def test_a_text_of_megabytes_is_sent() -> None:
    text = "word " * 600_000
    with loopback() as server:
        assert ask(server.model, Request(messages=(Message("user", text),))).text == "(C)"
        assert server.asked[0].body["messages"][0]["content"] == text


def test_a_probability_that_is_none_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def said(logprob: str) -> Model:
        text = '{"choices": [{"message": {"content": "C"}, "logprobs": {"content": [{"token": "C", "logprob": LP}]}}]}'
        server.answer = lambda body, count: web.Response(text=text.replace("LP", logprob))
        return server.model

    with loopback() as server:
        assert ask(said("-Infinity")).positions[0].logprob == -math.inf
        with pytest.raises(TransportError, match="no JSON object"):
            ask(said("NaN"), CHAT)
