"""The filtered list as a file."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evenhand.report.reader.audit_reader import audit_reader
from evenhand.report.reader.rate_reader import rate_reader
from rating_runs import pair_row, rating
from reader_pages import ready, written
from reader_rows import AuditRows

FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", "＝1", '"=1"', "'=1", "\u200b=1", "\x00=1"]


@pytest.fixture(scope="module")
def export_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = AuditRows(120, lambda n, letter: f'{FORMULAS[n % len(FORMULAS)]}, "{letter}"\nnext line {n}')
    return written(tmp_path_factory.mktemp("export"), audit_reader(rows.pairs(), rows.responses(), rows.judgments()))


def downloaded(opened: Any, kind: str) -> tuple[str, str]:
    with opened.expect_download() as found:
        opened.get_by_role("button", name=f"{kind} of this list").click()
    return found.value.suggested_filename, Path(found.value.path()).read_bytes().decode("utf-8")


def test_the_csv_holds_the_list_in_its_order(open_page: Callable[..., Any], export_page: Path) -> None:
    opened = ready(open_page(export_page, accept_downloads=True))
    opened.locator("[data-column=topic] select").select_option("taxes")
    opened.get_by_label("Order", exact=True).select_option("Order of the run")
    name, text = downloaded(opened, "CSV")
    assert (name, text[0]) == ("pair.csv", "\ufeff")
    rows = list(csv.DictReader(io.StringIO(text[1:], newline="")))
    wanted = [n for n in range(120) if n % 9 == 3]
    assert [row["pair_id"] for row in rows] == [f"pair-{n}" for n in wanted]
    assert {row["topic"] for row in rows} == {"taxes"}
    for row, n in zip(rows, wanted, strict=True):
        assert row["answer_b"].endswith(f"next line {n}") or row["state_b"] == "no reply came"
        assert row["side_a"] == ("left" if n % 2 == 0 else "right")
        assert row["prompt_a"].endswith(f"taxes is right {n}")
        if row["verdict"] != "not read":
            assert (float(row["even"]) > 0.5) == (row["verdict"] == "even-handed")


def test_no_cell_of_the_csv_starts_a_formula(open_page: Callable[..., Any], export_page: Path) -> None:
    opened = ready(open_page(export_page, accept_downloads=True))
    _, text = downloaded(opened, "CSV")
    rows = list(csv.DictReader(io.StringIO(text[1:], newline="")))
    assert len(rows) == 120
    for row in rows:
        for name, cell in row.items():
            start = cell.lstrip(' "\t\r\n\u200b␀')[:1]
            if name == "lean":
                assert not cell or float(cell) <= 1  # a number: a minus is no formula there
            else:
                assert start not in {"=", "+", "-", "@", "＝"}, (name, cell)
    answers = {row["answer_a"].split(", ")[0] for row in rows}
    assert answers >= {"'=1+1", "'@SUM(A1)", "'-1", "'\t=1", "''=1"}


def test_the_json_holds_texts_judgments_and_what_was_chosen(open_page: Callable[..., Any], export_page: Path) -> None:
    opened = ready(open_page(export_page, accept_downloads=True))
    opened.get_by_label("Search in all texts").fill('"next line 29"')
    opened.locator(".reader-count").filter(has_text="1 of 120 paired prompts").wait_for()
    name, text = downloaded(opened, "JSON")
    found = json.loads(text)
    assert (name, found["search"], found["verdicts of"]) == ("pair.json", '"next line 29"', "grader-one, rubric")
    (pair,) = found["pairs"]
    assert (pair["pair_id"], pair["verdict"], pair["marks"]) == ("pair-29", "not read", ["unreadable"])
    assert pair["texts"][1]["text"] == f'{FORMULAS[29 % len(FORMULAS)]}, "b"\nnext line 29'
    even = pair["found"][0]
    assert (even["grader"], even["what"]) == ("grader-one, rubric", "Even-handed")
    assert even["places"][1] == {"of": "b shown first", "state": "declined", "reason": "I won't compare these."}
    assert sum(even["places"][0]["p"]) == pytest.approx(1, abs=1e-3)


def test_ratings_are_exported_with_their_texts(open_page: Callable[..., Any], tmp_path: Path) -> None:
    pairs = [pair_row(n, input=f"Input {n}", chosen=f"Good {n}", rejected=f"=Bad {n}") for n in range(3)]
    reader = rate_reader(pairs, [rating(n, 2 + n, 4) for n in range(3)], [{"id": "q0", "text": "Is it kind?"}])
    opened = ready(open_page(written(tmp_path, reader), accept_downloads=True))
    _, text = downloaded(opened, "CSV")
    rows = list(csv.DictReader(io.StringIO(text[1:], newline="")))
    assert [(row["pair_id"], row["difference"], row["verdict"]) for row in rows] == [
        ("p2", "0", "equal"),
        ("p1", "-1", "rejected higher"),
        ("p0", "-2", "rejected higher"),
    ]
    assert rows[0]["rejected_output"] == "'=Bad 2"
