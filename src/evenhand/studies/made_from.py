"""Which files of a run its figures were worked out from."""

from collections.abc import Mapping
from pathlib import Path

from evenhand.execution.shards import table_files, table_sha256
from evenhand.fetching import sha256_of_file

_TABLES = ("pairs", "ratings")


def made_from(folder: Path) -> dict[str, str]:
    """Return the hashes of what lies in the folder of a rating run: of its pairs, its ratings and its questions."""
    return {
        **{f"{name}_sha256": table_sha256(folder, name) for name in _TABLES},
        "questions_sha256": sha256_of_file(folder / "questions.json"),
    }


def holds_ratings(folder: Path) -> bool:
    """Tell whether a folder holds the files of a rating run."""
    return (folder / "questions.json").is_file() and all(table_files(folder, name) for name in _TABLES)


def other_files(said: object, there: Mapping[str, str]) -> str | None:
    """Return in words which files of a rating run are not those that figures were made from; empty if all are.

    None where the figures don't say it: earlier versions of Evenhand did not write it.

    >>> other_files({"pairs_sha256": "a", "ratings_sha256": "b"}, {"pairs_sha256": "a", "ratings_sha256": "c"})
    'ratings'
    >>> other_files({}, {"pairs_sha256": "a"})
    """
    if not isinstance(said, Mapping) or not all(said.get(name) for name in there):
        return None
    *most, last = ["", *(name.removesuffix("_sha256") for name, found in there.items() if said[name] != found)]
    return f"{', '.join(most[1:])} and {last}" if most[1:] else last
