"""A loopback endpoint with a fixed latency and twenty top tokens a position, in a process of its own.

It is written on bare protocols and replies with bytes made beforehand, so that no measurement waits for it.
``GET /processor`` tells how many seconds of processor time it has used.

    python -m bench.http_server [milliseconds of latency] [choice|rating]
"""

import asyncio
import json
import re
import sys
import time
from collections.abc import Iterable, Sequence
from typing import Any

_TOP = [{"token": f"token {n}", "logprob": -1.0 - n} for n in range(19)]
_RATING = ('{"', "first", "_rating", '":', " ", "7", ', "', "second", "_rating", '":', " ", "4", "}")


def _positions(tokens: Iterable[str]) -> list[dict[str, Any]]:
    return [
        {"token": token, "logprob": -0.5, "top_logprobs": [{"token": token, "logprob": -0.5}, *_TOP]}
        for token in tokens
    ]


def _answer(tokens: Sequence[str]) -> dict[str, Any]:
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": "".join(tokens)},
        "finish_reason": "stop",
        "logprobs": {"content": _positions(tokens)},
    }
    used = len(tokens)
    usage = {"prompt_tokens": 500, "completion_tokens": used, "total_tokens": 500 + used}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "loopback",
        "choices": [choice],
        "usage": usage,
    }


_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
_END = b"\r\n\r\n"


def _framed(body: bytes) -> bytes:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


_REPLIES = {
    kind: _framed(json.dumps(_answer(tokens)).encode())
    for kind, tokens in (("choice", ("(C", ")")), ("rating", _RATING))
}


class _Connection(asyncio.Protocol):
    """One connection, which carries one request at a time."""

    def __init__(self, latency: float, answer: bytes) -> None:
        self._latency, self._answer, self._buffer, self._whole = latency, answer, bytearray(), 0
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: Any) -> None:  # noqa: ANN401  (asyncio's own signature)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while self._transport is not None and self._buffer:
            if not self._whole:
                end = self._buffer.find(_END)
                if end < 0:
                    return
                length = _LENGTH.search(self._buffer, 0, end)
                self._whole = end + len(_END) + (int(length[1]) if length else 0)
            if len(self._buffer) < self._whole:
                return
            asks = self._buffer.startswith(b"GET /processor ")
            del self._buffer[: self._whole]
            self._whole = 0
            if asks:
                self._transport.write(_framed(json.dumps(time.process_time()).encode()))
            elif self._latency:
                asyncio.get_running_loop().call_later(self._latency, self._reply)
            else:
                self._reply()

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None

    def _reply(self) -> None:
        if self._transport is not None:
            self._transport.write(self._answer)


async def _main(latency: float, kind: str) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Connection(latency, _REPLIES[kind]), "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(
        _main(float(sys.argv[1]) / 1000 if len(sys.argv) > 1 else 0.05, sys.argv[2] if len(sys.argv) > 2 else "choice")
    )
