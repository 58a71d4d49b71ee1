"""Files in stores that PyArrow's file systems reach: ``s3://``, ``gs://``, ``file://`` and what else it knows."""

import importlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from evenhand.errors import InputError

_IN_PATHS = "/!$&'()*+,;=:@~"
"""What stands for itself in the path of an address, besides letters and digits."""
_EMULATORS = ("STORAGE_EMULATOR_HOST", "CLOUD_STORAGE_EMULATOR_ENDPOINT")
"""Where Google's own libraries look for the address of an emulator; PyArrow does not look into the first."""
_PATIENCE = 20
"""Seconds that Google's store is tried; PyArrow's own limit is 15 minutes, even where there are no credentials."""
_KEYS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
_SECRET = re.compile(r"secret|key|token|sig|password", re.IGNORECASE)
_OF_GOOGLE = ("gs", "gcs")
_LONGEST = 300

_UNKNOWN = re.compile(r"Unrecognized filesystem type")
_NO_BUCKET = re.compile(r"NO_SUCH_BUCKET|NoSuchBucket|Bucket '.*' not found")
_NOTHING = re.compile(r"NOT_FOUND|NO_SUCH_KEY|No such file|does not exist|Errno 2\b")
_REFUSED = re.compile(
    r"ACCESS_DENIED|PERMISSION_DENIED|UNAUTHENTICATED|OAuth2|Errno 13\b|HTTP status 40[013]\b"
    r"|access.?key|client.?token|signature|expired",
    re.IGNORECASE,
)
_ELSEWHERE = re.compile(r"HTTP status 30[17]\b|permanent.?redirect", re.IGNORECASE)
_WHERE = "in the environment; on a cluster, in that of every worker"
_OF_S3 = f"give AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, of who may list and read it {_WHERE}"
_OF_GOOGLE_S = (
    f"name a file of credentials in GOOGLE_APPLICATION_CREDENTIALS {_WHERE}; or give `gcloud auth application-default"
    " login`; or, where everybody may read it, write gs://anonymous@BUCKET/FOLDER"
)


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file in a store."""

    address: str
    name: str
    """Its path below the address that was asked for; of a file that was named itself, what it is called."""
    size: int
    """In bytes."""
    changed: str | None
    """When it was last changed (ISO 8601), where the store says."""


@dataclass(frozen=True, slots=True)
class _Address:
    """An address in its parts."""

    scheme: str
    user: str
    """Before the name of the bucket, with its ``@``: ``anonymous@`` for one of Google's that is open to all."""
    path: str
    """With its bucket or host, as it was written."""
    query: str
    """Options of the file system, with their ``?``."""

    def sibling(self, path: str) -> str:
        """Return the address of another path in the same store."""
        return f"{self.scheme}://{self.user}{quote(path, safe=_IN_PATHS)}{self.query}"

    def uri(self) -> str:
        """Return what PyArrow is given: every letter allowed, and the environment's emulator in it."""
        quoted = re.sub(r"%(?![0-9A-Fa-f]{2})", "%25", self.path)
        user, query = self.user, self.query
        if self.scheme in _OF_GOOGLE:
            emulator = next((found for name in _EMULATORS if (found := os.environ.get(name))), "")
            if emulator and "endpoint_override=" not in query:
                scheme, _, host = emulator.rpartition("://")
                query += f"{'&' if query else '?'}endpoint_override={host.rstrip('/')}&scheme={scheme or 'http'}"
                user = "anonymous@"
            if "retry_limit_seconds=" not in query:
                query += f"{'&' if query else '?'}retry_limit_seconds={_PATIENCE}"
        return f"{self.scheme}://{user}{quote(quoted, safe=_IN_PATHS + '%')}{query}"


def is_stored(name: str) -> bool:
    """Tell whether a name is an address in a store, and no path.

    >>> is_stored("s3://bucket/folder"), is_stored("data/pairs.jsonl"), is_stored("hf:owner/name")
    (True, False, False)
    """
    return "://" in name


def stored_files(address: str) -> list[StoredFile]:
    """Return the files at or below an address, sorted by their paths.

    Raises ``InputError`` where there is nothing, or where it can't be read.
    """
    parts = _parts(address)
    system, path = _system(address, parts)
    fs = importlib.import_module("pyarrow.fs")
    try:
        at = system.get_file_info(path)
        found = [at] if at.is_file else system.get_file_info(fs.FileSelector(path, recursive=True))
    except Exception as error:  # PyArrow's are of many kinds.
        raise _unreadable(address, parts, _reason(system, path, error)) from None
    files = sorted((info for info in found if info.is_file), key=lambda info: str(info.path).split("/"))
    below = path.rstrip("/") + "/"
    return [
        StoredFile(
            address=parts.sibling(str(info.path)),
            name=str(info.base_name if at.is_file else info.path.removeprefix(below)),
            size=int(info.size),
            changed=info.mtime.isoformat() if info.mtime else None,
        )
        for info in files
    ]


@contextmanager
def here(address: str) -> Iterator[Path]:
    """Give the path of a copy of a stored file while it is used."""
    parts = _parts(address)
    system, path = _system(address, parts)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / Path(path).name
        try:
            with system.open_input_stream(path, compression=None) as stored, copy.open("wb") as file:
                shutil.copyfileobj(stored, file, 2**20)
        except Exception as error:
            raise _unreadable(address, parts, str(error)) from None
        yield copy


def _parts(address: str) -> _Address:
    scheme, _, rest = address.partition("://")
    path, mark, options = rest.partition("?")
    bucket, slash, below = path.partition("/")
    user, at, bucket = bucket.rpartition("@")
    if (at and scheme.lower() == "s3") or ":" in user or _SECRET.search(options):
        raise InputError(
            "has credentials in it, which would stand in records and messages",
            source=f"{scheme}://{bucket}{slash}{below}",
            way_out="leave them out of the address, and put them into the environment (AWS_ACCESS_KEY_ID and"
            " AWS_SECRET_ACCESS_KEY, or GOOGLE_APPLICATION_CREDENTIALS)",
        )
    return _Address(scheme.lower(), user + at, bucket + slash + below, mark + options)


def _system(address: str, parts: _Address) -> tuple[Any, str]:
    try:
        fs = importlib.import_module("pyarrow.fs")
    except ImportError as error:
        raise InputError(
            "PyArrow, which reads files in stores, is not installed",
            source=address,
            way_out="pip install 'evenhand[ray]', or copy the files to this machine",
        ) from error
    try:
        system, path = fs.FileSystem.from_uri(parts.uri())
    except Exception as error:
        raise _unreadable(address, parts, str(error)) from None
    return system, path


def _reason(system: Any, path: str, error: Exception) -> str:  # noqa: ANN401  (a file system of PyArrow's)
    """Return why a look at an address failed.

    S3 answers a question about one file without a word; asked for a list, it says what is wrong.
    """
    if not re.search(r"ACCESS_DENIED|HTTP status", str(error)):
        return str(error)
    fs = importlib.import_module("pyarrow.fs")
    try:
        system.get_file_info(fs.FileSelector(path))
    except Exception as second:
        return str(second)
    return str(error)


def _unreadable(address: str, parts: _Address, reason: str) -> InputError:
    text = " ".join(reason.split()).replace("google::cloud::Status(", "").partition(" error_info=")[0]
    for name in _KEYS:
        if os.environ.get(name):
            text = text.replace(os.environ[name], "***")
    told = f" ({text.rpartition('The underlying error message was: ')[2][:_LONGEST]})"
    google = parts.scheme in _OF_GOOGLE
    for pattern, problem, way_out in (
        (_UNKNOWN, "is of a kind that PyArrow does not know", "name s3://BUCKET/FOLDER or gs://BUCKET/FOLDER"),
        (_NO_BUCKET, f"there is no such bucket{told}", f"check the bucket's name, and {_endpoint(google=google)}"),
        # Before the next: the store says of a key, too, that it does not exist.
        (_REFUSED, f"can't be read with the credentials that there are{told}", _OF_GOOGLE_S if google else _OF_S3),
        (
            _NOTHING,
            "there is nothing at this address",
            "check the names of bucket and folder; `*` does not stand for names",
        ),
        (_ELSEWHERE, f"is in another region{told}", f"set AWS_REGION to the bucket's {_WHERE}"),
    ):
        if pattern.search(text):
            return InputError(problem, source=address, way_out=way_out)
    return InputError(
        f"can't be reached{told}",
        source=address,
        way_out=f"check the address, the network and {_endpoint(google=google)} {_WHERE}",
    )


def _endpoint(*, google: bool) -> str:
    return f"{_EMULATORS[0]}, if it is set," if google else "AWS_ENDPOINT_URL, where the store is not Amazon's,"
