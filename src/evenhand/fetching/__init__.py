"""A file named by its hash, brought from the first source that serves it."""

from evenhand.fetching.cache import cache_folder
from evenhand.fetching.fetch import (
    Artifact,
    DiskFullError,
    NotFetchedError,
    Source,
    SourceUnavailableError,
    cached_path,
    fetch,
)
from evenhand.fetching.hashing import WrongHashError, check_file, sha256_of_file
from evenhand.fetching.watch import FetchWatch, Unwatched

__all__ = [
    "Artifact",
    "DiskFullError",
    "FetchWatch",
    "NotFetchedError",
    "Source",
    "SourceUnavailableError",
    "Unwatched",
    "WrongHashError",
    "cache_folder",
    "cached_path",
    "check_file",
    "fetch",
    "sha256_of_file",
]
