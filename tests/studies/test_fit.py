"""Scoring specs: known weights are found again, published ratings predict as published."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import read_json
from evenhand.errors import InputError
from evenhand.report.scoring_spec import ScoringSpec
from evenhand.report.spec_exports import Export
from evenhand.studies import fit as fit_module
from evenhand.studies.fit import fit, write_export
from rating_runs import World, llmbar_run, pair_row, rating, world, write_run


def run_of(folder: Path, made: World, noise: float = 0.0, **changes: Any) -> Path:
    rng = np.random.default_rng(9)

    def rate(pair: int, question: int, order: str) -> tuple[float, float]:
        one, other = made.qualities[pair, question]
        if noise:
            # Drawn together, so that noise leaves them on the scale.
            one, other = 5 + (np.array([one, other]) - 5 + noise * rng.normal(size=2)) / 4
        return one, other

    return write_run(folder, list(made.ratings(rate)), made.pairs(**changes))


def test_published_ratings(tmp_path: Path) -> None:
    spec = fit(llmbar_run(tmp_path))
    assert spec.held_out.auc.value is not None
    assert 0.94 <= spec.held_out.auc.value <= 0.952
    assert spec.held_out.accuracy.value is not None
    assert 0.88 <= spec.held_out.accuracy.value <= 0.9
    assert spec.best_question == "GPT-4 Rating_Metrics_Reference"
    assert spec.gain_over_length.low is not None
    assert spec.gain_over_length.low > 0.3
    assert not [question.id for question in spec.questions if question.selected and question.id.startswith("ChatGPT")]
    assert spec.ceiling.auc is None
    assert spec.ceiling.reliability.method == "outputs were not shown in both orders"


def test_known_weights_are_recovered(tmp_path: Path) -> None:
    """And the useless questions are not selected. Over eight worlds, as an interval may miss now and then."""
    truth = [0.35, 0.0, -0.2, 0.0, 0.12]
    covered = []
    for seed in range(8):
        spec = fit(run_of(tmp_path / str(seed), world(truth, 800, seed=seed, pairs_an_input=2)), seed=seed)
        for question, weight in zip(spec.questions, truth, strict=True):
            assert question.estimate.low is not None
            assert question.estimate.high is not None
            covered.append(question.estimate.low <= weight <= question.estimate.high)
            assert question.weight == pytest.approx(weight, abs=0.09)
            assert question.selected or weight != 0.35
            assert not (question.selected and weight == 0)
    assert sum(covered) >= 0.85 * len(covered)


def test_probabilities_are_calibrated_and_the_folds_are_honest(tmp_path: Path) -> None:
    spec = fit(run_of(tmp_path, world([0.35, 0.0, -0.2], 1500)))
    assert spec.held_out.calibration_slope == pytest.approx(1, abs=0.15)
    assert spec.held_out.calibration_error is not None
    assert spec.held_out.calibration_error < 0.05
    nothing = fit(run_of(tmp_path / "nothing", world([0.0] * 12, 150)))
    assert nothing.held_out.auc.low is not None
    assert nothing.held_out.auc.high is not None
    assert nothing.held_out.auc.low <= 0.5 <= nothing.held_out.auc.high
    assert not any(question.selected for question in nothing.questions)


def test_the_ceiling_foretells_a_grader_without_noise(tmp_path: Path) -> None:
    made = world([0.4, 0.3], 3000)
    noisy, exact = fit(run_of(tmp_path / "noisy", made, noise=4.0)), fit(run_of(tmp_path / "exact", made))
    assert noisy.held_out.auc.value is not None
    assert exact.held_out.auc.value is not None
    assert noisy.ceiling.auc is not None
    assert noisy.held_out.auc.value < exact.held_out.auc.value - 0.03
    assert noisy.ceiling.auc == pytest.approx(exact.held_out.auc.value, abs=0.015)
    assert exact.ceiling.reliability.value == pytest.approx(1.0)


def test_a_score_difference_is_the_log_odds(tmp_path: Path) -> None:
    made = world([0.35, -0.2], 600)
    spec = fit(run_of(tmp_path, made))
    first, second = {"q0": 8.0, "q1": 2.0}, {"q0": 3.0, "q1": 4.0}
    expected = 5 * spec.questions[0].weight - 2 * spec.questions[1].weight
    assert spec.score(first) - spec.score(second) == pytest.approx(expected)
    assert spec.score({}) == 0.0
    assert spec.questions[0].centre == pytest.approx(5, abs=0.3)


def test_abstaining_has_a_weight_of_its_own(tmp_path: Path) -> None:
    """Where the grader can't say, the output is mostly the rejected one."""
    made = world([0.3], 800)
    rng = np.random.default_rng(0)
    rows = []
    for n in range(800):
        chosen, rejected = made.qualities[n, 0]
        rows.append(rating(n, -1 if rng.random() < 0.05 else chosen, -1 if rng.random() < 0.25 else rejected))
    (question,) = fit(write_run(tmp_path, rows, made.pairs())).questions
    assert question.abstained_weight < -0.8
    assert question.weight == pytest.approx(0.3, abs=0.08)
    assert question.pairs == pytest.approx(800 * 0.95 * 0.75, abs=50)


def test_a_few_abstentions_have_none(tmp_path: Path) -> None:
    made = world([0.3], 100)
    rows = [rating(n, *(made.qualities[n, 0] if n > 5 else (-1, 3))) for n in range(100)]
    spec = fit(write_run(tmp_path, rows, made.pairs()))
    assert spec.questions[0].abstained_weight == 0
    assert spec.pairs == 94
    assert any("6 of 100 pairs have no rating" in remark for remark in spec.remarks)


def test_ties_pull_toward_nothing_and_are_not_judged(tmp_path: Path) -> None:
    made = world([0.4], 400)
    rows = list(made.ratings(lambda p, q, o: tuple(made.qualities[p, q]), orders=["single"]))
    pairs = [pair_row(n, tie=n % 4 == 0) for n in range(400)]
    spec = fit(write_run(tmp_path, rows, pairs))
    assert (spec.ties, spec.held_out.accuracy.n, spec.pairs) == (100, 300, 400)
    assert 0 < spec.questions[0].weight < 0.4


def test_strengths_weigh_and_can_be_left_out(tmp_path: Path) -> None:
    """Half of the pairs are preferred at random, and weakly."""
    made = world([0.5], 600)
    rng = np.random.default_rng(0)
    rows = []
    for n in range(600):
        one, other = made.qualities[n, 0]
        if n % 2 and rng.random() < 0.5:
            one, other = other, one
        rows.append(rating(n, one, other))
    run = write_run(tmp_path, rows, [pair_row(n, strength=0.05 if n % 2 else 3.0) for n in range(600)])
    weighed, plain = fit(run), fit(run, use_strength=False)
    assert weighed.fit.strengths
    assert not plain.fit.strengths
    assert weighed.questions[0].weight > 1.5 * plain.questions[0].weight
    assert any("strength" in remark for remark in weighed.remarks)


def test_a_labelled_run_is_marked(tmp_path: Path) -> None:
    made = world([0.4], 60)
    rows = list(made.ratings(lambda p, q, o: tuple(made.qualities[p, q]), protocol="labelled"))
    assert any("too good" in remark for remark in fit(write_run(tmp_path, rows, made.pairs())).remarks)


def test_many_pairs_choose_on_a_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_of(tmp_path, world([0.35, 0.0, -0.2], 1200, pairs_an_input=3))
    whole = fit(run)
    monkeypatch.setattr(fit_module, "SEARCHED_PAIRS", 400)
    sampled = fit(run)
    assert sampled.fit.searched_pairs <= 400 < whole.fit.searched_pairs == 1200
    assert sampled.held_out.auc.value == pytest.approx(whole.held_out.auc.value, abs=0.01)
    for one, other in zip(whole.questions, sampled.questions, strict=True):
        assert one.weight == pytest.approx(other.weight, abs=0.03)
        assert one.selected == other.selected


def test_the_file_is_what_is_returned_and_the_same_again(tmp_path: Path) -> None:
    run = run_of(tmp_path, world([0.4, 0.0], 80))
    spec = fit(run, seed=4)
    assert ScoringSpec.from_json(read_json(run / "spec.json")) == spec
    first = (run / "spec.json").read_bytes()
    fit(run, seed=4)
    assert (run / "spec.json").read_bytes() == first
    assert spec.provenance["seed"] == 4
    assert len(spec.provenance["ratings_sha256"]) == 64


def test_questions_that_never_vary_or_were_never_rated(tmp_path: Path) -> None:
    made = world([0.4], 80)
    rows = list(made.ratings(lambda p, q, o: tuple(made.qualities[p, q]), orders=["single"]))
    rows += [rating(n, 5, 5, question="flat", order="single") for n in range(80)]
    rows += [rating(n, None, None, question="unread", order="single") for n in range(80)]
    spec = fit(write_run(tmp_path, rows, made.pairs()))
    assert [question.weight for question in spec.questions[1:]] == [0, 0]
    assert [question.estimate.value for question in spec.questions[1:]] == [None, None]


def test_too_few_pairs(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="12 rated pairs that are no ties over 12 inputs, too few for a fit"):
        fit(run_of(tmp_path, world([0.4], 12)))


def test_one_of_several_graders(tmp_path: Path) -> None:
    made = world([0.4], 60)
    rows = [rating(n, *made.qualities[n, 0], grader=grader) for grader in ("a", "b") for n in range(60)]
    run = write_run(tmp_path, rows, made.pairs())
    with pytest.raises(InputError, match=r"--grader: several graders .* name one of a, b"):
        fit(run)
    assert fit(run, grader="b").grader == "b"


def test_an_export_that_cannot_be_written(tmp_path: Path) -> None:
    write_export(Export("text", ()), tmp_path / "x.yaml")
    assert (tmp_path / "x.yaml").read_text() == "text"
    with pytest.raises(InputError, match="--export-to: can't be written"):
        write_export(Export("text", ()), tmp_path / "absent" / "x.yaml")
