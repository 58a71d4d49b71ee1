"""The manifest: what batch files a run folder has, and how far each is."""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Self

from filelock import FileLock, Timeout

from evenhand.errors import EvenhandError, InputError
from evenhand.execution.run_folder import refuse_address

FOLDER = "batches"
MANIFEST = "manifest.json"
_SCHEMA = 1


class FileState(StrEnum):
    """How far a batch file is."""

    WRITTEN = "written"
    """Here and nowhere else."""
    UPLOADED = "uploaded"
    """The provider has it; no batch was made of it."""
    CREATING = "creating"
    """A batch was asked for; whether there is one is not known until its id is here."""
    SUBMITTED = "submitted"
    COLLECTED = "collected"
    """What came back is in the ledger; what did not is in a later file."""
    REJECTED = "rejected"
    """The provider turned the whole file down, or it was given up; the next `batch write` writes its requests anew."""


OPEN = frozenset({FileState.WRITTEN, FileState.UPLOADED, FileState.CREATING, FileState.SUBMITTED})
"""States in which a file's requests are still to be answered, and must not be written again."""


@dataclass(frozen=True, slots=True)
class BatchFile:
    """A batch file."""

    name: str
    model: str
    """As the user calls it."""
    identity: str
    """The model's identity, of which the ledger's keys were made."""
    endpoint: str
    requests: int
    bytes: int
    sha256: str
    attempt: int = 1
    """How often its requests have been put into a file, this one among them."""
    state: FileState = FileState.WRITTEN
    input_file: str = ""
    """What the provider calls the uploaded file."""
    batch: str = ""
    """What the provider calls the batch."""
    status: str = ""
    """What the provider said last of the batch."""
    counts: dict[str, int] = field(default_factory=dict)
    """What came of it, once it is collected."""
    note: str = ""
    """Why it is where it is, if that needs a reason."""

    @property
    def mark(self) -> str:
        """What the batch's metadata say, by which it can be told from every other."""
        return f"{self.name} {self.sha256[:32]} {self.attempt}"


class Manifest:
    """The batch files of a run folder. Each change is on disk before ``put`` returns."""

    def __init__(self, run: Path) -> None:
        """Read what is there; an empty one where there is none yet."""
        self.folder = run / FOLDER
        self.path = self.folder / MANIFEST
        self._files: dict[str, BatchFile] = {}
        self._next = 1
        if self.path.is_file():
            self._read()

    @classmethod
    def there(cls, run: Path) -> Self:
        """Return the manifest of a run folder that has batch files, and raise ``InputError`` where it has none."""
        if not (run / FOLDER / MANIFEST).is_file():
            raise InputError(
                "has no batch files", source=str(run), way_out="write them first: evenhand batch write rate|audit ..."
            )
        return cls(run)

    @property
    def files(self) -> tuple[BatchFile, ...]:
        """All of them, in the order in which they were written."""
        return tuple(self._files.values())

    def at(self, *states: FileState) -> list[BatchFile]:
        """Return the files that are in one of these states."""
        return [file for file in self._files.values() if file.state in states]

    def path_of(self, file: BatchFile) -> Path:
        """Return where a batch file is."""
        return self.folder / file.name

    def requests_of(self, file: BatchFile) -> Path:
        """Return where the requests are that a batch file was made of."""
        return self.folder / requests_name(file.name)

    def next_name(self, ahead: int = 0) -> str:
        """Return what the next file is called, or the one so many places further on."""
        return f"{self._next + ahead:04}.jsonl"

    def change(self, file: BatchFile, **changes: Any) -> BatchFile:  # noqa: ANN401  (fields of the dataclass)
        """Change what is known of a file, and return it as it now is."""
        changed = replace(self._files[file.name], **changes)
        self.put([changed])
        return changed

    def put(self, files: Sequence[BatchFile], *, without: Sequence[BatchFile] = ()) -> None:
        """Add files or put them in the place of those with the same names, and take others out, all at once."""
        gone = {file.name for file in without}
        kept = {name: file for name, file in self._files.items() if name not in gone}
        self._files = kept | {file.name: file for file in files}
        self._next = max([self._next, *(int(file.name.partition(".")[0]) + 1 for file in files)])
        self._write()

    def sweep(self) -> None:
        """Delete what no open file needs: the files of those that are settled, and what an interruption left behind."""
        needed = {name for file in self.at(*OPEN) for name in (file.name, requests_name(file.name))}
        for path in self.folder.glob("[0-9]*.jsonl*"):
            if path.name not in needed:
                path.unlink(missing_ok=True)

    def _read(self) -> None:
        try:
            value = json.loads(self.path.read_text("utf-8"))
            files = [BatchFile(**{**entry, "state": FileState(entry["state"])}) for entry in value["files"]]
            self._files = {file.name: file for file in files}
            self._next = int(value["next"])
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise InputError(
                f"is no manifest of batch files ({error})",
                source=str(self.path),
                way_out="bring it back from a copy: it knows which batches are paid for",
            ) from error

    def _write(self) -> None:
        value = {"schema": _SCHEMA, "next": self._next, "files": [asdict(file) for file in self.files]}
        text = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            # Whoever writes holds the lock, so the name is nobody else's.
            temporary = self.folder / f".{MANIFEST}.part"
            with temporary.open("w", encoding="utf-8", newline="\n") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(self.path)
        except OSError as error:
            raise EvenhandError(
                f"{self.path}: can't be written ({error.strerror or error}). The way out: see that the disk has room,"
                " then give the same command again."
            ) from error


def requests_name(name: str) -> str:
    """Return what the file is called that keeps the requests of a batch file.

    >>> requests_name("0001.jsonl")
    '0001.requests.jsonl'
    """
    return f"{name.removesuffix('.jsonl')}.requests.jsonl"


@contextmanager
def batches_locked(run: Path) -> Iterator[Manifest]:
    """Give a run folder's manifest, locked; raises ``EvenhandError`` where another command is at work on it."""
    refuse_address(run)
    folder = run / FOLDER
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"can't be made ({error.strerror or error})", source=str(folder), way_out="name another folder"
        ) from error
    lock = FileLock(folder / ".lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise EvenhandError(
            f"{folder}: another command is at work on these batch files. The way out: wait until it is done."
        ) from None
    try:
        yield Manifest(run)
    finally:
        lock.release()
