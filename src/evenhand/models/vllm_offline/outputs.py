"""From our requests to vLLM's sampling parameters, and from its outputs to our replies."""

from collections.abc import Mapping
from typing import Any

from evenhand.instruments import Request
from evenhand.models.control_tokens import defuse
from evenhand.models.model import TransportError, Trouble
from evenhand.models.settings import ModelSettings
from evenhand.readings import Reply, TokenPosition
from evenhand.readings.thinking import answer_alone

CHAT_OPTIONS = "chat_template_kwargs"
"""The entry of ``body`` that goes to the chat template, as a server takes it."""
_LEAST = -9999.0
"""What a server writes for a probability of 0, whose logarithm JSON can't hold."""


def sampling(request: Request, settings: ModelSettings) -> dict[str, Any]:
    """Return the arguments of vLLM's ``SamplingParams``.

    Nothing comes from the model's own generation config: a repetition penalty there would change what is greedy.
    """
    asked: dict[str, Any] = {
        "max_tokens": request.max_tokens + settings.thinking_tokens,
        "temperature": request.temperature,
        # The marks of thinking are special tokens of some models, and a text without them can't be told apart.
        "skip_special_tokens": settings.thinking_tokens == 0,
    }
    if request.temperature > 0:
        asked["seed"] = request.seed
    if request.stop:
        asked["stop"] = list(request.stop)
    if request.top_logprobs:
        asked["logprobs"] = min(request.top_logprobs, settings.top_logprobs)
    return asked | {name: value for name, value in settings.body.items() if name != CHAT_OPTIONS}


def conversation(request: Request) -> list[dict[str, str]]:
    """Return the turns as a chat template takes them."""
    return [{"role": turn.role, "content": sendable(turn.content)} for turn in request.messages]


def begun(request: Request) -> str:
    """Return the beginning of the answer that is written for the model; empty where it begins by itself."""
    last = request.messages[-1] if request.messages else None
    return sendable(last.content) if last and last.role == "assistant" else ""


def sendable(text: str) -> str:
    """Return a text without marks of the model's own, and without what UTF-8 can't hold."""
    return defuse(text).encode("utf-8", "replace").decode("utf-8")


def read_output(output: Any, name: str, beginning: str = "") -> Reply:  # noqa: ANN401  (vLLM's RequestOutput)
    """Return the reply in a finished output.

    Args:
        output: of one request.
        name: the model's.
        beginning: of the answer, that was written for the model.

    Raises ``TransportError`` where the engine gave the request up.
    """
    found = output.outputs[0]
    if found.finish_reason in ("abort", "error"):
        raise TransportError(
            f"{name}: vLLM gave the request up ({found.finish_reason})", trouble=Trouble.SERVER, passing=True
        )
    reply = Reply(
        text=found.text,
        finish="length" if found.finish_reason == "length" else "stop",
        model=name,
        positions=tuple(
            _position(token, place) for token, place in zip(found.token_ids, found.logprobs or (), strict=False)
        ),
        prompt_tokens=len(output.prompt_token_ids),
        completion_tokens=len(found.token_ids),
        cached_tokens=output.num_cached_tokens or 0,
    )
    return answer_alone(reply, beginning)


def _position(token: int, place: Mapping[int, Any]) -> TokenPosition:
    """Return a position; vLLM lists the token it took first, and beyond those asked for where it is none of them."""
    top = sorted(((_text(entry), max(entry.logprob, _LEAST)) for entry in place.values()), key=lambda one: -one[1])
    return TokenPosition(_text(place[token]), max(place[token].logprob, _LEAST), tuple(top))


def _text(entry: Any) -> str:  # noqa: ANN401  (vLLM's Logprob)
    return entry.decoded_token or ""
