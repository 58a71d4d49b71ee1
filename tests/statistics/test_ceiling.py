"""What noise takes away is what the ceiling gives back."""

import math

import numpy as np
import pytest

from evenhand.statistics.ceiling import accuracy_without_noise, auc_without_noise
from evenhand.statistics.logistic import sigmoid
from evenhand.statistics.ranks import signed_auc


@pytest.mark.parametrize("spread", [0.7, 2.0])
@pytest.mark.parametrize("noise", [0.5, 1.0, 2.0])
def test_it_undoes_noise_of_known_size(noise: float, spread: float) -> None:
    """People choose with log odds t; the grader sees t with noise of ``noise`` times its spread."""
    rng = np.random.default_rng(0)
    true = rng.normal(0, spread, 200_000)
    side = np.where(rng.random(true.size) < sigmoid(true), 1.0, -1.0)
    seen = (true + rng.normal(0, noise * spread, true.size)) * side
    exact = true * side
    reliability = 1 / (1 + noise**2)
    found = accuracy_without_noise(float(np.mean(seen > 0)), reliability)
    assert found == pytest.approx(np.mean(exact > 0), abs=0.015)
    assert auc_without_noise(signed_auc(seen)[0], reliability) == pytest.approx(signed_auc(exact)[0], abs=0.015)


@pytest.mark.parametrize("function", [accuracy_without_noise, auc_without_noise])
def test_the_ends(function: object) -> None:
    assert callable(function)
    assert math.isnan(function(0.8, 0.0))
    assert math.isnan(function(0.8, math.nan))
    assert function(1.0, 0.5) == pytest.approx(1.0)
    assert function(0.98, 0.2) == pytest.approx(1.0)
    assert function(0.8, 1.0) == pytest.approx(0.8)
    assert function(0.5, 0.5) == pytest.approx(0.5)
