"""Ranks and areas under the curve against SciPy, scikit-learn and plain loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import roc_auc_score

from evenhand.statistics.ranks import area_under_curve, average_ranks, signed_auc

VALUES = st.lists(st.integers(-4, 4), min_size=2, max_size=40)


@given(VALUES)
def test_average_ranks(values: list[int]) -> None:
    data = np.array(values, dtype=np.float64)
    assert average_ranks(data).tolist() == stats.rankdata(data).tolist()


@given(VALUES, st.integers(0, 1000))
def test_area_under_curve(values: list[int], seed: int) -> None:
    data = np.array(values, dtype=np.float64)
    positive = np.random.default_rng(seed).random(data.size) < 0.5
    if positive.all() or not positive.any():
        assert np.isnan(area_under_curve(data, positive))
    else:
        assert area_under_curve(data, positive) == pytest.approx(roc_auc_score(positive, data))


@given(VALUES)
def test_signed_auc_against_a_loop_over_pairs(values: list[int]) -> None:
    margins = np.array(values, dtype=np.float64)
    wins = [
        float(a + b > 0) + 0.5 * float(a + b == 0) for i, a in enumerate(values) for j, b in enumerate(values) if i != j
    ]
    area, rows = signed_auc(margins)
    assert area == pytest.approx(np.mean(wins))
    assert rows.mean() == pytest.approx(area)


def test_signed_auc_is_the_mean_over_random_signs() -> None:
    rng = np.random.default_rng(0)
    margins = rng.integers(-3, 6, 200).astype(np.float64)
    areas = []
    for _ in range(300):
        signs = rng.choice([-1.0, 1.0], margins.size)
        areas.append(roc_auc_score(signs > 0, margins * signs))
    assert signed_auc(margins)[0] == pytest.approx(np.mean(areas), abs=0.002)


def test_its_rows_give_its_standard_error() -> None:
    rng = np.random.default_rng(1)
    found, errors = [], []
    for _ in range(300):
        area, rows = signed_auc(rng.normal(0.5, 1, 150))
        found.append(area)
        errors.append(rows.std() / np.sqrt(rows.size))
    assert np.std(found) == pytest.approx(np.mean(errors), rel=0.12)
