"""Intervals of weights cover the truth, penalty or not."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from evenhand.statistics.logistic import PairRows, fit, sigmoid
from evenhand.statistics.weight_intervals import weight_intervals

TRUTH = np.array([0.9, 0.0, -0.5])


def clustered(rng: np.random.Generator, inputs: int = 150) -> tuple[PairRows, np.ndarray]:
    """Three pairs an input that are copies but for a little: far fewer observations than rows."""
    clusters = np.repeat(np.arange(inputs), 3)
    x = np.repeat(rng.normal(size=(inputs, 3)), 3, axis=0) + 0.3 * rng.normal(size=(3 * inputs, 3))
    # The same luck for all pairs of an input.
    better = np.repeat(rng.random(inputs), 3) < sigmoid(x @ TRUTH)
    rows = PairRows(x * np.where(better, 1.0, -1.0)[:, None], np.ones(3 * inputs), np.zeros(3 * inputs, dtype=bool))
    return rows, clusters


@pytest.mark.parametrize("penalty", [1e-4, 0.02])
def test_coverage(penalty: float) -> None:
    rng = np.random.default_rng(11)
    covered = np.zeros(3)
    for _ in range(300):
        rows, clusters = clustered(rng)
        found = weight_intervals(rows, clusters, fit(rows, penalty, 0.5))
        covered += (found.low <= TRUTH) & (found.high >= TRUTH)
    assert (covered / 300 >= 0.92).all()
    assert (covered / 300 <= 0.985).all()


def test_one_step_lands_at_the_unpenalised_fit() -> None:
    rows, clusters = clustered(np.random.default_rng(0), 400)
    sign = np.where(np.arange(len(rows)) % 2, 1.0, -1.0)
    plain = LogisticRegression(C=1e8, fit_intercept=False, tol=1e-8).fit(rows.x * sign[:, None], sign > 0).coef_[0]
    found = weight_intervals(rows, clusters, fit(rows, 0.003, 0.5))
    assert found.value == pytest.approx(plain, abs=0.01)


def test_too_little_data_and_features_that_never_vary() -> None:
    rows, clusters = clustered(np.random.default_rng(0), 4)
    nothing = weight_intervals(rows, clusters, np.zeros(3))
    assert np.isnan(nothing.low).all()
    assert nothing.method.startswith("no interval")
    rows, clusters = clustered(np.random.default_rng(0), 50)
    flat = PairRows(np.hstack([rows.x, np.zeros((150, 1))]), rows.weight, rows.tie)
    found = weight_intervals(flat, clusters, np.zeros(4))
    assert np.isnan(found.value[3])
    assert np.isfinite(found.value[:3]).all()
