"""A thousand audits of a subject and a grader whose truth is known: what the figures find, and how often they hold it."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from evenhand.report import Analysis
from evenhand.statistics import Estimate
from evenhand.studies.audit.arrays import EVEN_HANDEDNESS, BlockArrays, ByLabel, Floats
from evenhand.studies.audit.directions import direction, pair_values
from evenhand.studies.audit.estimates import Estimates
from evenhand.studies.audit.positions import order_figures, position
from simulated_audits import ORDERS, World, judgments_of

AUDITS = 1000
DRAWS = 1000
A_SET_OF_DRAWS = 20
"""Audits that share their resamples: drawing them costs more than all figures of an audit."""
PUBLISHED = World()
SMALL = World(stances=50, templates=4, topics=20, treatment=(0.08, 0.2, 0.72), declined=(0.10, 0.20, 0.05))
WORLDS = {"150 x 9": PUBLISHED, "50 x 4": SMALL}


def analysed(world: World, audits: int, seed: int, analysis: Analysis) -> Iterator[tuple[BlockArrays, Estimates]]:
    """Yield audits, each with what estimates its figures."""
    pairs = world.pairs()
    for audit, arrays in enumerate(world.audits(audits, seed)):
        if audit % A_SET_OF_DRAWS == 0:
            estimates = Estimates(pairs, replace(analysis, seed=audit))
        yield arrays, estimates


def figures(arrays: BlockArrays, estimates: Estimates) -> dict[str, Estimate]:
    """Return the figures of an audit, as its summary has them."""
    even, each = pair_values(EVEN_HANDEDNESS, arrays)
    place = position(EVEN_HANDEDNESS, arrays, estimates)
    lean = direction(EVEN_HANDEDNESS, arrays, estimates)
    found = {
        "position effect": place.effect,
        "swap consistency": place.swap_consistency,
        "even-handed, mean P": estimates.mean(even),
        "even-handed, rate": estimates.rate(even),
        "even-handed, each value": estimates.mean((estimates.over(each[0]) + estimates.over(each[1])) / 2),
        "direction": lean.mean,
        "share of the right": lean.share,
        "declined more": direction("refusal", arrays, estimates).mean,
    }
    for side, values in zip(("left", "right"), arrays.by_side("refusal"), strict=True):
        found |= {f"refusal {side}, mean P": estimates.mean(values), f"refusal {side}, rate": estimates.rate(values)}
    for figure in order_figures(EVEN_HANDEDNESS, arrays, estimates):
        found[f"{figure.order} alone, mean P"] = figure.mean
    return found


def truths(world: World) -> dict[str, float]:
    """Return what the figures would be over endlessly many stance pairs: by construction, or from 100,000 of them."""
    left, right = world.declined_by_side
    exact = {
        "position effect": world.first_place,
        "even-handed, mean P": world.even,
        "ab alone, mean P": world.even,
        "ba alone, mean P": world.even,
        "direction": world.direction,
        "refusal left, mean P": left,
        "refusal right, mean P": right,
        "declined more": right - left,
    }
    (many,) = replace(world, stances=100_000, topics=100_000).audits(1, seed=0)
    ab, ba = (many.shown[EVEN_HANDEDNESS, order] for order in ORDERS)
    even, lean = (ab["C"] + ba["C"]) / 2, (ab["B"] + ba["B"] - ab["A"] - ba["A"]) / 2
    drawn = {
        "position effect": np.mean(ab["A"] - ab["B"] + ba["B"] - ba["A"]) / 2,
        "even-handed, mean P": np.mean(even),
        "ab alone, mean P": np.mean(ab["C"]),
        "ba alone, mean P": np.mean(ba["C"]),
        "even-handed, rate": np.mean(even > 0.5),
        "even-handed, each value": (np.mean(ab["C"] > 0.5) + np.mean(ba["C"] > 0.5)) / 2,
        "direction": np.mean(lean),
        "share of the right": np.mean(lean[even <= 0.5] > 0),
        "swap consistency": np.mean(likeliest(ab) == likeliest(ba)),
        "declined more": np.mean(many.letters["refusal", "b"] - many.letters["refusal", "a"]),
    }
    for side, letter in (("left", "a"), ("right", "b")):
        drawn[f"refusal {side}, mean P"] = np.mean(many.letters["refusal", letter])
        drawn[f"refusal {side}, rate"] = np.mean(many.letters["refusal", letter] > 0.5)
    for name, value in exact.items():
        assert drawn[name] == pytest.approx(value, abs=0.002), name
    return {**{name: float(value) for name, value in drawn.items()}, **exact}


def likeliest(shown: ByLabel) -> Floats:
    return np.asarray(np.argmax([shown[label] for label in "ABC"], axis=0), dtype=np.float64)


def holds(found: Estimate, truth: float) -> bool:
    return found.low is not None and found.high is not None and found.low <= truth <= found.high


@pytest.mark.parametrize("left_is_a", [0.5, 1.0])
def test_the_arrays_are_those_that_judgments_give(left_is_a: float) -> None:
    """What the simulations start from is what an audit makes of its graders' judgments."""
    world = replace(SMALL, left_is_a=left_is_a)
    pairs = world.pairs()
    (one,) = world.audits(1, seed=3)
    other = BlockArrays.from_judgments(pairs, judgments_of(pairs, one))
    assert (one.sides.first, one.sides.second) == (other.sides.first, other.sides.second)
    np.testing.assert_array_equal(one.sides.flip, other.sides.flip)
    np.testing.assert_array_equal(one.sides.where, other.sides.where)
    for key, by_label in one.shown.items():
        for label, values in by_label.items():
            np.testing.assert_allclose(other.shown[key][label], values)
    for letter, values in one.letters.items():
        np.testing.assert_allclose(other.letters[letter], values)


@pytest.mark.parametrize("name", WORLDS)
def test_what_is_true_is_found_as_often_as_the_intervals_say(name: str) -> None:
    world = WORLDS[name]
    truth = truths(world)
    covered = dict.fromkeys(truth, 0)
    middle = dict.fromkeys(truth, 0.0)
    for arrays, estimates in analysed(world, AUDITS, seed=1, analysis=Analysis(draws=DRAWS)):
        for what, found in figures(arrays, estimates).items():
            covered[what] += holds(found, truth[what])
            middle[what] += (found.value or 0) / AUDITS
    for what, value in truth.items():
        assert middle[what] == pytest.approx(value, abs=0.01), what
        assert 0.93 <= covered[what] / AUDITS <= 0.97, (what, covered)
