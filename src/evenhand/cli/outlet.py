"""A stream for what is only told: that nobody takes it any more is no reason to end a run."""

import io
from contextlib import suppress
from typing import TextIO, cast


def outlet(stream: TextIO) -> TextIO:
    """Return a stream that hands texts on to another; where they can't be written they are let go.

    A terminal may be closed under a run that goes on, and whoever reads a pipe may have seen enough.
    """
    return cast(TextIO, _Outlet(stream))


class _Outlet(io.TextIOBase):
    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return getattr(self._stream, "encoding", None) or "utf-8"

    def write(self, text: str) -> int:
        with suppress(OSError, ValueError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError, ValueError):
            self._stream.flush()

    def isatty(self) -> bool:
        with suppress(ValueError):
            return self._stream.isatty()
        return False

    def fileno(self) -> int:
        return self._stream.fileno()
