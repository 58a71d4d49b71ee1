"""A data set in many files: a folder, here or in a store that another library reads."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

from evenhand.errors import InputError
from evenhand.pairs.preferences.records import ENDINGS, Record, read_records


def is_data_file(name: str) -> bool:
    """Tell whether a file in a data set's folder holds rows, by its path in it; marks that writers leave there don't.

    >>> [is_data_file(name) for name in ("a.parquet", "b.JSONL.gz", "_SUCCESS", ".part.json", "_temporary/0/c.json")]
    [True, True, False, False, False]
    """
    plain = name.lower().removesuffix(".gz")
    return plain.endswith(ENDINGS) and not any(part.startswith((".", "_")) for part in name.split("/"))


def files_of(folder: Path) -> list[Path]:
    """Return the files of a data set below a folder, sorted by path; raises ``InputError`` where there is none."""
    inside = (path for path in sorted(folder.rglob("*")) if path.is_file())
    files = [path for path in inside if is_data_file(path.relative_to(folder).as_posix())]
    if not files:
        raise InputError(
            "holds no file of rows", source=str(folder), way_out=f"give a folder with files {', '.join(ENDINGS)}"
        )
    return files


def records_of_files(files: Iterable[Path]) -> Iterator[Record]:
    """Yield the rows of some files one after another, numbered on from file to file."""
    rows = count(1)
    for file in files:
        for record in read_records(file):
            row = next(rows)
            problem = record.problem and replace(record.problem, row=row)
            yield Record(row, record.values, problem)
