"""The reader of an audit says of each pair what the summary counts."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from audit_judgments import FEW_DRAWS, LEFT, LETTERS, NONE, ORDERS, RIGHT, RUBRIC, a_pair, even, level, responses_to
from evenhand.graders import Judgment
from evenhand.pairs import PairedPrompt, Side
from evenhand.readings import Reading, State
from evenhand.report import Analysis, AuditSummary
from evenhand.report.calibration import Calibration, MeasureCalibration
from evenhand.report.reader.audit_reader import audit_reader
from evenhand.report.reader.packing import unpack
from evenhand.report.reader.reader import Reader
from evenhand.studies.audit.files import judgments_table, pairs_table, responses_table
from evenhand.studies.audit.summarize import summarize
from evenhand.studies.inputs import load_instruments
from reader_rows import AuditRows

SIDES = ((LEFT, RIGHT), (RIGHT, LEFT), (NONE, NONE))


def _audit(
    sides: Sequence[tuple[Side, Side]], analysis: Analysis, seed: int = 1
) -> tuple[Reader, AuditSummary, list[PairedPrompt]]:
    rng = np.random.default_rng(seed)
    pairs = [a_pair(n, sides[n % len(sides)], topic=f"topic {n % 5}") for n in range(60)]
    judgments: list[Judgment] = []
    for pair in pairs:
        for order in ORDERS:
            read = None if rng.random() < 0.1 else rng.dirichlet([0.5, 0.5, 1.0]).tolist()
            judgments.append(even(pair, order, read))
        for measure in ("refusal", "hedging"):
            for letter in LETTERS:
                read = None if rng.random() < 0.1 else rng.dirichlet([0.4] * 5).tolist()
                judgments.append(level(pair, measure, letter, read))
    responses = responses_to(pairs)
    summary = summarize(pairs, responses, judgments, RUBRIC, subject="s", analysis=analysis)
    reader = audit_reader(
        pairs_table(pairs).iter_rows(named=True),
        responses_table(responses).iter_rows(named=True),
        judgments_table(judgments, pairs).iter_rows(named=True),
        analysis=analysis,
    )
    return reader, summary, pairs


def _column(reader: Reader, name: str, view: int = 0) -> Any:
    columns = {one["name"]: one for one in [*unpack(reader.index)["columns"], *unpack(reader.views[view])["columns"]]}
    column = columns[name]
    if column["kind"] == "category":
        return [None if code < 0 else column["levels"][code] for code in column["codes"]]
    if column["kind"] == "flags":
        return [{level for n, level in enumerate(column["levels"]) if code >> n & 1} for code in column["codes"]]
    return column["values"]


@pytest.mark.parametrize("sides", [SIDES, SIDES[:2], SIDES[2:]], ids=["mixed", "sided", "without sides"])
@pytest.mark.parametrize(
    "analysis",
    [
        FEW_DRAWS,
        Analysis(draws=40, threshold=0.3),
        Analysis(draws=40, orders="ba"),
        Analysis(draws=40, positive={"refusal": ("3", "4", "5")}),
    ],
    ids=["plain", "threshold", "one order", "labels"],
)
def test_its_verdicts_add_up_to_the_summary(sides: Sequence[tuple[Side, Side]], analysis: Analysis) -> None:
    reader, summary, _ = _audit(sides, analysis)
    block = summary.blocks[0]
    figure = next(one for one in block.figures if (one.measure, one.of) == ("even_handedness", "pairs"))
    verdicts = Counter(_column(reader, "verdict"))
    assert figure.rate.value is not None
    assert verdicts["even-handed"] + verdicts["uneven"] == figure.rate.n
    assert verdicts["even-handed"] == pytest.approx(figure.rate.value * figure.rate.n)
    known = [value for value in _column(reader, "even") if value is not None]
    assert np.mean(known) == pytest.approx(figure.mean.value, abs=1e-4)

    direction = next(one for one in block.directions if one.measure == "even_handedness")
    directions = Counter(_column(reader, "direction"))
    assert directions[f"{direction.second} better treated"] == direction.second_of_uneven
    assert directions["neither side"] == direction.neither_of_uneven
    better = directions[f"{direction.first} better treated"]
    assert better == direction.uneven - direction.second_of_uneven - direction.neither_of_uneven

    wanted = {"left", "right"} if direction.first == "left" else {"none"}
    helped = Counter(
        text
        for text, pair_sides in zip(_column(reader, "help"), [sides[n % len(sides)] for n in range(60)], strict=True)
        if {str(side) for side in pair_sides} == wanted
    )
    for cell in block.cells:
        assert cell.rate.value is not None
        assert helped[cell.name] == pytest.approx(cell.rate.value * cell.rate.n), cell.name


def _calibration(*measures: tuple[str, float]) -> Calibration:
    fitted = tuple(
        MeasureCalibration(measure, {measure: "v"}, "gold", "", "fit", 100, threshold, None, None)
        for measure, threshold in measures
    )
    return Calibration("c", "g", "", "probabilities", fitted)


def test_calibrated_verdicts_are_those_of_the_summary() -> None:
    calibration = _calibration(("even_handedness", 0.2), ("refusal", 0.7))
    test_its_verdicts_add_up_to_the_summary(SIDES, Analysis(draws=40, calibrations=(calibration,)))
    reader, _, _ = _audit(SIDES, Analysis(draws=40, calibrations=(calibration,)))
    plain, _, _ = _audit(SIDES, FEW_DRAWS)
    assert _column(reader, "verdict") != _column(plain, "verdict")
    shown, before = (unpack(one.chunks[0])[1]["grids"][0]["cells"][0] for one in (reader, plain))
    assert shown["p"] == before["p"], "what the grader said stays as it is"
    assert "calibrated" in shown
    assert "calibrated" not in before


@pytest.mark.parametrize(
    "analysis",
    [FEW_DRAWS, Analysis(draws=40, calibrations=(_calibration(("refusal", 0.2)),))],
    ids=["plain", "calibrated"],
)
def test_derived_verdicts_are_those_of_the_summary(analysis: Analysis) -> None:
    rng = np.random.default_rng(3)
    compact = load_instruments("compact")[0]
    scale = compact.instruments[0].scale
    pairs = [a_pair(n, SIDES[n % 2]) for n in range(40)]
    judgments = []
    for pair in pairs:
        p, q = rng.random(2)
        for letter, yes in zip(LETTERS, (p, q), strict=True):
            reading = Reading(State.OK, tuple({"Yes": yes, "No": 1 - yes}[label] for label in scale.labels), 0.9)
            judgments.append(Judgment("g", "refusal", "v", pair.pair_id, letter, None, scale, reading, key="k"))
        labels = ((1 - p) * q, p * (1 - q), p * q + (1 - p) * (1 - q))
        judgments.append(replace(even(pair, None, labels), key=""))
    responses = responses_to(pairs)
    summary = summarize(pairs, responses, judgments, compact, subject="s", analysis=analysis)
    reader = audit_reader(
        pairs_table(pairs).iter_rows(named=True),
        responses_table(responses).iter_rows(named=True),
        judgments_table(judgments, pairs).iter_rows(named=True),
        analysis=analysis,
    )
    figure = next(one for one in summary.blocks[0].figures if one.measure == "even_handedness")
    assert figure.rate.value is not None
    assert _column(reader, "verdict").count("even-handed") == pytest.approx(figure.rate.value * 40)
    assert np.mean(_column(reader, "even")) == pytest.approx(figure.mean.value, abs=1e-4)


def test_what_the_order_overturned_adds_up_to_the_summary() -> None:
    reader, summary, _ = _audit(SIDES, FEW_DRAWS)
    kept = summary.blocks[0].positions[0].swap_consistency
    overturned = sum("the order changes the verdict" in marks for marks in _column(reader, "marks"))
    assert kept.value is not None
    assert kept.n - overturned == pytest.approx(kept.value * kept.n)


def test_unreadable_judgments_are_marked_and_shown_with_their_reason() -> None:
    rows = AuditRows(60)
    reader = audit_reader(rows.pairs(), rows.responses(), rows.judgments())
    marked = [n for n, marks in enumerate(_column(reader, "marks")) if "unreadable" in marks]
    assert marked == [29, 59]
    assert [_column(reader, "verdict")[n] for n in marked] == ["not read", "not read"]
    grid = unpack(reader.chunks[0])[29]["grids"][0]
    assert grid["cells"][1] == {"state": "declined", "reason": "I won't compare these."}
    assert grid["cells"][0]["p"] == [round(p, 4) for p in grid["cells"][0]["p"]]


def test_graders_that_disagree_are_marked_for_both() -> None:
    rows = AuditRows(60)
    reader = audit_reader(rows.pairs(), rows.responses(), rows.judgments())
    one, other = (_column(reader, "verdict", view) for view in (0, 1))
    differ = [n for n in range(60) if {one[n], other[n]} == {"even-handed", "uneven"}]
    assert differ
    for view in (0, 1):
        marks = _column(reader, "marks", view)
        assert [n for n in range(60) if "graders disagree on even-handedness" in marks[n]] == differ
    apart = _column(reader, "apart")
    assert apart[differ[0]] == pytest.approx(
        abs(_column(reader, "even", 0)[differ[0]] - _column(reader, "even", 1)[differ[0]]), abs=2e-4
    )


def test_answers_that_are_missing_or_cut_are_marked_and_explained() -> None:
    rows = AuditRows(60)
    reader = audit_reader(rows.pairs(), rows.responses(), rows.judgments())
    marks = _column(reader, "marks")
    assert [n for n in range(60) if "an answer is missing" in marks[n]] == [49]
    assert [n for n in range(60) if "an answer was cut" in marks[n]] == [19, 39, 59]
    answer = unpack(reader.chunks[0])[49]["sides"][1]
    assert answer["text"] is None
    assert (answer["state"], answer["reason"]) == ("no reply came", "server: 503 five times")


def test_an_audit_that_nobody_graded_can_be_read() -> None:
    rows = AuditRows(3)
    reader = audit_reader(rows.pairs(), rows.responses(), [])
    assert (len(reader.views), reader.pairs) == (1, 3)
    assert unpack(reader.chunks[0])[0]["grids"] == []


def test_derived_measures_name_where_they_come_from() -> None:
    rows = AuditRows(2, graders=["g"])
    judgments = [
        {**row, "order": None, "key": None}
        for row in rows.judgments()
        if (row["measure"], row["order"]) != ("even_handedness", "ba")
    ]
    reader = audit_reader(rows.pairs(), rows.responses(), judgments)
    assert unpack(reader.index)["scales"][0]["columns"] == [{"label": "derived from refusal"}]
    assert None not in _column(reader, "even")
