"""The requests that a batch file was made of, as the ledger will keep them."""

import json
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import orjson

from evenhand.errors import InputError
from evenhand.instruments import Message, Request

_HEAD, _KEY = b'{"key":"', 64


def kept_line(key: str, request: Request) -> bytes:
    """Return a request under its key, as a line."""
    try:
        text = orjson.dumps(request.as_json())
    except TypeError:  # A lone surrogate, which UTF-8 can't hold.
        text = json.dumps(request.as_json(), ensure_ascii=True, separators=(",", ":")).encode("ascii")
    return _HEAD + key.encode("ascii") + b'","request":' + text + b"}\n"


def keys_of(path: Path) -> Iterator[str]:
    """Yield the keys of the requests that a file keeps, in their order."""
    for key, _ in _places(path):
        yield key


class KeptRequests:
    """Looks up requests by their keys; of each, nothing but its place is in memory."""

    def __init__(self, path: Path, identity: str) -> None:
        """Take the file, and the identity of the model that the requests are for."""
        self._path, self._identity = path, identity
        self.places = dict(_places(path))
        """Where each request's line begins, by key."""
        self._file = path.open("rb")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def __contains__(self, key: str) -> bool:
        return key in self.places

    def __getitem__(self, key: str) -> Request:
        """Return a request; raises ``InputError`` where it is not the one that its key was made of."""
        self._file.seek(self.places[key])
        line = self._file.readline()
        try:
            request = _request(json.loads(line)["request"])
        except (ValueError, KeyError, TypeError):
            request = None
        if request is None or request.key(self._identity) != key:
            raise InputError(
                f"the request {key[:16]}... is damaged",
                source=str(self._path),
                way_out="bring the file back from a copy; without it the replies can't be put into the ledger",
            )
        return request


def _request(values: dict[str, Any]) -> Request:
    messages = tuple(Message(turn["role"], turn["content"]) for turn in values["messages"])
    return Request(**{**values, "messages": messages, "stop": tuple(values["stop"])})


def _places(path: Path) -> Iterator[tuple[str, int]]:
    begin = 0
    try:
        with path.open("rb") as file:
            for line in file:
                if not line.startswith(_HEAD) or not line.endswith(b"\n"):
                    raise InputError(
                        "is damaged", source=str(path), way_out="bring it back from a copy, or write the requests anew"
                    )
                yield line[len(_HEAD) : len(_HEAD) + _KEY].decode("ascii", "replace"), begin
                begin += len(line)
    except OSError as error:
        raise InputError(
            f"can't be read ({error.strerror or error})",
            source=str(path),
            way_out="bring it back from a copy: without it the replies can't be put into the ledger",
        ) from error
