"""What OpenAI-compatible endpoints send back, in the shapes there are."""

from typing import Any

from evenhand.readings import Reply, TokenPosition


def read_reply(answer: dict[str, Any], model: str) -> Reply | None:
    """Return the reply in an answer's first choice, or None where it has an unknown shape.

    Reasoning that an endpoint reports apart from the answer is left out of the text.
    """
    try:
        choice = answer["choices"][0]
        message = choice.get("message")
        text = (message.get("content") if message is not None else choice["text"]) or ""
        usage = answer.get("usage") or {}
        details = usage.get("prompt_tokens_details") or {}
        return Reply(
            text=text,
            finish=choice.get("finish_reason") or "stop",
            model=str(answer.get("model") or model),
            positions=_positions(choice.get("logprobs")),
            prompt_tokens=int(usage.get("prompt_tokens") or 0),
            completion_tokens=int(usage.get("completion_tokens") or (1 if text else 0)),
            cached_tokens=int(details.get("cached_tokens") or 0),
        )
    except (KeyError, IndexError, TypeError, AttributeError, ValueError):
        return None


def _positions(logprobs: Any) -> tuple[TokenPosition, ...]:  # noqa: ANN401  (whatever an endpoint sends)
    if not logprobs:
        return ()
    if logprobs.get("content"):
        return tuple(
            TokenPosition(
                place["token"],
                float(place["logprob"]),
                tuple((entry["token"], float(entry["logprob"])) for entry in place.get("top_logprobs") or ()),
            )
            for place in logprobs["content"]
        )
    # The older shape of the completions endpoint: lists side by side, and the top tokens as an object.
    tokens, values = logprobs.get("tokens") or (), logprobs.get("token_logprobs") or ()
    tops = logprobs.get("top_logprobs") or [{}] * len(tokens)
    return tuple(
        TokenPosition(token, float(value), tuple(sorted((top or {}).items(), key=lambda item: -item[1])))
        for token, value, top in zip(tokens, values, tops, strict=True)
        if value is not None
    )
