"""All figures of agreement together: their intervals, and what they say where they are not defined."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from evenhand.errors import InputError
from evenhand.statistics import ClusterBootstrap, Estimate
from evenhand.statistics.agreement import (
    cohen_kappa,
    gwet_ac1,
    krippendorff_alpha,
    observed_agreement,
    specific_agreement,
)
from evenhand.statistics.agreement_intervals import Agreement, agreement, agreement_of_table

CHANCE_CORRECTED = ("kappa", "ac1", "alpha")
FIGURES = ("observed", *CHANCE_CORRECTED)
TABLES = st.integers(2, 4).flatmap(
    lambda k: st.lists(st.lists(st.integers(0, 6), min_size=k, max_size=k), min_size=k, max_size=k)
)
ITEMS = st.lists(
    st.tuples(st.integers(0, 4), st.sampled_from([1, 2, 3, None]), st.sampled_from([1, 2, 3, None])),
    min_size=1,
    max_size=30,
)


def two_graders(
    rng: np.random.Generator, clusters: int, rows: int, *, right: float = 0.9
) -> tuple[list[int], list[int], list[int]]:
    """Return clusters and two graders' labels of items whose truth is alike within clusters."""
    positive = rng.random((clusters, rows)) < rng.beta(2, 4, clusters)[:, None]
    first, second = ((positive == (rng.random(positive.shape) < right)).astype(int).ravel().tolist() for _ in range(2))
    return np.repeat(np.arange(clusters), rows).tolist(), first, second


def estimates(found: Agreement) -> list[Estimate]:
    return [*(getattr(found, name) for name in FIGURES), *found.specific]


def same(one: Agreement, other: Agreement) -> None:
    """Equal but for rounding: sums in another order differ in the last digit."""
    for a, b in zip(estimates(one), estimates(other), strict=True):
        assert (a.n, a.clusters, a.method) == (b.n, b.clusters, b.method)
        for end in ("value", "low", "high"):
            assert getattr(a, end) == pytest.approx(getattr(b, end), abs=1e-9)


@given(TABLES)
def test_a_table_and_its_items_give_the_same(cells: list[list[int]]) -> None:
    table = np.array(cells)
    k = len(cells)
    first, second = (np.repeat(index.ravel(), table.ravel()) for index in np.indices((k, k)))
    found = agreement([first, second], scale=range(k))
    same(agreement_of_table(table), found)
    assert found.table == tuple(tuple(row) for row in cells)
    assert (found.n, found.left_out) == (table.sum(), 0)


@given(TABLES, st.sampled_from(["nominal", "ordinal", "interval"]))
def test_values_are_the_figures_of_the_table(cells: list[list[int]], level: Any) -> None:
    table = np.array(cells)
    assume(table.sum() > 0)
    found = agreement_of_table(table, level=level)
    values = [
        observed_agreement(table),
        cohen_kappa(table),
        gwet_ac1(table),
        krippendorff_alpha(table, level),
        *specific_agreement(table),
    ]
    for estimate, value in zip(estimates(found), values, strict=True):
        assert np.isnan(value) if estimate.value is None else estimate.value == pytest.approx(value)
    for code, estimate in enumerate(found.specific):
        assert estimate.n == table[code].sum() + table[:, code].sum() - table[code, code]


def test_published_table() -> None:
    found = agreement_of_table([[1225, 27], [36, 41]], labels=["even", "uneven"])
    assert [round(getattr(found, name).value, 4) for name in FIGURES] == [0.9526, 0.5405, 0.9471, 0.5406]
    uneven = found.specific[1]
    assert uneven.value is not None
    assert round(uneven.value, 3) == 0.566
    assert (uneven.low, uneven.method) == (None, "no interval: the clusters of the items are not known")


# Intervals.


def test_intervals_against_a_plain_loop_over_resamples() -> None:
    """The same resamples, written out item by item and handed to another package."""
    clusters, first, second = two_graders(np.random.default_rng(0), 15, 4)
    boot = ClusterBootstrap(clusters, seed=5, draws=200, kind="percentile")
    found = agreement([first, second], bootstrap=boot)
    one, other, of_row = np.array(first), np.array(second), np.array(clusters)
    drawn: dict[str, list[float]] = {"kappa": [], "observed": []}
    for times in np.random.default_rng(5).multinomial(15, np.full(15, 1 / 15), size=200):
        rows = np.concatenate([np.tile(np.flatnonzero(of_row == c), times[c]) for c in range(15)])
        drawn["kappa"].append(cohen_kappa_score(one[rows], other[rows]))
        drawn["observed"].append(np.mean(one[rows] == other[rows]))
    for name, values in drawn.items():
        estimate = getattr(found, name)
        assert (estimate.low, estimate.high) == pytest.approx(tuple(np.quantile(values, [0.025, 0.975])))
        assert (estimate.n, estimate.clusters) == (60, 15)


@given(ITEMS, st.integers(0, 50))
def test_symmetric_in_the_graders_and_blind_to_names(items: list[tuple[int, Any, Any]], seed: int) -> None:
    clusters, first, second = zip(*items, strict=True)
    boot = ClusterBootstrap(clusters, seed=seed, draws=60)
    found = agreement([first, second], scale=[1, 2, 3], bootstrap=boot)
    same(agreement([second, first], scale=[1, 2, 3], bootstrap=boot), found)
    names = {1: "a", 2: "b", 3: "c", None: None}
    renamed = agreement([[names[x] for x in g] for g in (first, second)], scale=["a", "b", "c"], bootstrap=boot)
    for one, other in zip(estimates(renamed), estimates(found), strict=True):
        assert (one.value, one.low, one.high) == (other.value, other.low, other.high)


@given(ITEMS, st.integers(0, 50))
def test_values_lie_in_range_and_missing_items_do_nothing(items: list[tuple[int, Any, Any]], seed: int) -> None:
    clusters, first, second = zip(*items, strict=True)
    found = agreement([first, second], scale=[1, 2, 3], bootstrap=ClusterBootstrap(clusters, seed=seed, draws=60))
    both = [row for row in items if None not in row]
    assert (found.n, found.left_out) == (len(both), len(items) - len(both))
    alone = agreement([[a for _, a, _ in both], [b for _, _, b in both]], scale=[1, 2, 3])
    for one, other in zip(estimates(found), estimates(alone), strict=True):
        assert one.value == pytest.approx(other.value)
        if one.value is None:
            assert one.method
            continue
        assert -1 <= one.value <= 1
        if one.low is None or one.high is None:
            assert one.method.startswith("no interval: ")
        else:
            assert one.low <= one.high <= 1


def test_rows_of_one_cluster_do_not_make_it_narrower() -> None:
    """Each item written down nine times says no more than once, but for alpha's correction for small samples."""
    clusters, first, second = two_graders(np.random.default_rng(1), 40, 1)
    once = agreement([first, second], bootstrap=ClusterBootstrap(clusters, seed=0))
    nine = agreement(
        [np.repeat(first, 9), np.repeat(second, 9)],
        bootstrap=ClusterBootstrap(np.repeat(clusters, 9).tolist(), seed=0),
    )
    for name in ("observed", "kappa", "ac1"):
        one, other = getattr(once, name), getattr(nine, name)
        assert (other.low, other.high) == pytest.approx((one.low, one.high))
    assert nine.alpha.low == pytest.approx(once.alpha.low, abs=0.02)


def test_coverage() -> None:
    """95% intervals over 50 clusters of 5 rows cover the truth about as often as they say."""
    rng = np.random.default_rng(4)
    _, first, second = two_graders(rng, 60_000, 5)
    truth = agreement([first, second])
    covered = dict.fromkeys(FIGURES, 0)
    trials = 300
    for trial in range(trials):
        clusters, first, second = two_graders(rng, 50, 5)
        found = agreement([first, second], bootstrap=ClusterBootstrap(clusters, seed=trial, draws=400))
        for name in FIGURES:
            estimate = getattr(found, name)
            covered[name] += estimate.low <= getattr(truth, name).value <= estimate.high
    for name, times in covered.items():
        assert 0.91 <= times / trials <= 0.98, name


# Perfect agreement, which resamples can't doubt.


def test_perfect_agreement_is_not_certain() -> None:
    labels = ["yes"] * 10 + ["no"] * 10
    found = agreement([labels, labels], bootstrap=ClusterBootstrap(range(20), seed=0))
    reach = 1 - 0.025 ** (1 / 20)
    assert found.observed.low == pytest.approx(1 - reach)
    for name in ("kappa", "ac1"):
        estimate = getattr(found, name)
        # Two labels of equal shares: by chance half agree.
        assert estimate.value == estimate.high == 1
        assert estimate.low == pytest.approx(1 - 2 * reach)
        assert estimate.method == "exact binomial on 20 clusters (no variation), with disagreement spread as by chance"
    for estimate in found.specific:
        assert estimate.value == estimate.high == 1
        assert estimate.low == pytest.approx(0.025 ** (1 / 10))


def test_perfect_agreement_on_a_rare_label_says_little_of_kappa() -> None:
    labels = [0] * 97 + [1] * 3
    found = agreement([labels, labels], bootstrap=ClusterBootstrap(range(100), seed=0))
    assert found.kappa.value == found.ac1.value == 1
    assert found.kappa.low is not None
    assert found.ac1.low is not None
    assert found.kappa.low < 0.7
    assert found.ac1.low > 0.95


def test_what_perfect_agreement_may_have_missed_falls_where_chance_puts_it() -> None:
    labels = ["a"] * 6 + ["b"] * 3
    found = agreement([labels, labels], scale=["a", "b", "c"], bootstrap=ClusterBootstrap(range(9), seed=0))
    low = 0.025 ** (1 / 9)
    products = {(0, 1): 6.5 * 3.5, (0, 2): 6.5 * 0.5, (1, 2): 3.5 * 0.5}
    table = np.diag([6 * low, 3 * low, 0])
    for cell, product in products.items():
        table[cell] = table[cell[::-1]] = 9 * (1 - low) * product / sum(products.values()) / 2
    assert found.kappa.low == pytest.approx(cohen_kappa(table).item())
    assert found.ac1.low == pytest.approx(gwet_ac1(table).item())
    assert found.alpha.low == pytest.approx(krippendorff_alpha(table).item())


def test_one_cluster_has_no_interval() -> None:
    found = agreement([[1, 1, 2, 2], [1, 2, 2, 2]], bootstrap=ClusterBootstrap([7] * 4, seed=0))
    for estimate in estimates(found):
        assert estimate.value is not None
        assert (estimate.low, estimate.method) == (None, "no interval: one cluster")


# Several graders.


def test_several_graders() -> None:
    """The four graders of Krippendorff's (2004) figure 11.3; alpha is published as .743."""
    ratings: list[list[int | None]] = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
        [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
    ]
    boot = ClusterBootstrap(range(12), seed=0, draws=500)
    found = agreement(ratings, scale=[1, 2, 3, 4, 5], bootstrap=boot)
    assert (found.graders, found.n, found.left_out, found.table) == (4, 11, 1, None)
    assert found.kappa == Estimate.missing("Cohen's kappa is for two graders, AC1 and alpha for any number", n=11)
    assert found.alpha.value == pytest.approx(0.743, abs=5e-4)
    assert found.observed.value == pytest.approx(0.81818, abs=1e-5)
    assert found.ac1.value == pytest.approx(0.77515, abs=1e-5)
    for estimate in (found.observed, found.ac1, found.alpha):
        assert estimate.low is not None
        assert estimate.high is not None
        assert estimate.value is not None
        assert estimate.low < estimate.value < estimate.high
        assert (estimate.n, estimate.clusters) == (11, 11)
    # Label 1: 3 of 3, 1 of 4, 3 of 4 and 2 of 2 labels of its units; c (c - 1) ordered pairs of c (m - 1).
    assert found.specific[0].value == pytest.approx((6 + 0 + 6 + 2) / (6 + 3 + 9 + 2))
    published = {"ordinal": 0.815, "interval": 0.849}
    assert agreement(ratings, level="ordinal").alpha.value == pytest.approx(published["ordinal"], abs=5e-4)
    assert agreement(ratings, level="interval").alpha.value == pytest.approx(published["interval"], abs=5e-4)


def test_a_third_grader_who_copies_makes_two_who_agree_more() -> None:
    rng = np.random.default_rng(3)
    clusters, first, second = two_graders(rng, 30, 2)
    boot = ClusterBootstrap(clusters, seed=0, draws=200)
    two, three = (agreement(graders, bootstrap=boot) for graders in ([first, second], [first, second, first]))
    assert two.observed.value is not None
    assert three.observed.value == pytest.approx((1 + 2 * two.observed.value) / 3)
    three = agreement([first, first, first], bootstrap=boot)
    assert three.observed.value == three.alpha.value == three.ac1.value == 1
    assert three.observed.low == pytest.approx(0.025 ** (1 / 30))
    assert three.alpha.low is not None
    assert three.alpha.low < 0.9


# What is not defined, and what can't be used.


def test_not_defined_says_why() -> None:
    boot = ClusterBootstrap(range(3), seed=0)
    found = agreement([["a", "a", "a"], ["a", "a", "a"]], scale=["a", "b"], bootstrap=boot)
    chance = "every label is 'a', so that chance alone would agree as often"
    assert found.kappa == found.alpha == Estimate.missing(chance, n=3)
    assert found.ac1.value == found.observed.value == 1
    assert found.specific[1] == Estimate.missing("nobody gave 'b'")
    found = agreement([["a", "a", "a"], ["a", "a", "a"]], bootstrap=boot)
    assert found.ac1 == Estimate.missing("the scale has one label only", n=3)


@pytest.mark.parametrize("graders", [2, 3])
def test_nothing_to_agree_on(graders: int) -> None:
    for scale in (None, ["a", "b"]):
        for rows in ([], [None, None]):
            found = agreement([rows] * graders, scale=scale, bootstrap=ClusterBootstrap(range(len(rows)), seed=0))
            assert (found.n, found.left_out) == (0, len(rows))
            for estimate in estimates(found):
                assert estimate == Estimate.missing("no item was labelled by two graders")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: agreement([["a"]]), "1 grader has nobody to agree with"),
        (lambda: agreement([["a"], ["b"]], level="interval"), "level: the labels ['a', 'b'] are no numbers"),
        (
            lambda: agreement([["a"], ["b"]], bootstrap=ClusterBootstrap([1, 2], seed=0)),
            "the resamples are of 2 items and the graders labelled 1",
        ),
        (lambda: agreement_of_table([[1, 2]]), "the table has the shape (1, 2)"),
        (lambda: agreement_of_table([[1, 2], [0, -1]]), "the table holds other than counts"),
        (lambda: agreement_of_table([[0.5, 2.0], [0.0, 1.0]]), "the table holds other than counts"),
        (lambda: agreement_of_table([[1, 2], [0, 1]], labels=["a", "a"]), "1 different labels for 2 rows"),
    ],
)
def test_what_cannot_be_used(call: Any, message: str) -> None:
    with pytest.raises(InputError) as error:
        call()
    assert message in str(error.value)
    assert "The way out: " in str(error.value)


def test_as_json_and_back() -> None:
    clusters, first, second = two_graders(np.random.default_rng(2), 10, 3)
    boot = ClusterBootstrap(clusters, seed=0, draws=50)
    for graders in ([first, second], [first, second, second]):
        found = agreement(graders, scale=[0, 1, 2], bootstrap=boot)
        assert Agreement.from_json(json.loads(json.dumps(found.as_json(), allow_nan=False))) == found
