"""Models through Inspect's provider layer: a loopback server that misbehaves, and a real one with real weights."""

import asyncio
import importlib.util
import json
import math
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from evenhand.errors import EvenhandError, InputError
from evenhand.execution import Answered, Ledger, run_requests
from evenhand.execution.retries import Patience
from evenhand.instruments import Message, Request
from evenhand.models import AccessError, ContextOverflowError, ModelRole, Price, TransportError, Trouble, open_model
from evenhand.models.inspect_provider import InspectModel
from evenhand.models.settings import ModelSettings
from evenhand.readings import Failure, FailureKind, Reply, read_choice


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


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Loopback]:
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


@needs_openai
def test_a_reply_is_the_same_as_from_an_endpoint(server: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVENHAND_API_KEY", CANARY)
    reply = ask(InspectModel(NAME))
    assert reply == ask(open_model(f"http://127.0.0.1:{server.port}/v1#a-model", ModelRole.GRADER))
    assert (reply.text, reply.finish, reply.model) == ("(C)", "stop", "answering-model-2026")
    assert (reply.prompt_tokens, reply.cached_tokens, reply.completion_tokens) == (9, 5, 2)
    assert read_choice(reply, "ABC").probabilities[2] == pytest.approx(
        math.exp(-0.1) / (math.exp(-0.1) + math.exp(-2.4))
    )
    through, direct = server.asked
    assert through == direct
    assert through["top_logprobs"] == 20
    assert server.heads[0]["authorization"] == f"Bearer {CANARY}"


@needs_openai
def test_by_name() -> None:
    assert isinstance(open_model(NAME, ModelRole.GRADER), InspectModel)


def test_without_inspect_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "inspect_ai", None)
    with pytest.raises(InputError, match=r"pip install 'evenhand\[inspect\]'"):
        open_model(NAME, ModelRole.GRADER)


@pytest.mark.parametrize("name", ["inspect:", "inspect:gpt-4.1", "inspect:/m", "inspect:openai/"])
def test_names_that_name_no_provider(name: str) -> None:
    with pytest.raises(InputError, match="inspect:PROVIDER/MODEL"):
        InspectModel(name)


@needs_openai
@pytest.mark.parametrize(
    ("name", "tell"), [("inspect:nobody/m", "nobody"), ("inspect:openai-api/keyless/m", "KEYLESS_API_KEY")]
)
def test_a_provider_that_can_not_be_opened_ends_the_run(name: str, tell: str) -> None:
    error = failure(InspectModel(name))
    assert isinstance(error, AccessError)
    assert tell in str(error)
    assert "[bold]" not in str(error)


@needs_openai
def test_bare_texts_are_not_possible_and_it_says_what_is(server: Loopback) -> None:
    error = failure(InspectModel(NAME), Request(prompt="Is it? Answer:", max_tokens=1, top_logprobs=20))
    assert isinstance(error, AccessError)
    assert "rubric in place of compact" in str(error)
    assert not server.asked


def broken(status: int, body: str | dict[str, Any] = "no", **headers: str) -> web.Response:
    if isinstance(body, dict):
        return web.json_response(body, status=status, headers=headers)
    return web.Response(status=status, text=body, headers=headers)


async def reset(request: web.Request) -> web.Response:
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


async def half(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Length": "5000", "Content-Type": "application/json"})
    await response.prepare(request)
    await response.write(b'{"choices": [')
    assert request.transport is not None
    request.transport.close()
    return response


def coded(code: str, message: str = "the reason") -> dict[str, Any]:
    return {"error": {"code": code, "type": "invalid_request_error", "message": message}}


def as_json(text: str) -> web.Response:
    return web.Response(text=text, content_type="application/json")


@needs_openai
@pytest.mark.parametrize(
    ("answer", "trouble", "passing", "wait"),
    [
        (lambda: broken(429, **{"Retry-After": "7"}), Trouble.RATE_LIMIT, True, 7.0),
        (lambda: broken(429), Trouble.RATE_LIMIT, True, None),
        (lambda: broken(500), Trouble.SERVER, True, None),
        (lambda: broken(503, **{"Retry-After": "3"}), Trouble.SERVER, True, 3.0),
        (lambda: broken(408), Trouble.SERVER, True, None),
        (lambda: broken(422, coded("odd")), Trouble.REFUSED, False, None),
        (lambda: broken(400, coded("content_filter", "filtered")), Trouble.REFUSED, False, None),
        (lambda: as_json('{"choices": [{"mess'), Trouble.BAD_REPLY, True, None),
        (lambda: as_json('{"error": {"message": "overloaded"}}'), Trouble.BAD_REPLY, True, None),
        (lambda: as_json("[]"), Trouble.BAD_REPLY, True, None),
        (lambda: broken(200, "<html>"), Trouble.BAD_REPLY, True, None),
        (lambda: as_json('{"choices": []}'), Trouble.BAD_REPLY, True, None),
        (lambda: reset, Trouble.CONNECTION, True, None),
        (lambda: half, Trouble.BAD_REPLY, True, None),
    ],
)
def test_what_goes_wrong_is_classed_after_a_single_request(
    server: Loopback, answer: Callable[[], Any], trouble: Trouble, passing: bool, wait: float | None
) -> None:
    server.answer = lambda body, count: answer()
    error = failure(InspectModel(NAME))
    assert isinstance(error, TransportError)
    assert (error.trouble, error.passing) == (trouble, passing)
    assert error.wait == (None if wait is None else pytest.approx(wait, abs=0.5))
    assert len(server.asked) == 1


@needs_openai
def test_an_answer_that_does_not_come(server: Loopback) -> None:
    async def late(request: web.Request) -> dict[str, Any]:
        await asyncio.sleep(1)
        return good()

    server.answer = lambda body, count: late
    error = failure(InspectModel(NAME, ModelSettings(timeout=0.2)))
    assert isinstance(error, TransportError)
    assert (error.trouble, error.passing, len(server.asked)) == (Trouble.TIMEOUT, True, 1)


@needs_openai
def test_nobody_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOP_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("LOOP_API_KEY", CANARY)
    error = failure(InspectModel(NAME))
    assert isinstance(error, TransportError)
    assert (error.trouble, error.passing) == (Trouble.CONNECTION, True)


@needs_openai
@pytest.mark.parametrize(
    ("status", "tell"), [(400, "accepts"), (401, "LOOP_API_KEY"), (403, "LOOP_API_KEY"), (404, "model's name")]
)
def test_what_will_not_pass_ends_the_run_at_once(server: Loopback, tmp_path: Path, status: int, tell: str) -> None:
    server.answer = lambda body, count: broken(status, coded("x"))
    requests = [Request(messages=(Message("user", str(n)),)) for n in range(500)]
    with (
        Ledger(tmp_path / "l.sqlite") as ledger,
        pytest.raises(AccessError, match=rf"answered {status}.*the reason") as caught,
    ):
        run_requests(requests, InspectModel(NAME), ledger, patience=QUICK)
    assert tell in str(caught.value)
    assert len(server.asked) < 100


@needs_openai
@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, coded("context_length_exceeded", "maximum context length is 8192 tokens")),
        (400, coded("other", "This model's maximum context length is 8192 tokens")),
        (400, {"error": {"type": "exceed_context_size_error", "message": "too many"}}),
    ],
)
def test_too_long_is_a_state_and_not_an_answer(server: Loopback, status: int, body: dict[str, Any]) -> None:
    server.answer = lambda _, count: broken(status, body)
    assert isinstance(failure(InspectModel(NAME)), ContextOverflowError)
    assert len(server.asked) == 1


@needs_openai
def test_trying_again_is_left_to_the_runner(server: Loopback, tmp_path: Path) -> None:
    server.answer = lambda body, count: broken(500) if "bad" in json.dumps(body) or count < 3 else good()
    requests = [Request(messages=(Message("user", text),)) for text in ("one", "bad", "two")]
    with Ledger(tmp_path / "l.sqlite") as ledger:
        outcomes = [answer.outcome for answer in run_requests(requests, InspectModel(NAME), ledger, patience=QUICK)]
        asked = len(server.asked)
        again = [answer.outcome for answer in run_requests(requests, InspectModel(NAME), ledger, patience=QUICK)]
    assert [isinstance(outcome, Failure) for outcome in outcomes] == [False, True, False]
    assert isinstance(outcomes[1], Failure)
    assert outcomes[1].kind is FailureKind.TRANSPORT
    of_bad = [body for body in server.asked[:asked] if "bad" in json.dumps(body)]
    assert len(of_bad) == QUICK.tries
    assert asked <= 2 + 2 + QUICK.tries
    assert (again[0], again[2]) == (outcomes[0], outcomes[2])
    assert len(server.asked) == asked + QUICK.tries


@needs_openai
def test_as_many_at_once_as_the_settings_say(server: Loopback) -> None:
    """The server answers nobody before all are there; Inspect's own limit is far lower."""
    count = 150
    all_there: list[asyncio.Event] = []

    async def wait(number: int, request: web.Request) -> dict[str, Any]:
        if not all_there:
            all_there.append(asyncio.Event())
        if number == count:
            all_there[0].set()
        await asyncio.wait_for(all_there[0].wait(), 60)
        return good()

    server.answer = lambda body, number: partial(wait, number)
    model = InspectModel(NAME, ModelSettings(concurrency=count))

    async def everything() -> list[Reply]:
        requests = [Request(messages=(Message("user", str(n)),)) for n in range(count)]
        try:
            return await asyncio.gather(*map(model.answer, requests))
        finally:
            await model.rest()

    assert len(asyncio.run(everything())) == count


def thought(*tokens: str) -> dict[str, Any]:
    return {"content": [{"token": token, "logprob": -0.5, "bytes": None, "top_logprobs": []} for token in tokens]}


@needs_openai
@pytest.mark.parametrize(
    ("message", "tokens", "text", "thinking"),
    [
        ({"reasoning_content": "A or C?"}, ("(C", ")"), "(C)", "A or C?"),
        ({"reasoning": "A or C?"}, ("A", " or", " C", "?", "(C", ")"), "(C)", "A or C?"),
        (
            {"content": "<think>A or C?</think>\n\n(C)"},
            ("<think>", "A or C?", "</think>", "\n\n", "(C", ")"),
            "(C)",
            "A or C?",
        ),
        ({"content": "<think>A or C?</think>"}, ("<think>", "A or C?", "</think>"), "", "A or C?"),
        ({"content": "<think>A or"}, ("<think>", "A or"), "", "A or"),
        ({"content": "", "reasoning_content": "A or C?"}, ("A or C?",), "", "A or C?"),
    ],
)
def test_thinking_stands_apart(
    server: Loopback, message: dict[str, Any], tokens: tuple[str, ...], text: str, thinking: str
) -> None:
    server.answer = lambda body, count: good(message, logprobs=thought(*tokens))
    reply = ask(InspectModel(NAME))
    assert (reply.text, reply.thinking) == (text, thinking)
    assert "".join(place.token for place in reply.positions) == text


@needs_openai
def test_an_answer_that_the_limit_cut(server: Loopback) -> None:
    server.answer = lambda body, count: good(finish_reason="length")
    assert ask(InspectModel(NAME)).finish == "length"


@needs_openai
def test_a_model_that_says_that_it_refuses(server: Loopback) -> None:
    server.answer = lambda body, count: good({"content": None, "refusal": "I can't."}, logprobs=None)
    assert ask(InspectModel(NAME), PLAIN).text == "I can't."
    server.answer = lambda body, count: good(finish_reason="content_filter")
    assert ask(InspectModel(NAME), PLAIN).finish == "content_filter"


@needs_openai
def test_missing_probabilities_name_the_way_out(server: Loopback) -> None:
    server.answer = lambda body, count: good(logprobs=None)
    error = failure(InspectModel(NAME))
    assert isinstance(error, AccessError)
    assert "--reading text or --reading samples:N" in str(error)
    assert ask(InspectModel(NAME), PLAIN).text == "(C)"


@needs_openai
def test_a_text_that_utf8_can_not_hold(server: Loopback) -> None:
    ask(InspectModel(NAME), Request(messages=(Message("user", "half \ud83d"),)))
    assert server.asked[0]["messages"][0]["content"] == "half ?"


@needs_openai
def test_settings_reach_the_request(server: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_OTHER_KEY", "another-key-0123")
    monkeypatch.setenv("MY_HEADER", "from-the-environment")
    settings = ModelSettings(
        key_variable="MY_OTHER_KEY",
        headers={"X-Title": "audit", "X-Account": "$MY_HEADER"},
        body={"top_p": 0.9, "reasoning_effort": "low", "provider": {"order": ["one"]}},
        without=("seed",),
        thinking_tokens=100,
        top_logprobs=5,
        price=Price(1.0, 0.5, 2.0),
        requests_per_minute=60.0,
    )
    model = InspectModel(NAME, settings)
    ask(model, Request(messages=CHAT.messages, max_tokens=4, top_logprobs=100, stop=("\n",), temperature=0.5))
    (body,), (head,) = server.asked, server.heads
    assert (body["top_p"], body["reasoning_effort"], body["provider"]) == (0.9, "low", {"order": ["one"]})
    assert (body["max_tokens"], body["top_logprobs"], body["stop"], body["temperature"]) == (104, 5, ["\n"], 0.5)
    assert "seed" not in body
    assert head["authorization"] == "Bearer another-key-0123"
    assert (head["x-title"], head["x-account"]) == ("audit", "from-the-environment")
    assert (model.price, model.limits.requests_per_minute) == (Price(1.0, 0.5, 2.0), 60.0)
    assert "top_p" in model.identity
    assert model.identity != InspectModel(NAME).identity
    assert "from-the-environment" not in model.identity + json.dumps(model.describe())


@needs_openai
@pytest.mark.parametrize("prefill", ["plain", "continue"])
def test_a_prefilled_answer_is_gone_on_with(server: Loopback, prefill: Any) -> None:
    model = InspectModel(NAME, ModelSettings(prefill=prefill))
    assert model.prefills
    assert not InspectModel(NAME).prefills
    server.answer = lambda body, count: good({"content": '{"rating": 7'}, logprobs=thought("7"))
    request = Request(messages=(*CHAT.messages, Message("assistant", '{"rating": ')), max_tokens=1, top_logprobs=5)
    reply = ask(model, request)
    assert (reply.text, [place.token for place in reply.positions]) == ("7", ["7"])
    assert server.asked[0]["messages"][-1] == {"role": "assistant", "content": '{"rating": '}
    asked_for = server.asked[0].get("continue_final_message"), server.asked[0].get("add_generation_prompt")
    assert asked_for == ((True, False) if prefill == "continue" else (None, None))


@needs_openai
@pytest.mark.parametrize("field", ["max_retries", "cache", "batch", "extra_body", "timeout"])
def test_settings_that_can_not_be_kept(field: str) -> None:
    with pytest.raises(InputError, match=rf"body\.{field}"):
        InspectModel(NAME, ModelSettings(body={field: 3}))
    with pytest.raises(InputError, match="max_tokens_field"):
        InspectModel(NAME, ModelSettings(max_tokens_field="max_completion_tokens"))


@needs_openai
def test_an_option_with_a_wrong_value_ends_the_run(server: Loopback) -> None:
    error = failure(InspectModel(NAME, ModelSettings(body={"reasoning_effort": "some"})))
    assert isinstance(error, AccessError)
    assert "reasoning_effort" in str(error)
    assert not server.asked


@needs_openai
def test_the_address_is_part_of_what_determines_a_reply(monkeypatch: pytest.MonkeyPatch) -> None:
    assert InspectModel(NAME).identity == "inspect openai-api/loop/a-model"
    monkeypatch.setenv("LOOP_BASE_URL", "https://me:secret@host.example/v1/?key=secret")
    monkeypatch.setenv("OTHER_BASE_URL", "https://other.example")
    model = InspectModel(NAME)
    assert model.identity == "inspect openai-api/loop/a-model https://host.example/v1"
    assert model.describe()["addresses"] == ["https://host.example/v1"]
    monkeypatch.setenv("OPENAI_BASE_URL", "https://mine.example")
    assert InspectModel("inspect:openai/gpt-4.1-mini").price is None
    monkeypatch.delenv("OPENAI_BASE_URL")
    assert InspectModel("inspect:openai/gpt-4.1-mini").price == Price(0.4, 0.1, 1.6)


@needs_openai
def test_the_key_is_in_no_message_and_not_in_the_ledger(server: Loopback, tmp_path: Path) -> None:
    said: list[str] = []

    def note(answer: Answered) -> None:
        said.append(repr(answer))

    def echo(status: int, body: dict[str, Any], count: int) -> web.StreamResponse:
        return broken(status, coded("x", f"your key {CANARY} is odd"), **{"X-Echo": CANARY})

    with Ledger(tmp_path / "l.sqlite") as ledger:
        for status in (500, 401, 200, 422):
            server.answer = partial(echo, status)
            try:
                run_requests([CHAT], InspectModel(NAME), ledger, note, patience=QUICK)
            except EvenhandError as error:
                said += [str(error), repr(error), repr(error.__cause__), repr(error.__context__)]
    assert len(said) >= 4
    assert CANARY not in "".join(said)
    assert "***" in "".join(said)
    model = InspectModel(NAME)
    assert CANARY not in json.dumps(model.describe()) + model.identity
    assert all(CANARY.encode() not in path.read_bytes() for path in tmp_path.iterdir())


@needs_openai
def test_inspect_leaves_the_process_alone(server: Loopback, tmp_path: Path) -> None:
    """A process of its own, since Inspect is loaded once: nothing is written, printed or taken over."""
    server.answer = lambda body, count: broken(503)
    script = f"""
import asyncio, logging, signal, sys, threading
from evenhand.instruments import Message, Request
from evenhand.models.inspect_provider import InspectModel
signals = lambda: [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
before = sys.excepthook, sys.stdout, sys.stderr, signals(), list(logging.root.handlers), logging.root.level
async def main():
    model = InspectModel({NAME!r})
    try:
        await model.answer(Request(messages=(Message("user", "x"),), max_tokens=1))
    except Exception as error:
        print(type(error).__name__)
    await model.rest()
asyncio.run(main())
assert "inspect_ai" in sys.modules
after = sys.excepthook, sys.stdout, sys.stderr, signals(), list(logging.root.handlers), logging.root.level
assert before == after, (before, after)
assert threading.active_count() == 1, threading.enumerate()
"""
    home = tmp_path / "home"
    home.mkdir()
    folders = {name: str(home / name) for name in ("XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "TMPDIR")}
    (home / "TMPDIR").mkdir()
    makes_it_warn = {"INSPECT_HTTP_CONNECT_TIMEOUT": "soon"}
    environment = {**os.environ, "HOME": str(home), **folders, "PYTHONDONTWRITEBYTECODE": "1", **makes_it_warn}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=home, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr, done.returncode) == ("TransportError\n", "", 0)
    assert [path for path in home.rglob("*") if path.is_file()] == []


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


@needs_openai
@pytest.mark.embedded
def test_a_real_server_through_inspect_agrees_with_the_model_in_process(
    subject_weights: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
        monkeypatch.setenv("SMOLLM_BASE_URL", f"{address}/v1")
        monkeypatch.setenv("SMOLLM_API_KEY", "none-is-needed")
        through = InspectModel("inspect:openai-api/smollm/smollm2")
        local = open_model("smollm2-135m", ModelRole.GRADER)
        for question in ("Answer with Yes or No: is ice cold?", "Answer with Yes or No: is the sun a star?"):
            request = Request(messages=(Message("user", question),), max_tokens=4, top_logprobs=20)
            there, here = ask(through, request), ask(local, request)
            assert [place.token for place in there.positions] == [place.token for place in here.positions]
            assert there.prompt_tokens > 10
            one, other = read_choice(there, ("Yes", "No")), read_choice(here, ("Yes", "No"))
            assert one.probabilities == pytest.approx(other.probabilities, abs=0.03)
            assert one.captured == pytest.approx(other.captured, abs=0.03)
        local.close()
    finally:
        process.kill()
        process.communicate()
        with suppress(Exception):
            local.close()
