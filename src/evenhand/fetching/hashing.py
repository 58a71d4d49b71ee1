"""Files are what their hash says they are."""

import hashlib
from pathlib import Path

from evenhand.errors import EvenhandError


class WrongHashError(EvenhandError):
    """A file is not the one that was asked for; the message names both hashes."""

    def __init__(self, name: str, expected: str, found: str, done: str) -> None:
        super().__init__(f"{name}: its SHA-256 is {found} where {expected} was expected. {done}")


def sha256_of_file(path: Path) -> str:
    """Return the SHA-256 of a file in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_file(path: Path, expected: str) -> None:
    """Delete a file of the cache whose hash is wrong, and raise ``WrongHashError``."""
    found = sha256_of_file(path)
    if found != expected:
        path.unlink(missing_ok=True)
        raise WrongHashError(str(path), expected, found, "The file was deleted; fetch it again.")
