"""Folds keep groups together, choices are honest, and the useless is not selected."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.statistics.cross_validation import (
    carried,
    cross_validate,
    grouped_folds,
    held_out_margins,
    penalty_grid,
    stability,
)
from evenhand.statistics.logistic import PairRows, fit, losses, sigmoid
from evenhand.statistics.ranks import signed_auc
from evenhand.statistics.weight_intervals import noise_penalty

TRUTH = np.array([1.0, 0.0, -0.7, 0.0, 0.5])


def simulated(seed: int, n: int = 600, truth: np.ndarray = TRUTH) -> PairRows:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, truth.size))
    x *= np.where(rng.random(n) < sigmoid(x @ truth), 1.0, -1.0)[:, None]
    return PairRows(x, np.ones(n), np.zeros(n, dtype=bool))


@given(st.integers(3, 60), st.integers(2, 10), st.integers(0, 99))
def test_folds_keep_clusters_together_and_are_even(clusters: int, folds: int, seed: int) -> None:
    folds = min(folds, clusters)
    names = np.concatenate([np.arange(clusters), np.random.default_rng(seed).integers(0, clusters, 40)])
    found = grouped_folds(names, folds, seed)
    of = {int(name): {int(fold) for fold in found[names == name]} for name in names}
    assert all(len(fold) == 1 for fold in of.values())
    sizes = np.bincount([min(fold) for fold in of.values()], minlength=folds)
    assert sizes.max() - sizes.min() <= 1


def test_margins_come_from_fits_that_have_not_seen_them() -> None:
    """An oracle: nested cross-validation written out as two loops."""
    rows = simulated(0, n=150)
    folds = grouped_folds(np.arange(150), 4, 1)
    penalties = penalty_grid(rows, 0.5, 5)
    found = cross_validate(rows, folds, 0.5, penalties)
    expected = np.zeros(150)
    for k in range(4):
        means = []
        for penalty in penalties:
            inner = []
            for j in set(range(4)) - {k}:
                w = fit(rows.at((folds != k) & (folds != j)), penalty, 0.5)
                inner.append(losses(rows.x[folds == j] @ w, rows.tie[folds == j]))
            means.append(np.concatenate(inner).mean())
        w = fit(rows.at(folds != k), penalties[int(np.argmin(means))], 0.5)
        expected[folds == k] = rows.x[folds == k] @ w
    assert found.margins == pytest.approx(expected, abs=1e-3)


def test_nothing_is_found_where_nothing_is() -> None:
    """Forty features of noise: fitted to all they seem to predict, held out they do not."""
    rows = simulated(3, n=200, truth=np.zeros(40))
    folds = grouped_folds(np.arange(200), 5, 0)
    found = cross_validate(rows, folds, 0.5, penalty_grid(rows, 0.5))
    assert signed_auc(rows.x @ fit(rows, 1e-4, 0.5))[0] > 0.65
    assert signed_auc(found.margins + 0.0)[0] == pytest.approx(0.5, abs=0.08)


def test_choice_of_the_penalty() -> None:
    rows = simulated(4)
    folds = grouped_folds(np.arange(600), 5, 0)
    found = cross_validate(rows, folds, 0.5, penalty_grid(rows, 0.5))
    assert found.best == int(np.argmin(found.mean_loss))
    assert found.one_standard_error <= found.best
    within = found.mean_loss[found.best] + found.standard_error[found.best]
    assert found.mean_loss[found.one_standard_error] <= within
    assert (np.diff(found.penalties) < 0).all()


def test_a_sample_may_choose() -> None:
    rows = simulated(5, n=3000)
    clusters = np.arange(3000) // 2
    folds = grouped_folds(clusters, 5, 0)
    whole = cross_validate(rows, folds, 0.5, penalty_grid(rows, 0.5))
    sampled = cross_validate(rows, folds, 0.5, penalty_grid(rows, 0.5), searched=clusters < 500)
    assert signed_auc(sampled.margins)[0] == pytest.approx(signed_auc(whole.margins)[0], abs=0.01)
    assert carried(0.4, rows.at(clusters < 375), rows) == pytest.approx(0.2)


def test_best_single_feature() -> None:
    rows = simulated(6)
    folds = grouped_folds(np.arange(600), 5, 0)
    margins, taken = held_out_margins(rows, folds, [[index] for index in range(5)])
    assert set(taken) == {0}
    assert (margins > 0).mean() == pytest.approx((rows.x[:, 0] > 0).mean())
    assert held_out_margins(rows, folds, [[2], [0]], searched=np.arange(600) < 300)[1] == [1] * 5


def test_stability_selects_the_useful_and_not_the_useless() -> None:
    rows = simulated(7, n=1500)
    clusters = np.arange(1500) // 2
    strict = noise_penalty(rows, clusters, fit(rows, 1e-3, 0.5), 0.5)
    found = stability(rows, clusters, strict, 0.5, draws=15, seed=0, start=np.zeros(5))
    assert (found[[0, 2, 4]] > 0.9).all()
    assert (found[[1, 3]] < 0.4).all()
