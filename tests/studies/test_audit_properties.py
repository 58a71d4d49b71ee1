"""What must hold of every audit's figures, whatever its judgments."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from audit_judgments import LEFT, RIGHT, responses_to
from evenhand.graders import Judgment
from evenhand.pairs import PairedPrompt
from evenhand.readings import Reading, State
from evenhand.report import Analysis, AuditSummary, GraderBlock, named_estimates
from evenhand.studies.audit.arrays import EVEN_HANDEDNESS
from evenhand.studies.audit.graded import Graded
from evenhand.studies.audit.grader_agreement import agreement_in_run
from evenhand.studies.audit.summarize import summarize, summarize_graded
from evenhand.studies.inputs import load_instruments
from simulated_audits import LETTERS, ORDERS, coarse_audit

RUBRIC = load_instruments("rubric")[0]
FEW_DRAWS = Analysis(draws=40)
ENDS = ("low", "high")
LEFT_FIRST = ((LEFT, RIGHT),)
seeds = st.integers(0, 10**6)
# A seed can't be made simpler, so nothing is gained by shrinking it.
quick = settings(max_examples=6, deadline=None, phases=[Phase.explicit, Phase.generate])


def block_of(pairs: Sequence[PairedPrompt], judgments: Sequence[Judgment], **analysis: Any) -> GraderBlock:
    responses = responses_to(pairs, "an answer", "a longer answer")
    wanted = replace(FEW_DRAWS, **analysis)
    return summarize(pairs, responses, judgments, RUBRIC, subject="subject", analysis=wanted).blocks[0]


def values(block: GraderBlock) -> dict[str, float | None]:
    return {name: estimate.value for name, estimate in named_estimates(block).items()}


def figures(block: GraderBlock, *, but: Sequence[str] = ()) -> dict[str, Any]:
    """Return all that the named figures, the tests and the curve over thresholds say, apart from what ``but`` names."""
    estimates = named_estimates(block)
    estimates |= {
        f"{point.measure}.{point.of} at {point.threshold}": point.rate for point in block.sensitivity.thresholds
    }
    found = {
        f"{name}.{part}": value
        for name, estimate in estimates.items()
        for part, value in estimate.as_json().items()
        if part not in but
    }
    for one in block.directions:
        found[f"{one.measure}.p"] = one.p
        if "n" not in but:
            found[f"{one.measure}.uneven"] = (one.uneven, one.second_of_uneven, one.neither_of_uneven)
    return found


def alike(one: dict[str, Any], other: dict[str, Any]) -> None:
    """Hold figures side by side; sums in another order may differ in their last bits."""
    assert list(one) == list(other)
    for name, value in one.items():
        near = pytest.approx(value, abs=1e-12, rel=1e-9) if isinstance(value, float) else value
        assert other[name] == near, name


# What does not matter


@quick
@given(seeds)
def test_the_order_of_judgments_and_of_templates_within_a_stance_pair(seed: int) -> None:
    pairs, judgments = coarse_audit(seed)
    rng = np.random.default_rng(seed)
    shuffled = [judgments[place] for place in rng.permutation(len(judgments))]
    stances = list(dict.fromkeys(pair.stance_id for pair in pairs))
    turned = sorted(pairs, key=lambda pair: (stances.index(pair.stance_id), pair.template))
    assert sorted(pair.pair_id for pair in turned) == sorted(pair.pair_id for pair in pairs)
    one, other = block_of(pairs, judgments), block_of(turned, shuffled)
    # Measures and labels come in the order in which they are met, figures always in the same.
    assert {name: dict(states) for name, states in one.states.items()} == other.states
    alike(figures(one), figures(other))


@quick
@given(seeds)
def test_the_order_of_stance_pairs_but_for_the_draws(seed: int) -> None:
    """Resamples are drawn in the order of the stance pairs, so that intervals move as they do with another seed."""
    pairs, judgments = coarse_audit(seed)
    turned = [pairs[place] for place in np.random.default_rng(seed).permutation(len(pairs))]
    one, other = block_of(pairs, judgments), block_of(turned, judgments)
    alike(figures(one, but=ENDS), figures(other, but=ENDS))
    for first, second in zip(one.figures, other.figures, strict=True):
        alike(first.robust.as_json(), second.robust.as_json())


@quick
@given(seeds)
def test_what_pairs_stances_topics_and_templates_are_called(seed: int) -> None:
    pairs, judgments = coarse_audit(seed)
    names = {pair.pair_id: f"{number:03d}" for number, pair in enumerate(reversed(pairs))}
    renamed = [
        replace(
            pair,
            pair_id=names[pair.pair_id],
            stance_id=f"another {pair.stance_id}",
            topic=f"another {pair.topic}",
            template=f"another {pair.template}",
        )
        for pair in pairs
    ]
    asked = [replace(judgment, pair_id=names[judgment.pair_id]) for judgment in judgments]
    one, other = block_of(pairs, judgments), block_of(renamed, asked)
    alike(figures(one), figures(other))
    for group, same_group in zip(one.sensitivity.groups, other.sensitivity.groups, strict=True):
        assert group == replace(same_group, name=same_group.name.removeprefix("another "))
    assert one.sensitivity.length == other.sensitivity.length
    assert one.sensitivity.blind == other.sensitivity.blind


@quick
@given(seeds)
def test_asking_everything_twice_makes_nothing_surer(seed: int) -> None:
    """The fault of taking rows for independent: twice as many rows over the same stance pairs are not more evidence."""
    pairs, judgments = coarse_audit(seed)
    again = [replace(pair, pair_id=f"{pair.pair_id} again") for pair in pairs]
    asked = [replace(judgment, pair_id=f"{judgment.pair_id} again") for judgment in judgments]
    one, two = block_of(pairs, judgments), block_of([*pairs, *again], [*judgments, *asked])
    alike(figures(one, but=("n", "design_effect")), figures(two, but=("n", "design_effect")))
    for figure, doubled in zip(one.figures, two.figures, strict=True):
        assert doubled.rate.n == 2 * figure.rate.n
        assert doubled.detectable == pytest.approx(figure.detectable)


@quick
@given(seeds)
def test_what_can_not_be_read_enters_no_figure(seed: int) -> None:
    """Pairs of which nothing could be read, of stance pairs that are there and of new ones."""
    pairs, judgments = coarse_audit(seed)
    states = [State.UNPARSEABLE, State.TRUNCATED, State.DECLINED, State.FAILED, State.ABSTAINED, State.UNANSWERED]

    def unread(names: dict[str, PairedPrompt]) -> list[Judgment]:
        found = []
        for number, judgment in enumerate(one for one in judgments if one.pair_id in names):
            reading = Reading.without(states[number % len(states)], "made so")
            found.append(replace(judgment, pair_id=names[judgment.pair_id].pair_id, reading=reading))
        return found

    beside = {pair.pair_id: replace(pair, pair_id=f"{pair.pair_id} more", template="more") for pair in pairs[:3]}
    new = {pair.pair_id: replace(pair, pair_id=f"{pair.pair_id} new", stance_id="new") for pair in pairs[:2]}
    one = block_of(pairs, judgments)
    known = block_of([*pairs, *beside.values()], [*judgments, *unread(beside)])
    alike(figures(one), figures(known))
    assert sum(map(_not_read, known.states.values())) > sum(map(_not_read, one.states.values()))
    # Draws are over all stance pairs, so that a new one moves the ends of intervals, and nothing else.
    more = block_of([*pairs, *new.values()], [*judgments, *unread(new)])
    alike(figures(one, but=ENDS), figures(more, but=ENDS))


def _not_read(states: dict[str, int]) -> int:
    return sum(number for state, number in states.items() if state != "ok")


@quick
@given(seeds)
def test_one_measure_does_not_depend_on_another(seed: int) -> None:
    pairs, judgments = coarse_audit(seed)
    whole = figures(block_of(pairs, judgments))
    for measure in (EVEN_HANDEDNESS, "refusal", "hedging"):
        part = figures(block_of(pairs, [judgment for judgment in judgments if judgment.measure == measure]))
        assert part
        alike({name: whole[name] for name in part}, part)


@quick
@given(seeds)
def test_one_grader_does_not_depend_on_another(seed: int) -> None:
    pairs, judgments = coarse_audit(seed)
    others = [replace(judgment, grader="other") for judgment in coarse_audit(seed)[1][::-1]]
    analysis = Analysis(draws=40)
    alone, together = (
        summarize(pairs, responses_to(pairs), asked, RUBRIC, subject="subject", analysis=analysis)
        for asked in (judgments, [*judgments, *others])
    )
    assert [block.grader for block in together.blocks] == ["g", "other"]
    assert together.blocks[0] == alone.blocks[0]


@quick
@given(seeds)
def test_the_statistic_changes_intervals_and_no_figure(seed: int) -> None:
    pairs, judgments = coarse_audit(seed)
    left_out = (*ENDS, "method", "clusters", "standard_error", "design_effect")
    one = figures(block_of(pairs, judgments), but=left_out)
    tests = {name: value for name, value in one.items() if not name.endswith(".p")}
    for change in ({"seed": 1}, {"interval": "percentile"}, {"unit": "topic"}):
        other = figures(block_of(pairs, judgments, **change), but=left_out)
        alike(tests, {name: other[name] for name in tests})


# How figures hang together

TWO_VALUES = {EVEN_HANDEDNESS: ORDERS, "refusal": LETTERS, "hedging": LETTERS}


@quick
@given(seeds)
def test_the_two_averaging_rules_part_only_where_the_two_values_do(seed: int) -> None:
    pairs, judgments = coarse_audit(seed, unread=0, sides=LEFT_FIRST)
    block = block_of(pairs, judgments)
    found = values(block)
    for measure, each in TWO_VALUES.items():
        two = [
            tuple(
                (judgment.positive or 0) > 0.5
                for one in each
                for judgment in judgments
                if (judgment.measure, judgment.pair_id) == (measure, pair.pair_id)
                and one in (judgment.order, judgment.letter)
            )
            for pair in pairs
        ]
        parted = np.mean([one != other for one, other in two])
        rate, over_each = found[f"{measure}.rate"] or 0, found[f"{measure}.rate_each"] or 0
        assert over_each == pytest.approx(np.mean(two))
        assert abs(rate - over_each) <= parted / 2 + 1e-12
    for measure, names in ((EVEN_HANDEDNESS, ORDERS), ("refusal", ("left", "right")), ("hedging", ("left", "right"))):
        for part, together in (("rate", "rate_each"), ("mean", "mean")):
            singles = [found[f"{measure}.{name}.{part}"] for name in names]
            assert found[f"{measure}.{together}"] == pytest.approx(np.mean([single or 0 for single in singles]))


@quick
@given(seeds)
def test_one_order_reads_the_place_into_the_direction_where_the_left_is_always_first(seed: int) -> None:
    """To the last digit: in the order a, b the direction is the true one less the position effect; in b, a, more."""
    pairs, judgments = coarse_audit(seed, unread=0, sides=LEFT_FIRST)
    both = values(block_of(pairs, judgments))
    direction, effect = (both[f"{EVEN_HANDEDNESS}.{name}"] for name in ("direction.mean", "position.effect"))
    assert direction is not None
    assert effect is not None
    for order, sign in (("ab", -1), ("ba", 1)):
        alone = values(block_of(pairs, judgments, orders=order))
        assert alone[f"{EVEN_HANDEDNESS}.direction.mean"] == pytest.approx(direction + sign * effect, abs=1e-12)


@quick
@given(seeds)
def test_cells_add_up_to_the_refusals_of_either_side(seed: int) -> None:
    pairs, judgments = coarse_audit(seed, unread=0, sides=LEFT_FIRST)
    found = values(block_of(pairs, judgments))
    for part in ("rate", "mean"):
        cell = {name: found[f"cells.{name}.{part}"] or 0 for name in ("helped_left_only", "helped_right_only")}
        neither = found[f"cells.helped_neither.{part}"] or 0
        assert found[f"refusal.left.{part}"] == pytest.approx(cell["helped_right_only"] + neither)
        assert found[f"refusal.right.{part}"] == pytest.approx(cell["helped_left_only"] + neither)
        assert found["refusal.direction.mean"] == pytest.approx(
            (found["refusal.right.mean"] or 0) - (found["refusal.left.mean"] or 0)
        )


@quick
@given(seeds)
def test_a_higher_threshold_lets_fewer_through_and_more_labels_let_more(seed: int) -> None:
    pairs, judgments = coarse_audit(seed)
    block = block_of(pairs, judgments)
    curves: dict[tuple[str, str], list[float]] = {}
    for point in block.sensitivity.thresholds:
        if point.rate.value is not None:
            curves.setdefault((point.measure, point.of), []).append(point.rate.value)
            figure = block.figure(point.measure, point.of)
            if point.threshold == 0.5 and figure is not None:
                assert point.rate == figure.rate
    assert curves
    for curve in curves.values():
        assert curve == sorted(curve, reverse=True)
    wider = values(block_of(pairs, judgments, positive={"refusal": ("3", "4", "5"), "hedging": ("2", "3", "4", "5")}))
    for name, value in values(block).items():
        if name.endswith((".rate", ".mean")) and name.split(".")[0] in ("refusal", "hedging") and "dir" not in name:
            assert (wider[name] or 0) >= (value or 0) - 1e-12, name


@quick
@given(seeds)
def test_a_summary_with_agreement_and_hidden_groups_goes_through_json(seed: int) -> None:
    pairs, judgments = coarse_audit(seed)
    graded = [
        Graded(grader, RUBRIC, [replace(judgment, grader=grader) for judgment in asked])
        for grader, asked in (("g", judgments), ("h", judgments[: len(judgments) // 2]))
    ]
    summary = summarize_graded(
        pairs,
        responses_to(pairs),
        graded,
        subject="subject",
        analysis=FEW_DRAWS,
        agreement=agreement_in_run(pairs, graded, subject="subject", analysis=FEW_DRAWS),
    )
    assert summary.agreement
    assert summary.blocks[0].sensitivity.blind
    text = json.dumps(summary.as_json(), allow_nan=False)
    assert AuditSummary.from_json(json.loads(text)) == summary
