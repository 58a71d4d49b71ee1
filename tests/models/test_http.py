"""OpenAI-compatible endpoints: a loopback server that misbehaves, and a real one with real weights."""

import asyncio
import json
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from evenhand.errors import EvenhandError, InputError
from evenhand.execution import Answered, Ledger, run_requests
from evenhand.execution.retries import Patience, answer_with_patience
from evenhand.instruments import Message, Request
from evenhand.models import AccessError, ContextOverflowError, Model, ModelRole, TransportError, open_model
from evenhand.readings import Failure, FailureKind, Reply, read_choice

CHAT = Request(messages=(Message("user", "Choose."),), max_tokens=4, top_logprobs=100)
GOOD = {
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
CANARY = "sk-canary-0123456789"

Answer = Callable[[dict[str, Any], int], web.StreamResponse]


@dataclass
class Loopback:
    """A server on the loopback interface whose answers a test gives."""

    port: int = 0
    answer: Answer = lambda body, count: web.json_response(GOOD)
    asked: list[tuple[str, dict[str, Any], str | None]] = field(default_factory=list)

    @property
    def model(self) -> Model:
        return open_model(f"http://127.0.0.1:{self.port}/v1#a-model", ModelRole.GRADER)


@pytest.fixture
def server() -> Iterator[Loopback]:
    state = Loopback()
    loop = asyncio.new_event_loop()
    started = threading.Event()

    async def handle(request: web.Request) -> web.StreamResponse:
        body = await request.json()
        state.asked.append((request.path, body, request.headers.get("Authorization")))
        return state.answer(body, len(state.asked))

    async def start() -> web.AppRunner:
        app = web.Application()
        app.router.add_post("/v1/{rest:.*}", handle)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        state.port = runner.addresses[0][1]
        started.set()
        return runner

    runner = loop.run_until_complete(start())
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    yield state
    asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result(10)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


def ask(model: Model, request: Request = CHAT, patience: Patience | None = None) -> Reply:
    async def once() -> Reply:
        try:
            return await answer_with_patience(model, request, patience or Patience(tries=1))
        finally:
            await model.rest()

    return asyncio.run(once())


QUICK = Patience(tries=4, first_wait=0.001, longest_wait=0.002)


def test_chat(server: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVENHAND_API_KEY", CANARY)
    reply = ask(server.model)
    assert (reply.text, reply.model, reply.prompt_tokens, reply.cached_tokens) == ("(C)", "answering-model-2026", 9, 5)
    assert read_choice(reply, "ABC").probabilities == (0, 0, 1)
    ((path, body, key),) = server.asked
    assert (path, key) == ("/v1/chat/completions", f"Bearer {CANARY}")
    assert (body["model"], body["max_tokens"], body["logprobs"], body["top_logprobs"]) == ("a-model", 4, True, 20)


def test_no_key_no_header(server: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EVENHAND_API_KEY", raising=False)
    ask(server.model)
    assert server.asked[0][2] is None


@pytest.mark.parametrize(
    "logprobs",
    [
        {
            "content": [
                {
                    "token": " Yes",
                    "logprob": -0.1,
                    "top_logprobs": [{"token": " Yes", "logprob": -0.1}, {"token": " No", "logprob": -2.4}],
                }
            ]
        },
        {"tokens": [" Yes"], "token_logprobs": [-0.1], "top_logprobs": [{" No": -2.4, " Yes": -0.1}]},
    ],
)
def test_completions_in_both_shapes(server: Loopback, logprobs: dict[str, Any]) -> None:
    server.answer = lambda body, count: web.json_response(
        {"choices": [{"text": " Yes", "logprobs": logprobs}], "usage": {"completion_tokens": 1}}
    )
    reply = ask(server.model, Request(prompt="Is it?", max_tokens=1, top_logprobs=100))
    assert server.asked[0][0] == "/v1/completions"
    assert reply.positions[0].top == ((" Yes", -0.1), (" No", -2.4))


def broken(status: int, text: str = "no", **headers: str) -> web.Response:
    return web.Response(status=status, text=text, headers=headers)


@pytest.mark.parametrize(
    "first",
    [
        lambda: broken(500),
        lambda: broken(503),
        lambda: broken(429, **{"Retry-After": "0.01"}),
        lambda: broken(429, **{"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}),
        lambda: broken(200, "<html>"),
        lambda: broken(200, '{"choices": [{"mess'),
        lambda: broken(200, '{"error": {"message": "overloaded"}}'),
        lambda: broken(200, "[]"),
        lambda: broken(408),
    ],
)
def test_what_may_pass_is_asked_again(server: Loopback, first: Callable[[], web.Response]) -> None:
    server.answer = lambda body, count: first() if count < 3 else web.json_response(GOOD)
    assert ask(server.model, patience=QUICK).text == "(C)"
    assert len(server.asked) == 3


def test_a_server_that_never_recovers_fails_that_request_alone(server: Loopback, tmp_path: Path) -> None:
    server.answer = lambda body, count: broken(500) if "bad" in json.dumps(body) else web.json_response(GOOD)
    requests = [Request(messages=(Message("user", text),)) for text in ("one", "bad", "two")]
    with Ledger(tmp_path / "l.sqlite") as ledger:
        outcomes = [answer.outcome for answer in run_requests(requests, server.model, ledger, patience=QUICK)]
        assert ledger.count() == 2
    assert [isinstance(outcome, Failure) for outcome in outcomes] == [False, True, False]
    assert isinstance(outcomes[1], Failure)
    assert outcomes[1].kind is FailureKind.TRANSPORT
    assert len(server.asked) == 2 + QUICK.tries


@pytest.mark.parametrize(
    ("status", "tell"), [(400, "accepts"), (401, "EVENHAND_API_KEY"), (403, "EVENHAND_API_KEY"), (404, "address")]
)
def test_what_will_not_pass_ends_the_run_at_once(server: Loopback, tmp_path: Path, status: int, tell: str) -> None:
    server.answer = lambda body, count: broken(status, "the reason")
    requests = [Request(messages=(Message("user", str(n)),)) for n in range(500)]
    with (
        Ledger(tmp_path / "l.sqlite") as ledger,
        pytest.raises(AccessError, match=rf"answered {status} \(the reason\)") as caught,
    ):
        run_requests(requests, server.model, ledger, patience=QUICK)
    assert tell in str(caught.value)
    assert len(server.asked) < 100


def echoing_the_key(status: int, body: dict[str, Any], count: int) -> web.StreamResponse:
    return broken(status, f"your key {CANARY} is odd")


def test_the_key_is_in_no_message_and_not_in_the_ledger(
    server: Loopback, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVENHAND_API_KEY", CANARY)
    said: list[str] = []

    def note(answer: Answered) -> None:
        said.append(repr(answer))

    with Ledger(tmp_path / "l.sqlite") as ledger:
        for status in (500, 401, 200):
            server.answer = partial(echoing_the_key, status)
            try:
                run_requests([CHAT], server.model, ledger, note, patience=QUICK)
            except EvenhandError as error:
                said += [str(error), repr(error), repr(error.__cause__), repr(error.__context__)]
    assert len(said) >= 3
    assert CANARY not in "".join(said)
    assert "***" in "".join(said)
    assert CANARY not in json.dumps(server.model.describe()) + server.model.identity
    assert all(CANARY.encode() not in path.read_bytes() for path in tmp_path.iterdir())


@pytest.mark.parametrize(
    "text", ["This model's maximum context length is 8192 tokens", '{"type":"exceed_context_size_error"}']
)
def test_too_long_is_a_state_and_not_an_error(server: Loopback, text: str) -> None:
    server.answer = lambda body, count: broken(400, text)
    with pytest.raises(ContextOverflowError):
        ask(server.model)


def test_missing_probabilities_name_the_way_out(server: Loopback) -> None:
    bare = {"choices": [{"message": {"content": "(C)"}}], "usage": {"completion_tokens": 2}}
    server.answer = lambda body, count: web.json_response(bare)
    with pytest.raises(AccessError, match=r"no token probabilities.*--reading text.*samples:N"):
        ask(server.model)
    assert ask(server.model, Request(messages=(Message("user", "x"),))).text == "(C)"


def test_nobody_listens() -> None:
    with pytest.raises(TransportError, match="ClientConnectorError"):
        ask(open_model("http://127.0.0.1:9/v1#m", ModelRole.GRADER))


def test_waits_are_bounded_and_heed_the_server() -> None:
    waits: list[float] = []

    async def note(seconds: float) -> None:
        waits.append(seconds)

    class Busy:
        prefills, name, identity, concurrency = False, "busy", "busy", 1

        def __init__(self, wait: float | None) -> None:
            self.wait = wait

        async def answer(self, request: Request) -> Reply:
            raise TransportError("busy", passing=True, wait=self.wait)

        async def rest(self) -> None: ...
        def describe(self) -> dict[str, Any]:
            return {}

        def close(self) -> None: ...

    def run(wait: float | None) -> list[float]:
        waits.clear()
        coroutine: Awaitable[Reply] = answer_with_patience(Busy(wait), CHAT, Patience(tries=9, longest_wait=8), note)
        with pytest.raises(TransportError):
            asyncio.run(coroutine)  # type: ignore[arg-type]
        return list(waits)

    plain = run(None)
    assert len(plain) == 8
    assert all(low / 2 <= wait <= low for wait, low in zip(plain, [1, 2, 4, 8, 8, 8, 8, 8], strict=True))
    assert all(wait >= 20 for wait in run(20.0))
    assert run(10_000.0) == []


@pytest.mark.parametrize(
    "name", ["http://127.0.0.1:8000/v1", "http://#m", "https://me:secret@host/v1#m", "https://host/v1?key=x#m"]
)
def test_names_that_name_no_endpoint(name: str) -> None:
    with pytest.raises(InputError, match="endpoint") as caught:
        open_model(name, ModelRole.GRADER)
    assert "secret" not in str(caught.value)


def test_openai_by_name() -> None:
    described = open_model("openai:gpt-4.1-mini", ModelRole.GRADER).describe()
    assert (described["endpoint"], described["model"]) == ("https://api.openai.com/v1", "gpt-4.1-mini")


@pytest.mark.embedded
def test_a_real_server_agrees_with_the_model_in_process(subject_weights: Path) -> None:
    """The embedded runtime's own HTTP server, in a process of its own."""
    script = f"""
import sys, time, xllamacpp
params = xllamacpp.CommonParams()
params.model.path, params.n_ctx, params.n_parallel, params.verbosity = {str(subject_weights)!r}, 4096, 1, -1
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 2
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
time.sleep(300)
"""
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        time.sleep(0.5)
        remote = open_model(f"{address}/v1#smollm2", ModelRole.GRADER)
        local = open_model("smollm2-135m", ModelRole.GRADER)
        for request in (
            Request(prompt="Is the sky blue? Answer:", max_tokens=1, top_logprobs=20),
            Request(messages=(Message("user", "Answer with Yes or No: is ice cold?"),), max_tokens=4, top_logprobs=20),
        ):
            there, here = ask(remote, request), ask(local, request)
            one, other = (dict(reply.positions[0].top) for reply in (there, here))
            assert there.positions[0].token == here.positions[0].token
            for token in list(other)[:5]:
                assert abs(2.718281828 ** one[token] - 2.718281828 ** other[token]) < 0.03
        local.close()
    finally:
        process.kill()
        process.communicate()
