"""A process that answers as providers do on a bad day, and what a test needs to run it and to read what it saw.

It answers chat requests with an echo of their prompt's hash, or with one of the faults below, each drawn from the seed,
the prompt and how often that was asked before. Every call and every answer stands in its log before it is sent, so
the log tells what a provider would have billed, whatever becomes of the caller.
"""

import asyncio
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import web

from evenhand.models import Trouble

FAULTS = {
    "429": Trouble.RATE_LIMIT,
    "429 with Retry-After": Trouble.RATE_LIMIT,
    "500": Trouble.SERVER,
    "503": Trouble.SERVER,
    "reset": Trouble.CONNECTION,
    "reset within the answer": Trouble.BAD_REPLY,
    "half a body": Trouble.BAD_REPLY,
    "half a chunked body": Trouble.BAD_REPLY,
    "bad JSON": Trouble.BAD_REPLY,
    "no JSON": Trouble.BAD_REPLY,
    "nothing": Trouble.BAD_REPLY,
    "error under 200": Trouble.BAD_REPLY,
    "error of a server under 200": Trouble.SERVER,
}
"""What may happen to any call, with the class that a caller should see in it."""
REFUSED, TOO_LONG = "please refuse this", "this is too long"
"""Prompts with these words in them get no better answer than a refusal (422), or are longer than the context (400)."""


def digest(text: str) -> str:
    """Return what stands for a prompt in answers and in the log."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def echo(text: str) -> str:
    """Return the beginning of the answer to a prompt; the number of the answer follows."""
    return f"echo of {digest(text)}"


@dataclass(frozen=True, slots=True)
class Event:
    """A line of the log."""

    kind: str
    """``asked``, ``answered`` (well), ``faulted`` or ``gone`` (the caller was no longer there to be answered)."""
    prompt: str
    """The prompt's hash."""
    body: str
    """The hash of all that was sent."""
    who: str
    """The caller's key."""
    what: str = ""
    """Which fault."""


@dataclass
class FaultServer:
    """A running server, seen from a test."""

    log: Path
    seed: int = 0
    faults: float = 0.0
    """The share of calls that something happens to."""
    latency: float = 0.0
    """Seconds; each call takes a random part of it."""
    always: str = ""
    """A fault that happens to every call."""
    allowed: int | None = None
    """How many good answers are given until the test allows more; at 0 no call is answered at all. None is no limit."""
    port: int = 0
    process: "subprocess.Popen[str] | None" = field(default=None, repr=False)
    _seen: list[Event] = field(default_factory=list, repr=False)
    _read: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def start(self) -> None:
        """Start the process; after ``kill`` it comes back at the same port, with the same log."""
        settings = {name: getattr(self, name) for name in ("seed", "faults", "latency", "always", "allowed", "port")}
        command = [sys.executable, __file__, str(self.log), json.dumps(settings)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline())

    def kill(self) -> None:
        """End the process in the middle of whatever it does."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate()

    def set(self, **changes: Any) -> None:
        """Change how a running server behaves."""
        for name, value in changes.items():
            setattr(self, name, value)
        body = json.dumps(changes).encode()
        urllib.request.urlopen(f"http://127.0.0.1:{self.port}/set", body, timeout=60).close()

    def events(self) -> list[Event]:
        """Return the log as it is now."""
        if self.log.exists():
            with self.log.open("rb") as log:
                log.seek(self._read)
                whole = log.read().rpartition(b"\n")[0]
            if whole:
                self._read += len(whole) + 1
                self._seen += [Event(**json.loads(line)) for line in whole.splitlines()]
        return list(self._seen)

    def wait_until(self, holds: Callable[[list[Event]], bool]) -> None:
        """Return once something holds of the log."""
        deadline = time.monotonic() + 120
        while not holds(self.events()):
            assert time.monotonic() < deadline, "it did not come to that"
            time.sleep(0.002)


@contextmanager
def fault_server(log: Path, **settings: Any) -> Iterator[FaultServer]:
    """Run a server for as long as a test needs it."""
    server = FaultServer(log, **settings)
    server.start()
    try:
        yield server
    finally:
        server.kill()


# What follows runs in the server's own process.


class _Serving:
    def __init__(self, log: Path, settings: dict[str, Any]) -> None:
        self.settings = settings
        self.asked: Counter[str] = Counter()
        self.answers = 0
        self.changed = asyncio.Condition()
        self._log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def note(self, kind: str, call: "_Call") -> None:
        line = {"kind": kind, "prompt": call.prompt, "body": call.body, "who": call.who, "what": call.what}
        os.write(self._log, json.dumps(line).encode() + b"\n")

    async def change(self, request: web.Request) -> web.Response:
        async with self.changed:
            self.settings |= await request.json()
            self.changed.notify_all()
        return web.Response()

    async def chat(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        body = json.loads(raw)
        text = body["messages"][-1]["content"] if "messages" in body else body["prompt"]
        prompt = digest(text)
        chance = random.Random(f"{self.settings['seed']} {prompt} {self.asked[prompt]}")
        self.asked[prompt] += 1
        what = chance.choice(list(FAULTS)) if chance.random() < self.settings["faults"] else ""
        if TOO_LONG in text:
            what = "too long"
        elif REFUSED in text:
            what = what or "refused"
        who = request.headers.get("Authorization", "").removeprefix("Bearer ")
        call = _Call(
            request, prompt, hashlib.sha256(raw).hexdigest()[:24], who, self.settings["always"] or what, chance
        )
        self.note("asked", call)
        await asyncio.sleep(self.settings["latency"] * chance.random())
        async with self.changed:
            await self.changed.wait_for(lambda: call.is_gone or self._may_answer(call))
            if call.is_gone:
                self.note("gone", call)
                return web.Response()
            self.answers += not call.what
            number = self.answers
            self.note("faulted" if call.what else "answered", call)
        answer = _good(body, f"{echo(text)}, answer {number}")
        return await _faulty(call, answer) if call.what else web.json_response(answer)

    def _may_answer(self, call: "_Call") -> bool:
        allowed = self.settings["allowed"]
        return allowed is None or (self.answers < allowed if not call.what else allowed > 0)


@dataclass(frozen=True)
class _Call:
    request: web.Request
    prompt: str
    body: str
    who: str
    what: str
    chance: random.Random

    @property
    def is_gone(self) -> bool:
        return self.request.transport is None or self.request.transport.is_closing()


def _good(body: dict[str, Any], text: str) -> dict[str, Any]:
    choice: dict[str, Any] = {"message": {"content": text}, "text": text, "finish_reason": "stop"}
    if body.get("logprobs"):
        # A verdict, so that a grader's readings come to something.
        choice["message"]["content"] = choice["text"] = "C"
        top = [{"token": letter, "logprob": -1.0 - number} for number, letter in enumerate("CAB12345")]
        place = {"token": "C", "logprob": -1.0, "top_logprobs": top}
        choice["logprobs"] = {
            "content": [place],
            "tokens": ["C"],
            "token_logprobs": [-1.0],
            "top_logprobs": [{entry["token"]: entry["logprob"] for entry in top}],
        }
        if "messages" not in body:
            del choice["logprobs"]["content"], choice["message"]
    return {"model": "m", "choices": [choice], "usage": {"prompt_tokens": 7, "completion_tokens": 1}}


async def _faulty(call: _Call, answer: dict[str, Any]) -> web.StreamResponse:
    raw = json.dumps(answer).encode()
    whole: dict[str, Callable[[], web.Response]] = {
        "429": lambda: _error(429),
        "429 with Retry-After": lambda: _error(429, {"Retry-After": "0.005"}),
        "500": lambda: _error(500),
        "503": lambda: _error(503),
        "refused": lambda: _error(422),
        "too long": lambda: web.json_response({"error": {"code": "context_length_exceeded"}}, status=400),
        "bad JSON": lambda: web.Response(body=raw[: call.chance.randrange(1, len(raw))]),
        "no JSON": lambda: web.Response(text="<html><body>All is well.</body></html>", content_type="text/html"),
        "nothing": web.Response,
        "error under 200": lambda: web.json_response({"error": {"message": "not now"}}),
        "error of a server under 200": lambda: web.json_response({"error": {"message": "not now", "code": 502}}),
    }
    if call.what in whole:
        return whole[call.what]()
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    if call.what == "half a chunked body":
        response.enable_chunked_encoding()
    else:
        response.content_length = len(raw)
    if call.what != "reset":
        await response.prepare(call.request)
        await response.write(raw[: len(raw) // 2])
    _cut(call.request, at_once=call.what.startswith("reset"))
    return response


def _error(status: int, headers: dict[str, str] | None = None) -> web.Response:
    return web.json_response({"error": {"message": "not now"}}, status=status, headers=headers)


def _cut(request: web.Request, *, at_once: bool) -> None:
    if request.transport is not None:
        (request.transport.abort if at_once else request.transport.close)()


async def _serve(log: Path, settings: dict[str, Any]) -> None:
    serving = _Serving(log, settings)
    app = web.Application()
    app.router.add_post("/set", serving.change)
    app.router.add_post("/v1/chat/completions", serving.chat)
    app.router.add_post("/v1/completions", serving.chat)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", settings["port"], backlog=512)
    await site.start()
    print(runner.addresses[0][1], flush=True)  # noqa: T201  (this is how it tells its port)
    await asyncio.Event().wait()


if __name__ == "__main__":
    import logging

    logging.disable()  # A connection that was cut on purpose is nothing to tell.
    with suppress(KeyboardInterrupt):
        asyncio.run(_serve(Path(sys.argv[1]), json.loads(sys.argv[2])))
