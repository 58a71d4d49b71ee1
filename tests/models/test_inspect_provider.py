"""Models through Inspect's provider layer: on a loopback server, and on a real one with real weights."""

import asyncio
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from evenhand.errors import InputError
from evenhand.instruments import Message, Request
from evenhand.models import AccessError, ModelRole, Price, open_model
from evenhand.models.inspect_provider import InspectModel
from evenhand.models.settings import ModelSettings
from evenhand.readings import Reply, read_choice
from inspect_loopback import (
    CANARY,
    CHAT,
    NAME,
    PLAIN,
    Loopback,
    ask,
    broken,
    failure,
    good,
    needs_openai,
    serving,
)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Loopback]:
    with serving(monkeypatch) as state:
        yield state


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
def test_bare_texts_are_not_possible_and_it_says_what_is(server: Loopback) -> None:
    error = failure(InspectModel(NAME), Request(prompt="Is it? Answer:", max_tokens=1, top_logprobs=20))
    assert isinstance(error, AccessError)
    assert "rubric in place of compact" in str(error)
    assert not server.asked


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
