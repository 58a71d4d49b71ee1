"""A process that speaks the chat, files and batch API of OpenAI, and behaves as badly as a test asks it to.

A line of a batch is answered as the same request is online, so what comes of the two can be compared.
"""

import asyncio
import hashlib
import json
import math
import os
import random
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

CANARY = "canary-0123456789abcdef-key"
MODEL = "a-model"


@dataclass
class BatchServer:
    """A running server, seen from a test."""

    port: int = 0
    process: "subprocess.Popen[str] | None" = field(default=None, repr=False)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def name(self) -> str:
        return f"{self.url}/v1#{MODEL}"

    def set(self, **changes: Any) -> None:
        """Change how it behaves; see ``_Serving``."""
        urllib.request.urlopen(f"{self.url}/set", json.dumps(changes).encode(), timeout=60).close()

    def reset(self) -> None:
        """Let it forget everything."""
        urllib.request.urlopen(f"{self.url}/reset", b"", timeout=60).close()

    def seen(self) -> dict[str, Any]:
        """Return what it was asked: online calls, keys, files and batches."""
        with urllib.request.urlopen(f"{self.url}/seen", timeout=60) as response:
            found: dict[str, Any] = json.loads(response.read())
            return found


@contextmanager
def batch_server() -> Iterator[BatchServer]:
    """Run a server for as long as a test needs it."""
    process = subprocess.Popen([sys.executable, __file__], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    server = BatchServer(int(process.stdout.readline()), process)
    try:
        yield server
    finally:
        process.kill()
        process.communicate()


# What follows runs in the server's own process.


class _Serving:
    """The state. ``settings`` of a test:

    faults: by place of a line in its batch, what happens to it: missing, duplicate, differing duplicate, failed before
      (an error line, then the reply), or the class of an error (429, 500, 400, 401, content_filter, overflow,
      batch_expired, no_probabilities, not_json, status_less).
    status: what the next batches end with (completed, expired, cancelled, failed); in_progress until changed.
    errors: what a failed batch says of itself.
    hold: before or after; POST /batches never answers, and has made the batch or not.
    lose: so many POSTs of /batches are cut off after the batch was made.
    limit: so many POSTs of /batches are answered 429.
    lists: whether batches can be listed; page: how many at a time.
    echo: the caller's key stands in every line.
    strangers: lines of requests that are in no file; garbage: lines that are no JSON.
    key: what the caller's key must be.
    none: there is no batch API.
    retrieve: the text that is sent in place of a batch.
    cut: so many downloads end in the middle; short: so many do, and say that they are whole;
      by: how many bytes before the end of a line.
    cancelling: how many looks a cancelled batch takes to be cancelled.
    """

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        self.settings: dict[str, Any] = {"status": "completed", "lists": True, "page": 100, "faults": {}}
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.online: list[str] = []
        self.keys: set[str] = set()
        self.names: list[str] = []

    async def reset(self, request: web.Request) -> web.Response:
        self.forget()
        return web.Response()

    async def change(self, request: web.Request) -> web.Response:
        self.settings |= await request.json()
        return web.Response()

    async def seen(self, request: web.Request) -> web.Response:
        texts = {name: data.decode("utf-8") for name, data in self.files.items()}
        return web.json_response(
            {
                "online": len(self.online),
                "keys": sorted(self.keys),
                "files": texts,
                "batches": list(self.batches.values()),
                "names": self.names,
            }
        )

    @web.middleware
    async def guard(self, request: web.Request, handler: Any) -> web.StreamResponse:
        if request.path.startswith("/v1/"):
            key = request.headers.get("Authorization", "").removeprefix("Bearer ")
            self.keys.add(key)
            if self.settings.get("key", key) != key:
                return _error(401, f"the key {key} is wrong")
        answer: web.StreamResponse = await handler(request)
        return answer

    async def chat(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.online.append(_digest(body))
        return web.json_response(answer(body))

    async def upload(self, request: web.Request) -> web.Response:
        if self.settings.get("none"):
            return _error(404, "Not Found")
        form = await request.post()
        sent = form["file"]
        assert isinstance(sent, web.FileField)
        assert form["purpose"] == "batch"
        name = f"file-{len(self.files)}"
        self.files[name] = sent.file.read()
        self.names.append(sent.filename)
        return web.json_response({"id": name, "object": "file"})

    async def content(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info["name"]
        if name not in self.files:
            return _error(404, "there is no such file")
        if self.settings.get("cut", 0) > 0:
            self.settings["cut"] -= 1
            response = web.StreamResponse()
            response.content_length = len(self.files[name])
            await response.prepare(request)
            await response.write(self.files[name][: len(self.files[name]) // 2])
            assert request.transport is not None
            request.transport.close()
            return response
        if self.settings.get("short", 0) > 0:
            self.settings["short"] -= 1
            lines = self.files[name].splitlines(keepends=True)
            half = b"".join(lines[: len(lines) // 2])
            return web.Response(body=half[: len(half) - self.settings["by"]])
        return web.Response(body=self.files[name])

    async def create(self, request: web.Request) -> web.StreamResponse:
        asked = await request.json()
        if self.settings.get("none"):
            return _error(404, "Not Found")
        if self.settings.get("hold") == "before":
            await asyncio.sleep(3600)
        if self.settings.get("limit", 0) > 0:
            self.settings["limit"] -= 1
            return _error(429, "too many batches", {"Retry-After": "0.01"})
        assert asked["completion_window"] == "24h"
        batch = {
            "id": f"batch_{len(self.batches)}",
            "object": "batch",
            "endpoint": asked["endpoint"],
            "input_file_id": asked["input_file_id"],
            "metadata": asked["metadata"],
            "status": "validating",
            "key": request.headers.get("Authorization", ""),
        }
        self.batches[batch["id"]] = batch
        if self.settings.get("hold") == "after":
            await asyncio.sleep(3600)
        if self.settings.get("lose", 0) > 0:
            self.settings["lose"] -= 1
            assert request.transport is not None
            request.transport.abort()
        return web.json_response(batch)

    async def listed(self, request: web.Request) -> web.Response:
        if not self.settings["lists"]:
            return _error(404, "there is no list")
        every = list(self.batches.values())[::-1]
        after = request.query.get("after")
        start = next((n + 1 for n, one in enumerate(every) if one["id"] == after), 0)
        page = every[start : start + self.settings["page"]]
        return web.json_response({"data": page, "has_more": start + len(page) < len(every)})

    async def retrieve(self, request: web.Request) -> web.Response:
        if "retrieve" in self.settings:
            return web.Response(text=self.settings["retrieve"])
        batch = self.batches.get(request.match_info["name"])
        if batch is None:
            return _error(404, "there is no such batch")
        if batch["status"] == "cancelling":
            self.settings["cancelling"] = self.settings.get("cancelling", 0) - 1
            if self.settings["cancelling"] < 0:
                self.work_off(batch, "cancelled")
        elif "output_file_id" not in batch and self.settings["status"] != "in_progress":
            self.work_off(batch, self.settings["status"])
        return web.json_response(batch)

    async def cancel(self, request: web.Request) -> web.Response:
        batch = self.batches.get(request.match_info["name"])
        if batch is None:
            return _error(404, "there is no such batch")
        if "output_file_id" in batch or batch["status"] == "cancelling":
            return _error(409, f"Cannot cancel a batch with status '{batch['status']}'.")
        batch["status"] = "cancelling"
        return web.json_response(batch)

    def work_off(self, batch: dict[str, Any], status: str) -> None:
        requests = [json.loads(line) for line in self.files[batch["input_file_id"]].splitlines()]
        if status == "failed":
            batch |= {"status": status, "errors": {"data": self.settings["errors"]}}
            return
        good: list[bytes] = []
        bad: list[bytes] = []
        for place, asked in enumerate(requests):
            assert asked["method"] == "POST"
            assert asked["url"] == batch["endpoint"]
            for line in self.lines(asked, self.settings["faults"].get(str(place), "")):
                if self.settings.get("echo"):
                    line["echo"] = f"you sent {batch['key']}"
                failed = line.get("error") or (line.get("response") or {}).get("status_code") != 200
                (bad if failed else good).append(json.dumps(line).encode())
        stranger = _line("f" * 64, 200, answer({"messages": [{"role": "user", "content": "?"}]}))
        good += [json.dumps(stranger).encode()] * self.settings.get("strangers", 0)
        good += [b"<html>"] * self.settings.get("garbage", 0)
        chance = random.Random(batch["id"])
        chance.shuffle(good)
        chance.shuffle(bad)
        counts = {"total": len(requests), "completed": len(good), "failed": len(bad)}
        batch |= {"status": status, "request_counts": counts, "output_file_id": None, "error_file_id": None}
        for name, lines in (("output_file_id", good), ("error_file_id", bad)):
            if lines:
                batch[name] = f"file-{len(self.files)}"
                # The last line of some providers' files has no end.
                self.files[batch[name]] = b"\n".join(lines) + (b"\n" if len(lines) % 2 else b"")

    @staticmethod
    def lines(asked: dict[str, Any], fault: str) -> list[dict[str, Any]]:
        key, body = asked["custom_id"], asked["body"]
        good = _line(key, 200, answer(body))
        errors = {
            "429": (429, {"message": "too many requests"}),
            "500": (500, {"message": "not now"}),
            "400": (400, {"message": "temperature is not supported"}),
            "401": (401, {"message": "the key is wrong"}),
            "content_filter": (400, {"message": "no", "code": "content_filter"}),
            "overflow": (400, {"message": "too long", "code": "context_length_exceeded"}),
        }
        if fault in errors:
            status, error = errors[fault]
            return [_line(key, status, {"error": error})]
        if fault == "no_probabilities":
            for choice in good["response"]["body"]["choices"]:
                choice["logprobs"] = None
        other = _line(key, 200, answer({**body, "again": 1}))
        return {
            "": [good],
            "missing": [],
            "duplicate": [good, good],
            "failed before": [_line(key, 500, {"error": {"message": "not now"}}), good],
            "no_probabilities": [good],
            "batch_expired": [
                {"custom_id": key, "response": None, "error": {"code": "batch_expired", "message": "It expired."}}
            ],
            "batch_cancelled": [
                {"custom_id": key, "response": None, "error": {"code": "batch_cancelled", "message": "Cancelled."}}
            ],
            "other": [other, other],
        }[fault]


def answer(body: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to a request: the same for the same body, whoever asks and however."""
    chance = random.Random(_digest(body))
    usage = {"prompt_tokens": len(_digest(body)), "completion_tokens": 3}
    if "messages" not in body:
        yes = chance.uniform(0.1, 0.9)
        tops = {" Yes": math.log(yes), " No": math.log(1 - yes)}
        own = max(tops, key=lambda token: tops[token])
        logprobs = {"tokens": [own], "token_logprobs": [tops[own]], "top_logprobs": [tops]}
        return {
            "model": "m",
            "choices": [{"text": own, "finish_reason": "length", "logprobs": logprobs}],
            "usage": usage,
        }
    text = body["messages"][0]["content"]
    places: list[dict[str, Any]] = []
    if body.get("logprobs"):
        places = _verdict(body, text, chance)
        content = "".join(place["token"] for place in places)
    else:
        content = f"What I make of it ({chance.random():.6f}): {text[:40]}"
    said = {"message": {"content": content}, "finish_reason": "stop", "logprobs": {"content": places}}
    return {"model": "m", "choices": [said], "usage": usage}


def _verdict(body: dict[str, Any], text: str, chance: random.Random) -> list[dict[str, Any]]:
    if body["max_tokens"] == 1:
        return [_place("0", chance.uniform(0.1, 0.9))]
    if body["max_tokens"] == 6:
        weights = {letter: chance.uniform(0.1, 1.0) for letter in "ABC12345"}
        shares = {letter: weight / sum(weights.values()) for letter, weight in weights.items()}
        own = max(shares, key=lambda letter: shares[letter])
        return [_place(own, **shares)]
    names = ("chosen_rating", "rejected_rating") if "CHOSEN output" in text else ("first_rating", "second_rating")
    pieces = [f'{{"{names[0]}": ', str(chance.randrange(2, 10)), f', "{names[1]}": ', str(chance.randrange(2, 10)), "}"]
    if body["messages"][-1]["role"] == "assistant":
        pieces[0] = " "
    return [_place(piece, 0.8, **({"1": 0.2} if piece.isdecimal() else {})) for piece in pieces]


def _place(token: str, probability: float | None = None, **others: float) -> dict[str, Any]:
    top = {**others, token: others.get(token, 0.0) if probability is None else probability}
    entries = [{"token": each, "logprob": math.log(p)} for each, p in sorted(top.items(), key=lambda item: -item[1])]
    return {"token": token, "logprob": math.log(top[token]), "top_logprobs": entries}


def _line(key: str, status: int, body: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": f"batch_req_{key[:8]}",
        "custom_id": key,
        "response": {"status_code": status, "request_id": "r", "body": body},
        "error": None,
    }


def _digest(body: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()[: 20 + len(str(body)) % 7]


def _error(status: int, message: str, headers: dict[str, str] | None = None) -> web.Response:
    return web.json_response({"error": {"message": message}}, status=status, headers=headers)


async def _serve() -> None:
    serving = _Serving()
    app = web.Application(client_max_size=2**28, middlewares=[serving.guard])
    app.router.add_post("/set", serving.change)
    app.router.add_post("/reset", serving.reset)
    app.router.add_get("/seen", serving.seen)
    app.router.add_post("/v1/chat/completions", serving.chat)
    app.router.add_post("/v1/completions", serving.chat)
    app.router.add_post("/v1/files", serving.upload)
    app.router.add_get("/v1/files/{name}/content", serving.content)
    app.router.add_post("/v1/batches", serving.create)
    app.router.add_get("/v1/batches", serving.listed)
    app.router.add_get("/v1/batches/{name}", serving.retrieve)
    app.router.add_post("/v1/batches/{name}/cancel", serving.cancel)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    os.write(1, f"{runner.addresses[0][1]}\n".encode())
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_serve())
