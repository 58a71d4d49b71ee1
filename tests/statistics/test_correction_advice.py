"""Advice on corrected figures: the choice, and a caution where it is due and nowhere else."""

import json
from collections.abc import Sequence

import numpy as np
import pytest

from evenhand.errors import InputError
from evenhand.statistics.correction import LabelledRun, labelled_run
from evenhand.statistics.correction_advice import Caution, Choice, Correction, correct, shift


def run_of(
    *,
    positives: int = 40,
    others: int = 110,
    missed: int = 6,
    alarms: int = 8,
    rest: tuple[int, int] = (160, 440),
    clusters: Sequence[int] | None = None,
) -> LabelledRun:
    """A run with so many labels and errors of the grader, and so many of its verdicts without a label."""
    labels = [1] * positives + [0] * others
    verdicts = [0] * missed + [1] * (positives - missed + alarms) + [0] * (others - alarms)
    of_rest = [1] * rest[0] + [0] * rest[1]
    names = None if clusters is None else [clusters[index % len(clusters)] for index in range(len(labels))]
    names_rest = None if clusters is None else [clusters[index % len(clusters)] for index in range(len(of_rest))]
    return labelled_run(labels, verdicts, of_rest, clusters=names, clusters_rest=names_rest)


def test_a_good_grader_and_enough_labels_need_no_caution() -> None:
    found = correct(run_of())
    assert (found.choice, found.cautions, found.sentences) == (Choice.PPI, (), ())
    assert found.best == found.ppi
    assert (found.labels, found.rest) == (150, 600)
    assert found.sensitivity.value == pytest.approx(34 / 40)
    assert found.specificity.value == pytest.approx(102 / 110)
    assert found.bias.value == pytest.approx(2 / 150)
    assert found.raw.value == pytest.approx(160 / 600)
    for estimate in (found.raw, found.humans, found.ppi, found.rogan_gladen):
        assert estimate.low is not None and estimate.high is not None


@pytest.mark.parametrize(
    ("run", "cautions", "choice"),
    [
        (run_of(positives=12, others=18, missed=2, alarms=3, rest=(240, 360)), {Caution.FEW_LABELS}, Choice.PPI),
        (run_of(clusters=range(12)), {Caution.FEW_CLUSTERS}, Choice.PPI),
        (run_of(clusters=range(5)), {Caution.FEW_CLUSTERS}, Choice.HUMANS),
        (
            run_of(positives=5, others=145, missed=0, alarms=6, rest=(45, 555)),
            {Caution.RARE_CLASS},
            Choice.PPI,
        ),
        (run_of(missed=1, alarms=1, rest=(800, 2200)), {Caution.FEW_ERRORS}, Choice.PPI),
        (run_of(missed=28, alarms=2, rest=(60, 540)), {Caution.WEAK_GRADER}, Choice.PPI),
        (
            run_of(missed=20, alarms=55, rest=(300, 300)),
            {Caution.WEAK_GRADER, Caution.USELESS_GRADER},
            Choice.HUMANS,
        ),
        (run_of(rest=(400, 200)), {Caution.SHIFTED}, Choice.ROGAN_GLADEN),
        (run_of(missed=28, alarms=2, rest=(300, 300)), {Caution.SHIFTED, Caution.WEAK_GRADER}, Choice.NONE),
    ],
    ids=lambda value: ", ".join(sorted(value)) if isinstance(value, set) else "",
)
def test_each_caution_comes_where_it_is_due(run: LabelledRun, cautions: set[Caution], choice: Choice) -> None:
    found = correct(run)
    assert set(found.cautions) == cautions
    assert found.choice is choice
    assert len(found.sentences) == len(found.cautions)
    assert all(sentence.endswith(".") for sentence in (*found.sentences, found.reason))
    assert (found.best is None) == (choice is Choice.NONE)
    assert Correction.from_json(json.loads(json.dumps(found.as_json()))) == found


def test_labels_of_other_answers_leave_rogan_gladen_or_nothing() -> None:
    assert correct(run_of(), from_this_run=False).choice is Choice.ROGAN_GLADEN
    weak = correct(run_of(missed=28, alarms=2, rest=(60, 540)), from_this_run=False)
    assert weak.choice is Choice.NONE
    assert Caution.NOT_THIS_RUN in weak.cautions


def test_probabilities_are_corrected_by_ppi_alone() -> None:
    rng = np.random.default_rng(1)
    truth = rng.random(400) < 0.4
    values = np.clip(0.3 + 0.4 * truth + rng.normal(0, 0.1, 400), 0, 1)
    found = correct(labelled_run(truth[:100], values[:100], values[100:]))
    assert found.choice is Choice.PPI
    assert (found.rogan_gladen.value, found.sensitivity.value) == (None, None)
    assert Correction.from_json(json.loads(json.dumps(found.as_json()))) == found


def test_a_feature_that_differs_is_named() -> None:
    run = run_of()
    lengths = np.tile([100.0, 200.0, 300.0], 250)
    same = correct(run, features={"length": (lengths[:150], lengths[150:])})
    assert same.cautions == ()
    moved = correct(run, features={"length": (lengths[:150] + 80, lengths[150:])})
    assert moved.cautions == (Caution.SHIFTED,)
    assert "length (280 against 200)" in moved.sentences[0]
    assert [found.feature for found in moved.shifts] == ["the grader's value", "length"]
    with pytest.raises(InputError, match="length: 150 and 2 values"):
        correct(run, features={"length": (lengths[:150], [1, 2])})


def test_a_part_where_nothing_varies_is_no_shift_by_itself() -> None:
    """None of 30 labelled answers is called positive and 3% of the rest: as chance would have it."""
    run = labelled_run([0] * 30, [0] * 30, [1] * 30 + [0] * 970)
    assert shift(run, "value", run.predicted, run.rest).p > 0.2


def test_a_shift_between_clusters_is_no_shift_of_rows() -> None:
    """24 clusters that differ a lot, twelve in either part: rows taken as independent would be sure of a shift."""
    rng = np.random.default_rng(2)
    alarms = 0
    for _ in range(300):
        level = rng.normal(size=24)
        values = np.repeat(level, 10) + 0.1 * rng.normal(size=240)
        names = np.repeat(np.arange(24), 10).tolist()
        run = labelled_run(values[:120], values[:120], values[120:], clusters=names[:120], clusters_rest=names[120:])
        alarms += shift(run, "value", run.predicted, run.rest).p < 0.05
    assert alarms / 300 < 0.09
