"""Platt's and the isotonic map against scikit-learn, and what holds of any of them."""

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from evenhand.errors import InputError
from evenhand.statistics.calibration_maps import (
    IsotonicMap,
    MapKind,
    PlattMap,
    fit_isotonic,
    fit_map,
    fit_platt,
    map_from_json,
    suitable_map,
)
from evenhand.statistics.reliability_curve import calibration

RNG = np.random.default_rng(11)
RIGHT = RNG.random(1500)
TRUTH = RNG.random(1500) < RIGHT
OVERCONFIDENT = 1 / (1 + np.exp(-(3 * np.log(RIGHT / (1 - RIGHT)) + 1)))


def test_platt_is_a_logistic_regression_on_his_targets() -> None:
    scores, truth = OVERCONFIDENT[:200], TRUTH[:200]
    found = fit_platt(scores, truth)
    positives, others = truth.sum(), (~truth).sum()
    target = np.where(truth, (positives + 1) / (positives + 2), 1 / (others + 2))
    clipped = np.clip(scores, 1e-6, 1 - 1e-6)
    margins = np.log(clipped / (1 - clipped))[:, None]
    model = LogisticRegression(C=1e10, tol=1e-10, max_iter=10_000)
    # A target between 0 and 1 is two rows that share a weight.
    model.fit(np.tile(margins, (2, 1)), np.repeat([1, 0], 200), sample_weight=np.concatenate([target, 1 - target]))
    assert found.slope == pytest.approx(float(model.coef_[0, 0]), rel=1e-4)
    assert found.intercept == pytest.approx(float(model.intercept_[0]), abs=1e-4)
    assert (found.labels, found.positives) == (200, positives)
    assert found.probabilities(scores) == pytest.approx(model.predict_proba(margins)[:, 1], abs=1e-4)


@pytest.mark.parametrize("levels", [5, 100_000])
def test_isotonic_is_that_of_scikit_learn(levels: int) -> None:
    scores = np.round(OVERCONFIDENT * levels) / levels
    found = fit_isotonic(scores, TRUTH)
    model = IsotonicRegression(out_of_bounds="clip").fit(scores, TRUTH.astype(float))
    grid = np.concatenate([np.linspace(-0.2, 1.2, 500), scores])
    assert found.probabilities(grid) == pytest.approx(model.predict(grid), abs=1e-9)


@pytest.mark.parametrize("kind", [MapKind.PLATT, MapKind.ISOTONIC])
def test_maps_calibrate_labels_they_have_not_seen(kind: MapKind) -> None:
    fitted = fit_map(OVERCONFIDENT[:1000], TRUTH[:1000], kind)
    assert fitted is not None
    before = calibration(OVERCONFIDENT[1000:], TRUTH[1000:])
    after = calibration(fitted.probabilities(OVERCONFIDENT[1000:]), TRUTH[1000:])
    assert after.mass_error.value is not None and before.mass_error.value is not None
    assert after.mass_error.value < before.mass_error.value / 2
    assert after.brier.value is not None and before.brier.value is not None
    assert after.brier.value < before.brier.value
    again = map_from_json(json.loads(json.dumps(fitted.as_json())))
    assert again == fitted


def test_scores_that_tell_all_rows_apart_have_a_finite_map() -> None:
    found = fit_platt([0.0] * 30 + [1.0] * 30, [0] * 30 + [1] * 30)
    assert math.isfinite(found.slope) and math.isfinite(found.intercept)
    assert found.probabilities([0.0, 1.0]) == pytest.approx([1 / 32, 31 / 32], abs=1e-6)


def test_a_score_that_says_nothing_maps_to_the_base_rate() -> None:
    found = fit_platt([0.5] * 40, [1] * 10 + [0] * 30)
    assert found.probabilities(0.5) == pytest.approx((10 * 11 / 12 + 30 / 32) / 40, abs=1e-6)


def test_unknown_scores_stay_unknown() -> None:
    for fitted in (PlattMap(1, 0, 2, 1), IsotonicMap((0.2, 0.4), (0.1, 0.9), 2, 1)):
        assert np.isnan(fitted.probabilities([math.nan, 0.3])).tolist() == [True, False]


@pytest.mark.parametrize(
    ("positives", "others", "kind"),
    [
        (19, 400, MapKind.NONE),
        (20, 20, MapKind.PLATT),
        (500, 499, MapKind.PLATT),
        (500, 500, MapKind.ISOTONIC),
        (99, 2000, MapKind.PLATT),
    ],
)
def test_which_map_the_labels_can_carry(positives: int, others: int, kind: MapKind) -> None:
    labels = [1] * positives + [0] * others
    assert suitable_map([*labels, math.nan]) is kind
    fitted = fit_map(np.linspace(0.1, 0.9, len(labels))[::-1], labels)
    assert {type(None): MapKind.NONE, PlattMap: MapKind.PLATT, IsotonicMap: MapKind.ISOTONIC}[type(fitted)] is kind


@pytest.mark.parametrize("fit", [fit_platt, fit_isotonic])
def test_labels_of_one_class_fit_nothing(fit: Any) -> None:
    with pytest.raises(InputError, match="0 positive and 2 other"):
        fit([0.1, 0.2], [0, 0])


def test_platt_wants_probabilities() -> None:
    with pytest.raises(InputError, match="outside 0 and 1"):
        fit_platt([-1, 2], [0, 1])


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"kind": "spline", "labels": 1, "positives": 1}, "of the kind 'spline'"),
        ({"kind": "platt", "labels": 2, "positives": 1, "slope": 1}, "lacks 'intercept'"),
        ({"kind": "platt", "labels": 2, "positives": 1, "slope": "x", "intercept": 1}, "no calibration map"),
        ({"kind": "platt", "labels": 2, "positives": 1, "slope": math.nan, "intercept": 1}, "not finite"),
        ({"kind": "isotonic", "labels": 2, "positives": 1, "scores": [1, 0], "values": [0, 1]}, "scores must rise"),
        ({"kind": "isotonic", "labels": 2, "positives": 1, "scores": [0, 1], "values": [1, 0]}, "must not fall"),
        ({"kind": "isotonic", "labels": 2, "positives": 1, "scores": [0], "values": [0, 1]}, "1 scores for 2 values"),
    ],
)
def test_a_broken_map_is_refused(values: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError, match=problem) as caught:
        map_from_json(values, source="calibration.json")
    assert "calibration.json" in str(caught.value)


@given(st.lists(st.tuples(st.integers(0, 20), st.booleans()), min_size=2, max_size=40))
def test_the_isotonic_map_never_falls_and_keeps_the_mean(rows: list[tuple[int, bool]]) -> None:
    scores, positive = np.array([score for score, _ in rows]) / 20, np.array([label for _, label in rows])
    assume(0 < positive.sum() < positive.size)
    found = fit_isotonic(scores, positive)
    assert np.all(np.diff(found.probabilities(np.linspace(0, 1, 50))) >= -1e-12)
    assert found.probabilities(scores).mean() == pytest.approx(positive.mean())
    assert map_from_json(found.as_json()) == found


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=2, max_size=40))
@example([(0.875, False), (0.875, False), (0.875, True)])
def test_platt_keeps_the_mean_of_his_targets(rows: list[tuple[float, bool]]) -> None:
    scores, positive = np.array([score for score, _ in rows]), np.array([label for _, label in rows])
    positives = int(positive.sum())
    others = positive.size - positives
    assume(positives and others)
    target = np.where(positive, (positives + 1) / (positives + 2), 1 / (others + 2))
    assert fit_platt(scores, positive).probabilities(scores).mean() == pytest.approx(target.mean(), abs=1e-6)
