"""A report in one of its formats, written where the user wants it."""

import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from evenhand.errors import InputError
from evenhand.report.exports import FOLDER_FORMATS, export
from evenhand.report.exports import FORMATS as EXPORTS
from evenhand.studies.report.build import report

FORMATS = ("html", *EXPORTS)
"""What ``--format`` takes."""
_SUFFIXES = {"latex": "tex", "annex": "annex.md"}


def write_report(
    paths: Sequence[Path], kind: str = "html", out: Path | None = None, *, say: Callable[[str], object] | None = None
) -> Path:
    """Write a report of the runs in these folders, and return where it is.

    Args:
        paths: the run folders.
        kind: one of ``FORMATS``.
        out: a file, or a folder for the formats in ``FOLDER_FORMATS``; None for the usual name in the first run.
        say: is told what was left out because it is not of the run; many formats have no place for it.
    """
    if kind not in FORMATS:
        raise InputError(f"is {kind!r}", field="--format", way_out=f"use {', '.join(FORMATS)}")
    found = report(paths, with_reader=kind == "html")
    for remark in found.remarks:
        if say is not None:
            say(remark)
    out = out or _usual(found.runs[0].folder, kind)
    if kind == "html":
        _write(out, found.page().encode("utf-8", "replace"))
        return out
    files = export(found.material(), kind)
    if kind in FOLDER_FORMATS:
        for file in files:
            _write(out / file.name, file.content)
    else:
        _write(out, files[0].content)
    return out


def _usual(folder: Path, kind: str) -> Path:
    return folder / (f"report-{kind}" if kind in FOLDER_FORMATS else f"report.{_SUFFIXES.get(kind, kind)}")


def _write(path: Path, content: bytes) -> None:
    """Write a file that is whole or not there."""
    temporary: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            raise InputError("is a folder", source=str(path), field="--out", way_out="name a file")
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.")
        temporary = Path(name)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except OSError as error:
        raise InputError(
            f"can't be written ({error.strerror or error})",
            source=str(path),
            field="--out",
            way_out="name another place",
        ) from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
