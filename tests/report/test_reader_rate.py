"""The reader of ratings says of each pair and question what the effects count."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from evenhand.report.reader.packing import unpack
from evenhand.report.reader.rate_reader import rate_reader
from evenhand.report.reader.reader import Reader
from evenhand.studies.effects import effects
from rating_runs import pair_row, rating, write_run

QUESTIONS = [{"id": "q0", "text": "Is it kind?"}, {"id": "q1", "text": "Is it long?"}]


def _columns(reader: Reader, view: int = 0) -> dict[str, Any]:
    return {one["name"]: one for one in unpack(reader.views[view])["columns"]}


def _verdicts(reader: Reader, view: int = 0) -> list[str]:
    column = _columns(reader, view)["verdict"]
    return [column["levels"][code] for code in column["codes"]]


def test_the_mean_over_orders_and_repeats_is_shown() -> None:
    ratings = [
        rating(0, 8, 2),
        rating(0, 6, 4, order="rejected_first"),
        rating(0, 10, None, repeat=1),
        rating(0, 5, 5, question="q1"),
    ]
    reader = rate_reader([pair_row(0, input="Say hello", chosen="Hello!", rejected="No.")], ratings, QUESTIONS)
    first = _columns(reader)
    assert (first["chosen"]["values"], first["rejected"]["values"], first["difference"]["values"]) == (
        [8.0],
        [3.0],
        [5.0],
    )
    assert (_verdicts(reader, 0), _verdicts(reader, 1)) == (["chosen higher"], ["equal"])
    pair = unpack(reader.chunks[0])[0]
    assert pair["shared"] == "Say hello"
    assert [side["text"] for side in pair["sides"]] == ["Hello!", "No."]
    assert [cell["p"] for cell in pair["grids"][0]["cells"]] == [[8.0, 5.0], [3.0, 5.0], [5.0, 0.0]]


def test_what_could_not_be_rated_says_why() -> None:
    reader = rate_reader([pair_row(0), pair_row(1)], [rating(0, -1, 3), rating(1, 3, 3)], QUESTIONS)
    assert _verdicts(reader) == ["not rated", "equal"]
    cells = unpack(reader.chunks[0])[0]["grids"][0]["cells"]
    assert [cell["p"][0] for cell in cells] == ["abstained", 3.0, None]
    marks = _columns(reader)["marks"]
    assert (marks["levels"], marks["codes"]) == (["unreadable"], [1, 0])


def test_orders_that_point_to_different_outputs_are_marked() -> None:
    ratings = [rating(0, 8, 2), rating(0, 2, 4, order="rejected_first"), rating(1, 8, 2), rating(1, 4, 2)]
    marks = _columns(rate_reader([pair_row(0), pair_row(1)], ratings, QUESTIONS))["marks"]
    assert (marks["levels"], marks["codes"]) == (["the orders point to different outputs"], [1, 0])


def test_its_verdicts_add_up_to_the_effects(tmp_path: Path) -> None:
    ratings = [
        rating(n, (n * 7) % 11 * 0.9, (n * 5) % 11 * 0.9, question=question, order=order)
        for n in range(30)
        for question in ("q0", "q1")
        for order in ("chosen_first", "rejected_first")
    ]
    folder = write_run(tmp_path / "run", ratings, [pair_row(n) for n in range(30)])
    found = effects(folder, draws=20).blocks[0].questions[0].effect
    reader = rate_reader(
        pl.read_parquet(folder / "pairs.parquet").iter_rows(named=True),
        pl.read_parquet(folder / "ratings.parquet").iter_rows(named=True),
        QUESTIONS,
    )
    verdicts = _verdicts(reader)
    higher, equal = verdicts.count("chosen higher"), verdicts.count("equal")
    assert found.superiority.value == pytest.approx((higher + equal / 2) / 30)
    assert found.equal == pytest.approx(equal / 30)


def test_of_very_many_pairs_the_first_are_taken_and_the_page_says_so() -> None:
    pairs = [pair_row(n) for n in range(5)]
    reader = rate_reader(pairs, [rating(n, 5, 3) for n in range(5)], QUESTIONS, most=3)
    assert reader.pairs == 3
    assert unpack(reader.index)["note"] == "The first 3 of 5 pairs."
    assert len(_columns(reader)["chosen"]["values"]) == 3


def test_each_grader_and_protocol_has_its_questions() -> None:
    ratings = [rating(0, 5, 3), rating(0, 5, 3, protocol="labelled"), rating(0, 5, 3, grader="h", question="q1")]
    views = unpack(rate_reader([pair_row(0)], ratings, QUESTIONS).index)["views"]
    assert [(view["group"], view["label"]) for view in views] == [
        ("g, blind", "Is it kind?"),
        ("g, labelled", "Is it kind?"),
        ("h, blind", "Is it long?"),
    ]
