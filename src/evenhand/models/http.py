"""Models behind an OpenAI-compatible endpoint: vLLM, llama.cpp's server, Ollama, OpenAI and many others."""

import io
from dataclasses import dataclass
from typing import Any

import aiohttp

from evenhand.instruments import Request
from evenhand.models.control_tokens import defuse
from evenhand.models.fast_json import encoded, parsed
from evenhand.models.http_errors import bad_reply, error_inside, refused, unreachable
from evenhand.models.http_replies import read_reply
from evenhand.models.model import AccessError
from evenhand.models.secrets import blacked_out, from_environment, header_values, secrets_of
from evenhand.models.settings import ModelSettings
from evenhand.readings import Reply

_CONNECT_TIMEOUT = 20.0
_READ_FOR_ERRORS = 4000
_LARGE = 2**20
"""aiohttp wants a larger body as a file, so that sending it does not hold up everything else."""


@dataclass(frozen=True, slots=True)
class _Opened:
    """What is held while requests are sent, and let go of afterwards."""

    session: aiohttp.ClientSession
    secrets: list[bytes]


class HttpModel:
    """A model at an endpoint. The key is read from the environment when requests are sent and kept nowhere."""

    local = False

    def __init__(
        self,
        name: str,
        base_url: str,
        model: str,
        key_variable: str,
        settings: ModelSettings | None = None,
        *,
        needs_key: bool = False,
    ) -> None:
        """Take where it is, what it is called there and what the user says of it; nothing is sent yet.

        Where it is known that nothing is answered without a key (``needs_key``), nothing is sent without one.
        """
        self.name = name
        self.base_url = base_url.rstrip("/")
        self.model = model
        self.settings = settings or ModelSettings()
        self.key_variable = self.settings.key_variable or key_variable
        self._needs_key = needs_key
        determining = self.settings.identity()
        self.identity = f"openai-compatible {self.base_url} {model}" + (f" {determining}" if determining else "")
        self.prefills = self.settings.prefill is not None
        self.concurrency = self.settings.concurrency
        self.limits = self.settings.limits
        self.price = self.settings.price
        self.batch_discount = self.settings.batch_discount
        self.thinking_tokens = self.settings.thinking_tokens
        self._chat, self._completions = (f"{self.base_url}{path}" for path in ("/chat/completions", "/completions"))
        self._fixed = {"model": model, **self.settings.body}
        self._opened: _Opened | None = None

    async def answer(self, request: Request) -> Reply:
        """Return the model's reply."""
        opened = self._opened or self._open()
        url = self._chat if request.messages else self._completions
        body = encoded(self.body(request))
        try:
            async with opened.session.post(
                url, data=body if len(body) <= _LARGE else io.BytesIO(body), allow_redirects=False
            ) as response:
                data = blacked_out(await response.read(), opened.secrets)
        except (aiohttp.ClientError, OSError) as error:
            failure = unreachable(self.name, error)
        else:
            if response.status != 200:
                raise refused(self.name, response.status, shown(data), response.headers, self.key_variable)
            return self._read(data, request)
        # Not raised from aiohttp's error, nor where that is being handled: it may hold the headers, and so the key.
        raise failure

    def describe(self) -> dict[str, Any]:
        """Return what a record says of the model."""
        said = {
            "name": self.name,
            "kind": "openai-compatible",
            "endpoint": self.base_url,
            "model": self.model,
            "parallel_requests": self.concurrency,
        }
        settings = self.settings.describe()
        return {**said, "settings": settings} if settings else said

    async def rest(self) -> None:
        """Close the connections."""
        opened, self._opened = self._opened, None
        if opened is not None:
            await opened.session.close()

    def close(self) -> None:
        """Nothing is held between stages."""

    def headers(self) -> dict[str, str]:
        """Return what is sent along with whatever goes to the endpoint, the key from the environment among it.

        Raises ``AccessError`` where there is no key and has to be one.
        """
        key = from_environment(self.key_variable)
        own = header_values(self.settings.headers, self.name)
        if "authorization" in {name.lower() for name in own}:
            return own
        if not key and self._needs_key:
            raise AccessError(
                f"{self.name} was not asked: there is no key. The way out: put one into the environment variable"
                f" {self.key_variable}."
            )
        return {"Authorization": f"Bearer {key}", **own} if key else own

    def secrets(self) -> list[bytes]:
        """Return what must be blacked out in whatever comes back."""
        return secrets_of(self.key_variable, self.settings.headers)

    def _open(self) -> _Opened:
        session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=self.concurrency),
            headers={"Content-Type": "application/json", **self.headers()},
            timeout=aiohttp.ClientTimeout(total=self.settings.timeout, sock_connect=_CONNECT_TIMEOUT),
            cookie_jar=aiohttp.DummyCookieJar(),
        )
        self._opened = _Opened(session, self.secrets())
        return self._opened

    def body(self, request: Request) -> dict[str, Any]:
        """Return what is sent to the endpoint for a request."""
        settings = self.settings
        top = min(request.top_logprobs, settings.top_logprobs)
        body: dict[str, Any] = {
            **self._fixed,
            settings.max_tokens_field: request.max_tokens + settings.thinking_tokens,
            "temperature": request.temperature,
            "seed": request.seed,
        }
        if request.stop:
            body["stop"] = request.stop
        if request.messages:
            body["messages"] = [{"role": turn.role, "content": defuse(turn.content)} for turn in request.messages]
            if top:
                body["logprobs"], body["top_logprobs"] = True, top
            if settings.prefill == "continue" and request.messages[-1].role == "assistant":
                body["continue_final_message"], body["add_generation_prompt"] = True, False
        else:
            body["prompt"] = defuse(request.prompt)
            if top:
                body["logprobs"] = top
        for field in settings.without:
            body.pop(field, None)
        return body

    def _read(self, data: bytes, request: Request) -> Reply:
        try:
            answer = parsed(data)
        except ValueError:
            answer = None
        return self.read(answer, request, data)

    def read(self, answer: Any, request: Request, data: bytes) -> Reply:  # noqa: ANN401  (whatever an endpoint sends)
        """Return the reply in what an endpoint sent under status 200; ``data`` is what errors quote."""
        if not isinstance(answer, dict):
            raise bad_reply(self.name, "the reply is no JSON object", shown(data))
        error = answer.get("error") or _error_in_choice(answer)
        if error or not answer.get("choices"):
            raise error_inside(self.name, error, shown(data))
        begun = request.messages[-1] if self.prefills and request.messages else None
        reply = read_reply(answer, self.model, begun.content if begun and begun.role == "assistant" else "")
        if reply is None:
            raise bad_reply(self.name, "the reply has an unknown shape", shown(data), passing=False)
        if request.top_logprobs and not reply.positions and reply.text.strip():
            raise AccessError(
                f"{self.name} gives no token probabilities. The way out: take a grader that does, or name how its"
                " written answers are to be read: --reading text or --reading samples:N."
            )
        return reply


def _error_in_choice(answer: dict[str, Any]) -> Any:  # noqa: ANN401  (whatever an endpoint sends)
    choices = answer.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first.get("error") if isinstance(first, dict) else None


def shown(data: bytes) -> str:
    """Return the beginning of what came back, on one line, for a message."""
    return " ".join(data[:_READ_FOR_ERRORS].decode("utf-8", "replace").split())
