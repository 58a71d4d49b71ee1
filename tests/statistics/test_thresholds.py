"""The best threshold is the one that trying them all finds, and its interval says how sharp the choice is."""

import json
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score, roc_curve

from evenhand.statistics import ClusterBootstrap
from evenhand.statistics.thresholds import CANDIDATES, BestThreshold, Criterion, best_threshold, threshold_curve

RNG = np.random.default_rng(10)
TRUTH = RNG.random(150) < 0.3
SCORES = RNG.normal(size=150) + 1.5 * TRUTH


def test_youden_is_that_of_the_roc_curve() -> None:
    alarms, hits, _ = roc_curve(TRUTH, SCORES)
    found = best_threshold(SCORES, TRUTH)
    assert found.point is not None
    assert found.point.youden == pytest.approx(float(np.max(hits - alarms)))


def test_kappa_is_that_of_scikit_learn_at_every_threshold() -> None:
    curve = threshold_curve(SCORES, TRUTH)
    assert [point.threshold for point in curve] == sorted(point.threshold for point in curve)
    for point in curve[::7]:
        assert point.kappa == pytest.approx(cohen_kappa_score(TRUTH, point.threshold < SCORES))
    best = best_threshold(SCORES, TRUTH, criterion="kappa")
    assert best.point is not None
    assert best.point.kappa == pytest.approx(max(point.kappa for point in curve))


def test_kappa_asks_for_fewer_false_ones_where_the_positive_are_rare() -> None:
    rng = np.random.default_rng(4)
    positive = rng.random(5000) < 0.05
    scores = rng.normal(size=5000) + 2 * positive
    youden, kappa = (best_threshold(scores, positive, criterion=name).threshold for name in ("youden", "kappa"))
    assert youden is not None and kappa is not None
    assert youden == pytest.approx(1, abs=0.3)
    assert kappa > youden + 0.3
    assert len(threshold_curve(scores, positive)) <= CANDIDATES


def test_the_middle_is_taken_between_classes_that_are_apart() -> None:
    found = best_threshold([0.1, 0.2, 0.8, 0.9] * 20, [0, 0, 1, 1] * 20)
    assert found.threshold == pytest.approx(0.5)
    assert found.low == pytest.approx(0.5)
    assert found.high == pytest.approx(0.5)


@pytest.mark.parametrize("criterion", ["youden", "kappa"])
def test_more_labels_place_it_more_sharply(criterion: Criterion) -> None:
    rng = np.random.default_rng(2)
    lengths = []
    for n in (60, 2000):
        positive = rng.random(n) < 0.5
        found = best_threshold(rng.normal(size=n) + 2 * positive, positive, criterion=criterion)
        assert found.low is not None and found.high is not None and found.threshold is not None
        assert found.low <= found.threshold <= found.high
        lengths.append(found.high - found.low)
    assert lengths[1] < lengths[0]


@pytest.mark.parametrize("criterion", ["youden", "kappa"])
def test_resamples_choose_as_trying_them_all_would(criterion: Criterion) -> None:
    """The interval of clusters that are whole copies is that of the clusters alone."""
    once = best_threshold(SCORES, TRUTH, criterion=criterion, seed=3)
    names = np.tile(np.arange(150), 2).tolist()
    bootstrap = ClusterBootstrap(names, seed=1, draws=10)
    twice = best_threshold(np.tile(SCORES, 2), np.tile(TRUTH, 2), criterion=criterion, bootstrap=bootstrap, seed=3)
    assert (twice.threshold, twice.low, twice.high) == (once.threshold, once.low, once.high)
    assert (twice.n, twice.clusters) == (300, 150)


def test_without_two_classes_or_variation_there_is_none() -> None:
    for scores, positive, why in (
        ([1, 2], [1, 1], "one class"),
        ([1, 1], [0, 1], "do not vary"),
        ([], [], "one class"),
    ):
        found = best_threshold(scores, positive)
        assert found.threshold is None and why in found.method
        assert threshold_curve(scores, positive) == ()
        assert BestThreshold.from_json(json.loads(json.dumps(found.as_json()))) == found


def test_it_survives_json() -> None:
    found = best_threshold(SCORES, TRUTH)
    assert BestThreshold.from_json(json.loads(json.dumps(found.as_json()))) == found


@given(st.lists(st.tuples(st.one_of(st.integers(0, 8), st.just(math.nan)), st.booleans()), min_size=2, max_size=30))
def test_no_other_threshold_is_better(rows: list[tuple[float, bool]]) -> None:
    scores, positive = np.array([score for score, _ in rows]), np.array([label for _, label in rows])
    known = ~np.isnan(scores)
    truth = positive[known]
    assume(0 < truth.sum() < truth.size and np.ptp(scores[known]) > 0)
    found = best_threshold(scores, positive)
    assert found.point is not None
    between = [threshold for threshold in np.arange(0.5, 8) if scores[known].min() < threshold < scores[known].max()]
    above = [scores[known] > threshold for threshold in between]
    best = max(said[truth].mean() + (~said)[~truth].mean() - 1 for said in above)
    assert found.point.youden == pytest.approx(best, abs=1e-9)
