"""Fits are those of an oracle, and nothing that is held out takes part in them."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from conftest import shared
from evenhand.errors import InputError
from evenhand.graders.fitted import FittedGrader, kernel_logistic
from evenhand.graders.fitted.kernel_logistic import fit_kernel, fit_kernels
from evenhand.graders.fitted.training import Labels, Mask, train
from evenhand.pairs.gold import GoldMeasure, read_gold
from evenhand.studies.fit_grader import FEATURES, Example, Problem, examples_of, fit_grader
from evenhand.studies.held_out import (
    families_alone_left_out,
    families_and_requests_left_out,
    families_left_out,
    generation,
    issues_left_out,
    models_left_out,
    source_left_out,
)
from evenhand.studies.watch import UnwatchedStudy

SOURCES = ("xstest", "issuebench", "pct", "builtin", "stances", "practice")
OWN = ("builtin", "stances", "practice")


@pytest.mark.parametrize("penalty", [3.0, 0.1])
def test_the_minimum_is_the_one_that_scikit_learn_finds(penalty: float) -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(60, 200))
    target = (x[:, 0] + rng.normal(size=60) > 0).astype(float)
    weight = rng.uniform(0.5, 2, size=60)
    found = fit_kernel(x @ x.T, target, weight, penalty)
    oracle = LogisticRegression(C=1 / penalty, tol=1e-10, max_iter=20_000).fit(x, target, sample_weight=weight)
    np.testing.assert_allclose(x.T @ found.dual, oracle.coef_[0], atol=2e-4)
    assert found.intercept == pytest.approx(oracle.intercept_[0], abs=2e-4)


def test_many_rows_come_to_the_same_minimum(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    x = rng.normal(size=(80, 200)) / 14
    # Two rows that are alike make the Gram matrix singular.
    x[1] = x[0]
    target = (14 * x[:, 0] + rng.normal(size=80) > 0).astype(float)
    weight = rng.uniform(0.5, 1, size=80)
    penalties = (0.1, 0.01)
    few = fit_kernels(x @ x.T, target, weight, penalties)
    monkeypatch.setattr(kernel_logistic, "_MANY", 10)
    for one, other in zip(few, fit_kernels(x @ x.T, target, weight, penalties), strict=True):
        np.testing.assert_allclose(x @ x.T @ one.dual, x @ x.T @ other.dual, atol=0.05, rtol=0.02)
        assert one.intercept == pytest.approx(other.intercept, abs=0.05)


def test_practice_teaches_and_does_not_set_probabilities() -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(size=(120, 40))
    target = (x[:, 0] + rng.normal(size=120) > 1).astype(float)
    practice = np.arange(120) >= 60
    # Practice knows positive rows alone, which would move every probability if it were believed.
    target[practice] = np.where(x[practice, 0] > -0.5, 1.0, 0.0)
    groups = [str(row % 6) for row in range(60)] + ["practice"] * 60
    gram, every = x @ x.T, np.ones(120, dtype=bool)
    plain = train(gram, Labels(target, groups), every)
    told = train(gram, Labels(target, groups, practice), every)
    share, means = target[~practice].mean(), []
    for found in (plain, told):
        means.append(float((1 / (1 + np.exp(-found.margins(gram, np.flatnonzero(~practice))))).mean()))
    assert abs(means[1] - share) < abs(means[0] - share)
    assert abs(means[1] - share) < 0.1
    alone = train(gram, Labels(target, [str(row % 6) for row in range(120)], practice), practice)
    assert alone.rows.size == 60


def test_a_label_in_between_is_half_of_each() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=(30, 50))
    target = np.where(np.arange(30) < 10, 0.5, np.arange(30) % 2)
    found = fit_kernel(x @ x.T, target, np.ones(30), 0.5)
    doubled = np.vstack([x[:10], x])
    labels = np.concatenate([np.ones(10), np.where(np.arange(30) < 10, 0.0, target)])
    weight = np.where(np.arange(40) < 20, 0.5, 1.0)
    oracle = LogisticRegression(C=2.0, tol=1e-10, max_iter=20_000).fit(doubled, labels, sample_weight=weight)
    np.testing.assert_allclose(x.T @ found.dual, oracle.coef_[0], atol=2e-4)


def test_labels_of_rows_that_are_not_fitted_to_do_not_matter() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(80, 30))
    target = (x[:, 0] > 0).astype(float)
    groups = [str(row % 5) for row in range(80)]
    fitted = np.arange(80) < 50
    first = train(x @ x.T, Labels(target, groups), fitted)
    turned = np.where(fitted, target, 1 - target)
    second = train(x @ x.T, Labels(turned, groups), fitted)
    np.testing.assert_array_equal(first.dual, second.dual)
    assert first.rows.max() < 50


@pytest.mark.parametrize(
    ("target", "groups", "message"),
    [([0, 0, 0, 0], "aabb", "one class"), ([0, 1, 0, 1], "aaaa", "one group"), ([0, 0, 1, 1], "aabb", "both classes")],
)
def test_what_can_not_be_fitted_is_said(target: Sequence[float], groups: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        train(np.eye(4), Labels(np.array(target, dtype=float), list(groups)), np.ones(4, dtype=bool))


def _problem(measure: GoldMeasure) -> Problem:
    folder = shared("gold/xstest").parent
    sets = [each for name in SOURCES for each in read_gold(name, folder=None if name in OWN else folder)]
    # Whether rows overlap does not hang on their texts, which need not be cut into words for it.
    examples = [
        Example(**{name: getattr(each, name) for name in each.__slots__} | {"response": ""})
        for each in examples_of(sets, measure)
    ]
    return Problem(examples)


def test_nothing_held_out_takes_part_in_the_refusal_fits() -> None:
    problem = _problem(GoldMeasure.REFUSAL)
    sources = ["xstest", "issuebench-refusal", "pct-refusal", "builtin-refusal", "practice-refusal"]
    for half in ("fit", "test"):
        for fitted, left_out in models_left_out(problem, sources, "xstest", half):
            inside, outside = _examples(problem, fitted), _examples(problem, left_out)
            assert not {generation(each.model) for each in inside} & {generation(each.model) for each in outside}
            assert {each.half for each in inside} == {"fit"}
            if half == "test":
                assert not {each.request for each in inside} & {each.request for each in outside}
    for fitted, left_out in families_and_requests_left_out(problem, sources, "xstest"):
        inside, outside = _examples(problem, fitted), _examples(problem, left_out)
        assert not {each.family for each in inside} & {each.family for each in outside}
        assert not {each.request for each in inside} & {each.request for each in outside}
        assert {each.half for each in (*inside, *outside)} == {"fit"}
    for half in ("fit", "test"):
        for fitted, left_out in families_left_out(problem, sources, "xstest", half):
            inside, outside = _examples(problem, fitted), _examples(problem, left_out)
            assert not {each.family for each in inside} & {each.family for each in outside}
            if half == "test":
                assert not {each.cluster for each in inside} & {each.cluster for each in outside}
                assert not {each.request for each in inside} & {each.request for each in outside}
        for fitted, left_out in source_left_out(problem, sources, "issuebench-refusal", half):
            assert {each.source for each in _examples(problem, left_out)} == {"issuebench-refusal"}
            assert "issuebench-refusal" not in {each.source for each in _examples(problem, fitted)}
    for fitted, left_out in families_alone_left_out(problem, sources, "xstest"):
        inside, outside = _examples(problem, fitted), _examples(problem, left_out)
        assert not {each.family for each in inside} & {each.family for each in outside}


@pytest.mark.parametrize("source", ["issuebench-hedging", "stances"])
def test_nothing_held_out_takes_part_in_the_hedging_fits(source: str) -> None:
    problem = _problem(GoldMeasure.HEDGING)
    sources = ["issuebench-hedging", "pct-hedging", "builtin-hedging", "stances"]
    every = np.zeros(len(problem.examples), dtype=int)
    for fitted, left_out in issues_left_out(problem, sources, source):
        inside, outside = _examples(problem, fitted), _examples(problem, left_out)
        assert not {each.cluster for each in inside} & {each.cluster for each in outside}
        assert {each.half for each in (*inside, *outside)} == {"fit"}
        every += left_out
    assert every.max() == 1
    assert every.sum() == sum(each.source == source and each.half == "fit" for each in problem.examples)


def _examples(problem: Problem, rows: Mask) -> list[Example]:
    found = [each for each, use in zip(problem.examples, rows, strict=True) if use]
    assert found
    return found


def test_a_grader_is_fitted_written_and_read_back(tmp_path: Path) -> None:
    output = tmp_path / "mine.json"
    card = fit_grader(GoldMeasure.REFUSAL, ["builtin"], output)
    grader = FittedGrader.load(output)
    assert grader.card == card
    assert card.blocks == FEATURES["frames"]
    assert [(source.name, source.fitted) for source in card.sources] == [("builtin-refusal", 80)]
    (figure,) = card.figures
    assert (figure.n, figure.positive) == (80, 40)
    assert figure.auc.value is not None
    assert figure.auc.value > 0.75
    again = tmp_path / "again.json"
    assert fit_grader(GoldMeasure.REFUSAL, ["builtin"], again).weights_sha256 == card.weights_sha256


def test_practice_is_named_on_the_card(tmp_path: Path) -> None:
    rows = [
        f"Write about {place},{text},{label},i{place},fit"
        for place in range(6)
        for text, label in (("That is not for me to write.", "full"), ("Gladly: rivers rise in spring.", "none"))
    ]
    path = tmp_path / "more.csv"
    path.write_text("\n".join(["prompt,response,label,issue,split", *rows]) + "\n", "utf-8")
    output = tmp_path / "mine.json"
    card = fit_grader(GoldMeasure.REFUSAL, ["builtin"], output, practice=[str(path)], features="opening")
    assert [source.name for source in card.sources] == ["builtin-refusal", "more"]
    assert 0 < card.sources[1].fitted <= 12


def test_own_labels_without_halves_get_them(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    lines = ["prompt,response,label,issue"]
    for issue in range(12):
        lines.append(f"Write about {issue},I can't write about this topic.,full,i{issue}")
        lines.append(f"Write about {issue},Here is an essay with three points.,none,i{issue}")
    path.write_text("\n".join(lines) + "\n", "utf-8")
    (figure,) = fit_grader(GoldMeasure.REFUSAL, [str(path)], tmp_path / "out.json").figures
    assert figure.n == 12
    assert figure.auc.value == 1.0


def test_labels_whose_texts_a_spreadsheet_cut_are_told(tmp_path: Path) -> None:
    path, told = tmp_path / "cut.csv", []

    class Watch(UnwatchedStudy):
        def say(self, text: str) -> None:
            told.append(text)

    lines = ["prompt,response,label,issue", f"Write,{'x' * 32_767},none,i0"]
    for issue in range(6):
        lines.append(f"Write about {issue},I can't write about this topic.,full,i{issue}")
        lines.append(f"Write about {issue},Here is an essay with three points.,none,i{issue}")
    path.write_text("\n".join(lines) + "\n", "utf-8")
    fit_grader(GoldMeasure.REFUSAL, [str(path)], tmp_path / "out.json", watch=Watch())
    assert ["row 2 holds a text of exactly 32,767" in text for text in told] == [True]


def test_output_and_gold_are_checked(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no name for a card"):
        fit_grader(GoldMeasure.REFUSAL, ["builtin"], tmp_path / "out.npz")
    with pytest.raises(InputError, match="no labels for hedging"):
        fit_grader(GoldMeasure.HEDGING, ["builtin-refusal"], tmp_path / "out.json")
