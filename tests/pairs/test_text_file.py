"""Text files are read whole, or their fault is named with its line."""

from pathlib import Path

import pytest

from evenhand.errors import InputError
from evenhand.pairs.text_file import read_text_file


def test_byte_order_mark_goes_and_line_ends_stay(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes("\ufeffone\r\ntwo\u2028é".encode())
    assert read_text_file(tmp_path / "f") == "one\r\ntwo\u2028é"


@pytest.mark.parametrize(
    ("data", "what"),
    [(b"one\ntw\0o", "f, --option: has a NUL byte in line 2"), (b"one\n\xe9", "f, --option: is not UTF-8 in line 2")],
)
def test_faults_have_their_line(tmp_path: Path, data: bytes, what: str) -> None:
    (tmp_path / "f").write_bytes(data)
    with pytest.raises(InputError) as caught:
        read_text_file(tmp_path / "f", field="--option")
    assert what in str(caught.value)


def test_absent_and_folder(tmp_path: Path) -> None:
    for path in (tmp_path / "absent", tmp_path):
        with pytest.raises(InputError, match="can't be read"):
            read_text_file(path)
