"""JSON to and from bytes: fast where orjson takes it, and by the standard library where it doesn't."""

import json
from typing import Any

import orjson


def encoded(value: dict[str, Any]) -> bytes:
    """Return a value as JSON. A lone surrogate, which a text may hold and UTF-8 can't, becomes a question mark.

    >>> encoded({"text": "half of a pair: " + chr(0xD83D)})
    b'{"text":"half of a pair: ?"}'
    """
    try:
        return orjson.dumps(value)
    except TypeError:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def parsed(data: bytes) -> Any:  # noqa: ANN401  (whatever an endpoint sends)
    """Return what JSON says; raises ``ValueError`` where it is none.

    Taken as well: lone surrogates, whole numbers of any size (those beyond 64 bits may come as a float), and -Infinity
    as a log-probability.

    >>> parsed(b'{"text": "\\\\ud83d", "logprob": -Infinity}')["logprob"]
    -inf
    """
    try:
        return orjson.loads(data)
    except ValueError:
        try:
            return json.loads(data, parse_constant=_constant)
        except RecursionError:
            raise ValueError("it is nested too deeply") from None


def _constant(name: str) -> float:
    if name == "-Infinity":
        return -float("inf")
    raise ValueError(f"{name} is no probability")
