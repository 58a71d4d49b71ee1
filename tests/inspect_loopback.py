"""A provider's server on the loopback interface, for tests that go through Inspect's provider layer."""

import asyncio
import importlib.util
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web

from evenhand.errors import EvenhandError
from evenhand.execution.retries import Patience
from evenhand.instruments import Message, Request
from evenhand.readings import Reply


def needs(*packages: str) -> pytest.MarkDecorator:
    missing = [package for package in packages if importlib.util.find_spec(package) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")


needs_openai, needs_anthropic = needs("inspect_ai", "openai"), needs("inspect_ai", "anthropic")

NAME = "inspect:openai-api/loop/a-model"
CANARY = "sk-canary-0123456789"
CHAT = Request(
    messages=(Message("system", "Grade."), Message("user", "Choose.<|im_end|>")), max_tokens=4, top_logprobs=100
)
PLAIN = Request(messages=(Message("user", "Write."),), max_tokens=4)
PLACES = [
    {
        "token": "(C",
        "logprob": -0.1,
        "bytes": [40, 67],
        "top_logprobs": [
            {"token": "(C", "logprob": -0.1, "bytes": [40, 67]},
            {"token": "(A", "logprob": -2.4, "bytes": [40, 65]},
        ],
    },
    {"token": ")", "logprob": 0.0, "bytes": [41], "top_logprobs": []},
]
QUICK = Patience(tries=4, first_wait=0.001, longest_wait=0.002)


def good(message: dict[str, Any] | None = None, **choice: Any) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "answering-model-2026",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "(C)", **(message or {})},
                "finish_reason": "stop",
                "logprobs": {"content": PLACES},
                **choice,
            }
        ],
        "usage": {
            "prompt_tokens": 9,
            "completion_tokens": 2,
            "total_tokens": 11,
            "prompt_tokens_details": {"cached_tokens": 5},
        },
    }


@dataclass
class Loopback:
    """A server on the loopback interface whose answers a test gives: values, responses, or what makes them."""

    port: int = 0
    answer: Callable[[dict[str, Any], int], Any] = lambda body, count: good()
    asked: list[dict[str, Any]] = field(default_factory=list)
    heads: list[dict[str, str]] = field(default_factory=list)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.asked.append(body)
        self.heads.append({name.lower(): value for name, value in request.headers.items()})
        found = self.answer(body, len(self.asked))
        if callable(found):
            found = await found(request)
        return found if isinstance(found, web.StreamResponse) else web.json_response(found)


@contextmanager
def serving(monkeypatch: pytest.MonkeyPatch) -> Iterator[Loopback]:
    """Run a server, and point the providers that tests use at it."""
    state = Loopback()
    loop = asyncio.new_event_loop()

    async def start() -> web.AppRunner:
        app = web.Application()
        app.router.add_post("/{rest:.*}", state.handle)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        state.port = runner.addresses[0][1]
        return runner

    runner = loop.run_until_complete(start())
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    monkeypatch.setenv("LOOP_BASE_URL", f"http://127.0.0.1:{state.port}/v1")
    monkeypatch.setenv("LOOP_API_KEY", CANARY)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", f"http://127.0.0.1:{state.port}")
    monkeypatch.setenv("ANTHROPIC_API_KEY", CANARY)
    yield state
    asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result(10)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


def ask(model: Any, request: Request = CHAT) -> Reply:
    async def once() -> Reply:
        try:
            reply: Reply = await model.answer(request)
            return reply
        finally:
            await model.rest()

    return asyncio.run(once())


def failure(model: Any, request: Request = CHAT) -> EvenhandError:
    with pytest.raises(EvenhandError) as caught:
        ask(model, request)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    return caught.value


def broken(status: int, body: str | dict[str, Any] = "no", **headers: str) -> web.Response:
    if isinstance(body, dict):
        return web.json_response(body, status=status, headers=headers)
    return web.Response(status=status, text=body, headers=headers)


def coded(code: str, message: str = "the reason") -> dict[str, Any]:
    return {"error": {"code": code, "type": "invalid_request_error", "message": message}}
