"""AUC and rates against scikit-learn and plain formulas, what intervals hold, and graders that don't grade."""

import json
import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from evenhand.errors import InputError
from evenhand.statistics import ClusterBootstrap
from evenhand.statistics.detection import (
    Recognition,
    Verdict,
    auc_with_equal,
    auc_within,
    recognise,
    roc_auc,
    sensitivity,
    share,
    specificity,
)

Floats = npt.NDArray[np.float64]


@pytest.mark.parametrize("levels", [3, 10, 10_000])
def test_auc_is_that_of_scikit_learn(levels: int) -> None:
    rng = np.random.default_rng(levels)
    positive = rng.random(300) < 0.3
    scores = np.round((rng.normal(size=300) + positive) * levels / 6) / levels
    assert roc_auc(scores, positive).value == pytest.approx(roc_auc_score(positive, scores))


def delong(scores: Floats, positive: npt.NDArray[np.bool_]) -> float:
    """DeLong's standard error, from every comparison."""
    high, low = scores[positive], scores[~positive]
    wins = (high[:, None] > low) + 0.5 * (high[:, None] == low)
    return math.sqrt(wins.mean(axis=1).var(ddof=1) / high.size + wins.mean(axis=0).var(ddof=1) / low.size)


def test_error_is_delongs() -> None:
    rng = np.random.default_rng(2)
    positive = rng.random(400) < 0.4
    scores = np.round(rng.normal(size=400) + positive, 1)
    # The same but for n / (n - 1) over all rows instead of one factor for each class.
    assert roc_auc(scores, positive).standard_error == pytest.approx(delong(scores, positive), rel=0.003)


def test_copies_of_rows_do_not_make_an_auc_surer() -> None:
    rng = np.random.default_rng(3)
    positive = rng.random(100) < 0.4
    scores = rng.normal(size=100) + positive
    once = roc_auc(scores, positive)
    names = np.repeat(np.arange(100), 4).tolist()
    found = roc_auc(np.repeat(scores, 4), np.repeat(positive, 4), ClusterBootstrap(names, seed=1, draws=10))
    assert found.value == pytest.approx(once.value)
    assert found.standard_error == pytest.approx(once.standard_error)
    assert (found.n, found.clusters) == (400, 100)


@pytest.mark.parametrize("shift", [0.0, 1.0, 2.0])
def test_intervals_of_the_auc_hold_what_they_say(shift: float) -> None:
    """Four rows a cluster that share half of their noise; positive and other rows in the same cluster."""
    rng = np.random.default_rng(17)
    truth = 0.5 * (1 + math.erf(shift / 2))
    names = np.repeat(np.arange(50), 4)
    bootstrap = ClusterBootstrap(names.tolist(), seed=1, draws=10)
    held = 0
    for _ in range(1000):
        positive = rng.random(200) < 0.4
        noise = math.sqrt(0.5) * (rng.normal(size=50)[names] + rng.normal(size=200))
        found = roc_auc(noise + shift * positive, positive, bootstrap)
        assert found.low is not None and found.high is not None
        held += found.low <= truth <= found.high
    assert 0.93 <= held / 1000 <= 0.975


def test_no_comparison_that_goes_wrong_is_not_certainty() -> None:
    found = roc_auc([0.1] * 30 + [0.9] * 10, [0] * 30 + [1] * 10)
    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx(0.025 ** (1 / 10))
    assert roc_auc([0.9] * 30 + [0.1] * 10, [0] * 30 + [1] * 10).high == pytest.approx(1 - 0.025 ** (1 / 10))


def test_a_score_that_is_only_length_falls_to_a_half_with_length_held_equal() -> None:
    rng = np.random.default_rng(5)
    positive = rng.random(4000) < 0.5
    length = rng.lognormal(5 + 0.5 * positive, 0.5)
    by_length = auc_with_equal(length + rng.normal(0, 60, 4000), positive, length, bins=50)
    assert by_length.value == pytest.approx(0.5, abs=0.03)
    assert (roc_auc(length, positive).value or 0) > 0.7
    real = rng.normal(size=4000) + 1.5 * positive
    held = auc_with_equal(real, positive, length, bins=10)
    assert held.value == pytest.approx(roc_auc(real, positive).value, abs=0.02)


def test_auc_within_groups_is_the_mean_over_pairs_of_one_group() -> None:
    scores = np.array([1.0, 2.0, 3.0, 0.0, 11.0, 10.0])
    positive = np.array([0, 1, 1, 0, 0, 1])
    groups = ["a", "a", "a", "b", "b", "b"]
    # In a both comparisons are right, in b one of two; across the groups others would be wrong.
    assert auc_within(scores, positive, groups).value == pytest.approx(3 / 4)
    assert auc_within(scores, positive, ["a"] * 6).value == roc_auc(scores, positive).value


def test_rates_at_a_threshold() -> None:
    scores = [0.9, 0.5, 0.2, 0.6, 0.1, 0.5, math.nan]
    positive = [1, 1, 1, 0, 0, 0, 1]
    assert sensitivity(scores, positive).value == pytest.approx(1 / 3), "a score at the threshold is not above it"
    assert specificity(scores, positive).value == pytest.approx(2 / 3)
    assert sensitivity(scores, positive, threshold=0.15).value == 1
    assert sensitivity([0.3], [0]).value is None
    bootstrap = ClusterBootstrap([1, 1, 2, 3, 4, 5, 6], seed=1, draws=200)
    found = sensitivity(scores, positive, bootstrap=bootstrap)
    assert found.value == pytest.approx(1 / 3)
    assert (found.n, found.clusters) == (3, 2)


def test_share_agrees_with_its_weighted_self() -> None:
    weighted = share([1, 0, 1], [1, 2, 3], [2, 1, 1])
    assert weighted.value == pytest.approx(share([1, 1, 0, 1], [1, 1, 2, 3]).value)
    assert weighted.standard_error == pytest.approx(share([1, 1, 0, 1], [1, 1, 2, 3]).standard_error)


RNG = np.random.default_rng(40)
TRUTH = RNG.random(300) < 0.3
GOOD = 1 / (1 + np.exp(-(RNG.normal(size=300) + 3 * TRUTH - 1.5)))


@pytest.mark.parametrize(
    ("scores", "verdict"),
    [
        (GOOD, Verdict.TELLS),
        (GOOD > 0.5, Verdict.TELLS),
        (RNG.random(300), Verdict.RANDOM),
        (RNG.random(300) < 0.3, Verdict.RANDOM),
        (np.full(300, 0.7), Verdict.CONSTANT),
        (np.ones(300), Verdict.CONSTANT),
        (1 - GOOD, Verdict.INVERTED),
        (GOOD < 0.5, Verdict.INVERTED),
        (0.4 * GOOD, Verdict.ONE_SIDED),
        (np.where(np.arange(300) < 5, GOOD, np.nan), Verdict.UNDECIDED),
    ],
)
def test_graders_that_do_not_grade_are_recognised(scores: Floats, verdict: Verdict) -> None:
    found = recognise(scores, TRUTH)
    assert found.verdict is verdict
    assert found.usable == (verdict is Verdict.TELLS)
    assert found.sentence.endswith(".")
    assert Recognition.from_json(json.loads(json.dumps(found.as_json()))) == found


@pytest.mark.parametrize("rows", [1, 2, 4])
def test_of_few_rows_with_one_score_nothing_is_said(rows: int) -> None:
    assert recognise([0.7] * rows, [1] + [0] * (rows - 1)).verdict is Verdict.UNDECIDED
    assert recognise([0.7] * 5, [1, 0, 1, 0, 1]).verdict is Verdict.CONSTANT


def test_a_random_grader_is_seldom_taken_for_another() -> None:
    rng = np.random.default_rng(6)
    verdicts = [recognise(rng.random(120), rng.random(120) < 0.3).verdict for _ in range(500)]
    assert 0.92 <= verdicts.count(Verdict.RANDOM) / 500 <= 0.98


def test_five_answers_of_one_cluster_are_one() -> None:
    positive = np.array([1] * 10 + [0] * 30)
    scores = positive + np.random.default_rng(1).normal(0, 0.1, 40)
    one_model = ClusterBootstrap([*["a"] * 10, *range(30)], seed=1, draws=10)
    assert recognise(scores, positive, bootstrap=one_model).verdict is Verdict.UNDECIDED
    assert recognise(scores, positive).verdict is Verdict.TELLS


@pytest.mark.parametrize(
    ("scores", "positive", "problem"),
    [([1, 2], [1], "shape"), ([1, 2], [1, 2], "other than 0 and 1"), ([[1, 2]], [[0, 1]], "shape")],
)
def test_what_cannot_be_used_is_said(scores: list[float], positive: list[int], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        roc_auc(scores, positive)


def test_a_bootstrap_of_other_rows_is_refused() -> None:
    with pytest.raises(InputError, match="resamples are of 3 rows"):
        roc_auc([1, 2], [0, 1], ClusterBootstrap([1, 2, 3], seed=1, draws=10))


rows = st.lists(st.tuples(st.integers(-5, 5), st.booleans()), min_size=2, max_size=40)


@given(rows)
def test_auc_turns_round_with_the_scores_and_is_blind_to_their_scale(found: list[tuple[int, bool]]) -> None:
    scores, positive = np.array([score for score, _ in found]), np.array([label for _, label in found])
    assume(0 < positive.sum() < positive.size)
    auc = roc_auc(scores, positive)
    assert auc.value is not None
    assert roc_auc(-scores, positive).value == pytest.approx(1 - auc.value)
    assert roc_auc(scores, ~positive).value == pytest.approx(1 - auc.value)
    assert roc_auc(np.exp(scores) * 3, positive).value == pytest.approx(auc.value)
    if auc.low is not None and auc.high is not None:
        assert 0 <= auc.low <= auc.value <= auc.high <= 1


def test_a_grader_that_is_never_wrong_is_told_from_chance_or_not_judged() -> None:
    """Whatever the number of independent answers of a class."""
    for number in range(1, 12):
        scores, positive = [0.9] * number + [0.1] * number, [1] * number + [0] * number
        found = recognise(scores, positive)
        assert found.verdict is (Verdict.TELLS if number >= 6 else Verdict.UNDECIDED)
        upside_down = recognise(scores, [1 - label for label in positive])
        assert upside_down.verdict is (Verdict.INVERTED if number >= 6 else Verdict.UNDECIDED)
