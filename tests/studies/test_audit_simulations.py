"""A thousand audits of a subject and a grader whose truth is known: what is found, and how often intervals hold it."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from evenhand.report import Analysis
from evenhand.report.audit_summary import ClusterUnit
from evenhand.statistics import Estimate
from evenhand.studies.audit.arrays import EVEN_HANDEDNESS, BlockArrays, ByLabel, Floats
from evenhand.studies.audit.directions import direction, pair_values
from evenhand.studies.audit.estimates import Estimates
from evenhand.studies.audit.positions import order_figures, position
from simulated_audits import LETTERS, ORDERS, World, judgments_of

AUDITS = 1000
DRAWS = 1000
A_SET_OF_DRAWS = 20
"""Audits that share their resamples: drawing them costs more than all figures of an audit."""
PUBLISHED = World()
SMALL = World(stances=50, templates=4, topics=20, treatment=(0.08, 0.2, 0.72), declined=(0.10, 0.20, 0.05))
UNITS: tuple[ClusterUnit, ...] = ("stance", "topic")
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
    for side, letter in zip(("left", "right"), LETTERS, strict=True):
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
    average = dict.fromkeys(truth, 0.0)
    for arrays, estimates in analysed(world, AUDITS, seed=1, analysis=Analysis(draws=DRAWS)):
        for what, found in figures(arrays, estimates).items():
            covered[what] += holds(found, truth[what])
            average[what] += (found.value or 0) / AUDITS
    for what, value in truth.items():
        assert average[what] == pytest.approx(value, abs=0.01), what
        assert 0.93 <= covered[what] / AUDITS <= 0.97, (what, covered)


def alone(arrays: BlockArrays, order: str) -> BlockArrays:
    """Return the arrays of an audit that asked in one order."""
    return replace(arrays, shown={key: read for key, read in arrays.shown.items() if key[1] == order})


def directions_found(world: World, audits: int, seed: int) -> dict[str, list[tuple[Estimate, float | None]]]:
    """Return direction and p of every audit, as read in both orders and in each alone."""
    found: dict[str, list[tuple[Estimate, float | None]]] = {"both": [], "ab": [], "ba": []}
    for arrays, estimates in analysed(world, audits, seed, Analysis(draws=DRAWS)):
        for orders, results in found.items():
            read = arrays if orders == "both" else alone(arrays, orders)
            one = direction(EVEN_HANDEDNESS, read, estimates)
            results.append((one.mean, one.p))
    return found


def middle(found: list[tuple[Estimate, float | None]]) -> float:
    return float(np.mean([mean.value for mean, _ in found]))


def test_one_order_takes_the_place_for_politics_and_both_do_not() -> None:
    """The left stance comes first in every pair, as in the published set, and the grader has a taste for the first.

    The subject leans to the right; asked in the order a, b alone, the grader makes it lean to the left.
    """
    world = PUBLISHED
    assert 0 < world.direction < world.first_place
    found = directions_found(world, 400, seed=4)
    assert middle(found["both"]) == pytest.approx(world.direction, abs=0.002)
    assert middle(found["ab"]) == pytest.approx(world.direction - world.first_place, abs=0.002)
    assert middle(found["ba"]) == pytest.approx(world.direction + world.first_place, abs=0.002)
    covered = {orders: np.mean([holds(mean, world.direction) for mean, _ in one]) for orders, one in found.items()}
    assert covered["both"] >= 0.93
    assert max(covered["ab"], covered["ba"]) < 0.01
    # In numbers that a reader would be given: intervals that lie on the wrong side altogether, and on the right one.
    assert np.mean([(mean.high or 0) < 0 for mean, _ in found["ab"]]) > 0.2
    assert np.mean([(mean.low or 0) > 0 for mean, _ in found["both"]]) > 0.9


def test_where_there_is_no_lean_one_order_finds_one_all_the_same() -> None:
    """The same grader, and a subject that treats both sides alike: how often the sign test calls it political."""
    world = replace(PUBLISHED, treatment=(0.045, 0.045, 0.91), declined=(0.07, 0.07, 0.03))
    found = directions_found(world, AUDITS, seed=5)
    called = {orders: np.mean([p is not None and p < 0.05 for _, p in one]) for orders, one in found.items()}
    assert called["both"] <= 0.07
    assert min(called["ab"], called["ba"]) > 0.2
    covered = {orders: np.mean([holds(mean, 0.0) for mean, _ in one]) for orders, one in found.items()}
    assert 0.93 <= covered["both"] <= 0.97
    assert max(covered["ab"], covered["ba"]) < 0.01


def test_sides_that_stand_first_equally_often_take_the_place_out_of_the_direction_too() -> None:
    """Half of the pairs have their left stance first, as in the bundled set: the place is noise then, and no lean."""
    world = replace(PUBLISHED, left_is_a=0.5)
    found = directions_found(world, 400, seed=6)
    for orders, one in found.items():
        assert middle(one) == pytest.approx(world.direction, abs=0.002), orders
    # Noise that both orders take out pair by pair: one order alone gives longer intervals.
    lengths = {
        orders: np.mean([mean.high - mean.low for mean, _ in one if mean.high is not None and mean.low is not None])
        for orders, one in found.items()
    }
    assert lengths["both"] < 0.9 * min(lengths["ab"], lengths["ba"])


def test_what_both_orders_do_not_take_out() -> None:
    """A taste for a place draws verdicts away from "the same" in either order: a subject looks less even than it is.

    What is left of the direction is smaller by the same factor. Both orders show the taste; they do not undo it.
    """
    fair, partial = replace(PUBLISHED, first_place=1e-9), replace(PUBLISHED, first_place=0.2)
    even, lean = {}, {}
    for name, world in (("fair", fair), ("partial", partial)):
        shown = [pair_values(EVEN_HANDEDNESS, arrays)[0].mean() for arrays in world.audits(100, seed=7)]
        leans = [arrays.lean(EVEN_HANDEDNESS).mean() for arrays in world.audits(100, seed=7)]
        even[name], lean[name] = np.mean(shown), np.mean(leans)
    assert even["fair"] == pytest.approx(fair.treatment[2], abs=0.005)
    assert even["partial"] == pytest.approx(0.8 * fair.treatment[2], abs=0.005)
    assert lean["partial"] == pytest.approx(0.8 * lean["fair"], abs=0.005)


def test_topics_that_differ_need_topics_as_units() -> None:
    """Stance pairs of one topic are alike here; intervals over stance pairs then speak of these topics alone.

    With 60 topics that differ a lot, those over topics hold the truth a little less often than they say, too.
    """
    world = replace(PUBLISHED, topics_alike=6.0, alike=8.0)
    covered = {}
    for unit in UNITS:
        held = [
            holds(estimates.mean(pair_values(EVEN_HANDEDNESS, arrays)[0]), world.even)
            for arrays, estimates in analysed(world, AUDITS, seed=8, analysis=Analysis(draws=DRAWS, unit=unit))
        ]
        covered[unit] = np.mean(held)
    assert covered["stance"] < 0.91
    assert 0.93 <= covered["topic"] <= 0.97
