"""The preference pair: an input, the output that was chosen and the one that was rejected."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class PreferencePair:
    """Two outputs for one input, and which of them people (or a rule) preferred.

    Where the data say that neither is better, ``tie`` is set, and which output is called chosen means nothing.
    """

    pair_id: str
    """Unique within a set, and the same in every run over the same set."""
    input_id: str
    """Of the input; pairs over one input share it, so it is the unit that intervals resample."""
    input: str
    """What the outputs answer. A conversation is written out turn by turn (``[H]: ...``, ``[A]: ...``)."""
    chosen: str
    rejected: str
    tie: bool = False
    strength: float | None = None
    """How strong the preference is, above 0, in the unit of the data; None where the data do not say."""
    metadata: Mapping[str, str] = field(default_factory=dict)


def text_id(*parts: str) -> str:
    """Return sixteen hex digits that name a content: the start of the SHA-256 of its parts.

    >>> text_id("x", "y") == text_id("xy")
    False
    """
    text = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
