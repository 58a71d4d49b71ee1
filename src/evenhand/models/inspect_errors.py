"""What went wrong behind Inspect's provider layer, in our classes."""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from evenhand.models.http_errors import refused
from evenhand.models.model import AccessError, ContextOverflowError, TransportError, Trouble
from evenhand.models.secrets import names_secret

_OVERFLOW = ("input is too long", "input token count", "input length")
"""Besides what OpenAI-compatible endpoints say."""
_NO_REPLY = (json.JSONDecodeError, AttributeError, IndexError, KeyError, TypeError)
"""What a provider's reader stumbles with over something that is no reply."""
_CUT_OFF = ("RemoteProtocolError", "ClientPayloadError", "OpenAIResponseError")
_NO_RESPONSE = "without sending a response"
_MARKUP = re.compile(r"\[/?[a-z][a-z _]*\]")
_SHORTEST = 8
"""A shorter value is no key, and blacking it out would spoil what was said."""


def classed(
    error: BaseException,
    name: str,
    api: Any,  # noqa: ANN401  (Inspect's ModelAPI)
    secrets: Iterable[str] = (),
) -> Exception:
    """Return the error that says of which class this one is, with nothing secret in it.

    It must not be raised from the one given, which may hold the key.

    Args:
        error: what the provider's client raised.
        name: how the user called the model.
        api: Inspect's provider, which knows what may pass; None where there is none yet.
        secrets: texts that must not be shown, besides what the environment holds.
    """
    kind = type(error).__name__
    shown = shown_safely(_message(error), secrets)
    if isinstance(error, TimeoutError):
        return TransportError(f"{name}: {kind}", trouble=Trouble.TIMEOUT, passing=True)
    if kind == "PrerequisiteError":
        # A missing key, package or setting; the message is made for a terminal.
        return AccessError(f"{name}: {_MARKUP.sub('', shown)}")
    retries, limited, wait = _decision(api, error)
    chain = list(_chain(error))
    status = next(filter(None, map(_status, chain)), None)
    if status is not None and status != 200:
        return _with_status(error, status, name, api, shown, retries=retries, wait=wait)
    trouble = Trouble.RATE_LIMIT if limited else _without_status(chain, retries=retries)
    return TransportError(
        f"{name}: {kind}: {shown}", trouble=trouble, passing=trouble is not Trouble.REFUSED, wait=wait
    )


def shown_safely(text: str, secrets: Iterable[str] = ()) -> str:
    """Return the beginning of a text on one line, with every key in it replaced."""
    known = {secret for secret in (*_in_environment(os.environ), *secrets) if len(secret) >= _SHORTEST}
    for secret in sorted(known, key=len, reverse=True):
        text = text.replace(secret, "***")
    return " ".join(text.split())[:400]


def _with_status(
    error: BaseException,
    status: int,
    name: str,
    api: Any,  # noqa: ANN401
    shown: str,
    *,
    retries: bool,
    wait: float | None,
) -> Exception:
    if status in (400, 413, 422) and any(mark in shown.lower() for mark in _OVERFLOW):
        return ContextOverflowError(f"{name}: {shown}")
    key = next(iter(getattr(api, "api_key_vars", None) or ()), "that the provider reads")
    headers = getattr(getattr(error, "response", None), "headers", None)
    found = refused(name, status, shown, headers if isinstance(headers, Mapping) else {}, key)
    if isinstance(found, AccessError) and retries and status != 429:
        # Some providers answer what may pass with a status that says otherwise.
        found = TransportError(str(found), trouble=Trouble.SERVER, passing=True)
    if isinstance(found, TransportError) and found.passing and found.wait is None:
        found.wait = wait
    return found


def _without_status(chain: list[BaseException], *, retries: bool) -> Trouble:
    # Told by name: the classes belong to packages that are not needed for other providers.
    kinds = [type(one).__name__ for one in chain]
    if any("Timeout" in kind for kind in kinds):
        return Trouble.TIMEOUT
    if any(kind == "RemoteProtocolError" and _NO_RESPONSE in str(one) for kind, one in zip(kinds, chain, strict=True)):
        return Trouble.CONNECTION
    if any(kind in _CUT_OFF or "Validation" in kind for kind in kinds) or any(
        isinstance(one, _NO_REPLY) for one in chain
    ):
        return Trouble.BAD_REPLY
    if any("Connect" in kind or kind in ("NetworkError", "ReadError", "WriteError") for kind in kinds):
        return Trouble.CONNECTION
    return Trouble.SERVER if retries else Trouble.REFUSED


def _in_environment(variables: Mapping[str, str]) -> Iterator[str]:
    # Which variables a provider reads differs, and is Inspect's knowledge; so all that are named like a secret.
    for name, value in variables.items():
        if names_secret(name):
            yield value.strip()


def _message(error: BaseException) -> str:
    """Return what an error says, with the code and the type that the provider gave it."""
    message = getattr(error, "message", None)
    text = str(error if message is None else message)
    body = getattr(error, "body", None)
    told = body.get("error", body) if isinstance(body, dict) else None
    codes = [told.get("code"), told.get("type")] if isinstance(told, dict) else []
    missing = [code for code in codes if isinstance(code, str) and code not in text]
    return f"{text} ({', '.join(missing)})" if missing else text


def _decision(api: Any, error: BaseException) -> tuple[bool, bool, float | None]:  # noqa: ANN401
    """Return whether the provider says that this may pass, whether it is a limit, and the seconds asked to wait."""
    try:
        decision = api.should_retry(error)
    except Exception:  # A provider that can't tell has told nothing.
        return False, False, None
    limited = bool(decision) and getattr(decision, "kind", "") == "rate_limit"
    return bool(decision), limited, getattr(decision, "retry_after", None)


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: BaseException | None = error
    for _ in range(8):
        if seen is None:
            return
        yield seen
        seen = seen.__cause__ or seen.__context__


def _status(error: BaseException) -> int | None:
    response = getattr(error, "response", None)
    of_aws = response.get("ResponseMetadata", {}).get("HTTPStatusCode") if isinstance(response, dict) else None
    for found in (getattr(error, "status_code", None), getattr(error, "code", None), of_aws):
        if isinstance(found, int) and 100 <= found < 600:
            return found
    return None
