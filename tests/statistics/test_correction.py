"""Estimates corrected by labels: against ppi-python, plain formulas written anew, and what must hold of any data."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import InputError
from evenhand.statistics.correction import (
    grader_bias,
    humans_alone,
    labelled_run,
    power,
    ppi_mean,
    rates,
    raw,
    rogan_gladen,
    stratum_weights,
)

FROZEN = json.loads((Path(__file__).parent / "ppi_values.json").read_text("utf-8"))


@pytest.mark.parametrize("rows", FROZEN, ids=lambda rows: f"{len(rows['labels'])} of {len(rows['rest'])}")
@pytest.mark.parametrize("name", ["tuned", "1", "0.5", "0"])
def test_ppi_is_that_of_ppi_python(rows: dict[str, Any], name: str) -> None:
    run = labelled_run(rows["labels"], rows["labelled"], rows["rest"])
    point, low, high = rows["figures"][name]
    tuning = None if name == "tuned" else float(name)
    found = ppi_mean(run, tuning=tuning)
    if name == "tuned":
        assert found.value == pytest.approx(point, abs=1e-12)
        strength = power(run)
    else:
        assert found.value == pytest.approx(point, abs=1e-12)
        strength = float(name)
    assert found.standard_error is not None
    theirs = (high - low) / 2 / 1.959963984540054
    ours = math.sqrt(found.standard_error**2 - (strength**2 / (len(rows["labels"]) + 2) ** 2 if run.binary else 0.0))
    n = len(rows["labels"])
    # Ours has one factor n / (n - 1) for few labels, theirs none.
    assert ours * math.sqrt((n - 1) / n) == pytest.approx(theirs, rel=0.002)


def plain_ppi(
    labels: list[float], values: list[float], rest: list[float], strength: float, *, names: tuple[list[int], list[int]]
) -> tuple[float, float]:
    """The estimate and its squared standard error, written down from the definition, one row after another."""
    clusters, of_rest = names
    rectified = [y - strength * f for y, f in zip(labels, values, strict=True)]
    scaled = [strength * f for f in rest]
    first, second = sum(rectified) / len(rectified), sum(scaled) / len(scaled)
    parts: dict[int, float] = {}
    for value, name in zip(rectified, clusters, strict=True):
        parts[name] = parts.get(name, 0.0) + (value - first) / len(rectified)
    for value, name in zip(scaled, of_rest, strict=True):
        parts[name] = parts.get(name, 0.0) + (value - second) / len(scaled)
    few = len(set(clusters))
    return first + second, few / (few - 1) * sum(part**2 for part in parts.values())


@pytest.mark.parametrize("strength", [0.0, 0.4, 1.0])
def test_ppi_is_the_definition_with_clusters_in_both_parts(strength: float) -> None:
    rng = np.random.default_rng(4)
    of_row = np.repeat(np.arange(30), 9)
    level = rng.normal(size=30)[of_row]
    truth = 5 + level + rng.normal(size=270)
    value = 4 + 0.8 * level + rng.normal(size=270)
    order = rng.permutation(270)
    mine, others = order[:90], order[90:]
    clusters, of_rest = of_row[mine].tolist(), of_row[others].tolist()
    run = labelled_run(truth[mine], value[mine], value[others], clusters=clusters, clusters_rest=of_rest)
    expected, squared = plain_ppi(
        truth[mine].tolist(), value[mine].tolist(), value[others].tolist(), strength, names=(clusters, of_rest)
    )
    found = ppi_mean(run, tuning=strength)
    assert found.value == pytest.approx(expected)
    assert found.standard_error == pytest.approx(math.sqrt(squared))
    assert found.clusters == 30


@pytest.mark.parametrize("whole", [False, True])
def test_the_best_lambda_is_best(whole: bool) -> None:
    """No other has a standard error that is smaller by more than the error of its own estimate."""
    rng = np.random.default_rng(4)
    truth = rng.normal(size=4000)
    value = truth + rng.normal(size=4000)
    names = list(range(4000))
    run = labelled_run(
        truth[:1000],
        value[:1000],
        value if whole else value[1000:],
        clusters=names[:1000],
        clusters_rest=names if whole else names[1000:],
        whole=whole,
    )
    assert power(run) == pytest.approx(0.5 if whole else 0.5 / (1 + 1 / 3), abs=0.03)
    errors = [ppi_mean(run, tuning=float(other)).standard_error or 0 for other in np.linspace(0, 1, 21)]
    assert (ppi_mean(run).standard_error or 0) <= min(errors) * 1.001
    assert min(errors) < 0.9 * errors[0]


def test_labels_and_all_rows_give_what_labels_and_the_others_do() -> None:
    """Both ways to put a run join the same numbers: lambda over all rows is (1 + n / N) times that over the others."""
    rng = np.random.default_rng(14)
    truth = rng.normal(size=400)
    value = truth + rng.normal(size=400)
    names = list(range(400))
    parts = labelled_run(truth[:100], value[:100], value[100:], clusters=names[:100], clusters_rest=names[100:])
    all_rows = labelled_run(truth[:100], value[:100], value, clusters=names[:100], clusters_rest=names, whole=True)
    first, second = ppi_mean(parts, tuning=0.6), ppi_mean(all_rows, tuning=0.8)
    assert second.value == pytest.approx(first.value)
    assert second.standard_error == pytest.approx(first.standard_error, rel=0.02)


def test_copies_of_rows_do_not_make_an_estimate_surer() -> None:
    rng = np.random.default_rng(8)
    truth = rng.normal(size=60)
    value = truth + rng.normal(size=60)
    once = labelled_run(truth[:20], value[:20], value[20:])
    names = list(range(60))
    thrice = labelled_run(
        np.repeat(truth[:20], 3),
        np.repeat(value[:20], 3),
        np.repeat(value[20:], 3),
        clusters=np.repeat(names[:20], 3).tolist(),
        clusters_rest=np.repeat(names[20:], 3).tolist(),
    )
    for estimate in (raw, humans_alone, grader_bias):
        assert estimate(thrice).standard_error == pytest.approx(estimate(once).standard_error)
    assert ppi_mean(thrice, tuning=0.6).standard_error == pytest.approx(ppi_mean(once, tuning=0.6).standard_error)


def test_a_perfect_grader_makes_its_answers_worth_labels() -> None:
    rng = np.random.default_rng(1)
    once = rng.normal(size=100)
    truth = np.concatenate([once, np.tile(once, 3) + 0.1])
    run = labelled_run(truth[:100], truth[:100], truth[100:])
    assert power(run) == pytest.approx(0.75, abs=0.01)
    assert ppi_mean(run).value == pytest.approx(truth.mean(), abs=0.001)


def test_a_useless_grader_leaves_the_labels_alone() -> None:
    labels = [1.0, 0.0] * 20
    run = labelled_run(labels, [1.0, 1.0, 0.0, 0.0] * 10, [1.0, 0.0, 0.0] * 50)
    assert power(run) == 0
    assert ppi_mean(run).value == humans_alone(run).value
    assert ppi_mean(run).low == pytest.approx(humans_alone(run).low)


def test_an_inverted_grader_is_not_turned_round() -> None:
    labels = [1.0, 0.0] * 20
    run = labelled_run(labels, [0.0, 1.0] * 20, [1.0, 0.0] * 50)
    assert power(run) == 0
    assert rogan_gladen(run).value is None
    assert "no better than chance" in rogan_gladen(run).method


def test_rogan_gladen_by_hand() -> None:
    # Sensitivity 18/20, specificity 76/80, 90 of 300 called positive.
    run = labelled_run([1] * 20 + [0] * 80, [1] * 18 + [0] * 2 + [1] * 4 + [0] * 76, [1] * 90 + [0] * 210)
    found = rogan_gladen(run)
    assert found.value == pytest.approx((0.3 + 0.95 - 1) / (0.9 + 0.95 - 1))
    # Lang and Reiczigel's interval worked out step by step.
    z2 = 1.959963984540054**2
    said = (90 + z2 / 2) / (300 + z2)
    sens, spec = 19 / 22, 77 / 82
    value = (said + spec - 1) / (sens + spec - 1)
    shift = 2 * z2 * (value * sens * (1 - sens) / 22 - (1 - value) * spec * (1 - spec) / 82)
    variance = said * (1 - said) / (300 + z2) + value**2 * sens * (1 - sens) / 22
    variance = (variance + (1 - value) ** 2 * spec * (1 - spec) / 82) / (sens + spec - 1) ** 2
    assert found.low == pytest.approx(value + shift - math.sqrt(z2 * variance))
    assert found.high == pytest.approx(value + shift + math.sqrt(z2 * variance))


def test_rogan_gladen_knows_clusters() -> None:
    labels, verdicts, rest = [1] * 20 + [0] * 80, [1] * 18 + [0] * 2 + [1] * 4 + [0] * 76, [1] * 90 + [0] * 210
    alone = rogan_gladen(labelled_run(labels, verdicts, rest))
    run = labelled_run(
        labels,
        verdicts,
        rest,
        clusters=[index // 5 for index in range(100)],
        clusters_rest=[20 + index // 10 for index in range(300)],
    )
    together = rogan_gladen(run)
    assert together.value == alone.value
    assert together.design_effect is not None and together.design_effect > 2
    assert together.low is not None and alone.low is not None and together.high is not None and alone.high is not None
    assert together.low < alone.low < alone.high < together.high
    assert "design effect" in together.method


def test_with_rates_that_smoothing_brings_to_chance_a_share_is_not_estimable() -> None:
    # Sensitivity 9 of 10, specificity 30 of 200: 1.05 together, and 10/12 + 31/202 below 1.
    labels, verdicts = [1] * 10 + [0] * 200, [1] * 9 + [0] + [1] * 170 + [0] * 30
    found = rogan_gladen(labelled_run(labels, verdicts, [1] * 88 + [0] * 12))
    assert (found.value, found.low, found.high, found.standard_error) == (None, None, None, None)
    assert found.method.startswith("not estimable: with 210 labels")
    # Twice the labels with the same rates: 19/22 + 61/402 is above 1, and the interval still is all there is.
    more = rogan_gladen(labelled_run(labels * 2, verdicts * 2, [1] * 88 + [0] * 12))
    assert (more.value, more.method) == (None, found.method.replace("210", "420"))
    # With a hundred times as many it leaves something out.
    many = rogan_gladen(labelled_run(labels * 100, verdicts * 100, ([1] * 88 + [0] * 12) * 100))
    assert many.value == pytest.approx((0.88 + 0.15 - 1) / 0.05)
    assert many.standard_error is not None and math.isfinite(many.standard_error)


@given(st.integers(0, 12), st.integers(0, 12), st.integers(0, 60), st.data())
def test_no_share_is_given_with_an_interval_of_all_there_is(
    right: int, wrong: int, said: int, data: st.DataObject
) -> None:
    """Whatever the labels are: a figure from 0 to 1 would be quoted as if it were known."""
    others, false = data.draw(st.integers(1, 40)), data.draw(st.integers(0, 40))
    labels = [1] * (right + wrong + 1) + [0] * (others + false)
    verdicts = [1] * (right + 1) + [0] * wrong + [0] * others + [1] * false
    found = rogan_gladen(labelled_run(labels, verdicts, [1] * said + [0] * (61 - said)))
    if found.value is None:
        assert (found.low, found.high) == (None, None)
    else:
        assert (found.low, found.high) != (0, 1)


def test_rates_without_errors_have_the_exact_interval() -> None:
    found = rates(labelled_run([1] * 10 + [0] * 30, [1] * 10 + [0] * 30, [0, 1]))
    assert (found.sensitivity.value, found.sensitivity.high, found.youden) == (1.0, 1.0, 1.0)
    assert found.sensitivity.low == pytest.approx(0.025 ** (1 / 10))
    assert found.specificity.low == pytest.approx(0.025 ** (1 / 30))
    assert found.youden_error is not None and found.youden_error > 0.05


def test_labels_all_alike_have_the_exact_interval() -> None:
    run = labelled_run([0] * 40, [0] * 40, [0] * 100)
    for estimate in (humans_alone(run), ppi_mean(run)):
        assert (estimate.value, estimate.low) == (0.0, 0.0)
        assert estimate.high == pytest.approx(1 - 0.025 ** (1 / 40))
    assert rogan_gladen(run).value is None


def test_unknown_rows_do_not_enter() -> None:
    nan = math.nan
    run = labelled_run([1, 0, nan, 1], [1, 0, 1, nan], [1, 0, nan], clusters=[1, 2, 3, 4], clusters_rest=[1, 5, 6])
    assert (run.labels.tolist(), run.rest.tolist(), run.clusters) == ([1, 0], [1, 0], 3)


def test_strata_with_unequal_chances_are_weighed_back() -> None:
    # Of 900 rows called negative 60 are labelled, of 100 called positive all: unweighted, half would be positive.
    verdict = np.repeat([0.0, 1.0], [900, 100])
    truth = np.concatenate([np.tile([0.0] * 9 + [1.0], 90), np.ones(100)])
    labelled = np.concatenate([np.tile([True] + [False] * 14, 60), np.ones(100, dtype=bool)])
    weights = stratum_weights(verdict.tolist(), labelled)
    names = list(range(1000))
    run = labelled_run(
        truth[labelled],
        verdict[labelled],
        verdict,
        clusters=np.flatnonzero(labelled).tolist(),
        clusters_rest=names,
        weights=weights,
        whole=True,
    )
    expected = 0.9 * truth[:900][labelled[:900]].mean() + 0.1
    assert humans_alone(run).value == pytest.approx(expected)
    assert ppi_mean(run).value == pytest.approx(expected)
    assert raw(run).value == pytest.approx(0.1)
    assert rates(run).specificity.value == 1


@pytest.mark.parametrize(
    ("build", "problem"),
    [
        (lambda: labelled_run([1, 0], [1], [1]), "2 labels and 1 values"),
        (lambda: labelled_run([1], [1], [1, 0], whole=True), "rows in both parts"),
        (lambda: labelled_run([1], [1], [1], clusters=[1]), "clusters of one part only"),
        (lambda: labelled_run([1], [1], [1], clusters=[1], clusters_rest=[1, 2]), "1 and 2 clusters"),
        (lambda: labelled_run([math.nan], [1], [1]), "no row with a label"),
        (lambda: labelled_run([1], [1], []), "no row without a label"),
        (lambda: labelled_run([1, 0], [1, 0], [1], weights=[1, 0]), "weights that are not positive"),
        (lambda: labelled_run([[1]], [1], [1]), "shape"),
        (lambda: rogan_gladen(labelled_run([1, 0], [0.5, 0], [1])), "0 or 1"),
        (lambda: stratum_weights(["a", "b"], [True, False]), "no row of the stratum 'b'"),
    ],
)
def test_what_cannot_be_used_is_said(build: Any, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        build()


@given(
    st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=2, max_size=60),
    st.lists(st.integers(0, 1), min_size=2, max_size=60),
    st.integers(1, 20),
)
def test_any_estimate_of_a_share_is_one_and_lies_in_its_interval(
    rows: list[tuple[int, int]], rest: list[int], clusters: int
) -> None:
    run = labelled_run(
        [label for label, _ in rows],
        [said for _, said in rows],
        rest,
        clusters=[index % clusters for index in range(len(rows))],
        clusters_rest=[index % (clusters + 3) for index in range(len(rest))],
    )
    assert 0 <= power(run) <= 1
    for found in (raw(run), humans_alone(run), ppi_mean(run), rogan_gladen(run)):
        if found.value is None or found.low is None or found.high is None:
            assert found.method
            continue
        assert 0 <= found.low <= found.value <= found.high <= 1


@given(
    st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=3, max_size=40),
    st.lists(st.integers(-9, 9), min_size=2, max_size=40),
    st.integers(-5, 5),
)
def test_moving_the_labels_moves_the_estimate(rows: list[tuple[int, int]], rest: list[int], by: int) -> None:
    labels, values = [label for label, _ in rows], [value for _, value in rows]
    first = ppi_mean(labelled_run([*labels, 10], [*values, 10], [*rest, 10]))
    moved = ppi_mean(labelled_run([label + by for label in [*labels, 10]], [*values, 10], [*rest, 10]))
    assert first.value is not None and moved.value is not None
    if first.standard_error is not None:
        assert moved.standard_error == pytest.approx(first.standard_error, abs=1e-9)
    assert moved.value - first.value == pytest.approx(by, abs=1e-9)
