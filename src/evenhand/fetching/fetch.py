"""Fetch a file: the cache first, then one source after another, checked by hash before anybody opens it."""

import errno
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias

from filelock import FileLock

from evenhand.errors import EvenhandError
from evenhand.fetching.cache import cache_folder
from evenhand.fetching.hashing import WrongHashError, check_file, sha256_of_file
from evenhand.fetching.watch import FetchWatch, Unwatched

OnBytes: TypeAlias = Callable[[int], None]
"""Called with the number of bytes of the file that are there by now."""


class SourceUnavailableError(Exception):
    """A source does not serve the file now; its message says why. The next source is tried."""


class NotFetchedError(EvenhandError):
    """No source served the file."""


class DiskFullError(EvenhandError):
    """The disk of the cache folder has no room for the file."""


@dataclass(frozen=True, slots=True)
class Artifact:
    """A file by its content."""

    path: str
    """Where it is kept, below the cache folder."""
    sha256: str
    bytes: int | None = None
    """Its size, where it is known beforehand."""
    by_hand: str = ""
    """What to do where no source serves it."""


class Source(Protocol):
    """A place that may serve a file."""

    @property
    def name(self) -> str:
        """How messages call it."""

    def bring(self, artifact: Artifact, target: Path, on_bytes: OnBytes) -> None:
        """Write the file to ``target``, going on with what an earlier try left there.

        Raises ``SourceUnavailableError`` where this source does not serve it.
        """


def cached_path(artifact: Artifact) -> Path | None:
    """Return where the file is kept, or None where it is not (or not with the right size)."""
    path = cache_folder() / artifact.path
    if not path.is_file() or (artifact.bytes is not None and path.stat().st_size != artifact.bytes):
        return None
    return path


def fetch(artifact: Artifact, sources: Sequence[Source], watch: FetchWatch | None = None) -> Path:
    """Return the path of the file in the cache, fetched if it was not there, its hash checked.

    Two processes that want the same file fetch it once. What a broken fetch left behind is gone on with.

    Raises ``WrongHashError``, ``DiskFullError`` or ``NotFetchedError``.
    """
    watch = watch or Unwatched()
    path = cache_folder() / artifact.path
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{path}.lock"):
            if cached_path(artifact):
                check_file(path, artifact.sha256)
                return path
            if path.is_file():
                found = sha256_of_file(path)
                path.unlink()
                watch.say(f"{path.name}: had {found}, not {artifact.sha256}; it was deleted and is fetched again")
            return _bring(artifact, sources, path, watch)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise _full(artifact, path) from error
        raise EvenhandError(
            f"{path}: {error.strerror or error}. The way out: set EVENHAND_CACHE to a folder that can be written."
        ) from error


def _bring(artifact: Artifact, sources: Sequence[Source], path: Path, watch: FetchWatch) -> Path:
    def on_bytes(done: int) -> None:
        watch.fetched(path.name, done, artifact.bytes)

    partial = path.with_name(f"{path.name}.partial")
    reasons: list[str] = []
    for source in sources:
        _check_room(artifact, path, partial)
        try:
            source.bring(artifact, partial, on_bytes)
        except SourceUnavailableError as error:
            reasons.append(f"{source.name}: {error}")
            continue
        found = sha256_of_file(partial)
        if found != artifact.sha256:
            partial.unlink()
            reasons.append(str(WrongHashError(source.name, artifact.sha256, found, "What it served was deleted.")))
            continue
        partial.replace(path)
        watch.say(f"{path.name}: served by {source.name}")
        return path
    if any("SHA-256" in reason for reason in reasons):
        raise NotFetchedError(f"{path.name} could not be had. " + " ".join(reasons))
    listed = "".join(f"\n  {reason}" for reason in reasons)
    raise NotFetchedError(f"{path.name} could not be fetched:{listed}\n{artifact.by_hand}".rstrip())


def _check_room(artifact: Artifact, path: Path, partial: Path) -> None:
    if artifact.bytes is None:
        return
    there = partial.stat().st_size if partial.is_file() else 0
    if shutil.disk_usage(path.parent).free < artifact.bytes - there:
        raise _full(artifact, path)


def _full(artifact: Artifact, path: Path) -> DiskFullError:
    need = f"{artifact.bytes / 1e6:,.0f} MB" if artifact.bytes else "more room"
    return DiskFullError(
        f"{path.parent}: the disk is full ({path.name} needs {need}). The way out: free some room, or set"
        " EVENHAND_CACHE to a folder on another disk; what was fetched so far is kept and gone on with."
    )
