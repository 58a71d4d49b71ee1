"""A server on the loopback interface whose answers a test gives, and the asking of a model."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from evenhand.execution.retries import Patience, answer_with_patience
from evenhand.instruments import Message, Request
from evenhand.models import Model, ModelRole, ModelSettings, open_model
from evenhand.readings import Reply

CHAT = Request(messages=(Message("user", "Choose."),), max_tokens=4, top_logprobs=100)
GOOD: dict[str, Any] = {
    "model": "answering-model-2026",
    "choices": [
        {
            "message": {"content": "(C)"},
            "finish_reason": "stop",
            "logprobs": {
                "content": [
                    {"token": "(C", "logprob": -0.1, "top_logprobs": [{"token": "(C", "logprob": -0.1}]},
                    {"token": ")", "logprob": 0.0, "top_logprobs": []},
                ]
            },
        }
    ],
    "usage": {"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 5}},
}
QUICK = Patience(tries=4, first_wait=0.001, longest_wait=0.002)
ONCE = Patience(tries=1, rate_limit_tries=1)

Answer = Callable[[dict[str, Any], int], web.StreamResponse]


@dataclass(frozen=True)
class Asked:
    """One request that arrived."""

    path: str
    body: dict[str, Any]
    headers: dict[str, str]


@dataclass
class Loopback:
    """The server, what it answers and what it was asked."""

    port: int = 0
    answer: Answer = lambda body, count: web.json_response(GOOD)
    asked: list[Asked] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1#a-model"

    @property
    def model(self) -> Model:
        return open_model(self.name, ModelRole.GRADER)

    def model_with(self, **settings: Any) -> Model:
        return open_model(self.name, ModelRole.GRADER, settings={self.name: ModelSettings(**settings)})


@contextmanager
def loopback() -> Iterator[Loopback]:
    """Run the server in a thread of its own."""
    state = Loopback()
    loop = asyncio.new_event_loop()

    async def handle(request: web.Request) -> web.StreamResponse:
        body = await request.json()
        state.asked.append(Asked(request.path, body, dict(request.headers)))
        return state.answer(body, len(state.asked))

    async def start() -> web.AppRunner:
        app = web.Application(client_max_size=2**24)
        app.router.add_post("/v1/{rest:.*}", handle)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        state.port = runner.addresses[0][1]
        return runner

    runner = loop.run_until_complete(start())
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield state
    finally:
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def ask(model: Model, request: Request = CHAT, patience: Patience = ONCE) -> Reply:
    """Return a model's reply, as a run of one request would get it."""

    async def once() -> Reply:
        try:
            reply, _ = await answer_with_patience(lambda: model.answer(request), patience)
            return reply
        finally:
            await model.rest()

    return asyncio.run(once())


def broken(status: int, text: str = "no", **headers: str) -> web.Response:
    """Return a response that is no reply; an underscore in a header's name stands for a hyphen."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return web.Response(status=status, text=text, headers=named)
