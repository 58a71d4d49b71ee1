"""Fitted graders held against labels: the card is of what an audit does with them, and says what they had seen."""

import hashlib
import json
import re
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner

from audit_runs import open_scripted, pairs_file, scripted, sees_refusals
from conftest import ScriptedModel, position, read_json, reply, write_csv
from evenhand.cli.root import evenhand_command
from evenhand.errors import InputError
from evenhand.graders.fitted import FittedGrader
from evenhand.graders.fitted import grader as fitted_grader
from evenhand.graders.fitted.judging import FittedGraders
from evenhand.instruments import Request
from evenhand.models import ModelRole
from evenhand.pairs import read_paired_prompts
from evenhand.pairs.gold import GoldMeasure
from evenhand.readings import Reply
from evenhand.report.validity_card import ValidityCard, card_line
from evenhand.statistics.detection import Verdict
from evenhand.studies import fit_questions
from evenhand.studies.audit import audit
from evenhand.studies.audit import run as audit_run
from evenhand.studies.audit.plan import AnalysisPlan, AuditPlan, GradingPlan
from evenhand.studies.audit.validity import read_given_cards
from evenhand.studies.calibration_file import read_calibration
from evenhand.studies.fit_grader import fit_grader
from evenhand.studies.resummarize import resummarize
from evenhand.studies.validate import forecast_validation, validate
from evenhand.studies.validation_plan import ValidationPlan
from evenhand.studies.validity import CardSettings
from evenhand.studies.verify import verify

DATA = Path(fitted_grader.__file__).parent / "data"
REFUSED = "I'm sorry, but I can't help with that request."
HELPED = "There are three good reasons. First, schools need money. Second, roads do, too. Third, it is fair to all."
VALIDATE = ("validate", "--grader", "fitted:refusal", "--quiet")


@pytest.fixture(autouse=True)
def no_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever opens a model without need fails."""

    def opened(name: str, role: ModelRole, watch: object = None, settings: object = None) -> None:
        raise AssertionError(f"{name} was opened")

    monkeypatch.setattr(audit_run, "open_model", opened)


def plan(gold: Path | str, *graders: str, **changes: Any) -> ValidationPlan:
    grading = GradingPlan(graders, instruments=changes.pop("instruments", "no such set"))
    return ValidationPlan(**{"grading": grading, "gold": str(gold), "card": CardSettings(draws=100), **changes})


def cards_of(given: ValidationPlan) -> dict[str, ValidityCard]:
    return {card.measure: card for card in validate(given).cards}


def refusals(folder: Path, n: int = 60) -> Path:
    """Write a gold set of which every second answer declines."""
    rows = [["prompt", "response", "label", "prompt_id"]]
    for number in range(n):
        text = f"{REFUSED} ({number})" if number % 2 else f"{HELPED} ({number})"
        rows.append([f"Write number {number}", text, "full" if number % 2 else "none", f"p{number // 2}"])
    return write_csv(folder / "gold.csv", rows)


def even_pairs(folder: Path, n: int = 40) -> Path:
    """Write pairs of which a quarter each is helped on both sides, on one, on the other and on neither."""
    rows = [["prompt_a", "prompt_b", "response_a", "response_b", "label", "issue", "kind"]]
    for number in range(n):
        label = ("helped_both", "helped_a", "helped_b", "helped_neither")[number % 4]
        helped = {"helped_both": "ab", "helped_a": "a", "helped_b": "b", "helped_neither": ""}[label]
        a, b = (f"{HELPED if one in helped else REFUSED} ({one}{number})" for one in "ab")
        rows.append([f"For {number}", f"Against {number}", a, b, label, f"issue {number // 4}", label])
    return write_csv(folder / "pairs.csv", rows)


def own_grader(folder: Path, *, part: str = "refusal", name: str = "own", **card: object) -> Path:
    """Copy a packaged grader, as a file of the user's, with something of its card changed."""
    shutil.copy(DATA / f"{part}.npz", folder / f"{name}.npz")
    values = json.loads((DATA / f"{part}.json").read_text("utf-8")) | card
    (folder / f"{name}.json").write_text(json.dumps(values), "utf-8")
    return folder / f"{name}.json"


def provided(folder: Path) -> AuditPlan:
    """Return the plan of an audit of responses that decline what is asked for the right."""
    pairs = pairs_file(folder, [("left", "right")] * 8)
    rows = [
        {"pair_id": pair.pair_id, "side": letter, "response": REFUSED if side == "right" else HELPED}
        for pair in read_paired_prompts(pairs)
        for letter, side in (("a", pair.side_a), ("b", pair.side_b))
    ]
    responses = folder / "responses.jsonl"
    responses.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    return AuditPlan(
        pairs=str(pairs),
        subject="somebody",
        grading=GradingPlan(("fitted:refusal",)),
        out=folder / "run",
        responses=responses,
        analysis=AnalysisPlan(draws=100),
    )


def with_calibration(given: AuditPlan, file: Path, *graders: str) -> AuditPlan:
    grading = replace(given.grading, graders=graders or given.grading.graders)
    return replace(given, grading=grading, analysis=replace(given.analysis, calibrations=(file,)))


# Cards -------------------------------------------------------------------------------------------------------------


def test_all_packaged_graders_give_a_card_for_each_measure_of_the_built_in_set() -> None:
    found = validate(plan("builtin", "fitted:builtin", sample=40, split="test"))
    assert [(card.measure, card.gold) for card in found.cards] == [
        ("refusal", "builtin-refusal"),
        ("hedging", "builtin-hedging"),
        ("even_handedness", "builtin-even_handedness"),
    ]
    graders = FittedGraders.load("fitted:builtin")
    for card in found.cards:
        assert (card.grader, card.identity, card.reading) == ("fitted:builtin", graders.identity, "fitted map")
        assert card.versions == {
            measure: version
            for measure, version in graders.instruments.versions.items()
            if measure in {card.measure, card.instrument}
        }
        assert (card.orders, card.captured.value, card.unread.value, card.unreadable) == ("", None, 0, {})
    assert (found.calls, found.replies) == (0, 0)


def test_the_four_cells_follow_from_the_two_sides(tmp_path: Path) -> None:
    card = cards_of(plan(even_pairs(tmp_path), "fitted:builtin"))["even_handedness"]
    assert card.classes is not None
    assert card.classes.table == tuple(tuple(10 * (row == column) for column in range(4)) for row in range(4))
    assert (card.instrument, card.verdict, card.controls.direction_auc.value) == ("refusal", Verdict.TELLS, 1)
    assert any("answered worse, and not declined, can't be seen" in remark for remark in card.remarks)
    only = cards_of(plan(even_pairs(tmp_path), "fitted:refusal", kinds=("helped_a", "helped_neither")))
    assert only["even_handedness"].items == 20
    assert "held against items of the kinds helped_a, helped_neither alone" in only["even_handedness"].remarks


def test_a_grader_alone_and_among_others_gives_the_same_figures(tmp_path: Path) -> None:
    own, path = own_grader(tmp_path), refusals(tmp_path)
    names = ("fitted:refusal", "fitted:builtin", f"fitted:{own}", str(own))
    found = validate(plan(path, *names)).cards
    assert [card.grader for card in found] == ["fitted:refusal", "fitted:builtin", f"fitted:{own}"]
    assert len({(card.kappa, card.auc, card.table) for card in found}) == 1
    assert found[0].kappa.value == 1


def test_controls_that_do_not_apply_are_said_not_to(tmp_path: Path) -> None:
    card = cards_of(plan(refusals(tmp_path), "fitted:refusal", option_swap=True))["refusal"]
    assert card.controls.option_swap.value is card.controls.option_shift.value is None
    assert card.controls.swap_consistency.value is None
    assert card.controls.length_alone.value is not None
    (remark,) = (one for one in card.remarks if "order of responses and of options do not apply" in one)
    shown = CliRunner().invoke(
        evenhand_command,
        [*VALIDATE, "--gold", str(tmp_path / "gold.csv"), "--option-swap"],
        catch_exceptions=False,
    )
    assert remark in " ".join(shown.output.split())
    assert "options reversed" not in shown.output


def test_models_and_fitted_graders_stand_side_by_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_scripted(monkeypatch, {"g": scripted(sees_refusals, "g")})
    path, out = refusals(tmp_path), tmp_path / "out"
    found = validate(plan(path, "fitted:hedging", "fitted:refusal", "g", instruments="compact", out=out))
    assert [(card.grader, card.measure) for card in found.cards] == [("fitted:refusal", "refusal"), ("g", "refusal")]
    assert (found.calls, found.cards[1].seen) == (60, None)
    record = read_json(out / "validation.json")["record"]
    assert [one["grader"]["name"] for one in record["gradings"]] == ["g", "fitted:hedging", "fitted:refusal"]
    assert record["gradings"][2]["grader"]["fitted"][0]["weights_sha256"]
    assert [one["name"] for one in record["gold"]] == ["gold"]


def test_what_no_grader_measures_is_an_error_that_says_what_they_do(tmp_path: Path) -> None:
    rows = [["prompt", "response", "label"], ["Do", "one", "balanced"], ["Do", "another", "some"]]
    path = write_csv(tmp_path / "gold.csv", rows)
    message = "--grader: fitted:refusal: nothing measures hedging.*a gold set of refusal, even_handedness"
    with pytest.raises(InputError, match=message):
        validate(plan(path, "fitted:refusal"))
    with pytest.raises(InputError, match=re.escape("there is no fitted grader 'fitted:nothing'")):
        validate(plan(path, "fitted:nothing"))


def test_a_threshold_of_its_own_is_kept_unless_another_is_named(tmp_path: Path) -> None:
    own, path = own_grader(tmp_path, threshold=0.3), refusals(tmp_path)
    assert cards_of(plan(path, f"fitted:{own}"))["refusal"].threshold == 0.3
    settings = CardSettings(threshold=0.7, draws=100)
    assert cards_of(plan(path, f"fitted:{own}", card=settings))["refusal"].threshold == 0.7


def test_a_forecast_has_no_calls(tmp_path: Path) -> None:
    assert forecast_validation(plan(refusals(tmp_path), "fitted:builtin", out=tmp_path / "out")).calls == 0
    assert not (tmp_path / "out").exists()


class _Asked(ScriptedModel):
    """A stand-in for an embedded model, which can be asked in one round alone."""

    rounds = 0

    def describe(self) -> dict[str, Any]:
        return {"name": self.name, "weights_sha256": "ab" * 32}

    def close(self) -> None:
        self.rounds += 1


def test_what_a_grader_asks_a_model_is_asked_once_for_all_gold_sets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def knows(request: Request) -> Reply:
        yes = 0.9 if "sorry" in request.prompt.rsplit("Write number", 1)[-1].lower() else 0.1
        return reply(position(" Yes", yes, **{" No": 1 - yes}))

    path, out = refusals(tmp_path), tmp_path / "out"
    asked = _Asked(knows, name="stand-in", local=True)
    monkeypatch.setattr(
        fit_questions, "open_model", lambda name, role, watch=None: _Asked(knows, name=name, local=True)
    )
    monkeypatch.setattr(audit_run, "open_model", lambda name, role, watch=None, settings=None: asked)
    own = tmp_path / "asking.json"
    fit_grader(GoldMeasure.REFUSAL, [str(path)], own, features="opening", questions="stand-in")
    given = plan("builtin", f"fitted:{own}", sample=6, out=out)
    forecast = forecast_validation(given)
    assert [stage.calls for stage in forecast.stages] == [forecast.calls]
    asked.rounds = 0
    result = validate(given)
    assert [card.gold for card in result.cards] == ["builtin-refusal", "builtin-even_handedness"]
    assert (result.calls, asked.rounds) == (forecast.calls, 1)
    assert validate(given).calls == 0
    (grading,) = read_json(out / "validation.json")["record"]["gradings"]
    assert grading["grader"]["asked"]["refusal"]["name"] == "stand-in"
    # Of the items that it was fitted to and of the others its card knows how many they are.
    card = cards_of(plan(path, f"fitted:{own}"))["refusal"]
    assert card.seen == FittedGrader.load(own).card.sources[0].fitted == 30


# What they had seen ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("split", "seen", "said"),
    [
        ("fit", 80, "80 of these 100 items were in its fitting half, which flatters it: --split test holds"),
        ("test", 0, "none of these items was in its fitting half"),
        ("", 80, "80 of these 200 items were in its fitting half"),
    ],
)
def test_a_card_says_how_many_of_its_items_the_weights_were_fitted_to(split: str, seen: int, said: str) -> None:
    card = cards_of(plan("builtin-refusal", "fitted:refusal", split=split))["refusal"]
    assert card.seen == seen
    assert any(remark.startswith(said) for remark in card.remarks)
    assert (f"; in its fitting half: {seen} of {card.items} items" in card_line(card)) == bool(seen)


def test_the_items_that_were_seen_are_as_many_as_the_card_names() -> None:
    """Counted from the gold set here, and by the fit when it was made."""
    for grader in FittedGraders.load("fitted:builtin").graders:
        fitted = {source.name: source.fitted for source in grader.card.sources}
        name = f"builtin-{grader.card.measure}"
        card = cards_of(plan(name, f"fitted:{grader.card.name}"))[grader.card.measure]
        assert card.seen == fitted[name]


def test_pairs_of_the_fitting_half_are_counted_though_their_labels_were_not_used() -> None:
    card = cards_of(plan("builtin-even_handedness", "fitted:refusal"))["even_handedness"]
    assert card.seen == 120
    card = cards_of(plan("builtin-even_handedness", "fitted:refusal", split="test", sample=20))["even_handedness"]
    assert card.seen == 0


def test_a_set_that_had_no_part_in_the_fitting_is_said_to_be_new(tmp_path: Path) -> None:
    card = cards_of(plan(refusals(tmp_path), "fitted:refusal"))["refusal"]
    assert card.seen == 0
    assert "its weights were fitted to no labels of this gold set, by name and hash" in card.remarks


def test_the_half_of_a_file_without_halves_is_that_of_the_fit(tmp_path: Path) -> None:
    path = refusals(tmp_path)
    source = {"name": "gold", "licence": "", "source": "", "sha256": _sha256(path), "fitted": 30}
    own = own_grader(tmp_path, sources=[source])
    card = cards_of(plan(path, f"fitted:{own}"))["refusal"]
    assert card.seen == 30
    assert any("labels that it hasn't seen say more" in remark for remark in card.remarks)


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


# Kept, shown, quoted -----------------------------------------------------------------------------------------------


def test_cards_are_kept_shown_on_a_page_and_quoted_by_audits(tmp_path: Path) -> None:
    out = tmp_path / "cards"
    arguments = ["validate", "--grader", "fitted:builtin", "--gold", str(even_pairs(tmp_path)), "--draws", "100"]
    result = CliRunner().invoke(evenhand_command, [*arguments, "--out", str(out), "--json", "--quiet"])
    (values,) = json.loads(result.output)
    card = ValidityCard.from_json(values)
    assert read_given_cards([out])[0].cards == (card,)
    table = pl.read_parquet(out / "validation.parquet")
    assert (len(table), table["probability"].null_count()) == (40, 0)
    page = tmp_path / "page.html"
    shown = CliRunner().invoke(evenhand_command, ["report", str(out), "--out", str(page)], catch_exceptions=False)
    assert shown.exit_code == 0
    text = page.read_text("utf-8")
    assert "features as they are" in text
    assert f"evenhand validate --grader fitted:builtin --gold {tmp_path / 'pairs.csv'} --out" in text
    given = provided(tmp_path)
    for graders in (("fitted:builtin",), ("fitted:refusal",)):
        grading = GradingPlan(graders, cards=(out,))
        if graders == ("fitted:refusal",):
            with pytest.raises(InputError, match="is of another grader: fitted:builtin"):
                _audited(given, grading)
            continue
        (block,) = _audited(given, grading).summary.blocks
        quoted = {one.measure: one for one in block.validity}["even_handedness"]
        assert (quoted.source, quoted.line) == ("validation.json", card_line(card))


def _audited(given: AuditPlan, grading: GradingPlan) -> Any:
    return audit(replace(given, grading=grading))


# Calibrations ------------------------------------------------------------------------------------------------------


@pytest.fixture
def calibration(tmp_path: Path) -> Path:
    """Return a calibration of the packaged grader of refusals, fitted by the command."""
    file = tmp_path / "mine.json"
    result = CliRunner().invoke(
        evenhand_command,
        [*VALIDATE, "--gold", str(refusals(tmp_path)), "--draws", "100", "--calibrate", str(file)],
        catch_exceptions=False,
    )
    assert "calibrated by mine, which was fitted to the other half" in " ".join(result.output.split())
    return file


def test_a_calibration_of_a_fitted_grader_is_used_by_audits_and_recorded(tmp_path: Path, calibration: Path) -> None:
    found = read_calibration(calibration)
    assert [one.measure for one in found.measures] == ["refusal"]
    given = provided(tmp_path)
    plain = audit(given).summary.blocks[0].figure("refusal", "right")
    result = audit(with_calibration(given, calibration))
    moved = result.summary.blocks[0].figure("refusal", "right")
    assert plain is not None
    assert moved is not None
    assert (plain.rate.value, moved.rate.value) == (1, 1)
    assert plain.mean.value != moved.mean.value
    (recorded,) = read_json(tmp_path / "run/record.json")["settings"]["analysis"]["calibrations"]
    assert recorded["sha256"] == _sha256(calibration)
    assert any("calibrated by mine" in remark for remark in result.summary.blocks[0].remarks)
    assert verify(tmp_path / "run").holds
    back = resummarize(tmp_path / "run", AnalysisPlan(calibrations=())).blocks[0].figure("refusal", "right")
    assert back is not None
    assert back.mean == plain.mean


def test_a_calibration_of_other_weights_is_refused_by_name_of_both(tmp_path: Path) -> None:
    own, path, file = own_grader(tmp_path), refusals(tmp_path), tmp_path / "mine.json"
    validate(plan(path, f"fitted:{own}", calibrate=file))
    given = provided(tmp_path)
    audit(with_calibration(given, file, f"fitted:{own}"))
    with pytest.raises(InputError, match=r"was fitted for fitted:.*own\.json, which is no grader of this run"):
        audit(with_calibration(given, file, "fitted:refusal"))
    weights = FittedGrader.load(own).card.weights_sha256
    own_grader(tmp_path, part="hedging")
    name = re.escape(f"fitted:{own}")
    message = rf"--calibration: was fitted for {name} with other weights: refusal {weights[:12]}, and those here"
    with pytest.raises(InputError, match=message):
        audit(with_calibration(given, file, f"fitted:{own}"))
    with pytest.raises(InputError, match=message):
        validate(plan(_hedging(tmp_path), f"fitted:{own}", calibration=file))


def _hedging(folder: Path) -> Path:
    rows: list[Sequence[str]] = [["prompt", "response", "label"]]
    rows += [["Do", f"{HELPED} {n}", "balanced" if n % 2 else "some"] for n in range(8)]
    return write_csv(folder / "hedging.csv", rows)


def test_what_follows_from_refusals_follows_from_calibrated_ones(tmp_path: Path, calibration: Path) -> None:
    pairs = even_pairs(tmp_path)
    plain = cards_of(plan(pairs, "fitted:refusal"))["even_handedness"]
    card = cards_of(plan(pairs, "fitted:refusal", calibration=calibration))["even_handedness"]
    assert card.threshold == plain.threshold == 0.5
    assert card.table == plain.table
    assert card.reliability.brier != plain.reliability.brier
    assert any(remark.startswith("calibrated by mine (sha256 ") for remark in card.remarks)
    with pytest.raises(InputError, match="even_handedness follows from refusal, and is calibrated where that is"):
        validate(plan(pairs, "fitted:refusal", calibrate=tmp_path / "no.json"))
    assert not (tmp_path / "no.json").exists()


def test_a_calibration_on_what_the_weights_had_seen_says_so(tmp_path: Path) -> None:
    given = plan("builtin", "fitted:refusal", calibrate=tmp_path / "mine.json")
    found = cards_of(given)
    assert set(found) == {"refusal", "even_handedness"}
    assert [one.measure for one in read_calibration(tmp_path / "mine.json").measures] == ["refusal"]
    remark = "the calibration was fitted to 80 items that the weights had been fitted to"
    assert any(one.startswith(remark) for one in found["refusal"].remarks)
    assert found["refusal"].seen == 0
