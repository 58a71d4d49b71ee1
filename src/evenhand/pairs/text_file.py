"""A text file that the user names, whole or with a clear word on what is wrong with it."""

from pathlib import Path

from evenhand.errors import InputError


def read_text_file(path: Path, *, field: str = "") -> str:
    """Return the text of a UTF-8 file without its byte-order mark; line ends stay as they are.

    Args:
        path: the file.
        field: the option that named it, for the message.

    Raises ``InputError`` that names the line where the text ends to be text.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(
            f"can't be read ({error.strerror or error})", source=str(path), field=field, way_out="check the path"
        ) from error
    if b"\0" in data:
        raise InputError(
            f"has a NUL byte in line {_line(data, data.index(0))}",
            source=path.name,
            field=field,
            way_out="save it as UTF-8 text (a UTF-16 file or a damaged one looks like this)",
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"is not UTF-8 in line {_line(data, error.start)}",
            source=path.name,
            field=field,
            way_out="save it with UTF-8 encoding",
        ) from error


def _line(data: bytes, at: int) -> int:
    return data[:at].count(b"\n") + 1
