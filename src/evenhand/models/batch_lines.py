"""The lines of batch files: a request on its way out, and what a line of the output says of one."""

from dataclasses import dataclass
from typing import Any

from evenhand.errors import EvenhandError
from evenhand.instruments import Request
from evenhand.models.fast_json import encoded, parsed
from evenhand.models.http import HttpModel, shown
from evenhand.models.http_errors import error_inside, refused
from evenhand.models.model import AccessError, ContextOverflowError, TransportError
from evenhand.readings import Reply

NOT_RUN = "not_run"
"""The class of a request that was not come to before the batch expired or was cancelled."""
_NOT_RUN_CODES = ("batch_expired", "batch_cancelled")
_OF_THE_ACCOUNT = (401, 402, 403, 429)
"""Statuses that say nothing of the request itself."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a batch's output or error file."""

    custom_id: str
    status: int | None
    """The status of the request's response; None where there was none."""
    body: Any
    error: Any
    raw: bytes


@dataclass(frozen=True, slots=True)
class Failed:
    """A request of a batch that brought no reply."""

    kind: str
    """A class of trouble, ``overflow``, ``access`` or ``not_run``."""
    reason: str
    passing: bool
    """It may be answered when it is sent again."""


def endpoint_of(request: Request) -> str:
    """Return where in the API a request goes."""
    return "/v1/chat/completions" if request.messages else "/v1/completions"


def request_line(key: str, model: HttpModel, request: Request) -> bytes:
    """Return a request as a line of a batch file; the body is to the byte what the model is sent online."""
    head = f'{{"custom_id":"{key}","method":"POST","url":"{endpoint_of(request)}","body":'
    return head.encode("ascii") + encoded(model.body(request)) + b"}\n"


def read_line(raw: bytes) -> Line | None:
    """Return what a line says, or None where it can't be read."""
    try:
        value = parsed(raw)
    except ValueError:
        return None
    if not isinstance(value, dict) or not isinstance(value.get("custom_id"), str):
        return None
    response = value.get("response")
    if not isinstance(response, dict):
        return Line(value["custom_id"], None, None, value.get("error"), raw)
    status = response.get("status_code")
    known = status if isinstance(status, int) and not isinstance(status, bool) else None
    return Line(value["custom_id"], known, response.get("body"), value.get("error"), raw)


def outcome(line: Line, model: HttpModel, request: Request) -> Reply | Failed:
    """Return the reply in a line, read as one that came online, or why there is none.

    Secrets are blacked out in the line already.
    """
    try:
        if line.status == 200 and not line.error:
            return model.read(line.body, request, line.raw)
        error = _error(line, model)
    except EvenhandError as raised:
        error = raised
    if isinstance(error, ContextOverflowError):
        return Failed("overflow", str(error), passing=False)
    if isinstance(error, TransportError):
        return Failed(str(error.trouble), str(error), passing=error.passing)
    if isinstance(error, AccessError):
        return Failed("access", str(error), passing=line.status in _OF_THE_ACCOUNT)
    return Failed(NOT_RUN, str(error), passing=True)


def _error(line: Line, model: HttpModel) -> Exception:
    told = shown(_quoted(line))
    if line.status is not None and line.status != 200:
        return refused(model.name, line.status, told, {}, model.key_variable)
    code = line.error.get("code") if isinstance(line.error, dict) else None
    if code in _NOT_RUN_CODES:
        return EvenhandError(f"{model.name}: {code}")
    return error_inside(model.name, line.error, told)


def _quoted(line: Line) -> bytes:
    """Return what says why: the body, the error, or else all there is."""
    return next((encoded(part) for part in (line.body, line.error) if isinstance(part, dict)), line.raw)
