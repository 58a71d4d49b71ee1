"""The fit against scikit-learn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from evenhand.statistics import logistic
from evenhand.statistics.logistic import PairRows, fit, fit_path, largest_penalty, losses, sigmoid


def simulated(seed: int, n: int = 300, features: int = 6, *, ties: bool = False) -> PairRows:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, features)) + 0.8 * rng.normal(size=(n, 1))
    truth = np.where(np.arange(features) % 2, 0.0, rng.normal(0, 0.7, features))
    better = rng.random(n) < sigmoid(x @ truth)
    tie = rng.random(n) < 0.2 if ties else np.zeros(n, dtype=bool)
    return PairRows(x * np.where(better, 1.0, -1.0)[:, None], rng.uniform(0.5, 2, n), tie)


def by_sklearn(rows: PairRows, penalty: float, l1_ratio: float) -> np.ndarray:
    """Fit scikit-learn's model to signed rows, a tie once with each answer at half its weight."""
    sign = np.where(np.arange(len(rows)) % 2, 1.0, -1.0)
    x = rows.x * sign[:, None]
    # The second copy of a tie says that the other output is better: the same x, the other answer.
    x, y = np.vstack([x, x[rows.tie]]), np.concatenate([sign, -sign[rows.tie]]) > 0
    weight = np.concatenate([np.where(rows.tie, rows.weight / 2, rows.weight), rows.weight[rows.tie] / 2])
    model = LogisticRegression(
        C=1 / (penalty * rows.weight.sum()),
        l1_ratio=l1_ratio,
        solver="saga" if l1_ratio else "lbfgs",
        fit_intercept=False,
        tol=1e-8,
        max_iter=20_000,
    )
    found: np.ndarray = model.fit(x, y, weight).coef_[0]
    return found


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("l1_ratio", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("share", [0.3, 0.05, 0.002])
def test_weights_are_scikit_learns(ties: bool, l1_ratio: float, share: float) -> None:
    rows = simulated(5, ties=ties)
    penalty = share * largest_penalty(rows, max(l1_ratio, 0.5))
    assert fit(rows, penalty, l1_ratio) == pytest.approx(by_sklearn(rows, penalty, l1_ratio), abs=1e-3)


def test_many_rows_take_the_curvature_of_some(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = simulated(1, n=6000, ties=True)
    whole = fit(rows, 0.003, 0.5, tolerance=1e-9)
    monkeypatch.setattr(logistic, "_CURVATURE_ROWS", 300)
    monkeypatch.setattr(logistic, "_CHUNK", 700)
    assert fit(rows, 0.003, 0.5, tolerance=1e-9) == pytest.approx(whole, abs=1e-6)


@given(st.integers(0, 10_000))
@settings(max_examples=30)
def test_signs_do_not_matter_and_the_largest_penalty_is_the_edge(seed: int) -> None:
    rows = simulated(seed, n=60, features=4)
    largest = largest_penalty(rows, 0.5)
    assert not fit(rows, largest * 1.0001, 0.5).any()
    assert fit(rows, largest * 0.98, 0.5).any()


def test_a_path_is_the_same_as_its_single_fits() -> None:
    rows = simulated(2)
    penalties = [0.1, 0.01, 0.001]
    path = fit_path(rows, penalties, 0.5, tolerance=1e-9)
    for penalty, w in zip(penalties, path, strict=True):
        assert w == pytest.approx(fit(rows, penalty, 0.5, tolerance=1e-9), abs=1e-6)


def test_perfectly_separated_and_collinear_and_constant_features() -> None:
    x = np.abs(np.random.default_rng(0).normal(size=(50, 1))) + 0.1
    rows = PairRows(np.hstack([x, x, np.zeros((50, 1))]), np.ones(50), np.zeros(50, dtype=bool))
    w = fit(rows, 1e-3, 0.5)
    assert np.isfinite(w).all()
    assert w[0] > 0
    assert w[2] == 0


def test_losses_do_not_overflow() -> None:
    found = losses(np.array([-1e4, 0.0, 1e4, 3.0]), np.array([False, False, False, True]))
    assert found == pytest.approx([1e4, np.log(2), 0.0, np.log1p(np.exp(-3)) + 1.5])
    assert sigmoid(np.array([-1e4, 0.0, 1e4])).tolist() == [0.0, 0.5, 1.0]
