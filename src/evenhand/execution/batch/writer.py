"""Writes requests to batch files, each of one model and one endpoint, and none larger than a provider takes."""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from evenhand.errors import EvenhandError, InputError
from evenhand.execution.batch.manifest import BatchFile, Manifest, requests_name
from evenhand.execution.batch.requests_kept import kept_line
from evenhand.instruments import Request
from evenhand.models.batch_lines import endpoint_of, request_line
from evenhand.models.http import HttpModel

_PART = ".part"


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """What a provider takes as one file."""

    requests: int = 50_000
    bytes: int = 200_000_000

    def __post_init__(self) -> None:
        if self.requests < 1:
            raise InputError(f"is {self.requests}", field="--max-requests", way_out="give 1 or more")
        if self.bytes < 1:
            raise InputError("is too little", field="--max-megabytes", way_out="give more than 0")


@dataclass(slots=True)
class _Growing:
    """A file that is being written."""

    name: str
    model: HttpModel
    endpoint: str
    out: BinaryIO
    kept: BinaryIO
    requests: int = 0
    bytes: int = 0
    hash: "hashlib._Hash" = field(default_factory=hashlib.sha256)


class BatchWriter:
    """Takes requests and cuts them into files; nothing is there before ``done`` puts all of it into the manifest."""

    def __init__(self, manifest: Manifest, limits: BatchLimits, attempt: int = 1) -> None:
        """Take where the files go, how large each may be, and how often the requests were sent with them."""
        self._manifest, self._limits, self._attempt = manifest, limits, attempt
        self._growing: dict[tuple[str, str], _Growing] = {}
        self._files: list[BatchFile] = []
        self._names = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for growing in self._growing.values():
            growing.out.close()
            growing.kept.close()
        self._growing = {}

    def add(self, key: str, model: HttpModel, request: Request) -> None:
        """Write a request to the file that is for its model and endpoint."""
        line = request_line(key, model, request)
        if len(line) > self._limits.bytes:
            raise InputError(
                f"a request to {model.name} has {len(line):,} bytes, and a batch file may have {self._limits.bytes:,}",
                field="--max-megabytes",
                way_out="ask this one online, or allow larger files where the provider does",
            )
        group = (model.identity, endpoint_of(request))
        growing = self._growing.get(group)
        if growing and (growing.requests >= self._limits.requests or growing.bytes + len(line) > self._limits.bytes):
            self._close(group)
            growing = None
        try:
            growing = growing or self._begin(group, model)
            growing.out.write(line)
            growing.kept.write(kept_line(key, request))
        except OSError as error:
            raise self._unwritable(error) from error
        growing.hash.update(line)
        growing.requests += 1
        growing.bytes += len(line)

    def done(self) -> list[BatchFile]:
        """Finish the files, and return them; whoever asks puts them into the manifest."""
        for group in list(self._growing):
            self._close(group)
        return sorted(self._files, key=lambda file: file.name)

    def _begin(self, group: tuple[str, str], model: HttpModel) -> _Growing:
        folder, name = self._manifest.folder, self._manifest.next_name(self._names)
        self._names += 1
        growing = _Growing(name, model, group[1], _new(folder / name), _new(folder / requests_name(name)))
        self._growing[group] = growing
        return growing

    def _close(self, group: tuple[str, str]) -> None:
        growing = self._growing.pop(group)
        folder = self._manifest.folder
        try:
            for file, name in ((growing.out, growing.name), (growing.kept, requests_name(growing.name))):
                file.close()
                (folder / f"{name}{_PART}").replace(folder / name)
        except OSError as error:
            raise self._unwritable(error) from error
        self._files.append(
            BatchFile(
                name=growing.name,
                model=growing.model.name,
                identity=growing.model.identity,
                endpoint=growing.endpoint,
                requests=growing.requests,
                bytes=growing.bytes,
                sha256=growing.hash.hexdigest(),
                attempt=self._attempt,
            )
        )

    def _unwritable(self, error: OSError) -> EvenhandError:
        return EvenhandError(
            f"{self._manifest.folder}: a batch file can't be written ({error.strerror or error}). The way out: see that"
            " the disk has room, then give the same command again; nothing was sent."
        )


def _new(path: Path) -> BinaryIO:
    return path.with_name(path.name + _PART).open("wb")
