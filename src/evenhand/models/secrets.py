"""Keys: where they are read from, what looks like one, and keeping them out of what is shown."""

import os
import re
from collections.abc import Iterable, Mapping

from evenhand.models.model import AccessError

_VARIABLE = re.compile(r"\$[A-Z_][A-Z0-9_]*")
_SECRET_NAME = re.compile(
    r"(?:^|[_-])(?:key|apikey|secret|password|passwd|credentials?|cookie|auth|authorization|(?:access|auth|api|bearer|session"
    r"|id|refresh)[_-]?token|token)$",
    re.IGNORECASE,
)
_KEY = re.compile(
    r"^(?:Bearer|Basic)\s|\b(?:sk|pk|rk|gsk|hf|xai|ghp|pplx|nvapi|AIza)[-_]?[A-Za-z0-9_-]{16,}", re.IGNORECASE
)
_SHORTEST = 8
"""A shorter value is no key, and blacking it out would spoil what was said."""


def is_variable(value: str) -> bool:
    """Tell whether a value names an environment variable.

    >>> is_variable("$MY_KEY"), is_variable("MY_KEY"), is_variable("$5")
    (True, False, False)
    """
    return _VARIABLE.fullmatch(value) is not None


def names_secret(name: str) -> bool:
    """Tell whether something of this name is likely to be a secret.

    >>> [names_secret(name) for name in ("Authorization", "X-Api-Key", "api_key", "X-Title", "max_tokens", "top_k")]
    [True, True, True, False, False, False]
    """
    return _SECRET_NAME.search(name) is not None


def holds_key(text: str) -> bool:
    """Tell whether a text looks like a key or holds one.

    >>> holds_key("sk-proj-0123456789abcdef"), holds_key("Bearer x"), holds_key("Evenhand, an audit")
    (True, True, False)
    """
    return _KEY.search(text) is not None


def from_environment(variable: str) -> str:
    """Return what an environment variable holds, without the line break that a file leaves; empty if it is not set.

    Raises ``AccessError``, which does not quote it, for what fits into no header.
    """
    value = os.environ.get(variable, "").strip()
    if not value.isprintable():
        raise AccessError(
            f"the environment variable {variable} holds a line break or another character that fits into no header."
            " The way out: set it to the bare key."
        )
    return value


def header_values(headers: Mapping[str, str], name: str) -> dict[str, str]:
    """Return headers with the values that are read from the environment.

    Args:
        headers: as the settings have them.
        name: the model's, for the message.

    Raises ``AccessError`` for a variable that is not set.
    """
    found = {}
    for header, value in headers.items():
        found[header] = from_environment(value[1:]) if is_variable(value) else value
        if not found[header]:
            raise AccessError(
                f"{name}: the header {header} is to come from the environment variable {value[1:]}, which is not set."
                " The way out: set it, or take the header out of the settings file."
            )
    return found


def secrets_of(key_variable: str, headers: Mapping[str, str]) -> list[bytes]:
    """Return what must not be shown: the key, and each header that comes from the environment; the longest first."""
    variables = [key_variable, *(value[1:] for value in headers.values() if is_variable(value))]
    values = {os.environ.get(variable, "").strip() for variable in variables}
    words = {part for value in values for part in (value, value.split(" ")[-1])}
    return sorted((word.encode() for word in words if len(word) >= _SHORTEST), key=len, reverse=True)


def blacked_out(data: bytes, secrets: Iterable[bytes]) -> bytes:
    """Return what came back with every secret replaced, should the endpoint echo one.

    >>> blacked_out(b"your key sk-0123456789 is odd", [b"sk-0123456789"])
    b'your key *** is odd'
    """
    for secret in secrets:
        if secret in data:
            data = data.replace(secret, b"***")
    return data
