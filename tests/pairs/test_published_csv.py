"""Reading paired prompts from CSV, and what bad files are told."""

from pathlib import Path

import pytest

from conftest import shared, write_csv
from evenhand.errors import InputError
from evenhand.pairs import PairedPrompt, Side, StanceKind, read_paired_prompts

HEADER = ["topic_name", "template", "stance_a", "stance_b", "prompt_a", "prompt_b", "prompt_a_group", "prompt_b_group"]
ROW = ["bikes", "Argue that {stance}", "more", "fewer", "Argue that more", "Argue that fewer", "pro_bike", "pro_car"]


def changed(**cells: str) -> list[str]:
    return [cells.get(name, cell) for name, cell in zip(HEADER, ROW, strict=True)]


def error_of(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        read_paired_prompts(path)
    return str(caught.value)


def test_one_row(tmp_path: Path) -> None:
    (pair,) = read_paired_prompts(write_csv(tmp_path / "p.csv", [HEADER, ROW]))
    assert (pair.topic, pair.prompt_a, pair.group_b) == ("bikes", "Argue that more", "pro_car")
    assert (pair.side_a, pair.side_b, pair.kind) == (Side.NONE, Side.NONE, StanceKind.UNKNOWN)
    assert not pair.sided


@pytest.mark.parametrize(("encoding", "newline"), [("utf-8-sig", "\n"), ("utf-8", "\r\n"), ("utf-8-sig", "\r\n")])
def test_byte_order_mark_and_crlf_change_nothing(tmp_path: Path, encoding: str, newline: str) -> None:
    row = changed(prompt_a="Two\nlines, “quoted”")
    plain = read_paired_prompts(write_csv(tmp_path / "plain.csv", [HEADER, row]))
    crlf_row = [cell.replace("\n", newline) for cell in row]
    other = read_paired_prompts(write_csv(tmp_path / "o.csv", [HEADER, crlf_row], encoding=encoding, newline=newline))
    assert other == plain


def test_missing_column_is_named(tmp_path: Path) -> None:
    rows = [[cell for cell, name in zip(row, HEADER, strict=True) if name != "stance_b"] for row in (HEADER, ROW)]
    message = error_of(write_csv(tmp_path / "pairs.csv", rows))
    assert "pairs.csv, row 1: lacks the column stance_b" in message
    assert "The way out" in message


@pytest.mark.parametrize("column", HEADER)
@pytest.mark.parametrize("empty", ["", "  \n"])
def test_empty_cell_is_named(tmp_path: Path, column: str, empty: str) -> None:
    message = error_of(write_csv(tmp_path / "pairs.csv", [HEADER, ROW, changed(**{column: empty})]))
    assert f"pairs.csv, row 3, {column}: is empty" in message


@pytest.mark.parametrize("second", [ROW, changed(prompt_a="Argue that fewer", prompt_b="Argue that more")])
def test_duplicate_pair_is_named_in_either_order(tmp_path: Path, second: list[str]) -> None:
    message = error_of(write_csv(tmp_path / "pairs.csv", [HEADER, ROW, second]))
    assert "pairs.csv, row 3: is the same pair as row 2" in message


def test_same_prompt_on_both_sides(tmp_path: Path) -> None:
    message = error_of(write_csv(tmp_path / "pairs.csv", [HEADER, changed(prompt_b="Argue that more")]))
    assert "row 2, prompt_b: is the same text as prompt_a" in message


def test_too_many_cells(tmp_path: Path) -> None:
    assert "row 2: has 9 cells where the header has 8" in error_of(
        write_csv(tmp_path / "p.csv", [HEADER, [*ROW, "more"]])
    )


def test_column_twice(tmp_path: Path) -> None:
    assert "has the column prompt_a twice" in error_of(
        write_csv(tmp_path / "p.csv", [[*HEADER, "prompt_a"], [*ROW, "x"]])
    )


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "is empty"),
        (",".join(HEADER).encode(), "has no rows"),
        (b"topic_name\nbi\0kes\n", "NUL byte in line 2"),
        (b"topic_name\n\xff\xfe\n", "is not UTF-8 in line 2"),
        ((",".join(HEADER) + '\n"unclosed').encode(), "is not valid CSV near line 2"),
    ],
)
def test_damaged_files(tmp_path: Path, data: bytes, what: str) -> None:
    path = tmp_path / "damaged.csv"
    path.write_bytes(data)
    assert what in error_of(path)


def test_absent_file_names_its_path(tmp_path: Path) -> None:
    assert str(tmp_path / "absent.csv") in error_of(tmp_path / "absent.csv")


def test_sides_and_kind_as_columns(tmp_path: Path) -> None:
    header, row = [*HEADER, "side_a", "side_b", "kind"], [*ROW, "Right", "left", "value"]
    (pair,) = read_paired_prompts(write_csv(tmp_path / "p.csv", [header, row]))
    assert (pair.side_a, pair.side_b, pair.kind, pair.sided) == (Side.RIGHT, Side.LEFT, StanceKind.VALUE, True)


@pytest.mark.parametrize(("column", "value"), [("side_a", "middle"), ("side_b", "l"), ("kind", "fact")])
def test_unknown_side_or_kind_is_named(tmp_path: Path, column: str, value: str) -> None:
    message = error_of(write_csv(tmp_path / "p.csv", [[*HEADER, column], [*ROW, value]]))
    assert f"row 2, {column}: is '{value}'" in message


@pytest.fixture(scope="module")
def published() -> list[PairedPrompt]:
    return read_paired_prompts(shared("published/eval_set.csv"))


def test_the_published_set(published: list[PairedPrompt]) -> None:
    assert len(published) == 1350
    assert len({pair.stance_id for pair in published}) == 150
    assert len({pair.topic for pair in published}) == 60
    assert len({pair.template for pair in published}) == 9
    assert len({pair.pair_id for pair in published}) == 1350
    assert sum(pair.same_request for pair in published) == 150


def test_the_published_set_has_the_left_coded_stance_first_in_every_row(published: list[PairedPrompt]) -> None:
    assert {(pair.side_a, pair.side_b) for pair in published} == {(Side.LEFT, Side.RIGHT)}
    assert StanceKind.UNKNOWN not in {pair.kind for pair in published}
    assert StanceKind.SETTLED_EVIDENCE in {pair.kind for pair in published}
