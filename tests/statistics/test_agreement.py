"""Agreement against plain loops, against other packages, against published figures, and its properties."""

import csv
import json
import random
from collections import Counter
from collections.abc import Sequence
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score, f1_score

from conftest import shared
from evenhand.errors import InputError
from evenhand.statistics.agreement import (
    Floats,
    Ints,
    Level,
    cell_columns,
    cohen_kappa,
    encode,
    gwet_ac1,
    krippendorff_alpha,
    observed_agreement,
    pair_columns,
    specific_agreement,
)

PUBLISHED = np.array([[1225, 27], [36, 41]])
PARADOX = np.array([[440, 0], [59, 1]])
FIGURES = (observed_agreement, cohen_kappa, gwet_ac1, krippendorff_alpha)
LABELS = st.integers(-1, 3)
RATINGS = st.integers(2, 5).flatmap(
    lambda graders: st.lists(st.lists(LABELS, min_size=graders, max_size=graders), min_size=1, max_size=30)
)
TABLES = st.integers(2, 5).flatmap(
    lambda k: st.lists(st.lists(st.integers(0, 9), min_size=k, max_size=k), min_size=k, max_size=k)
)
IRRCAC: dict[str, dict[str, Any]] = json.loads((Path(__file__).parent / "irrcac_values.json").read_text("utf-8"))


def table_of(first: Sequence[Any], second: Sequence[Any], scale: Sequence[Any] | None = None) -> Floats:
    """The table by the way the program takes: codes, cells, sum."""
    codes, labels = encode([first, second], scale)
    return as_table(cell_columns(codes[0], codes[1], len(labels)))


def table_of_pairs(codes: Ints, k: int, per: Any) -> Floats:
    return as_table(pair_columns(codes, k, per))


def as_table(columns: Floats) -> Floats:
    k = round(columns.shape[1] ** 0.5)
    return np.asarray(columns.sum(axis=0).reshape(k, k))


# The oracle: the same figures from lists of labels, by counting.


def plain(first: Sequence[Any], second: Sequence[Any], scale: Sequence[Any]) -> dict[str, float]:
    items = [(a, b) for a, b in zip(first, second, strict=True) if a is not None and b is not None]
    n = len(items)
    one, other = Counter(a for a, _ in items), Counter(b for _, b in items)
    together = sum(a == b for a, b in items) / n
    kappa_chance = sum(one[label] / n * other[label] / n for label in scale)
    shares = [(one[label] + other[label]) / (2 * n) for label in scale]
    ac1_chance = sum(q * (1 - q) for q in shares) / (len(scale) - 1)
    pooled = [rating for item in items for rating in item]
    unequal = sum(a != b for a, b in permutations(pooled, 2)) / (len(pooled) * (len(pooled) - 1))
    return {
        "observed": together,
        "kappa": (together - kappa_chance) / (1 - kappa_chance) if kappa_chance < 1 - 1e-12 else float("nan"),
        "ac1": (together - ac1_chance) / (1 - ac1_chance),
        "alpha": 1 - (1 - together) / unequal if unequal else float("nan"),
    }


def ours(table: Floats) -> dict[str, float]:
    names = ("observed", "kappa", "ac1", "alpha")
    return {name: figure(table).item() for name, figure in zip(names, FIGURES, strict=True)}


@given(st.lists(st.tuples(st.sampled_from(["a", "b", "c", None]), st.sampled_from(["a", "b", "c", None])), max_size=25))
def test_against_counting(items: list[tuple[str | None, str | None]]) -> None:
    assume(any(a and b for a, b in items))
    first, second = zip(*items, strict=True)
    found = ours(table_of(first, second, "abc"))
    assert found == pytest.approx(plain(first, second, "abc"), nan_ok=True)


@given(st.lists(st.lists(st.integers(0, 4), min_size=4, max_size=4), min_size=1, max_size=15))
def test_several_graders_against_loops_over_pairs(rows: list[list[int]]) -> None:
    """Label 4 stands for missing."""
    items = [[label for label in row if label < 4] for row in rows]
    items = [item for item in items if len(item) >= 2]
    assume(items)
    codes = np.array([[MISSING_4[label] for label in row] for row in rows]).T
    by_item = table_of_pairs(codes, 4, "item")
    together = [np.mean([a == b for a, b in combinations(item, 2)]) for item in items]
    assert observed_agreement(by_item) == pytest.approx(np.mean(together))
    shares = [np.mean([item.count(label) / len(item) for item in items]) for label in range(4)]
    chance = sum(q * (1 - q) for q in shares) / 3
    assert gwet_ac1(by_item) == pytest.approx((np.mean(together) - chance) / (1 - chance))
    by_pair = specific_agreement(table_of_pairs(codes, 4, "pair"))
    for label in range(4):
        both = sum(item.count(label) * (item.count(label) - 1) for item in items)
        either = sum(item.count(label) * (len(item) - 1) for item in items)
        assert by_pair[label] == pytest.approx(both / either if either else np.nan, nan_ok=True)


MISSING_4 = {0: 0, 1: 1, 2: 2, 3: 3, 4: -1}


# Other packages.


@given(TABLES)
def test_against_scikit_learn(cells: list[list[int]]) -> None:
    table = np.array(cells)
    k = len(cells)
    first, second = (np.repeat(index.ravel(), table.ravel()) for index in np.indices((k, k)))
    assume(len({*first.tolist()} | {*second.tolist()}) > 1)
    assert cohen_kappa(table) == pytest.approx(cohen_kappa_score(first, second, labels=range(k)))
    f1 = f1_score(first, second, labels=range(k), average=None, zero_division=np.nan)
    assert specific_agreement(table) == pytest.approx(f1, nan_ok=True)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
@given(rows=RATINGS)
def test_against_krippendorff(level: Level, rows: list[list[int]]) -> None:
    codes = np.array(rows).T
    enough = (codes >= 0).sum(axis=0) >= 2
    assume(np.unique(codes[:, enough][codes[:, enough] >= 0]).size > 1)
    theirs = krippendorff.alpha(
        reliability_data=np.where(codes < 0, np.nan, codes), level_of_measurement=level, value_domain=[0, 1, 2, 3]
    )
    assert krippendorff_alpha(table_of_pairs(codes, 4, "rating"), level) == pytest.approx(theirs)


def test_interval_takes_the_numbers_of_the_labels() -> None:
    codes, labels = encode([[1, 2, 10, 10, 1], [1, 10, 10, 2, 1]])
    theirs = krippendorff.alpha(
        reliability_data=np.array([[1.0, 2, 10, 10, 1], [1, 10, 10, 2, 1]]), level_of_measurement="interval"
    )
    table = table_of_pairs(codes, 3, "rating")
    assert krippendorff_alpha(table, "interval", labels) == pytest.approx(theirs)
    assert krippendorff_alpha(table, "interval") != pytest.approx(theirs)


@pytest.mark.parametrize("case", IRRCAC["tables"].values(), ids=IRRCAC["tables"])
def test_tables_against_irrcac(case: dict[str, Any]) -> None:
    found = ours(np.array(case["table"]))
    for name in ("observed", "kappa", "ac1", "alpha"):
        assert found[name] == pytest.approx(case[name], abs=1e-5), name


@pytest.mark.parametrize("case", IRRCAC["ratings"].values(), ids=IRRCAC["ratings"])
def test_several_graders_against_irrcac(case: dict[str, Any]) -> None:
    codes, labels = encode([[label or None for label in grader] for grader in case["ratings"]])
    by_item = table_of_pairs(codes, len(labels), "item")
    found = (*(figure(by_item).item() for figure in (observed_agreement, gwet_ac1, cohen_kappa)),)
    assert found == pytest.approx((case["observed"], case["ac1"], case["fleiss"]), abs=1e-5)
    by_rating = table_of_pairs(codes, len(labels), "rating")
    assert krippendorff_alpha(by_rating) == pytest.approx(case["alpha"], abs=1e-5)


# Published figures, and figures others computed on public data.


def test_published_table_of_two_graders() -> None:
    assert ours(PUBLISHED) == pytest.approx(
        {"observed": 0.9526, "kappa": 0.5405, "ac1": 0.9471, "alpha": 0.5406}, abs=5e-5
    )
    assert specific_agreement(PUBLISHED)[1] == pytest.approx(0.566, abs=5e-4)


def test_prevalence_paradox() -> None:
    """Nine of ten agree, and kappa is next to nothing, because one label is rare."""
    assert ours(PARADOX) == pytest.approx(
        {"observed": 0.8820, "kappa": 0.0290, "ac1": 0.8667, "alpha": -0.0290}, abs=5e-5
    )
    assert specific_agreement(PARADOX) == pytest.approx([0.9372, 0.0328], abs=5e-5)


XSTEST = {
    "gpt4": (0.9844, 0.9701, 0.9790, 0.9701),
    "llama2new": (0.9578, 0.9258, 0.9410, 0.9258),
    "mistralinstruct": (0.9756, 0.9195, 0.9712, 0.9196),
}


def columns_of(path: str, *names: str) -> tuple[list[str], ...]:
    with shared(path).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return tuple([row[name] for row in rows] for name in names)


@pytest.mark.parametrize("model", XSTEST)
def test_two_people_on_refusals(model: str) -> None:
    first, second = columns_of(f"gold/xstest/xstest_v2_completions_{model}.csv", "annotation_1", "annotation_2")
    table = table_of(first, second)
    assert (table.shape, table.sum()) == ((3, 3), 450)
    assert tuple(ours(table).values()) == pytest.approx(XSTEST[model], abs=5e-5)


def test_two_people_on_stances() -> None:
    table = table_of(*columns_of("gold/issuebench/stance_annotations.csv", "annot1_label", "annot2_label"))
    assert (table.shape, table.sum()) == ((6, 6), 500)
    assert tuple(ours(table).values()) == pytest.approx((0.9720, 0.9656, 0.9666, 0.9656), abs=5e-5)


@pytest.mark.parametrize(
    ("grader", "expected"),
    [
        ("gpt-4o-2024-08-06|templ-6", (0.9940, 0.9714, 0.9924, 0.9714)),
        ("Llama-3.1-8B-Instruct|templ-1", (0.8820, 0.0290, 0.8667, -0.0290)),
    ],
)
def test_model_graders_against_people(grader: str, expected: tuple[float, ...]) -> None:
    people, labels = columns_of("gold/issuebench/judge_labels.csv", "human_final", grader)
    table = table_of([label == "refusal" for label in people], [label == "refusal" for label in labels])
    assert table.sum() == 500
    assert tuple(ours(table).values()) == pytest.approx(expected, abs=5e-5)


# Properties.


@given(TABLES)
def test_symmetric_in_the_graders(cells: list[list[int]]) -> None:
    table = np.array(cells)
    for figure in (*FIGURES, specific_agreement):
        assert figure(table.T) == pytest.approx(figure(table), nan_ok=True)


@given(TABLES, st.randoms())
def test_names_and_order_of_labels_mean_nothing(cells: list[list[int]], chance: random.Random) -> None:
    table = np.array(cells)
    order = list(range(len(cells)))
    chance.shuffle(order)
    renamed = table[np.ix_(order, order)]
    for figure in FIGURES:
        assert figure(renamed) == pytest.approx(figure(table), nan_ok=True)
    assert specific_agreement(renamed) == pytest.approx(specific_agreement(table)[order], nan_ok=True)


@given(RATINGS, st.randoms())
def test_order_of_items_and_graders_means_nothing(rows: list[list[int]], chance: random.Random) -> None:
    codes = np.array(rows).T
    moved = [list(row) for row in rows]
    chance.shuffle(moved)
    shuffled = np.array(moved).T[list(range(codes.shape[0]))[::-1]]
    for per in ("item", "rating", "pair"):
        assert table_of_pairs(shuffled, 4, per) == pytest.approx(table_of_pairs(codes, 4, per))


@given(st.lists(st.integers(1, 50), min_size=2, max_size=6))
def test_perfect_agreement_is_one(counts: list[int]) -> None:
    table = np.diag(counts)
    assert [figure(table).item() for figure in FIGURES] == [1.0] * 4
    assert krippendorff_alpha(table, "ordinal") == krippendorff_alpha(table, "interval") == 1.0
    assert specific_agreement(table).tolist() == [1.0] * len(counts)


@given(TABLES)
def test_ranges(cells: list[list[int]]) -> None:
    """1 says that all agree and nothing else does; two graders who always differ reach -1 at most."""
    table = np.array(cells)
    assume(table.sum() > 0)
    assert 0 <= observed_agreement(table) <= 1
    for figure in FIGURES[1:]:
        value = figure(table)
        assert np.isnan(value) or -1 - 1e-12 <= value <= 1
        assert np.isnan(value) or (value == 1) == (observed_agreement(table) == 1)
    specific = specific_agreement(table)
    assert np.all(np.isnan(specific) | ((specific >= 0) & (specific <= 1)))


@given(TABLES)
def test_two_labels_make_all_levels_one(cells: list[list[int]]) -> None:
    table = np.array(cells)[:2, :2]
    for level in ("ordinal", "interval"):
        assert krippendorff_alpha(table, level) == pytest.approx(krippendorff_alpha(table), nan_ok=True)


@given(st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 3)), max_size=30))
def test_two_graders_are_the_same_as_cells_and_as_pairs(items: list[tuple[int, int]]) -> None:
    codes = np.array(items, dtype=np.int64).reshape(-1, 2).T
    table = as_table(cell_columns(codes[0], codes[1], 4))
    for per in ("item", "rating", "pair"):
        assert table_of_pairs(codes, 4, per) == pytest.approx((table + table.T) / 2)


def test_leading_axes_are_draws() -> None:
    rng = np.random.default_rng(0)
    tables = rng.integers(0, 9, (4, 7, 3, 3))
    for figure in (
        *FIGURES,
        specific_agreement,
        lambda t: krippendorff_alpha(t, "ordinal"),
        lambda t: krippendorff_alpha(t, "interval", [1, 2, 5]),
    ):
        found = figure(tables)
        assert found.shape[:2] == (4, 7)
        for i, j in np.ndindex(4, 7):
            assert found[i, j] == pytest.approx(figure(tables[i, j]))


# What is not defined.


def test_no_items_is_not_a_number() -> None:
    empty = np.zeros((2, 3, 3))
    for figure in (*FIGURES, specific_agreement):
        assert np.isnan(figure(empty)).all()


def test_one_label_only() -> None:
    table = np.array([[9, 0], [0, 0]])
    assert np.isnan(cohen_kappa(table))
    assert np.isnan(krippendorff_alpha(table))
    assert gwet_ac1(table) == 1
    assert specific_agreement(table) == pytest.approx([1, np.nan], nan_ok=True)
    assert np.isnan(gwet_ac1(np.array([[9]])))


def test_ac1_counts_labels_that_nobody_gave() -> None:
    """The scale is part of the measure: with more labels to choose from, agreement by chance is rarer."""
    table = np.array([[40, 5], [5, 10]])
    wider = np.zeros((3, 3), dtype=np.int64)
    wider[:2, :2] = table
    assert gwet_ac1(wider) > gwet_ac1(table)
    assert cohen_kappa(wider) == cohen_kappa(table)


# Labels.


def test_labels_and_what_is_missing() -> None:
    codes, labels = encode([["b", None, "a"], np.array(["a", "b", "b"])])
    assert (codes.tolist(), labels) == ([[1, -1, 0], [0, 1, 1]], ("a", "b"))
    codes, labels = encode([np.array([1.0, np.nan, 5.0]), [np.int64(5), 1, None]], scale=range(1, 6))
    assert (codes.tolist(), labels) == ([[0, -1, 4], [4, 0, -1]], (1, 2, 3, 4, 5))
    assert encode([[2, "x"], [10, None]])[1] == (2, 10, "x")


@pytest.mark.parametrize(
    ("ratings", "scale", "message"),
    [
        ([["a"], ["a", "b"]], None, "unequal numbers of items (1, 2)"),
        ([["a"], ["c"]], ["a", "b"], "the label 'c' is not in the scale ['a', 'b']"),
        ([["a"], ["a"]], ["a", "a"], "names a label twice"),
        ([[0.5], [1]], None, "the label 0.5 is no text and no whole number"),
    ],
)
def test_labels_that_cannot_be_used(ratings: list[list[Any]], scale: list[Any] | None, message: str) -> None:
    with pytest.raises(InputError) as error:
        encode(ratings, scale)
    assert message in str(error.value)
    assert "The way out: " in str(error.value)
