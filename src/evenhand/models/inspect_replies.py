"""What Inspect's provider layer gives back, as a reply."""

from collections.abc import Iterable
from typing import Any

from evenhand.models.inspect_errors import shown_safely
from evenhand.models.model import ContextOverflowError, TransportError, Trouble
from evenhand.readings import Reply, TokenPosition
from evenhand.readings.thinking import answer_alone, answer_begin

_FINISH = {"stop": "stop", "unknown": "stop", "max_tokens": "length", "model_length": "length"}


def read_output(
    output: Any,  # noqa: ANN401  (Inspect's ModelOutput)
    name: str,
    begun: str = "",
    secrets: Iterable[str] = (),
) -> Reply:
    """Return the reply in the first choice of a ``ModelOutput``.

    Inspect turns some errors into outputs: a prompt that is too long and one that a filter turned down have a stop
    reason, an explanation where the answer would stand, and no tokens. They are told from what a model wrote by that.

    Args:
        output: what the provider made of the response.
        name: how the user called the model, for messages.
        begun: the beginning of the answer that was written for the model.
        secrets: texts that must not be shown, besides what the environment holds.

    Raises:
        ContextOverflowError: the prompt is too long.
        TransportError: it was turned down, or there is no answer in what came back.
    """
    if not output.choices:
        said = f" ({shown_safely(output.error, secrets)})" if output.error else ""
        raise TransportError(f"{name}: the reply has no choices{said}", trouble=Trouble.BAD_REPLY, passing=True)
    choice = output.choices[0]
    text, usage = choice.message.text, output.usage
    written = usage.output_tokens if usage is not None else 0
    if choice.stop_reason == "model_length" and not written:
        raise ContextOverflowError(f"{name}: {shown_safely(output.error or text, secrets)}")
    if choice.stop_reason == "content_filter" and usage is None:
        said = shown_safely(output.error or text, secrets)
        raise TransportError(f"{name}: the provider's filter turned the request down: {said}")
    thinking = _thinking(choice.message.content)
    if thinking and answer_begin(text) != 0:
        # Where there is nothing but thinking, Inspect gives it twice: as thinking and, marks and all, as the text.
        thinking = ""
    cached = (usage.input_tokens_cache_read or 0) if usage is not None else 0
    fresh = usage.input_tokens + (usage.input_tokens_cache_write or 0) if usage is not None else 0
    reply = Reply(
        text=text,
        finish=_FINISH.get(choice.stop_reason, choice.stop_reason),
        model=output.model,
        positions=_positions(choice.logprobs),
        prompt_tokens=fresh + cached,
        completion_tokens=written or (1 if text else 0),
        cached_tokens=cached,
        thinking=thinking,
    )
    return answer_alone(reply, begun)


def _thinking(content: Any) -> str:  # noqa: ANN401
    if isinstance(content, str):
        return ""
    # What is redacted is a cipher; its summary, if there is one, is not.
    parts = [
        part.summary or "" if part.redacted else part.reasoning or part.summary or ""
        for part in content
        if part.type == "reasoning"
    ]
    return "\n".join(filter(None, parts))


def _positions(logprobs: Any) -> tuple[TokenPosition, ...]:  # noqa: ANN401
    return tuple(
        TokenPosition(
            place.token,
            float(place.logprob),
            tuple([(entry.token, float(entry.logprob)) for entry in place.top_logprobs or ()]),
        )
        for place in (logprobs.content if logprobs is not None else ())
    )
