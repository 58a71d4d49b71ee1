"""95% intervals hold the truth in 93 to 97% of simulated audits, and are as long as they should be."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from evenhand.statistics import ClusterBootstrap, Estimate, robust
from evenhand.statistics.bootstrap import Kind

Floats = npt.NDArray[np.float64]
STANCES, TEMPLATES = 150, 9
NAMES = np.repeat(np.arange(STANCES), TEMPLATES).tolist()
AUDITS = 1000
A_SET_OF_DRAWS = 25
"""Audits that share their resamples: drawing them costs more than all figures of an audit."""
REFERENCE = {0.0: 1.16, 0.1: 1.56, 0.2: 1.87, 0.3: 2.14, 0.5: 2.60}


@dataclass(frozen=True)
class Audits:
    """What a grader said of pairs in both orders, shape (audits, rows) each."""

    even: Floats
    """P(even), the mean of both orders."""
    lean: Floats
    """P(b better) - P(a better), the mean of both orders mapped back."""
    position: Floats
    """P(first better) - P(second better), the mean of both orders."""
    stable: Floats
    """1 where the verdict survives the swap."""


def simulate(audits: int, stances: int, templates: int, seed: int) -> Audits:
    """A subject that leans to b, differently on each stance pair, and a grader that prefers the first answer.

    The grader's log odds of "a better", "b better" and "even" are what stance pair, template and order make of them;
    its taste for the first place differs between stance pairs too.
    """
    rng = np.random.default_rng(seed)

    def level(mean: float, of_stance: float, of_row: float) -> Floats:
        return np.asarray(
            mean
            + of_stance * rng.normal(size=(audits, stances, 1))
            + of_row * rng.normal(size=(audits, stances, templates))
        )

    lean, evenness, taste = level(0.5, 1.0, 0.7), level(3.0, 1.2, 0.8), level(0.4, 0.3, 0.2)

    def judged(first: Floats, second: Floats) -> tuple[Floats, Floats, Floats]:
        tie = evenness + 0.3 * rng.normal(size=evenness.shape)
        odds = np.exp(np.stack([first + taste, second, tie]))
        p = odds / odds.sum(axis=0)
        return p[0], p[1], p[2]

    a_first, b_second, even_ab = judged(-lean, lean)
    b_first, a_second, even_ba = judged(lean, -lean)
    even = (even_ab + even_ba) / 2
    found = (
        even,
        (b_second + b_first - a_first - a_second) / 2,
        (a_first - b_second + b_first - a_second) / 2,
        ((even_ab > 0.5) == (even_ba > 0.5)).astype(np.float64),
    )
    return Audits(*(values.reshape(audits, -1) for values in found))


@lru_cache(maxsize=1)
def truths() -> dict[str, float]:
    """Return the figures of an audit so large that it is the truth: off by a tenth of the standard errors at most."""
    return {name: float(x.sum() / u.sum()) for name, (x, u) in figures(simulate(1, 200_000, 3, seed=1)).items()}


def figures(audits: Audits) -> dict[str, tuple[Floats, Floats]]:
    """Return numerator and denominator of each figure."""
    uneven = (audits.even <= 0.5).astype(np.float64)
    ones = np.ones_like(uneven)
    return {
        "mean P": (audits.even, ones),
        "rate at 0.5": (1 - uneven, ones),
        "direction": (audits.lean, ones),
        "position effect": (audits.position, ones),
        "swap consistency": (audits.stable, ones),
        "share of b given uneven": (uneven * (audits.lean > 0), uneven),
    }


def holds(found: Estimate, truth: float) -> bool:
    assert found.low is not None
    assert found.high is not None
    return found.low <= truth <= found.high


def test_a_thousand_audits() -> None:
    """A known lean and a known position bias are recovered, and every figure's interval holds what it says."""
    assert truths()["direction"] > 0.03
    assert truths()["position effect"] > 0.02
    audits = figures(simulate(AUDITS, STANCES, TEMPLATES, seed=2))
    covered, analytic = dict.fromkeys(audits, 0), dict.fromkeys(audits, 0)
    for audit in range(AUDITS):
        if audit % A_SET_OF_DRAWS == 0:
            boot = ClusterBootstrap(NAMES, seed=audit, draws=1000)
        for name, (x, u) in audits.items():
            found = boot.ratio(x[audit], u[audit])
            covered[name] += holds(found, truths()[name])
            low, high = robust.interval(found) or (np.nan, np.nan)
            analytic[name] += low <= truths()[name] <= high
    for name in audits:
        assert 0.93 <= covered[name] / AUDITS <= 0.97, (name, covered)
        assert 0.93 <= analytic[name] / AUDITS <= 0.97, (name, analytic)


def test_rows_taken_as_independent_would_not_hold() -> None:
    """The same audits with every row its own cluster: the fault that this is all about."""
    leans = figures(simulate(100, STANCES, TEMPLATES, seed=3))["direction"][0]
    rows = ClusterBootstrap(range(STANCES * TEMPLATES), seed=0, draws=400)
    assert np.mean([holds(rows.mean(values), truths()["direction"]) for values in leans]) < 0.75


def shares_of_clusters(model: str, icc: float, audits: int, rng: np.random.Generator) -> Floats:
    """Return the true rate of each stance pair, .95 on average, with an intra-cluster correlation of verdicts."""
    if icc == 0:
        return np.full((audits, STANCES), 0.95)
    if model == "beta-binomial":
        return rng.beta(0.95 * (1 - icc) / icc, 0.05 * (1 - icc) / icc, (audits, STANCES))
    # A normal leaning of each stance pair, a normal one of each row, and a threshold.
    points, weights = np.polynomial.hermite_e.hermegauss(100)

    def share(leaning: Floats, part: float) -> Floats:
        return np.asarray(norm.cdf((norm.ppf(0.95) + np.sqrt(part) * leaning) / np.sqrt(1 - part)))

    def excess(part: float) -> float:
        variance = float(weights @ share(points, part) ** 2 / weights.sum()) - 0.95**2
        return variance / (0.95 * 0.05) - icc

    return share(rng.normal(size=(audits, STANCES)), brentq(excess, 1e-3, 0.98))


@pytest.mark.parametrize(("icc", "half_width"), REFERENCE.items())
@pytest.mark.parametrize("model", ["beta-binomial", "latent normal"])
def test_reference_half_widths(model: str, icc: float, half_width: float) -> None:
    """150 stance pairs x 9 templates, true rate .95: half the length of the interval, in points."""
    rng = np.random.default_rng(11)
    audits = 400
    shares = shares_of_clusters(model, icc, audits, rng)
    verdicts = (rng.random((audits, STANCES, TEMPLATES)) < shares[:, :, None]).reshape(audits, -1).astype(float)
    kinds: tuple[Kind, Kind] = ("bca", "percentile")
    boots = {kind: ClusterBootstrap(NAMES, seed=12, kind=kind) for kind in kinds}
    squares = []
    for kind, boot in boots.items():
        found = [boot.mean(row) for row in verdicts]
        lengths = [one.high - one.low for one in found if one.high is not None and one.low is not None]
        assert 50 * np.mean(lengths) == pytest.approx(half_width, abs=0.1), kind
        squares += [one.standard_error**2 for one in found if one.standard_error is not None]
    assert 196 * np.sqrt(np.mean(squares)) == pytest.approx(half_width, abs=0.05)
    effects = [one.design_effect for one in found if one.design_effect is not None]
    assert np.mean(effects) == pytest.approx(1 + 8 * icc, rel=0.06)


@pytest.mark.parametrize("icc", [0.3, 0.5])
def test_bca_holds_near_the_edge_better_than_percentile(icc: float) -> None:
    """Rate .95: what the default was chosen by."""
    rng = np.random.default_rng(13)
    shares = shares_of_clusters("beta-binomial", icc, AUDITS, rng)
    sums = rng.binomial(TEMPLATES, shares) / TEMPLATES
    covered: dict[Kind, float] = {"bca": 0, "percentile": 0}
    for kind in covered:
        for audit in range(AUDITS):
            if audit % 50 == 0:
                boot = ClusterBootstrap(range(STANCES), seed=audit, kind=kind)
            covered[kind] += holds(boot.mean(sums[audit]), 0.95) / AUDITS
    assert covered["bca"] > covered["percentile"]
    assert 0.93 <= covered["bca"] <= 0.97
