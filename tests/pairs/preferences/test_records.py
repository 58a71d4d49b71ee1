"""Files as they come: encodings, line ends, compression, damage."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import InputError
from evenhand.pairs.preferences import PreferenceSet, ProblemKind, read_preferences
from evenhand.pairs.preferences.records import read_records

ROW = {"prompt": "Q?", "chosen": "yes", "rejected": "no"}


def written(path: Path, data: bytes | str) -> Path:
    path.write_bytes(data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data)
    return path


def lines(*rows: Any) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def error_of(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        read_preferences(path)
    return str(caught.value)


def texts(found: PreferenceSet) -> list[tuple[str, str, str]]:
    return [(pair.input, pair.chosen, pair.rejected) for pair in found.pairs]


def as_csv(rows: list[dict[str, Any]]) -> bytes:
    return pl.DataFrame(rows).write_csv().encode()


def as_parquet(rows: list[dict[str, Any]]) -> bytes:
    import io

    file = io.BytesIO()
    pl.DataFrame(rows).write_parquet(file)
    return file.getvalue()


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    ("name", "encode"),
    [
        ("a.jsonl", lambda rows: lines(*rows).encode()),
        ("a.json", lambda rows: json.dumps(rows).encode()),
        ("wrapped.json", lambda rows: json.dumps({"version": 1, "data": rows}).encode()),
        ("lines.json", lambda rows: lines(*rows).encode()),
        ("a.csv", as_csv),
        ("a.parquet", as_parquet),
    ],
)
def test_every_kind_of_file_plain_and_gzipped(
    tmp_path: Path, name: str, encode: Callable[[list[dict[str, Any]]], bytes], packed: bool
) -> None:
    rows = [ROW, ROW | {"prompt": "R?", "chosen": "two\nlines, “quoted”"}]
    data = encode(rows)
    path = written(tmp_path / (name + ".gz" if packed else name), gzip.compress(data, mtime=0) if packed else data)
    assert texts(read_preferences(path)) == [("Q?", "yes", "no"), ("R?", "two\nlines, “quoted”", "no")]


def test_gzip_is_told_by_its_bytes(tmp_path: Path) -> None:
    assert len(read_preferences(written(tmp_path / "a.jsonl", gzip.compress(lines(ROW).encode()))).pairs) == 1
    assert len(read_preferences(written(tmp_path / "b.jsonl.gz", lines(ROW))).pairs) == 1


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\u0085", "\x0b", "\x0c", "\x1c"])
@pytest.mark.parametrize("ending", ["jsonl", "json", "csv"])
def test_a_line_ends_at_a_line_feed_and_nowhere_else(tmp_path: Path, separator: str, ending: str) -> None:
    row = ROW | {"chosen": f"one{separator}two"}
    data = as_csv([row, ROW]).decode() if ending == "csv" else lines(row, ROW)
    found = read_preferences(written(tmp_path / f"a.{ending}", data))
    assert found.problems == ()
    assert [pair.chosen for pair in found.pairs] == [f"one{separator}two", "yes"]


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.json"])
def test_byte_order_mark_and_crlf(tmp_path: Path, name: str) -> None:
    plain = {
        "a.jsonl": lines(ROW, ROW),
        "a.csv": as_csv([ROW, ROW]).decode(),
        "a.json": json.dumps([ROW, ROW], indent=1),
    }
    path = written(tmp_path / name, "\ufeff" + plain[name].replace("\n", "\r\n"))
    assert texts(read_preferences(path)) == [("Q?", "yes", "no")] * 2


def test_crlf_inside_a_csv_cell_is_a_line_feed(tmp_path: Path) -> None:
    chosen = "\n\nHuman: q\n\nAssistant: yes".replace("\n", "\r\n")
    rejected = chosen.replace("yes", "no")
    found = read_preferences(written(tmp_path / "a.csv", f'chosen,rejected\r\n"{chosen}","{rejected}"\r\n'))
    assert (found.format, texts(found)) == ("hh-rlhf", [("q", "yes", "no")])


def test_unnamed_index_column_and_column_names_with_spaces(tmp_path: Path) -> None:
    data = ",prompt, response 1 ,response 2,label\n0,Q?,yes,no,0\n"
    found = read_preferences(written(tmp_path / "a.csv", data))
    assert (found.format, texts(found)) == ("autoj", [("Q?", "yes", "no")])


def test_half_a_surrogate_pair_and_nul_are_replaced_and_said(tmp_path: Path) -> None:
    path = written(
        tmp_path / "a.jsonl", '{"prompt": "Q\\ud800", "chosen": "a\\u0000b", "rejected": "\\ud83d\\ude00"}\n'
    )
    found = read_preferences(path)
    assert texts(found) == [("Q\ufffd", "a\ufffdb", "😀")]
    (problem,) = found.problems
    assert (problem.kind, problem.lost, problem.row) == (ProblemKind.DAMAGED_TEXT, False, 1)
    assert "2 such characters were replaced" in problem.message


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv"])
def test_bytes_that_are_not_utf8_are_replaced_and_said(tmp_path: Path, name: str) -> None:
    data = lines(ROW | {"chosen": "café"}) if name == "a.jsonl" else as_csv([ROW | {"chosen": "café"}]).decode()
    found = read_preferences(written(tmp_path / name, data.encode("latin-1")))
    assert found.pairs[0].chosen == "caf\ufffd"
    assert [problem.kind for problem in found.problems] == [ProblemKind.DAMAGED_TEXT]


def test_rows_that_are_no_rows_are_counted(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", lines(ROW) + '{"prompt": \n\nnull\n[1]\n' + "[" * 100_000 + "\n" + lines(ROW))
    found = read_preferences(path)
    assert (found.rows, len(found.pairs)) == (6, 2)
    assert [(problem.row, problem.kind) for problem in found.problems] == [
        (row, ProblemKind.UNREADABLE) for row in (2, 4, 5, 6)
    ]


def test_csv_rows_that_are_no_rows_are_counted(tmp_path: Path) -> None:
    data = 'prompt,chosen,rejected\nQ?,yes,no\nQ?,yes\n"Q"?,yes,no\n\nQ?,yes,"never closed\n'
    found = read_preferences(written(tmp_path / "a.csv", data))
    assert (len(found.pairs), found.rows) == (1, 4)
    assert [problem.row for problem in found.problems] == [3, 4, 6]
    assert "2 cells where the header has 3" in found.problems[0].message


def test_rows_of_megabytes(tmp_path: Path) -> None:
    row = ROW | {"chosen": "long " * 1_000_000}
    for name, data in (("a.csv", as_csv([row])), ("a.jsonl", lines(row).encode())):
        assert len(read_preferences(written(tmp_path / name, data)).pairs[0].chosen) == 5_000_000


def test_a_column_that_changes_its_type_in_the_middle(tmp_path: Path) -> None:
    rows = [ROW] * 500 + [
        ROW | {"chosen": 7},
        ROW | {"chosen": True},
        ROW | {"chosen": None},
        ROW | {"chosen": {"a": 1}},
    ]
    found = read_preferences(written(tmp_path / "a.jsonl", lines(*rows, ROW)))
    assert (found.rows, len(found.pairs)) == (505, 501)
    assert [(problem.row, problem.kind) for problem in found.problems] == [
        (501, ProblemKind.WRONG_TYPE),
        (502, ProblemKind.WRONG_TYPE),
        (503, ProblemKind.NULL),
        (504, ProblemKind.WRONG_TYPE),
    ]
    assert "chosen is the boolean true where text should be" in found.problems[1].message


def test_parquet_is_read_slice_by_slice(tmp_path: Path) -> None:
    rows = [ROW | {"prompt": f"Q{number}?"} for number in range(4_500)]
    found = read_preferences(written(tmp_path / "a.parquet", as_parquet(rows)))
    assert [pair.input for pair in found.pairs] == [row["prompt"] for row in rows]
    assert found.pairs[-1].metadata["row"] == "4500"


def test_messages_in_parquet(tmp_path: Path) -> None:
    rows = [
        {"chosen": [{"role": "user", "content": "Q?"}, {"role": "assistant", "content": said}]} for said in ("y", "n")
    ]
    row = {"chosen": rows[0]["chosen"], "rejected": rows[1]["chosen"]}
    assert texts(read_preferences(written(tmp_path / "a.parquet", as_parquet([row])))) == [("Q?", "y", "n")]


@pytest.mark.parametrize(
    ("name", "data", "what"),
    [
        ("a.txt", b"x", "is of no known kind"),
        ("a.jsonl", b"", "has no rows"),
        ("a.json", b"[]", "has no rows"),
        ("a.csv", b"prompt,chosen,rejected\n", "has no rows"),
        ("a.jsonl", b"\n<html>\n", "row 2: has no row that can be read: the line is not JSON"),
        ("a.json", b"<html>", "is not JSON"),
        ("a.json", b"3", "is not a list of rows"),
        ("a.csv", "a,b".encode("utf-16"), "is UTF-16, not UTF-8 text"),
        ("a.jsonl", b"PK\x03\x04", "is zip, not UTF-8 text"),
        ("a.jsonl.gz", gzip.compress(b"{}" * 1000, mtime=0)[:30], "is damaged"),
        ("a.parquet", b"no parquet at all", "is not readable Parquet"),
        ("a.csv", b"chosen,chosen,rejected\na,b,c\n", "has the column chosen twice"),
    ],
)
def test_files_that_can_not_be_read(tmp_path: Path, name: str, data: bytes, what: str) -> None:
    message = error_of(written(tmp_path / name, data))
    assert what in message
    assert name in message
    assert "The way out" in message


def test_absent_file(tmp_path: Path) -> None:
    assert "absent.jsonl: can't be read (No such file" in error_of(tmp_path / "absent.jsonl")


@given(st.lists(st.dictionaries(st.text(max_size=5), st.text(), min_size=1, max_size=3), min_size=1, max_size=5))
def test_json_lines_round_trip(tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, str]]) -> None:
    path = tmp_path_factory.mktemp("round") / "a.jsonl"
    for ascii_only in (True, False):
        path.write_text("".join(json.dumps(row, ensure_ascii=ascii_only) + "\n" for row in rows), "utf-8", newline="")
        assert [record.values for record in read_records(path)] == rows
