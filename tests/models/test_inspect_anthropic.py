"""Anthropic through Inspect's provider layer, on a loopback server that speaks its protocol."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from aiohttp import web

from evenhand.instruments import Message, Request
from evenhand.models import AccessError, ContextOverflowError, TransportError, Trouble
from evenhand.models.inspect_provider import InspectModel
from evenhand.models.settings import ModelSettings
from inspect_loopback import CANARY, CHAT, PLAIN, Loopback, ask, broken, failure, needs_anthropic, serving


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Loopback]:
    with serving(monkeypatch) as state:
        yield state


def anthropic_answer(*content: dict[str, Any], stop_reason: str = "end_turn") -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-answering",
        "content": list(content),
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": {
            "input_tokens": 3,
            "output_tokens": 7,
            "cache_read_input_tokens": 20,
            "cache_creation_input_tokens": 1,
            "output_tokens_details": {"thinking_tokens": 5},
        },
    }


@needs_anthropic
def test_anthropic(server: Loopback) -> None:
    server.answer = lambda body, count: anthropic_answer(
        {"type": "thinking", "thinking": "A or C?", "signature": "x"}, {"type": "text", "text": "C"}
    )
    model = InspectModel("inspect:anthropic/claude-haiku-4-5", ModelSettings(prefill="plain"))
    reply = ask(model, Request(messages=(*CHAT.messages, Message("assistant", "The answer is")), max_tokens=4))
    assert (reply.text, reply.thinking, reply.model, reply.finish) == ("C", "A or C?", "claude-answering", "stop")
    assert (reply.prompt_tokens, reply.cached_tokens, reply.completion_tokens) == (24, 20, 7)
    (body,) = server.asked
    last = body["messages"][-1]
    assert (last["role"], "The answer is" in json.dumps(last["content"])) == ("assistant", True)
    assert "Grade." in json.dumps(body["system"])


def anthropic_error(status: int, kind: str, message: str = "the reason", **headers: str) -> web.Response:
    return broken(status, {"type": "error", "error": {"type": kind, "message": message}}, **headers)


@needs_anthropic
@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (lambda: anthropic_error(429, "rate_limit_error", **{"retry-after": "4"}), Trouble.RATE_LIMIT),
        (lambda: anthropic_error(529, "overloaded_error"), Trouble.SERVER),
        (lambda: anthropic_error(500, "api_error"), Trouble.SERVER),
        (lambda: anthropic_error(401, "authentication_error", f"odd: {CANARY}"), AccessError),
        (lambda: anthropic_error(404, "not_found_error"), AccessError),
        (lambda: anthropic_error(400, "invalid_request_error", "prompt is too long: 9 > 8"), ContextOverflowError),
    ],
)
def test_anthropic_errors_after_a_single_request(server: Loopback, answer: Callable[[], Any], expected: Any) -> None:
    server.answer = lambda body, count: answer()
    error = failure(InspectModel("inspect:anthropic/claude-haiku-4-5"), PLAIN)
    if isinstance(expected, Trouble):
        assert isinstance(error, TransportError)
        assert (error.trouble, error.passing) == (expected, True)
    else:
        assert isinstance(error, expected)
    assert CANARY not in str(error)
    assert len(server.asked) == 1


@needs_anthropic
def test_a_refusal_of_the_model_is_an_answer(server: Loopback) -> None:
    server.answer = lambda body, count: anthropic_answer({"type": "text", "text": "I"}, stop_reason="refusal")
    reply = ask(InspectModel("inspect:anthropic/claude-haiku-4-5"), PLAIN)
    assert (reply.text, reply.finish) == ("I", "content_filter")
