"""What a connection can come to, byte by byte: each ends in the error of its class, and says nothing secret."""

import asyncio
import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from evenhand.models import (
    AccessError,
    ContextOverflowError,
    ModelRole,
    ModelSettings,
    TransportError,
    Trouble,
    open_model,
)
from evenhand.models.http_errors import wait_asked
from http_loopback import CHAT, GOOD, ask, broken, loopback

BODY = json.dumps(GOOD).encode()
CANARY = "sk-canary-0123456789"

Serve = Callable[[socket.socket, threading.Event], None]


@contextmanager
def raw_server(serve: Serve) -> Iterator[str]:
    """Run a server that reads one request a connection and then does as a test says; yields a model's name."""
    listening = socket.create_server(("127.0.0.1", 0))
    over = threading.Event()

    def run() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            with connection:
                read_request(connection)
                serve(connection, over)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1#m"
    finally:
        over.set()
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join(10)


def read_request(connection: socket.socket) -> None:
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(65536)
    head, _, body = data.partition(b"\r\n\r\n")
    length = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
    while len(body) < length:
        body += connection.recv(65536)


def sends(data: bytes) -> Serve:
    return lambda connection, over: connection.sendall(data)


def framed(body: bytes, length: int | None = None, status: bytes = b"200 OK", more: bytes = b"") -> bytes:
    size = len(body) if length is None else length
    head = b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n%s\r\n"
    return head % (status, size, more) + body


def resets(data: bytes) -> Serve:
    def serve(connection: socket.socket, over: threading.Event) -> None:
        connection.sendall(data)
        # Closing with nothing to wait for sends a reset.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    return serve


def stalls(data: bytes) -> Serve:
    def serve(connection: socket.socket, over: threading.Event) -> None:
        connection.sendall(data)
        over.wait(10)

    return serve


HALF = BODY[: len(BODY) // 2]
CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("serve", "trouble"),
    [
        pytest.param(sends(b""), Trouble.CONNECTION, id="closed before a word"),
        pytest.param(resets(b""), Trouble.CONNECTION, id="reset before a word"),
        pytest.param(sends(b"HTTP/1.1 200 OK\r\nContent-"), Trouble.CONNECTION, id="closed within the head"),
        pytest.param(sends(framed(HALF, len(BODY))), Trouble.BAD_REPLY, id="half a body"),
        pytest.param(resets(framed(HALF, len(BODY))), Trouble.BAD_REPLY, id="reset in the middle of the body"),
        pytest.param(sends(framed(BODY, len(BODY) + 9)), Trouble.BAD_REPLY, id="a length that is too long"),
        pytest.param(sends(framed(BODY, len(BODY) - 9)), Trouble.BAD_REPLY, id="a length that is too short"),
        pytest.param(sends(framed(b"")), Trouble.BAD_REPLY, id="an empty body"),
        pytest.param(sends(CHUNKED + b"%x\r\n%s" % (len(BODY), HALF)), Trouble.BAD_REPLY, id="half a chunk"),
        pytest.param(sends(CHUNKED + b"zz\r\n"), Trouble.BAD_REPLY, id="no length of a chunk"),
        pytest.param(sends(framed(b"no gzip", more=b"Content-Encoding: gzip\r\n")), Trouble.BAD_REPLY, id="no gzip"),
        pytest.param(sends(b"SMTP ready " + CANARY.encode() + b"\r\n\r\n"), Trouble.BAD_REPLY, id="no HTTP"),
        pytest.param(sends(framed(b"{", status=b"200 " + CANARY.encode())), Trouble.BAD_REPLY, id="a key as reason"),
    ],
)
def test_what_a_connection_comes_to(serve: Serve, trouble: Trouble, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVENHAND_API_KEY", CANARY)
    with raw_server(serve) as name, pytest.raises(TransportError) as caught:
        ask(open_model(name, ModelRole.GRADER))
    error = caught.value
    assert (error.trouble, error.passing) == (trouble, True)
    assert CANARY not in f"{error!r} {error.__cause__!r} {error.__context__!r}"
    assert error.__cause__ is None, "aiohttp's errors hold the request's headers"
    assert error.__context__ is None


@pytest.mark.parametrize("sent", [b"", framed(HALF, len(BODY))])
def test_no_answer_in_time(sent: bytes) -> None:
    with raw_server(stalls(sent)) as name, pytest.raises(TransportError, match="TimeoutError") as caught:
        ask(open_model(name, ModelRole.GRADER, settings={name: ModelSettings(timeout=0.1)}))
    assert (caught.value.trouble, caught.value.passing) == (Trouble.TIMEOUT, True)


def test_no_connection_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A listener whose queue is full leaves further connections unanswered."""
    monkeypatch.setattr("evenhand.models.http._CONNECT_TIMEOUT", 0.2)
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listening:
        port = listening.getsockname()[1]
        waiting = [socket.socket() for _ in range(4)]
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(("127.0.0.1", port))
        with pytest.raises(TransportError, match="Timeout") as caught:
            ask(open_model(f"http://127.0.0.1:{port}/v1#m", ModelRole.GRADER))
        for one in waiting:
            one.close()
    assert (caught.value.trouble, caught.value.passing) == (Trouble.TIMEOUT, True)


def test_bytes_behind_a_reply_spoil_no_other() -> None:
    """A length that is too short leaves a rest, which must not be taken for the beginning of the next reply."""
    served = []

    def serve(connection: socket.socket, over: threading.Event) -> None:
        served.append(1)
        connection.sendall(framed(BODY, len(BODY) - 9) if len(served) == 1 else framed(BODY))

    async def twice(name: str) -> list[str]:
        model = open_model(name, ModelRole.GRADER)
        found = []
        for _ in range(2):
            try:
                found.append((await model.answer(CHAT)).text)
            except TransportError as error:
                found.append(error.trouble)
        await model.rest()
        return found

    with raw_server(serve) as name:
        assert asyncio.run(twice(name)) == [Trouble.BAD_REPLY, "(C)"]


@pytest.mark.parametrize(
    ("status", "text", "trouble", "passing"),
    [
        (429, "slow down", Trouble.RATE_LIMIT, True),
        (500, "oh", Trouble.SERVER, True),
        (503, "oh", Trouble.SERVER, True),
        (529, "overloaded", Trouble.SERVER, True),
        (408, "late", Trouble.SERVER, True),
        (418, "teapot", Trouble.REFUSED, False),
        (204, "", Trouble.REFUSED, False),
        (400, '{"error": {"code": "content_filter", "message": "our policy"}}', Trouble.REFUSED, False),
        (200, '{"error": {"code": 429, "message": "upstream"}}', Trouble.RATE_LIMIT, True),
        (200, '{"error": {"code": 502, "message": "upstream"}}', Trouble.SERVER, True),
        (200, '{"error": "upstream"}', Trouble.BAD_REPLY, True),
        (200, '{"choices": [{"error": {"code": 503}, "message": {"content": ""}}]}', Trouble.SERVER, True),
        (200, '{"choices": []}', Trouble.BAD_REPLY, True),
        (200, '{"choices": [7]}', Trouble.BAD_REPLY, False),
        (200, "[" * 100_000, Trouble.BAD_REPLY, True),
        (
            200,
            '{"choices": [{"message": {"content": "C"}}], "usage": {"prompt_tokens": 1e999}}',
            Trouble.BAD_REPLY,
            False,
        ),
    ],
)
def test_statuses(status: int, text: str, trouble: Trouble, passing: bool) -> None:
    with loopback() as server:
        server.answer = lambda body, count: broken(status, text)
        with pytest.raises(TransportError) as caught:
            ask(server.model)
    assert (caught.value.trouble, caught.value.passing) == (trouble, passing)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("status", "text", "tell"),
    [
        (429, '{"error": {"code": "insufficient_quota"}}', "credit"),
        (402, "pay", "credit"),
        (307, "there", "address"),
    ],
)
def test_more_that_will_not_pass(status: int, text: str, tell: str) -> None:
    with loopback() as server:
        server.answer = lambda body, count: broken(status, text, Location="http://127.0.0.1:1/v1/chat/completions")
        with pytest.raises(AccessError, match=tell):
            ask(server.model)


def test_too_long_under_status_200() -> None:
    with loopback() as server:
        server.answer = lambda body, count: broken(200, '{"error": {"message": "maximum context length is 8"}}')
        with pytest.raises(ContextOverflowError):
            ask(server.model)


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({}, None),
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": " 0.5 "}, 0.5),
        ({"Retry-After": "-3"}, None),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After": "1e9999"}, None),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "9" * 50}, None),
        ({"retry-after-ms": "250", "Retry-After": "1"}, 0.25),
        ({"Retry-After": "Sun, 06 Nov 1994 08:49:37 GMT"}, 0.0),
        ({"Retry-After": "Sun, 06 Nov 1994 08:49:37 GMT", "Date": "Sun, 06 Nov 1994 08:49:07 GMT"}, 30.0),
        ({"Retry-After": "Sun, 06 Nov 1994 08:49:37 GMT", "Date": "Sun, 06 Nov 1994 09:49:37 +0100"}, 0.0),
        ({"Retry-After": "Sun, 06 Nov 1994 08:49:37", "Date": "Sun, 06 Nov 1994 08:49:36 GMT"}, 1.0),
        ({"Retry-After": "Sun, 06 Nov 99999999 08:49:37 GMT"}, None),
    ],
)
def test_how_long_to_wait(headers: dict[str, str], wait: float | None) -> None:
    assert wait_asked(headers) == wait


def test_the_wait_is_handed_on() -> None:
    with loopback() as server:
        server.answer = lambda body, count: broken(503, "busy", Retry_After="17")
        with pytest.raises(TransportError) as caught:
            ask(server.model)
    assert caught.value.wait == 17
