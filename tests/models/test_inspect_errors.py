"""What goes wrong behind Inspect's provider layer: each in its class, after a single request."""

import asyncio
import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from evenhand.errors import EvenhandError
from evenhand.execution import Answered, Ledger, run_requests
from evenhand.instruments import Message, Request
from evenhand.models import AccessError, ContextOverflowError, TransportError, Trouble
from evenhand.models.inspect_provider import InspectModel
from evenhand.models.settings import ModelSettings
from evenhand.readings import Failure, FailureKind
from inspect_loopback import (
    CANARY,
    CHAT,
    NAME,
    PLAIN,
    QUICK,
    Loopback,
    ask,
    broken,
    coded,
    failure,
    good,
    needs_openai,
    serving,
)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Loopback]:
    with serving(monkeypatch) as state:
        yield state


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
        await asyncio.sleep(4)
        return good()

    server.answer = lambda body, count: late
    error = failure(InspectModel(NAME, ModelSettings(timeout=1)))
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
    ("name", "tell"), [("inspect:nobody/m", "nobody"), ("inspect:openai-api/keyless/m", "KEYLESS_API_KEY")]
)
def test_a_provider_that_can_not_be_opened_ends_the_run(name: str, tell: str) -> None:
    error = failure(InspectModel(name))
    assert isinstance(error, AccessError)
    assert tell in str(error)
    assert "[bold]" not in str(error)


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
def test_missing_probabilities_name_the_way_out(server: Loopback) -> None:
    server.answer = lambda body, count: good(logprobs=None)
    error = failure(InspectModel(NAME))
    assert isinstance(error, AccessError)
    assert "--reading text or --reading samples:N" in str(error)
    assert ask(InspectModel(NAME), PLAIN).text == "(C)"


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
