"""Calibration of margins whose truth is known."""

import numpy as np
import pytest

from evenhand.statistics.calibration import calibration_slope, expected_calibration_error
from evenhand.statistics.logistic import sigmoid


@pytest.mark.parametrize("stretch", [0.5, 1.0, 2.0])
def test_slope_undoes_a_stretch(stretch: float) -> None:
    rng = np.random.default_rng(0)
    true = np.abs(rng.normal(0, 2, 40_000))
    margins = np.where(rng.random(40_000) < sigmoid(true), true, -true)
    assert calibration_slope(margins * stretch) == pytest.approx(1 / stretch, rel=0.04)
    error = expected_calibration_error(margins * stretch)
    assert error < 0.01 if stretch == 1 else error > 0.05


def test_by_hand() -> None:
    """Two pairs of confidence .731, one right: |.5 - .731|."""
    assert expected_calibration_error(np.array([1.0, -1.0])) == pytest.approx(sigmoid(np.array([1.0]))[0] - 0.5)
    assert expected_calibration_error(np.zeros(4)) == 0.0


def test_nothing_to_judge() -> None:
    assert np.isnan(expected_calibration_error(np.empty(0)))
    assert np.isnan(calibration_slope(np.zeros(5)))
    assert np.isnan(calibration_slope(np.empty(0)))
    assert np.isfinite(calibration_slope(np.array([1.0, 2.0])))
