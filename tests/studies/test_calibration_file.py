"""A calibration: fitted, kept, read back, and applied to judgments."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit_judgments import a_pair, block_of, even, level, share
from evenhand.errors import InputError
from evenhand.instruments import builtin_instruments
from evenhand.models import EMBEDDED_MODELS
from evenhand.pairs.gold.item import GoldItem, GoldMeasure, GoldSet
from evenhand.readings import State
from evenhand.report.calibration import Calibration, MeasureCalibration
from evenhand.report.validity_card import card_line
from evenhand.studies.calibration_file import (
    calibrated,
    calibration_cards,
    check_calibration,
    check_calibrations,
    packaged_calibrations,
    read_calibration,
    write_calibration,
)
from evenhand.studies.calibration_fit import fit_measure, halves
from evenhand.studies.validation_scores import Scores
from evenhand.studies.validity import GradedBy, gold_classes, validity_card


def measure(threshold: float = 0.2, **others: Any) -> MeasureCalibration:
    given: dict[str, Any] = {
        "measure": "refusal",
        "versions": {"refusal": "v"},
        "gold": "made",
        "gold_sha256": "0" * 64,
        "split": "fit",
        "n": 100,
        "threshold": threshold,
        "threshold_low": None,
        "threshold_high": None,
    }
    return MeasureCalibration(**(given | others))


def calibration(*measures: MeasureCalibration) -> Calibration:
    return Calibration("made", "g", "identity of g", "probabilities", measures or (measure(),))


def gold(n: int, *, split: bool = False) -> GoldSet:
    items = tuple(
        GoldItem(
            f"i{number}",
            GoldMeasure.REFUSAL,
            (f"prompt {number // 2}",),
            (f"response {number}",),
            "full" if number % 2 else "none",
            groups={"prompt": f"p{number // 2}"},
            split=("fit" if number % 4 < 2 else "test") if split else "",
        )
        for number in range(n)
    )
    return GoldSet("made", "Made: by hand", "", "", "0" * 64, items)


def scores(probabilities: np.ndarray[Any, np.dtype[np.float64]]) -> Scores:
    n = probabilities.size
    return Scores("refusal", {"refusal": "v"}, probabilities, {}, {}, ((),) * n, np.full(n, 0.9))


def noisy(n: int, *, low: float, high: float) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return probabilities that tell odd items from even ones, with some in the wrong place."""
    rng = np.random.default_rng(5)
    odd = np.arange(n) % 2 == 1
    return np.asarray(np.clip(np.where(odd, high, low) + rng.normal(0, 0.05, n), 0.001, 0.999))


def test_it_comes_back_from_its_file_with_the_hash(tmp_path: Path) -> None:
    platt = {"kind": "platt", "slope": 1.5, "intercept": 0.25, "labels": 100, "positives": 50}
    written = write_calibration(tmp_path / "c.json", calibration(measure(map=platt), measure(measure="hedging")))
    assert read_calibration(tmp_path / "c.json") == written
    assert len(written.sha256) == 64
    assert calibration_cards(tmp_path / "c.json") == ()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": 9}, "another version"),
        ({"measures": []}, "is no calibration"),
        ({"measures": [{"measure": "refusal"}]}, "is damaged"),
        ({"threshold": 1.5}, "not between 0 and 1"),
        ({"threshold": "high"}, "is damaged"),
        ({"map": {"kind": "neural", "labels": 9, "positives": 3}}, "neural"),
        ({"map": {"kind": "platt", "slope": 1.0}}, "no calibration map"),
    ],
)
def test_a_file_that_is_none_is_named(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    path = tmp_path / "c.json"
    write_calibration(path, calibration())
    values = json.loads(path.read_text("utf-8"))
    target = values["calibration"] if set(change) & {"schema", "measures"} else values["calibration"]["measures"][0]
    target.update(change)
    path.write_text(json.dumps(values), "utf-8")
    with pytest.raises(InputError, match=message) as caught:
        read_calibration(path)
    assert "c.json" in str(caught.value)


@pytest.mark.parametrize("text", ["", "[]", "{}", "{", '{"calibration": 3}'])
def test_any_other_file_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "c.json"
    path.write_text(text, "utf-8")
    with pytest.raises(InputError, match="evenhand validate --calibrate"):
        read_calibration(path)


def test_it_is_for_one_grader_and_one_wording() -> None:
    one = calibration()
    given = {"grader": "g", "identity": "identity of g", "measure": "refusal", "versions": {"refusal": "v"}}
    assert check_calibration(one, **given) == one.measures[0]  # type: ignore[arg-type]
    assert check_calibration(one, **given | {"measure": "hedging"}) is None  # type: ignore[arg-type]
    with pytest.raises(InputError, match="was fitted for g, and not for h"):
        check_calibration(one, **given | {"grader": "h", "identity": "another"})  # type: ignore[arg-type]
    with pytest.raises(InputError, match="another wording of refusal"):
        check_calibration(one, **given | {"versions": {"refusal": "w"}})  # type: ignore[arg-type]


def test_a_run_is_checked_for_it() -> None:
    grading = {"grader": {"name": "g", "identity": "identity of g"}, "instruments": {"versions": {"refusal": "v"}}}
    check_calibrations([calibration()], [grading])
    check_calibrations([calibration()], [grading], ["hedging"])
    for gradings, positive, message in (
        ([], [], "no grader of this run"),
        ([grading | {"instruments": {"versions": {"refusal": "w"}}}], [], "another wording"),
        ([grading | {"grader": {"name": "g", "identity": "other weights"}}], [], "as it is reached here"),
        ([grading], ["refusal"], "--positive: says what counts"),
    ):
        with pytest.raises(InputError, match=message):
            check_calibrations([calibration()], gradings, positive)


# Fitting -----------------------------------------------------------------------------------------------------------


def test_the_halves_share_no_cluster() -> None:
    items = gold(200).items
    fit, name = halves(items)
    assert (int(fit.sum()), name) == (100, "held out")
    inside = {item.groups["prompt"] for item, chosen in zip(items, fit, strict=True) if chosen}
    outside = {item.groups["prompt"] for item, chosen in zip(items, fit, strict=True) if not chosen}
    assert not inside & outside
    told, name = halves(gold(200, split=True).items)
    assert name == "test"
    assert [item.split for item, chosen in zip(gold(200, split=True).items, told, strict=True) if chosen] == [
        "fit"
    ] * 100


def test_what_is_not_for_fitting_is_not_looked_at() -> None:
    whole, classes = gold(400), gold_classes(GoldMeasure.REFUSAL)
    p = noisy(400, low=0.1, high=0.3)
    where = np.arange(400) < 200
    positive = classes.codes(whole.items)
    first = fit_measure(whole, whole.items, scores(p), positive, where=where)
    spoilt = np.where(where, p, 0.999)
    assert fit_measure(whole, whole.items, scores(spoilt), positive, where=where) == first
    assert first.n == 200
    # With so many labels there is a map, and on its scale the two classes lie on both sides of the threshold.
    assert first.map["kind"] == "platt"
    low, high = first.mapped([0.1, 0.3])
    assert low < first.threshold < high


def test_few_labels_carry_a_threshold_alone() -> None:
    whole = gold(30)
    positive = gold_classes(GoldMeasure.REFUSAL).codes(whole.items)
    found = fit_measure(
        whole, whole.items, scores(noisy(30, low=0.1, high=0.4)), positive, where=np.ones(30, dtype=bool)
    )
    assert found.map == {}
    assert 0.12 < found.threshold < 0.38
    assert found.threshold_low is not None


def test_a_card_is_kept_beside_it(tmp_path: Path) -> None:
    whole = gold(60)
    card = validity_card(
        whole,
        whole.items,
        scores(noisy(60, low=0.2, high=0.7)),
        GradedBy("g", "identity of g", "compact", "probabilities", ""),
        classes=gold_classes(GoldMeasure.REFUSAL),
    )
    written = write_calibration(tmp_path / "c.json", calibration(), [card])
    assert read_calibration(tmp_path / "c.json") == written
    assert written.lines == (card_line(card),)
    assert calibration_cards(tmp_path / "c.json") == (card,)


# Applying ----------------------------------------------------------------------------------------------------------


@given(st.floats(0, 1), st.floats(0.01, 0.99))
def test_one_half_is_where_the_threshold_was(p: float, threshold: float) -> None:
    centred = float(measure(threshold).centred(p))
    assert 0 <= centred <= 1
    assert (centred > 0.5) == (p > threshold) or abs(p - threshold) < 1e-9


@given(st.lists(st.floats(0.0001, 1), min_size=5, max_size=5), st.floats(0.05, 0.95))
def test_judgments_stay_distributions_and_keep_their_proportions(weights: list[float], threshold: float) -> None:
    total = sum(weights)
    judgment = level(a_pair(1), "refusal", "a", [weight / total for weight in weights])
    (found,) = calibrated([judgment], [calibration(measure(threshold))])
    assert sum(found.reading.probabilities) == pytest.approx(1)
    assert found.positive == pytest.approx(float(measure(threshold).centred(sum(weights[3:]) / total)))
    before, after = judgment.reading.probabilities, found.reading.probabilities
    assert after[0] * before[1] == pytest.approx(after[1] * before[0], abs=1e-9)
    assert after[3] * before[4] == pytest.approx(after[4] * before[3], abs=1e-9)


def test_judgments_that_it_does_not_speak_of_stay() -> None:
    pair = a_pair(1)
    given = [
        share(pair, "hedging", "a", 0.3),
        even(pair, "ab", (0.2, 0.2, 0.6)),
        level(pair, "refusal", "a", None),
    ]
    assert calibrated(given, [calibration()]) == given
    other = Calibration("made", "another grader", "", "probabilities", (measure(),))
    refusal = share(pair, "refusal", "a", 0.3)
    assert calibrated([refusal], [other]) == [refusal]
    assert calibrated([level(pair, "refusal", "a", None)], [calibration()])[0].reading.state is State.UNPARSEABLE


def test_a_certain_verdict_against_the_threshold_has_shares_to_give() -> None:
    """All probability on the negative labels, and a map that gives some of it to the positive ones."""
    platt = {"kind": "platt", "slope": 0.1, "intercept": 1.0, "labels": 100, "positives": 50}
    (found,) = calibrated([share(a_pair(1), "refusal", "a", 0.0)], [calibration(measure(0.5, map=platt))])
    assert sum(found.reading.probabilities) == pytest.approx(1)
    assert found.reading.probabilities[3] == found.reading.probabilities[4] > 0


def test_an_audit_at_one_half_is_then_one_at_the_fitted_threshold() -> None:
    pairs = [a_pair(number, topic=f"t{number}") for number in range(8)]
    judgments = [share(pair, "refusal", letter, p) for pair in pairs for letter, p in (("a", 0.3), ("b", 0.1))]  # type: ignore[arg-type]
    plain = block_of(pairs, judgments, threshold=0.2).figure("refusal", "left")
    moved = block_of(pairs, calibrated(judgments, [calibration(measure(0.2))])).figure("refusal", "left")
    assert plain is not None
    assert moved is not None
    assert plain.rate.value == moved.rate.value == 1


@pytest.mark.parametrize("grader", packaged_calibrations())
def test_packaged_calibrations_are_of_the_instruments_in_use(grader: str) -> None:
    found = read_calibration(Path(f"packaged:{grader}"))
    versions = builtin_instruments("compact").versions
    assert found.grader == grader
    assert EMBEDDED_MODELS[grader].sha256 in found.identity
    assert found.measures
    for one in found.measures:
        assert (
            check_calibration(found, grader=grader, identity=found.identity, measure=one.measure, versions=versions)
            == one
        )
    assert len(found.sha256) == 64
    cards = calibration_cards(Path(f"packaged:{grader}"))
    assert found.lines == tuple(card_line(card) for card in cards)
    assert all(card.split in ("test", "held out") for card in cards)


@pytest.mark.parametrize("name", ["packaged", "packaged:", "packaged:../cards/x", "packaged:no-such-model"])
def test_what_is_not_packaged_is_named(name: str) -> None:
    with pytest.raises(InputError, match="no calibration that comes with the package") as problem:
        read_calibration(Path(name))
    assert "packaged:qwen2.5-coder-0.5b" in str(problem.value)
