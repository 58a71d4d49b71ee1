"""A loopback endpoint with a fixed latency and twenty top tokens a position, in a process of its own.

It is written on bare protocols and replies with bytes made beforehand, so that no measurement waits for it.
``GET /processor`` tells how many seconds of processor time it has used.

    python -m bench.http_server [milliseconds of latency]
"""

import asyncio
import json
import re
import sys
import time
from typing import Any

_TOP = [{"token": f"token {n}", "logprob": -1.0 - n} for n in range(19)]
_POSITIONS = [
    {"token": token, "logprob": -0.5, "top_logprobs": [{"token": token, "logprob": -0.5}, *_TOP]}
    for token in ("(C", ")")
]
_ANSWER = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "loopback",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "(C)"},
            "finish_reason": "stop",
            "logprobs": {"content": _POSITIONS},
        }
    ],
    "usage": {"prompt_tokens": 500, "completion_tokens": 2, "total_tokens": 502},
}
_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
_END = b"\r\n\r\n"


def _framed(body: bytes) -> bytes:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


_REPLY = _framed(json.dumps(_ANSWER).encode())


class _Connection(asyncio.Protocol):
    """One connection, which carries one request at a time."""

    def __init__(self, latency: float) -> None:
        self._latency, self._buffer, self._whole = latency, bytearray(), 0
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
            self._transport.write(_REPLY)


async def _main(latency: float) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Connection(latency), "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_main(float(sys.argv[1]) / 1000 if len(sys.argv) > 1 else 0.05))
