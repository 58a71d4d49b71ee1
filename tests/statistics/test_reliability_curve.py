"""Brier score, calibration errors and the curve against scikit-learn and by hand."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss

from evenhand.errors import InputError
from evenhand.statistics import ClusterBootstrap
from evenhand.statistics.reliability_curve import (
    Calibration,
    brier_score,
    calibration,
    calibration_error,
    reliability_curve,
)

RNG = np.random.default_rng(9)
TRUTH = RNG.random(500) < 0.4
SCORES = 1 / (1 + np.exp(-(RNG.normal(size=500) + 2 * TRUTH - 1)))


def test_brier_is_that_of_scikit_learn() -> None:
    assert brier_score(SCORES, TRUTH).value == pytest.approx(brier_score_loss(TRUTH, SCORES))
    found = brier_score(SCORES, TRUTH, ClusterBootstrap(list(range(500)), seed=1, draws=500))
    assert found.value == pytest.approx(brier_score_loss(TRUTH, SCORES))
    assert found.low is not None and found.high is not None and found.low < brier_score_loss(TRUTH, SCORES) < found.high


@pytest.mark.parametrize(("ours", "theirs"), [("width", "uniform"), ("mass", "quantile")])
def test_curve_is_that_of_scikit_learn(ours: str, theirs: str) -> None:
    observed, mean = calibration_curve(TRUTH, SCORES, n_bins=10, strategy=theirs)
    found = reliability_curve(SCORES, TRUTH, binning="width" if ours == "width" else "mass")
    # scikit-learn puts a score at an edge to the right, which matters to one row a bin at most.
    for bin_, share, probability in zip(found, observed, mean, strict=True):
        assert bin_.observed.value == pytest.approx(share, abs=1.5 / bin_.observed.n)
        assert bin_.mean == pytest.approx(probability, abs=0.01)
        assert bin_.low <= bin_.mean <= bin_.high


def test_calibration_error_by_hand() -> None:
    probabilities = [0.12, 0.18, 0.95, 0.95, 0.95]
    positive = [0, 1, 1, 1, 0]
    # Bin .1 to .2: one of two positive, mean .15. Bin .9 to 1: two of three, mean .95.
    assert calibration_error(probabilities, positive).value == pytest.approx(2 / 5 * 0.35 + 3 / 5 * (0.95 - 2 / 3))
    assert calibration_error(probabilities, positive).low is None


def test_a_probability_of_one_has_a_bin() -> None:
    assert calibration_error([0.0, 1.0], [0, 1]).value == 0


def test_a_calibrated_grader_has_about_the_error_by_chance() -> None:
    rng = np.random.default_rng(3)
    found, by_chance = [], []
    for _ in range(200):
        probabilities = rng.random(400)
        figures = calibration(probabilities, rng.random(400) < probabilities)
        found.append(figures.mass_error.value)
        by_chance.append(figures.mass_error_by_chance)
    assert np.mean(np.array(found)) == pytest.approx(np.mean(np.array(by_chance)), rel=0.05)


def test_an_overconfident_grader_is_seen() -> None:
    rng = np.random.default_rng(4)
    right = rng.random(1000)
    margins = np.log(right / (1 - right))
    bootstrap = ClusterBootstrap(list(range(1000)), seed=1, draws=500)
    found = calibration(1 / (1 + np.exp(-3 * margins)), rng.random(1000) < right, bootstrap=bootstrap)
    for error, by_chance in (
        (found.width_error, found.width_error_by_chance),
        (found.mass_error, found.mass_error_by_chance),
    ):
        assert error.value is not None and error.low is not None and by_chance is not None
        assert error.low > by_chance
    assert found.brier_of_base_rate == pytest.approx(0.25, abs=0.001)
    assert Calibration.from_json(json.loads(json.dumps(found.as_json()))) == found


def test_nothing_to_say_is_said() -> None:
    found = calibration([math.nan], [1])
    assert (found.brier.value, found.width_error.value, found.curve) == (None, None, ())
    assert found.brier_of_base_rate is None
    assert Calibration.from_json(json.loads(json.dumps(found.as_json()))) == found


def test_log_odds_are_not_probabilities() -> None:
    with pytest.raises(InputError, match="probabilities from -1 to 2"):
        calibration([-1, 2], [0, 1])


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=50), st.integers(1, 12))
def test_errors_stay_within_their_bounds(rows: list[tuple[float, bool]], bins: int) -> None:
    scores, positive = [score for score, _ in rows], [label for _, label in rows]
    found = calibration(scores, positive, bins=bins)
    gap = abs(float(np.mean(scores)) - float(np.mean(positive)))
    for error in (found.width_error.value, found.mass_error.value):
        assert error is not None and gap - 1e-9 <= error <= 1
    assert sum(bin_.observed.n for bin_ in found.curve) == len(rows)
    assert len(found.curve) <= bins
