"""Raw rows from JSON lines, JSON, CSV and Parquet files, plain or gzipped."""

import csv
import gzip
import io
import json
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

import polars as pl

from evenhand.errors import InputError
from evenhand.pairs.preferences.problem import Problem, ProblemKind
from evenhand.pairs.spreadsheet import spreadsheet_reader

ENDINGS = (".jsonl", ".ndjson", ".json", ".csv", ".parquet")
_ROWS_AT_ONCE = 2_000
_KEYS_BESIDE_ROWS = 3
_GZIP = b"\x1f\x8b"
_NOT_UTF8 = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16", b"(\xb5\x2f": "zstd", b"PK": "zip", b"BZ": "bzip2"}


@dataclass(frozen=True, slots=True)
class Record:
    """A raw row: its columns, or why there are none."""

    row: int
    values: dict[str, Any] | None
    problem: Problem | None = None


def read_records(path: Path) -> Iterator[Record]:
    """Yield the rows of a file, one at a time; the kind of file is told by its ending, ``.gz`` taken off first.

    Text is UTF-8 with or without a byte-order mark. Bytes that are not UTF-8 come as lone surrogates, for whoever
    makes text of them to replace and to say so. A line ends at LF or CRLF and nowhere else: U+2028, U+2029 and U+0085
    stay inside it. Blank lines are no rows.

    Raises ``InputError`` for a file that can't be read at all.
    """
    name = path.name.lower().removesuffix(".gz")
    ending = next((known for known in ENDINGS if name.endswith(known)), None)
    if ending is None:
        raise InputError(
            "is of no known kind",
            source=str(path),
            way_out=f"give a file that ends in {', '.join(ENDINGS)}, each also with .gz",
        )
    readers = {".json": _json, ".csv": _csv, ".parquet": _parquet}
    try:
        with _opened(path) as file:
            yield from readers.get(ending, _json_lines)(file, path)
    except OSError as error:  # A damaged gzip file is one too.
        raise InputError(
            f"can't be read ({error.strerror or error})", source=str(path), way_out="check the path and the file"
        ) from error
    except (EOFError, zlib.error) as error:
        raise InputError(f"is damaged ({error})", source=str(path), way_out="fetch or compress it again") from error


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    # By its first bytes and not by its name, since a browser may unpack a file and leave its name as it was.
    with path.open("rb") as plain:
        if _is_gzip(path):
            with gzip.GzipFile(fileobj=plain, mode="rb") as unpacked:
                yield cast("BinaryIO", _readable(unpacked, path))
        else:
            yield cast("BinaryIO", _readable(plain, path))


def _is_gzip(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) == _GZIP


def _readable(file: io.BufferedIOBase, path: Path) -> io.BufferedIOBase:
    start = file.read(4)
    file.seek(0)
    kind = next((kind for mark, kind in _NOT_UTF8.items() if start.startswith(mark)), None)
    if kind:
        raise InputError(f"is {kind}, not UTF-8 text", source=path.name, way_out="save it as UTF-8, plain or gzipped")
    return file


def records_of(rows: Iterable[Any], *, first: int = 1) -> Iterator[Record]:
    """Yield rows that are already objects, as a data set or a JSON list gives them."""
    for number, values in enumerate(rows, start=first):
        yield _record(number, values)


def _record(number: int, values: object) -> Record:
    if isinstance(values, dict):
        return Record(number, values)
    what = "an empty line" if values is None else f"a {type(values).__name__}"
    return _unreadable(number, f"the row is {what}, not an object with columns")


def _unreadable(number: int, message: str) -> Record:
    return Record(number, None, Problem(number, ProblemKind.UNREADABLE, message))


def _json_lines(file: Iterable[bytes], _path: Path) -> Iterator[Record]:
    for number, line in enumerate(file, start=1):
        text = _decoded(line, first=number == 1)
        if text.strip():
            yield _json_line(number, text)


def _json_line(number: int, text: str) -> Record:
    try:
        return _record(number, json.loads(text))
    except (ValueError, RecursionError) as error:
        return _unreadable(number, f"the line is not JSON ({error})")


def _decoded(data: bytes, *, first: bool = True) -> str:
    if first:
        data = data.removeprefix(b"\xef\xbb\xbf")
    return data.decode("utf-8", "surrogateescape")


def _json(file: BinaryIO, path: Path) -> Iterator[Record]:
    text = _decoded(file.read())
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        lines = text.split("\n")
        first = next((line for line in lines if line.strip()), "")
        # Many files called .json hold JSON lines.
        if len(lines) > 1 and _json_line(1, first).values is not None:
            yield from (_json_line(number, line) for number, line in enumerate(lines, start=1) if line.strip())
            return
        raise InputError(f"is not JSON ({error})", source=path.name, way_out="check the file") from error
    if isinstance(data, dict):
        lists = [value for value in data.values() if _holds_rows(value)]
        # One list of rows under some name, as in {"data": [...]}; anything else is a single row.
        data = lists[0] if len(lists) == 1 and len(data) <= _KEYS_BESIDE_ROWS else [data]
    if not isinstance(data, list):
        raise InputError("is not a list of rows", source=path.name, way_out="give a JSON list of objects")
    yield from records_of(data)


def _holds_rows(value: object) -> bool:
    # A list of messages is the content of a row, and no list of rows.
    return (
        isinstance(value, list) and bool(value) and isinstance(value[0], dict) and not {"role", "from"} & set(value[0])
    )


def _csv(file: BinaryIO, path: Path) -> Iterator[Record]:
    text = io.TextIOWrapper(file, encoding="utf-8-sig", errors="surrogateescape", newline="")
    try:
        yield from _csv_rows(text, path.name)
    finally:
        text.detach()  # Whoever opened the file closes it.


def _csv_rows(text: io.TextIOWrapper, source: str) -> Iterator[Record]:
    reader = spreadsheet_reader(text)
    header = _header(reader, source)
    number = 1
    while True:
        number += 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield _unreadable(number, f"the row is not valid CSV near line {reader.line_num} ({error})")
            continue
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) != len(header):
            yield _unreadable(number, f"the row has {len(cells)} cells where the header has {len(header)}")
            continue
        yield Record(number, dict(zip(header, (cell.replace("\r\n", "\n") for cell in cells), strict=True)))


def _header(reader: Iterator[list[str]], source: str) -> list[str]:
    try:
        header = [name.strip() for name in next(reader, [])]
    except csv.Error as error:
        raise InputError(f"has no valid header ({error})", source=source, row=1, way_out="save it again") from error
    twice = sorted({name for name in header if name and header.count(name) > 1})
    if twice:
        raise InputError(
            f"has the column {twice[0]} twice", source=source, row=1, way_out="remove or rename one of the two"
        )
    return header


def _parquet(file: BinaryIO, path: Path) -> Iterator[Record]:
    try:
        frame = pl.scan_parquet(io.BytesIO(file.read()) if _is_gzip(path) else path)
        count = frame.select(pl.len()).collect().item()
        for start in range(0, count, _ROWS_AT_ONCE):
            # A slice at a time, since a column of texts may be larger than memory.
            rows = frame.slice(start, _ROWS_AT_ONCE).collect().iter_rows(named=True)
            yield from records_of(rows, first=start + 1)
    except pl.exceptions.PolarsError as error:
        raise InputError(f"is not readable Parquet ({error})", source=path.name, way_out="check the file") from error
