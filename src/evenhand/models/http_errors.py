"""What kept an endpoint from answering, in our classes."""

import errno
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import aiohttp

from evenhand.models.model import AccessError, ContextOverflowError, TransportError, Trouble

_TELL = {
    301: "give the address that it is moved to",
    302: "give the address that it is moved to",
    307: "give the address that it is moved to",
    308: "give the address that it is moved to",
    400: "check the model's name and what it accepts; --models FILE leaves out or adds fields",
    401: "set the key in the environment variable {key}",
    402: "see to the account's credit",
    403: "see that the key in {key} may use this model",
    404: "check the address and the model's name",
}
_OVERFLOW = (
    "context_length_exceeded",
    "exceed_context_size_error",
    "maximum context length",
    "maximum model length",
    "context size",
    "context window",
    "prompt is too long",
)
_FEWER_LOGPROBS = ("greater than max allowed",)
"""vLLM's word for more probabilities than it was started to give."""
_NO_CREDIT = ("insufficient_quota", "billing_hard_limit_reached")
_TURNED_DOWN = (
    "content_filter",
    "content_policy_violation",
    "content management policy",
    "responsibleaipolicyviolation",
)
"""Of this one request and its text: the others go on."""
_SECONDS = re.compile(r"\d{1,12}(?:\.\d{0,9})?")


def refused(name: str, status: int, shown: str, headers: Mapping[str, str], key_variable: str) -> Exception:
    """Return the error for a status other than 200.

    Args:
        name: the model's.
        status: the status.
        shown: what came back, with nothing secret in it.
        headers: of the response; they may tell how long to wait.
        key_variable: where the key is, for the way out.
    """
    low = shown.lower()
    shown = _short(shown)
    if status in (400, 413, 422, 500) and any(mark in low for mark in _OVERFLOW):
        return ContextOverflowError(f"{name}: {shown}")
    said = f"{name}: the endpoint answered {status} ({shown})"
    if status in (400, 403, 422) and any(mark in low for mark in _TURNED_DOWN):
        return TransportError(said, trouble=Trouble.REFUSED)
    if status == 429 and any(mark in low for mark in _NO_CREDIT):
        return AccessError(f"{said}. The way out: {_TELL[402]}.")
    if status == 400 and "logprobs" in low and any(mark in low for mark in _FEWER_LOGPROBS):
        return AccessError(
            f"{said}. The way out: set top_logprobs in a file for --models to what the endpoint gives, or let it give"
            " more (vLLM: --max-logprobs)."
        )
    if status in _TELL:
        return AccessError(f"{said}. The way out: {_TELL[status].format(key=key_variable)}.")
    passing = status in (408, 409, 425, 429) or status >= 500
    trouble = Trouble.RATE_LIMIT if status == 429 else Trouble.SERVER if passing else Trouble.REFUSED
    return TransportError(said, trouble=trouble, passing=passing, wait=wait_asked(headers))


def error_inside(name: str, error: Any, shown: str) -> Exception:  # noqa: ANN401  (whatever an endpoint sends)
    """Return the error for one that came under status 200."""
    if any(mark in shown.lower() for mark in _OVERFLOW):
        return ContextOverflowError(f"{name}: {_short(shown)}")
    code = error.get("code") if isinstance(error, dict) else None
    status = int(code) if isinstance(code, int) or (isinstance(code, str) and code.isdecimal()) else 0
    trouble = Trouble.RATE_LIMIT if status == 429 else Trouble.SERVER if 500 <= status < 600 else Trouble.BAD_REPLY
    return TransportError(f"{name}: an error under status 200: {_short(shown)}", trouble=trouble, passing=True)


def bad_reply(name: str, problem: str, shown: str, *, passing: bool = True) -> TransportError:
    """Return the error for something that came back and is no reply."""
    return TransportError(f"{name}: {problem}: {_short(shown)}", trouble=Trouble.BAD_REPLY, passing=passing)


def unreachable(name: str, error: BaseException) -> TransportError:
    """Return the error for a call that came to no response.

    It must not be raised from the one given, which may hold the request's headers, and so the key.
    """
    number = getattr(error, "errno", None)
    if isinstance(error, TimeoutError) or number == errno.ETIMEDOUT:
        trouble = Trouble.TIMEOUT
    elif isinstance(error, aiohttp.ClientPayloadError | aiohttp.ClientResponseError):
        trouble = Trouble.BAD_REPLY
    else:
        trouble = Trouble.CONNECTION
    reason = getattr(error, "strerror", None)
    told = f" ({reason})" if isinstance(reason, str) and reason else ""
    return TransportError(f"{name}: {type(error).__name__}{told}", trouble=trouble, passing=True)


def wait_asked(headers: Mapping[str, str]) -> float | None:
    """Return how many seconds the endpoint asks to wait: ``Retry-After`` in seconds or as a date; None if it doesn't.

    A date is taken by the endpoint's own clock where it tells that too.

    >>> wait_asked({"Retry-After": "2.5"}), wait_asked({"retry-after-ms": "40"}), wait_asked({})
    (2.5, 0.04, None)
    >>> wait_asked({"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT", "Date": "Wed, 21 Oct 2026 07:27:30 GMT"})
    30.0
    """
    milliseconds = headers.get("retry-after-ms", "")
    if _SECONDS.fullmatch(milliseconds):
        return float(milliseconds) / 1000
    asked = headers.get("Retry-After", "").strip()
    if _SECONDS.fullmatch(asked):
        return float(asked)
    then, now = _time(asked), _time(headers.get("Date", "")) or datetime.now(UTC)
    return max(0.0, (then - now).total_seconds()) if then else None


def _time(date: str) -> datetime | None:
    try:
        time = parsedate_to_datetime(date)
    except (ValueError, OverflowError):
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _short(shown: str) -> str:
    return shown if len(shown) <= 200 else f"{shown[:199]}…"
