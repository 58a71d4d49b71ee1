"""The validity cards that an audit quotes: the package's, the user's, and none."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from audit_runs import MIXED, audit_plan, declines_right, open_scripted, pairs_file, scripted, sees_refusals
from conftest import read_json, write_csv
from evenhand.errors import InputError
from evenhand.report.audit_validity import unvalidated, validity_lines
from evenhand.report.validity_card import ValidityCard, card_line
from evenhand.studies.audit import audit
from evenhand.studies.audit import validity as quoting
from evenhand.studies.audit.plan import AnalysisPlan, GradingPlan
from evenhand.studies.regrade import RegradePlan, regrade
from evenhand.studies.resummarize import resummarize
from evenhand.studies.validate import validate
from evenhand.studies.validation_plan import ValidationPlan
from evenhand.studies.validity import CardSettings
from evenhand.studies.verify import verify

GRADERS = {name: scripted(sees_refusals, name) for name in ("g", "h")}


@pytest.fixture(autouse=True)
def models(monkeypatch: pytest.MonkeyPatch) -> None:
    open_scripted(monkeypatch, {"s": scripted(declines_right, "s"), **GRADERS})


@pytest.fixture
def card_file(tmp_path: Path) -> Path:
    """Return the cards of a real validation of the grader g on refusals."""
    rows = [["prompt", "response", "label"]]
    for number in range(40):
        refuses = bool(number % 2)
        rows.append(
            [f"Do {number}", f"{number} I can't help." if refuses else f"Done {number}", "full" if refuses else "none"]
        )
    gold = write_csv(tmp_path / "gold.csv", rows)
    grading = GradingPlan(("g",), instruments="compact")
    plan = ValidationPlan(grading=grading, gold=str(gold), card=CardSettings(draws=100), out=tmp_path / "cards")
    validate(plan)
    return tmp_path / "cards" / "validation.json"


def a_plan(folder: Path, *cards: Path, **changes: Any) -> Any:
    grading = GradingPlan(("g",), instruments="compact", cards=cards)
    given = {"pairs": str(pairs_file(folder, MIXED)), "subject": "s", "out": folder / "run", "draws": 100}
    return replace(audit_plan(graders=("g",), **given), grading=grading, **changes)


def changed(file: Path, **changes: Any) -> Path:
    values = read_json(file)
    values["cards"] = [card | changes for card in values["cards"]]
    other = file.with_name("changed.json")
    other.write_text(json.dumps(values), "utf-8")
    return other


def test_without_a_card_the_way_to_one_is_named(tmp_path: Path) -> None:
    summary = audit(a_plan(tmp_path)).summary
    (block,) = summary.blocks
    assert block.validity == ()
    assert unvalidated(block) == ("even_handedness", "refusal", "hedging")
    assert validity_lines(block, summary.analysis) == (
        "even_handedness, refusal, hedging: not validated here; `evenhand validate --grader g --instruments compact"
        " --gold builtin` holds the grader against labels",
    )


def test_a_card_of_the_users_is_quoted_and_stays_with_the_run(tmp_path: Path, card_file: Path) -> None:
    summary = audit(a_plan(tmp_path, card_file)).summary
    (quoted,) = summary.blocks[0].validity
    (card,) = (ValidityCard.from_json(values) for values in read_json(card_file)["cards"])
    assert (quoted.measure, quoted.line, quoted.source) == ("refusal", card_line(card), "validation.json")
    assert (quoted.n, quoted.kappa, quoted.auc) == (card.n, card.kappa, card.auc)
    lines = validity_lines(summary.blocks[0], summary.analysis)
    assert "not validated here" in lines[1]
    assert lines[0] == card_line(card)
    card_file.unlink()
    run = tmp_path / "run"
    (grading,) = read_json(run / "record.json")["settings"]["gradings"]
    assert grading["validity"][0]["line"] == card_line(card)
    assert resummarize(run, AnalysisPlan()).blocks[0].validity == (quoted,)
    assert verify(run).holds


def test_a_card_can_be_given_later_and_its_folder_does(tmp_path: Path, card_file: Path) -> None:
    audit(a_plan(tmp_path))
    run = tmp_path / "run"
    assert [card.measure for card in resummarize(run, AnalysisPlan(), [card_file]).blocks[0].validity] == ["refusal"]
    assert verify(run).holds
    grading = GradingPlan(("g",), instruments="compact")
    assert regrade(RegradePlan(run, grading)).summary.blocks[0].validity == ()
    grading = replace(grading, cards=(card_file.parent,))
    assert len(regrade(RegradePlan(run, grading)).summary.blocks[0].validity) == 1


def test_what_the_card_does_not_speak_of_is_said(tmp_path: Path, card_file: Path) -> None:
    audit(a_plan(tmp_path, card_file))
    summary = resummarize(tmp_path / "run", AnalysisPlan(threshold=0.7, positive=("refusal=No",)))
    (line, _) = validity_lines(summary.blocks[0], summary.analysis)
    assert line.endswith("; at the threshold 0.5, and not at 0.7; with the answers counting that usually do")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"grader": "z", "identity": "z"}, "--card: is of another grader: z, and the run's are g"),
        ({"identity": "z"}, "is of another grader: g, by that name, with other weights, provider or settings"),
        ({"versions": {"refusal": "v"}}, "refusal of g: the card is of other instruments than compact"),
        ({"reading": "text"}, "the card was read as text, and the audit as probabilities"),
        ({"schema": 0}, "schema 0"),
        ({"kappa": 3}, "is damaged"),
    ],
)
def test_a_card_that_is_not_of_the_grader_is_refused(
    tmp_path: Path, card_file: Path, changes: dict[str, Any], message: str
) -> None:
    other = changed(card_file, **changes)
    with pytest.raises(InputError, match=message) as raised:
        audit(a_plan(tmp_path, other))
    assert "changed.json" in str(raised.value)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"cards": 3}', '{"cards": []}', '{"cards": ["x"]}'])
def test_a_file_without_cards_is_refused(tmp_path: Path, content: str) -> None:
    file = tmp_path / "cards.json"
    file.write_text(content, "utf-8")
    with pytest.raises(InputError, match=r"cards\.json, --card: holds no validity cards"):
        audit(a_plan(tmp_path, file))
    with pytest.raises(InputError, match="can't be read"):
        audit(a_plan(tmp_path, tmp_path / "nowhere.json"))


def test_cards_of_other_graders_in_the_file_are_left_alone(tmp_path: Path, card_file: Path) -> None:
    values = read_json(card_file)
    values["cards"].append(values["cards"][0] | {"grader": "h", "identity": "identity of h", "n": 3})
    card_file.write_text(json.dumps(values), "utf-8")
    (quoted,) = audit(a_plan(tmp_path, card_file)).summary.blocks[0].validity
    assert quoted.grader == "g"


def test_packaged_cards_are_quoted_by_name_version_and_reading(
    tmp_path: Path, card_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = ValidityCard.from_json(read_json(card_file)["cards"][0])

    def packaged(grader: str, versions: dict[str, str]) -> tuple[ValidityCard, ...]:
        fits = grader == card.grader and card.versions.items() <= versions.items()
        return (card, replace(card, measure="hedging", reading="text")) if fits else ()

    monkeypatch.setattr(quoting, "packaged_cards", packaged)
    (quoted,) = audit(a_plan(tmp_path)).summary.blocks[0].validity
    assert (quoted.measure, quoted.source) == ("refusal", "packaged")
    better = changed(card_file, n=7)
    (quoted,) = audit(a_plan(tmp_path, better)).summary.blocks[0].validity
    assert (quoted.n, quoted.source) == (7, "changed.json")
