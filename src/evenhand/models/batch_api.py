"""The batch API of OpenAI-compatible endpoints: send a file of requests, and fetch what came of it."""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

import aiohttp

from evenhand.models.fast_json import parsed
from evenhand.models.http import HttpModel, shown
from evenhand.models.http_errors import bad_reply, refused, unreachable
from evenhand.models.model import AccessError
from evenhand.models.secrets import blacked_out

WINDOW = "24h"
MARK = "evenhand"
"""The name under which a batch's metadata say which file of whose it is."""
STOPPING = frozenset({"cancelling", "cancelled"})
"""What a batch is in after it was cancelled."""
ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
_LIMITS = ("token_limit_exceeded", "rate_limit_exceeded", "quota", "too_many", "enqueued")
"""What the code of a failed batch has in it where it came too soon, and may be sent again as it is."""
_PAGES, _PAGE = 100, 100
_CONNECT_TIMEOUT, _SILENCE = 20.0, 300.0
_LONGEST_LINE = 2**28
_LONGEST_TEXT = 300
_NO_SUCH_THING = (404, 405, 501)
_LOST = (aiohttp.ClientError, TimeoutError, ConnectionError)


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch as the endpoint tells of it."""

    id: str
    status: str
    """One of ``ENDED``, or whatever else an endpoint says while it is under way."""
    input_file: str = ""
    output_file: str = ""
    error_file: str = ""
    total: int = 0
    completed: int = 0
    failed: int = 0
    mark: str = ""
    """What its metadata say under ``MARK``."""
    errors: tuple[tuple[str, str], ...] = ()
    """Code and message, where the whole batch was turned down."""

    @property
    def came_too_soon(self) -> bool:
        """Whether it was turned down for a limit alone, and may be sent again as it is."""
        codes = [code.lower() for code, _ in self.errors]
        return bool(codes) and all(any(limit in code for limit in _LIMITS) for code in codes)

    @property
    def counts(self) -> dict[str, int]:
        """How many of its requests there are, are done and have failed, as the endpoint tells it."""
        return {"total": self.total, "completed": self.completed, "failed": self.failed}


@dataclass(slots=True)
class BatchApi:
    """A model's endpoint, asked for batches. The key is read from the environment when it is opened; see ``HttpModel``.

    Every method raises ``AccessError`` or ``TransportError`` where the endpoint does not do what it is asked to.
    """

    model: HttpModel
    _session: aiohttp.ClientSession | None = None
    _secrets: list[bytes] = field(default_factory=list, repr=False)

    async def __aenter__(self) -> Self:
        self._secrets = self.model.secrets()
        self._session = aiohttp.ClientSession(
            headers=self.model.headers(),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_TIMEOUT, sock_read=_SILENCE),
            cookie_jar=aiohttp.DummyCookieJar(),
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def upload(self, path: Path) -> str:
        """Send a file of requests, and return what the endpoint calls it."""
        with path.open("rb") as file:
            form = aiohttp.FormData()
            form.add_field("purpose", "batch")
            form.add_field("file", file, filename=path.name, content_type="application/jsonl")
            return _text(await self._json("POST", "/files", data=form), "id", self.model.name)

    async def create(self, input_file: str, endpoint: str, mark: str) -> Batch:
        """Have an uploaded file worked off."""
        asked = {
            "input_file_id": input_file,
            "endpoint": endpoint,
            "completion_window": WINDOW,
            "metadata": {MARK: mark},
        }
        return _batch(await self._json("POST", "/batches", json=asked), self.model.name)

    async def find(self, input_file: str, mark: str) -> Batch | None:
        """Return the batch made of an uploaded file, or None; for whoever can't know whether it was made.

        Raises ``TransportError`` too where the endpoint's list is too long to tell.
        """
        after = ""
        for _ in range(_PAGES):
            page = await self._json(
                "GET", f"/batches?limit={_PAGE}" + (f"&after={quote(after, safe='')}" if after else "")
            )
            entries = page.get("data")
            if not isinstance(entries, list):
                raise bad_reply(
                    self.model.name, "the list of batches is none", str(page)[:_LONGEST_TEXT], passing=False
                )
            batches = [_batch(entry, self.model.name) for entry in entries]
            for batch in batches:
                if batch.input_file == input_file or (not batch.input_file and batch.mark == mark):
                    return batch
            if not page.get("has_more") or not batches or batches[-1].id == after:
                return None
            after = batches[-1].id
        raise bad_reply(self.model.name, "the list of batches does not end", "", passing=False)

    async def retrieve(self, batch: str) -> Batch:
        """Return how far a batch is."""
        return _batch(await self._json("GET", f"/batches/{quote(batch, safe='')}"), self.model.name)

    async def cancel(self, batch: str) -> Batch:
        """Have a batch ended before its time; what is answered by then stays, and takes some minutes to be there."""
        return _batch(await self._json("POST", f"/batches/{quote(batch, safe='')}/cancel"), self.model.name)

    async def download(self, file: str, target: Path) -> None:
        """Write a file of the endpoint's to a path, line by line, with every secret in it blacked out."""
        try:
            async with self._asked("GET", f"/files/{quote(file, safe='')}/content") as response:
                if response.status == 200:
                    await self._write(response, target)
                    return
                refusal = self._refused(response, await response.content.read(4000))
        except _LOST as error:
            refusal = unreachable(self.model.name, error)
        # Not raised from aiohttp's error, nor where that is being handled: it may hold the headers, and so the key.
        raise refusal

    async def _write(self, response: aiohttp.ClientResponse, target: Path) -> None:
        with target.open("wb") as out:
            rest = b""
            async for chunk in response.content.iter_any():
                head, newline, tail = chunk.rpartition(b"\n")
                if newline:
                    out.write(blacked_out(rest + head + newline, self._secrets))
                    rest = tail
                else:
                    rest += tail
                if len(rest) > _LONGEST_LINE:
                    raise bad_reply(self.model.name, "a line of a batch's output does not end", "", passing=False)
            out.write(blacked_out(rest, self._secrets))
        # The last line of some endpoints' files has no end, but it is whole.
        if rest.lstrip().startswith(b"{") and not _is_json(rest):
            end = shown(blacked_out(rest, self._secrets)[-80:])
            raise bad_reply(self.model.name, "a batch's output ends in the middle of a line", end)

    async def _json(self, method: str, path: str, **sent: Any) -> dict[str, Any]:  # noqa: ANN401  (aiohttp's)
        try:
            async with self._asked(method, path, **sent) as response:
                data = blacked_out(await response.read(), self._secrets)
        except _LOST as error:
            failure = unreachable(self.model.name, error)
        else:
            if response.status not in (200, 201):
                raise self._refused(response, data)
            try:
                answer = parsed(data)
            except ValueError:
                answer = None
            if not isinstance(answer, dict):
                raise bad_reply(self.model.name, f"{method} {path} brought no JSON object", shown(data))
            return answer
        raise failure

    def _asked(
        self,
        method: str,
        path: str,
        **sent: Any,  # noqa: ANN401  (aiohttp's)
    ) -> AbstractAsyncContextManager[aiohttp.ClientResponse]:
        assert self._session is not None  # noqa: S101  (opened by "async with")
        return self._session.request(method, f"{self.model.base_url}{path}", allow_redirects=False, **sent)

    def _refused(self, response: aiohttp.ClientResponse, data: bytes) -> Exception:
        told = shown(blacked_out(data, self._secrets))
        if (
            response.status in _NO_SUCH_THING
            and response.method == "POST"
            and response.url.path.endswith(("/files", "/batches"))
        ):
            return AccessError(
                f"{self.model.name}: the endpoint answered {response.status} ({told[:_LONGEST_TEXT]}): it seems to have"
                " no batch API. The way out: have it asked online, by the run itself without `evenhand batch`."
            )
        return refused(self.model.name, response.status, told, response.headers, self.model.key_variable)


def _batch(answer: object, name: str) -> Batch:
    if not isinstance(answer, dict):
        raise bad_reply(name, "a batch is no JSON object", str(answer)[:_LONGEST_TEXT])

    def said(name: str) -> str:
        value = answer.get(name)
        return value if isinstance(value, str) else ""

    counts = answer.get("request_counts")
    numbers = counts if isinstance(counts, dict) else {}
    metadata = answer.get("metadata")
    mark = metadata.get(MARK) if isinstance(metadata, dict) else ""
    return Batch(
        id=_text(answer, "id", name),
        status=said("status")[:40] or "unknown",
        input_file=said("input_file_id"),
        output_file=said("output_file_id"),
        error_file=said("error_file_id"),
        total=_count(numbers, "total"),
        completed=_count(numbers, "completed"),
        failed=_count(numbers, "failed"),
        mark=mark if isinstance(mark, str) else "",
        errors=tuple(_errors(answer.get("errors"))),
    )


def _errors(said: object) -> list[tuple[str, str]]:
    entries = said.get("data") if isinstance(said, dict) else said
    if not isinstance(entries, list):
        return []
    return [
        (str(entry.get("code") or "")[:80], str(entry.get("message") or "")[:_LONGEST_TEXT])
        for entry in entries[:20]
        if isinstance(entry, dict)
    ]


def _is_json(text: bytes) -> bool:
    try:
        parsed(text)
    except ValueError:
        return False
    return True


def _count(numbers: Mapping[str, Any], name: str) -> int:
    value = numbers.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _text(answer: Mapping[str, Any], name: str, model: str) -> str:
    value = answer.get(name)
    if not isinstance(value, str) or not value or len(value) > _LONGEST_TEXT:
        raise bad_reply(model, f"the answer names no {name}", str(answer)[:_LONGEST_TEXT], passing=False)
    return value
