"""What is sent to a model."""

import hashlib
from dataclasses import dataclass
from json.encoder import encode_basestring_ascii as _text
from typing import Any, Literal, TypeAlias

Role: TypeAlias = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Request:
    """A conversation to go on with (``messages``) or a bare text to complete (``prompt``); exactly one is set."""

    messages: tuple[Message, ...] = ()
    prompt: str = ""
    max_tokens: int = 1
    temperature: float = 0.0
    seed: int = 0
    top_logprobs: int = 0
    """How many of the most probable tokens to report at each position; 0 asks for none."""

    stop: tuple[str, ...] = ()
    """The model stops before it writes any of these."""

    def __post_init__(self) -> None:
        if bool(self.messages) == bool(self.prompt):
            raise ValueError("a request has either messages or a prompt")

    def as_json(self) -> dict[str, Any]:
        """Return the request as plain values."""
        # Written out: dataclasses.asdict copies, and this runs twice a call.
        return {
            "messages": [{"role": message.role, "content": message.content} for message in self.messages],
            "prompt": self.prompt,
            "max_tokens": self.max_tokens,
            "temperature": self.temperature,
            "seed": self.seed,
            "top_logprobs": self.top_logprobs,
            "stop": self.stop,
        }

    def key(self, model_identity: str) -> str:
        """Return the SHA-256 (hex) of all that determines the reply: the model's identity and every field."""
        return hashlib.sha256(self._canonical(model_identity).encode("ascii")).hexdigest()

    def _canonical(self, model_identity: str) -> str:
        """Return ``json.dumps([model_identity, self.as_json()], sort_keys=True)``, which takes six times as long."""
        turns = ", ".join(
            [f'{{"content": {_text(turn.content)}, "role": {_text(turn.role)}}}' for turn in self.messages]
        )
        stop = ", ".join([_text(text) for text in self.stop])
        return (
            f'[{_text(model_identity)}, {{"max_tokens": {self.max_tokens}, "messages": [{turns}],'
            f' "prompt": {_text(self.prompt)}, "seed": {self.seed}, "stop": [{stop}],'
            f' "temperature": {self.temperature!r}, "top_logprobs": {self.top_logprobs}}}]'
        )
