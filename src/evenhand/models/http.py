"""Models behind an OpenAI-compatible endpoint: vLLM, llama.cpp's server, Ollama, OpenAI and many others."""

import json
import os
from typing import Any

import aiohttp

from evenhand.instruments import Request
from evenhand.models.http_replies import read_reply
from evenhand.models.model import AccessError, ContextOverflowError, Limits, Price, TransportError, Trouble
from evenhand.readings import Reply

CONCURRENCY = 32
_TOP_LOGPROBS = 20
"""The most that OpenAI and, unless told otherwise, vLLM report at a position."""
_TIMEOUT = aiohttp.ClientTimeout(total=600, sock_connect=20)
_TELL = {
    400: "check the model's name and what it accepts",
    401: "set the key in the environment variable {key}",
    403: "see that the key in {key} may use this model",
    404: "check the address and the model's name",
}
_OVERFLOW = ("context_length_exceeded", "exceed_context_size_error", "maximum context length", "context size")


class HttpModel:
    """A model at an endpoint. The key is read from the environment when a request is sent and kept nowhere."""

    prefills = False
    local = False
    limits = Limits()
    price: Price | None = None

    def __init__(self, name: str, base_url: str, model: str, key_variable: str) -> None:
        """Take where it is and what it is called there; nothing is sent yet."""
        self.name = name
        self.base_url = base_url.rstrip("/")
        self.model = model
        self.key_variable = key_variable
        self.identity = f"openai-compatible {self.base_url} {model}"
        self.concurrency = CONCURRENCY
        self._session: aiohttp.ClientSession | None = None

    async def answer(self, request: Request) -> Reply:
        """Return the model's reply."""
        path, body = self._body(request)
        session = self._opened()
        try:
            async with session.post(f"{self.base_url}{path}", json=body) as response:
                data = await response.read()
                if response.status != 200:
                    raise self._refused(response.status, data, response.headers.get("Retry-After"))
        except (aiohttp.ClientError, TimeoutError, ConnectionError) as error:
            raise TransportError(f"{self.name}: {type(error).__name__}", trouble=_class_of(error), passing=True) from error
        return self._read(data, request)

    def describe(self) -> dict[str, Any]:
        """Return what a record says of the model."""
        return {
            "name": self.name,
            "kind": "openai-compatible",
            "endpoint": self.base_url,
            "model": self.model,
            "parallel_requests": self.concurrency,
        }

    async def rest(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    def close(self) -> None:
        """Nothing is held between stages."""

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            key = os.environ.get(self.key_variable, "")
            headers = {"Authorization": f"Bearer {key}"} if key else {}
            connector = aiohttp.TCPConnector(limit=self.concurrency)
            self._session = aiohttp.ClientSession(connector=connector, headers=headers, timeout=_TIMEOUT)
        return self._session

    def _body(self, request: Request) -> tuple[str, dict[str, Any]]:
        body: dict[str, Any] = {
            "model": self.model,
            "max_tokens": request.max_tokens,
            "temperature": request.temperature,
            "seed": request.seed,
        }
        if request.stop:
            body["stop"] = list(request.stop)
        top = min(request.top_logprobs, _TOP_LOGPROBS)
        if request.messages:
            body["messages"] = [{"role": m.role, "content": _sendable(m.content)} for m in request.messages]
            if top:
                body |= {"logprobs": True, "top_logprobs": top}
            return "/chat/completions", body
        body["prompt"] = _sendable(request.prompt)
        if top:
            body["logprobs"] = top
        return "/completions", body

    def _read(self, data: bytes, request: Request) -> Reply:
        try:
            answer = json.loads(data)
        except ValueError as error:
            raise TransportError(
                f"{self.name}: the reply is no JSON: {self._shown(data)}", trouble=Trouble.BAD_REPLY, passing=True
            ) from error
        if not isinstance(answer, dict) or answer.get("error") or not answer.get("choices"):
            raise TransportError(
                f"{self.name}: an error under status 200: {self._shown(data)}", trouble=Trouble.BAD_REPLY, passing=True
            )
        reply = read_reply(answer, self.model)
        if reply is None:
            raise TransportError(
                f"{self.name}: the reply has an unknown shape: {self._shown(data)}", trouble=Trouble.BAD_REPLY
            )
        if request.top_logprobs and reply.completion_tokens and not reply.positions:
            raise AccessError(
                f"{self.name} gives no token probabilities. The way out: take a grader that does, or name how its"
                " written answers are to be read: --reading text or --reading samples:N."
            )
        return reply

    def _refused(self, status: int, data: bytes, retry_after: str | None) -> Exception:
        shown = self._shown(data)
        if status in (400, 413, 422) and any(mark in shown.lower() for mark in _OVERFLOW):
            return ContextOverflowError(f"{self.name}: {shown}")
        if status in _TELL:
            tell = _TELL[status].format(key=self.key_variable)
            return AccessError(f"{self.name}: the endpoint answered {status} ({shown}). The way out: {tell}.")
        passing = status in (408, 409, 425, 429) or status >= 500
        trouble = Trouble.RATE_LIMIT if status == 429 else Trouble.SERVER if passing else Trouble.REFUSED
        return TransportError(
            f"{self.name}: the endpoint answered {status} ({shown})",
            trouble=trouble,
            passing=passing,
            wait=_seconds(retry_after),
        )

    def _shown(self, data: bytes) -> str:
        """Return the beginning of what came back, without the key should the endpoint echo it."""
        text = " ".join(data.decode("utf-8", "replace").split())
        key = os.environ.get(self.key_variable)
        return (text.replace(key, "***") if key else text)[:200]


def _class_of(error: BaseException) -> Trouble:
    if isinstance(error, TimeoutError):
        return Trouble.TIMEOUT
    return Trouble.BAD_REPLY if isinstance(error, aiohttp.ClientPayloadError) else Trouble.CONNECTION


def _seconds(retry_after: str | None) -> float | None:
    try:
        return max(0.0, float(retry_after or ""))
    except ValueError:
        return None


def _sendable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")
