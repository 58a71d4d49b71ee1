"""Models of any provider that Inspect knows, through Inspect's provider layer.

What is used of Inspect is the provider: one call, one request. Trying again, the number of calls at once, caching and
the record are Evenhand's own, as for every other model; so a call goes past Inspect's model, which does all of that
too, and past the retries of the provider's client.
"""

import asyncio
import importlib
import importlib.metadata
import importlib.util
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

from evenhand.errors import EvenhandError, InputError
from evenhand.instruments import Request
from evenhand.models.control_tokens import defuse
from evenhand.models.inspect_errors import classed
from evenhand.models.inspect_replies import read_output
from evenhand.models.model import AccessError, Price
from evenhand.models.prices import known_price
from evenhand.models.secrets import from_environment, header_values, is_variable
from evenhand.models.settings import ModelSettings
from evenhand.readings import Reply

_PREFIX = "inspect:"
_RUN_IN_THIS_PROCESS = ("hf", "nnterp", "transformer_lens")
_HOSTS = {
    "anthropic": "api.anthropic.com",
    "deepseek": "api.deepseek.com",
    "google": "generativelanguage.googleapis.com",
    "openai": "api.openai.com",
}
"""Whom the price table speaks of."""
_OURS = (
    "adaptive_connections",
    "attempt_timeout",
    "batch",
    "cache",
    "extra_body",
    "extra_headers",
    "fail_on_refusal",
    "max_connections",
    "max_retries",
    "num_choices",
    "stop_seqs",
    "stream_idle_timeout",
    "system_message",
    "timeout",
)
"""Options of Inspect's that are set by requests and settings, or stay off."""


class InspectModel:
    """A model behind one of Inspect's providers, which reads its key from the environment as it always does."""

    def __init__(self, name: str, settings: ModelSettings | None = None) -> None:
        """Take the name; nothing is imported or opened yet.

        Args:
            name: ``inspect:PROVIDER/MODEL``, where all behind the colon is as Inspect writes it.
            settings: what the user says of the model. Entries of ``body`` that are options of Inspect's
                ``GenerateConfig`` become such; the others go into the request's body, where the provider sends one.

        Raises ``InputError`` where Inspect is not installed, the name has no provider, or a setting can't be kept.
        """
        self.name, self.path = name, name.removeprefix(_PREFIX)
        self.settings = settings or ModelSettings()
        provider, _, model = self.path.partition("/")
        if not provider or not model:
            raise InputError(
                f"{name!r} names no model of a provider", way_out="write inspect:PROVIDER/MODEL, as Inspect writes it"
            )
        if importlib.util.find_spec("inspect_ai") is None:
            raise InputError(
                f"{name} needs Inspect, which is not installed", way_out="run pip install 'evenhand[inspect]'"
            )
        _check(name, self.settings)
        self.addresses = _addresses(self.path)
        told = (f"inspect {self.path}", *self.addresses, self.settings.identity())
        self.identity = " ".join(filter(None, told))
        self.concurrency = self.settings.concurrency
        self.thinking_tokens = self.settings.thinking_tokens
        self.limits = self.settings.limits
        self.prefills = self.settings.prefill is not None
        self.local = provider in _RUN_IN_THIS_PROCESS
        self.price: Price | None = self.settings.price
        if self.price is None and provider in _HOSTS and not self.addresses:
            self.price = known_price(model, _HOSTS[provider])
        self._api: Any = None
        self._config: Any = None

    async def answer(self, request: Request) -> Reply:
        """Return the model's reply."""
        if not request.messages:
            raise AccessError(
                f"{self.name} can't go on with a bare text: Inspect's providers take conversations. The way out: use"
                " instruments that are asked as one, such as rubric in place of compact."
            )
        self._open()
        problem: Exception | None = None
        output: Any = None
        try:
            async with asyncio.timeout(self.settings.timeout):
                output = await self._api.generate(_messages(request), [], "none", self._configured(request))
        except Exception as error:
            problem = classed(error, self.name, self._api, self._secrets())
        if isinstance(output, tuple):
            output = output[0]
        if isinstance(output, Exception):
            problem = classed(output, self.name, self._api, self._secrets())
        if problem is not None:
            # Raised here, and not where it was caught: what the provider's client said may hold the key.
            raise problem
        last = request.messages[-1]
        begun = last.content if last.role == "assistant" else ""
        reply = read_output(output, self.name, begun, secrets=self._secrets())
        if request.top_logprobs and not reply.positions and reply.text.strip():
            raise AccessError(
                f"{self.name} gives no token probabilities. The way out: take a grader that does, or name how its"
                " written answers are to be read: --reading text or --reading samples:N."
            )
        return reply

    async def rest(self) -> None:
        """Close the connections, which belong to the running event loop."""
        api, self._api = self._api, None
        if api is not None:
            with suppress(Exception):
                await api.aclose()

    def describe(self) -> dict[str, Any]:
        """Return what a record says of the model."""
        return {
            "name": self.name,
            "kind": "inspect",
            "model": self.path,
            "addresses": list(self.addresses),
            "inspect_ai": importlib.metadata.version("inspect-ai"),
            "parallel_requests": self.concurrency,
            "settings": self.settings.describe(),
        }

    def close(self) -> None:
        """Nothing is held between stages."""

    def _open(self) -> None:
        if self._api is not None:
            return
        problem: Exception | None = None
        try:
            with _undisturbed():
                self._api, self._config = self._opened()
        except EvenhandError:
            raise
        except Exception as error:
            problem = classed(error, self.name, None, self._secrets())
        if problem is not None:
            raise AccessError(str(problem)) if not isinstance(problem, AccessError) else problem

    def _opened(self) -> tuple[Any, Any]:
        inspect = importlib.import_module("inspect_ai.model")
        body = dict(self.settings.body)
        named = {key: body.pop(key) for key in list(body) if key in inspect.GenerateConfig.model_fields}
        config = inspect.GenerateConfig(
            **named,
            extra_body=body or None,
            extra_headers=header_values(self.settings.headers, self.name) or None,
            max_retries=0,
            max_connections=self.concurrency,
            adaptive_connections=False,
        )
        key = from_environment(self.settings.key_variable) if self.settings.key_variable else ""
        model = inspect.get_model(self.path, config=config, api_key=key or None, memoize=False)
        client: Any = getattr(model.api, "client", None)
        if hasattr(client, "max_retries"):
            # The clients that OpenAI, Anthropic, Groq and those compatible with them publish try again by themselves.
            client.max_retries = 0
        return model.api, config

    def _configured(self, request: Request) -> Any:  # noqa: ANN401  (Inspect's GenerateConfig)
        asked: dict[str, Any] = {
            "max_tokens": request.max_tokens + self.settings.thinking_tokens,
            "temperature": request.temperature,
            "seed": request.seed,
            "stop": list(request.stop) or None,
        }
        if request.top_logprobs:
            asked |= {"logprobs": True, "top_logprobs": min(request.top_logprobs, self.settings.top_logprobs)}
        for name in self.settings.without:
            asked.pop(name, None)
        asked["stop_seqs"] = asked.pop("stop", None)
        if self.settings.prefill == "continue" and request.messages[-1].role == "assistant":
            going_on = {"continue_final_message": True, "add_generation_prompt": False}
            asked["extra_body"] = (self._config.extra_body or {}) | going_on
        return self._config.model_copy(update=asked)

    def _secrets(self) -> list[str]:
        variables = [self.settings.key_variable or ""]
        variables += [value[1:] for value in self.settings.headers.values() if is_variable(value)]
        return [os.environ.get(variable, "").strip() for variable in variables]


def _check(name: str, settings: ModelSettings) -> None:
    if settings.max_tokens_field != ModelSettings().max_tokens_field:
        raise InputError(
            "Inspect knows what the provider calls the token limit",
            source=name,
            field="max_tokens_field",
            way_out="leave it out of the settings",
        )
    for key in settings.body:
        if key in _OURS:
            raise InputError(
                "is set by each request or stays off, and can't be set here",
                source=name,
                field=f"body.{key}",
                way_out="leave it out; see headers, timeout, concurrency and the limits a minute",
            )


def _addresses(path: str) -> tuple[str, ...]:
    """Return where the environment says the provider is; empty where it says nothing.

    Two servers may call different models by one name, so the address is part of what determines a reply.
    """
    provider, *services = [part.upper().replace("-", "_") for part in path.split("/")[:-1]]
    prefixes = [services[0]] if provider.startswith("OPENAI_API") and services else [provider]
    if provider == "GROK":
        prefixes.append("XAI")
    exact = {"INSPECT_EVAL_MODEL_BASE_URL", *(f"{prefix}_BASE_URL" for prefix in prefixes)}
    found = [
        value
        for name, value in sorted(os.environ.items())
        if name in exact
        or (services and name.endswith("_BASE_URL") and {provider, services[0]} <= set(name.split("_")))
    ]
    return tuple(dict.fromkeys(filter(None, map(_without_key, found))))


def _without_key(address: str) -> str:
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path.rstrip('/')}" if parts.netloc else ""


def _messages(request: Request) -> list[Any]:
    inspect = importlib.import_module("inspect_ai.model")
    kinds = {
        "system": inspect.ChatMessageSystem,
        "user": inspect.ChatMessageUser,
        "assistant": inspect.ChatMessageAssistant,
    }
    return [kinds[message.role](content=_sendable(message.content)) for message in request.messages]


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Let Inspect be loaded without a say in how this program ends and what it prints."""
    hook = sys.excepthook
    # Warnings of a library nobody has configured would go to the terminal, in the middle of what a run shows there.
    logger = logging.getLogger("inspect_ai")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
    try:
        yield
    finally:
        sys.excepthook = hook


def _sendable(text: str) -> str:
    # As it is sent to an endpoint: no end of turn that somebody else wrote, and nothing that UTF-8 can't hold.
    return defuse(text).encode("utf-8", "replace").decode("utf-8")
