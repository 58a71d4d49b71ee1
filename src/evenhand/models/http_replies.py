"""What OpenAI-compatible endpoints send back, in the shapes there are."""

from collections.abc import Iterable
from typing import Any

from evenhand.readings import Reply, TokenPosition
from evenhand.readings.thinking import answer_alone


def read_reply(answer: dict[str, Any], model: str, begun: str = "") -> Reply | None:
    """Return the reply in an answer's first choice, or None where it has an unknown shape.

    Args:
        answer: what the endpoint sent.
        model: its name, where the answer does not tell.
        begun: the beginning of the answer that was sent along, for the model to go on with.
    """
    try:
        choice = answer["choices"][0]
        message = choice.get("message")
        logprobs = choice.get("logprobs") or {}
        thinking = ""
        if message is None:
            text = choice["text"] or ""
        else:
            text, thinking = _texts(message)
        usage = answer.get("usage") or {}
        details = usage.get("prompt_tokens_details") or {}
        reply = Reply(
            text=text + "",
            finish=(choice.get("finish_reason") or "stop") + "",
            model=str(answer.get("model") or model),
            positions=_positions(logprobs),
            prompt_tokens=int(usage.get("prompt_tokens") or 0),
            completion_tokens=int(usage.get("completion_tokens") or (1 if text or thinking else 0)),
            cached_tokens=int(details.get("cached_tokens") or usage.get("prompt_cache_hit_tokens") or 0),
            thinking=thinking + "",
        )
        return answer_alone(reply, begun)
    except (LookupError, TypeError, AttributeError, ValueError, OverflowError):
        return None


def _texts(message: dict[str, Any]) -> tuple[str, str]:
    """Return a message's text and its thinking; a refusal that stands in a field of its own is its text."""
    content = message.get("content")
    thinking = (message.get("reasoning_content") or message.get("reasoning") or "").strip()
    if isinstance(content, list):
        parts = [(part.get("type"), part) for part in content]
        text = "".join([part["text"] for kind, part in parts if kind == "text"])
        thoughts = [_thought(part["thinking"]) for kind, part in parts if kind == "thinking"]
        return text, "\n".join([*([thinking] if thinking else []), *thoughts]).strip()
    return content or message.get("refusal") or "", thinking


def _thought(thinking: str | Iterable[dict[str, str]]) -> str:
    return thinking if isinstance(thinking, str) else "".join([part["text"] for part in thinking])


def _positions(logprobs: dict[str, Any]) -> tuple[TokenPosition, ...]:
    places = logprobs.get("content") or logprobs.get("refusal")
    if places:
        return tuple([_position(place) for place in places])
    # The older shape of the completions endpoint: lists side by side, and the top tokens as an object.
    tokens, values = logprobs.get("tokens") or (), logprobs.get("token_logprobs") or ()
    tops = logprobs.get("top_logprobs") or [{}] * len(tokens)
    return tuple(
        TokenPosition(token + "", float(value), tuple(sorted((top or {}).items(), key=lambda item: -item[1])))
        for token, value, top in zip(tokens, values, tops, strict=True)
        if value is not None
    )


def _position(place: dict[str, Any]) -> TokenPosition:
    # Adding an empty text costs nothing, and fails for what is no text: such a reply must not reach the ledger.
    top = [(entry["token"] + "", float(entry["logprob"])) for entry in place.get("top_logprobs") or ()]
    return TokenPosition(place["token"] + "", float(place["logprob"]), tuple(top))
