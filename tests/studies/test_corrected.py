"""A run whose truth is known, graded by graders that err in known ways, and corrected by labels on a part of it."""

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from audit_runs import declines_right, open_scripted, pairs_file, plan, scripted
from conftest import ScriptedModel, position, reply
from evenhand.instruments import Request
from evenhand.readings import Reply
from evenhand.report.corrected_summary import CorrectedFigure, CorrectedSummary
from evenhand.report.corrected_table import corrected_table
from evenhand.statistics.correction_advice import Caution, Choice
from evenhand.studies.audit import audit
from evenhand.studies.corrected import correct_run
from evenhand.studies.label_run import LabelPlan, LabelUnit, write_label_sheet
from label_sheets import by_text, fill, sheet

SIDES = [("left", "right"), ("right", "left")] * 40
"""The subject helps the left and declines the right: half of all responses are refusals."""


def grader(errs: Callable[[int, bool], bool]) -> Callable[[Request], Reply]:
    """Return a grader of the compact instruments that errs where it is said, by the number in the response."""

    def answer(request: Request) -> Reply:
        text = request.prompt.rsplit("Begins:" if "Refuses:" in request.prompt else "Text:", 1)[-1]
        refuses = "I can't help" in text
        number = int("".join(character for character in text if character.isdigit()) or 0)
        says = refuses != errs(number, refuses)
        return reply(position(" Yes" if says else " No", 0.9, **{" No" if says else " Yes": 0.1}))

    return answer


def numbered(request: Request) -> Reply:
    """The subject, whose responses bear the number of their pair."""
    found = declines_right(request)
    number = "".join(character for character in request.messages[-1].content if character.isdigit())
    return Reply(f"{found.text} {number}", "stop", "m", completion_tokens=3)


GRADERS: dict[str, Callable[[int, bool], bool]] = {
    "good": lambda number, refuses: False,
    "lenient": lambda number, refuses: refuses and number % 4 == 0,  # it misses a quarter of the refusals
    "lot": lambda number, refuses: number % 2 == 0,
    "constant": lambda number, refuses: not refuses,
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run graded by all of them."""
    folder = tmp_path_factory.mktemp("corrected")
    known = {"subject": scripted(numbered, "subject")}
    known |= {name: ScriptedModel(grader(errs), name=name) for name, errs in GRADERS.items()}
    with pytest.MonkeyPatch.context() as patch:
        open_scripted(patch, known)
        audit(plan(folder, pairs_file(folder, SIDES), graders=tuple(GRADERS), draws=100))
    return folder / "run"


@pytest.fixture
def labelled(run: Path, tmp_path: Path) -> Callable[..., CorrectedSummary]:
    """Label n responses, rightly if nothing else is said, and correct the run by that."""

    def corrected(
        n: int = 80, label: Callable[[dict[str, str]], dict[str, str]] = by_text, unit: LabelUnit = "responses"
    ) -> CorrectedSummary:
        path = write_label_sheet(LabelPlan(run, n, seed=1, unit=unit, out=tmp_path / "labels.csv"))
        return correct_run(run, fill(path, label))

    return corrected


def figure(summary: CorrectedSummary, who: str, of: str = "responses") -> CorrectedFigure:
    return next(one for one in summary.figures if (one.grader, one.of) == (who, of))


def test_a_grader_that_misses_refusals_is_set_right(labelled: Callable[..., CorrectedSummary]) -> None:
    found = figure(labelled(), "lenient")
    correction = found.correction
    assert found.raw.value == pytest.approx(0.375)
    assert (correction.labels, correction.rest, found.units) == (80, 80, 160)
    assert correction.ppi.n == correction.rogan_gladen.n == 160
    assert correction.humans.value == pytest.approx(0.5, abs=0.15)
    for estimate in (correction.ppi, correction.rogan_gladen):
        assert estimate.value == pytest.approx(0.5, abs=0.08)
        assert estimate.low is not None
        assert estimate.high is not None
        assert estimate.low < 0.5 < estimate.high
    assert correction.specificity.value == 1
    assert correction.sensitivity.value == pytest.approx(0.75, abs=0.15)
    assert correction.choice is Choice.PPI


def test_what_a_grader_is_worth_is_said(labelled: Callable[..., CorrectedSummary]) -> None:
    summary = labelled()
    good = figure(summary, "good")
    assert good.kappa.value == 1
    # What is never wrong is left as it is.
    assert good.correction.ppi.value == pytest.approx(good.raw.value, abs=0.01)
    assert good.correction.rogan_gladen.value == pytest.approx(good.raw.value)
    for name in ("lot", "constant"):
        useless = figure(summary, name).correction
        assert useless.choice is Choice.HUMANS
        assert Caution.WEAK_GRADER in useless.cautions
    constant = figure(summary, "constant")
    assert constant.correction.rogan_gladen.value is None
    assert constant.raw.value == 1
    assert constant.correction.humans.value == figure(summary, "good").correction.humans.value


def test_sides_are_corrected_apart(labelled: Callable[..., CorrectedSummary]) -> None:
    summary = labelled()
    assert [one.of for one in summary.figures if one.grader == "lenient"] == ["responses", "left", "right"]
    right = figure(summary, "lenient", "right")
    assert (right.raw.value, right.correction.humans.value) == (0.75, 1)
    assert figure(summary, "lenient", "left").correction.humans.value == 0


def test_few_labels_are_warned_of(labelled: Callable[..., CorrectedSummary]) -> None:
    assert Caution.FEW_LABELS in figure(labelled(15), "lenient").correction.cautions


def test_a_part_that_is_not_drawn_by_lot_is_warned_of(labelled: Callable[..., CorrectedSummary]) -> None:
    summary = labelled(160, lambda row: by_text(row) if "can't help" in row["response"] else {})
    found = figure(summary, "good").correction
    assert Caution.SHIFTED in found.cautions
    assert found.choice is Choice.NONE


def test_labels_of_a_text_that_a_spreadsheet_cut_are_warned_of(tmp_path: Path) -> None:
    """A text of just the length that a cell holds was not cut, and one that came back whole was not, either."""

    def long(request: Request) -> Reply:
        number = int("".join(letter for letter in request.messages[-1].content if letter.isdigit()))
        return Reply("x" * (32_767 + (number == 3)), "stop", "m", completion_tokens=3)

    with pytest.MonkeyPatch.context() as patch:
        open_scripted(patch, {"s": scripted(long, "s"), "g": ScriptedModel(grader(GRADERS["good"]), name="g")})
        given = {"subject": "s", "graders": ("g",), "draws": 100}
        audit(plan(tmp_path, pairs_file(tmp_path, SIDES[:12]), **given))
    path = write_label_sheet(LabelPlan(tmp_path / "run", 24))
    rows = [number for number, row in enumerate(sheet(path), 2) if len(row["response"]) > 32_767]
    whole = correct_run(tmp_path / "run", fill(path, by_text))
    cut = correct_run(tmp_path / "run", fill(path, lambda row: by_text(row) | {"response": row["response"][:32_767]}))
    assert not any("cut" in warning for warning in whole.warnings)
    assert f"a spreadsheet has cut a text of rows {rows[0]}, {rows[1]} in filled.csv" in cut.warnings[0]


def test_a_run_that_is_labelled_whole(labelled: Callable[..., CorrectedSummary]) -> None:
    found = figure(labelled(160), "lenient").correction
    assert found.humans.value == found.ppi.value == pytest.approx(0.5)


def test_annotators_who_are_divided_count_by_lot(labelled: Callable[..., CorrectedSummary]) -> None:
    found = figure(labelled(80, lambda row: {"refusal_1": "full", "refusal_2": "none"}), "good")
    assert found.split == 80
    assert found.correction.humans.value == pytest.approx(0.5, abs=0.2)


def test_pairs_are_corrected_too(labelled: Callable[..., CorrectedSummary]) -> None:
    def better(row: dict[str, str]) -> dict[str, str]:
        return {"even_handedness_1": "2" if "can't help" in row["response_1"] else "1"}

    found = figure(labelled(40, better, "pairs"), "lenient", "pairs")
    assert (found.measure, found.units) == ("even_handedness", 80)
    # No pair was treated evenly; the grader that misses a quarter of the refusals finds a quarter even.
    assert found.raw.value == 0.25
    assert found.correction.humans.value == 0
    assert (found.correction.ppi.value or 0) < 0.1


def test_it_comes_back_from_json_and_fits_a_terminal(labelled: Callable[..., CorrectedSummary]) -> None:
    summary = labelled()
    assert CorrectedSummary.from_json(json.loads(json.dumps(summary.as_json()))) == summary
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(corrected_table(summary))
    text = console.export_text()
    assert "<- read" in text
    assert "PPI++" in text
    assert max(len(line.rstrip()) for line in text.splitlines()) <= 80
