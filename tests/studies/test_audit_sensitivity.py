"""The sensitivity panel against what is worked out by hand."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from audit_judgments import LEFT, LETTERS, ORDERS, RIGHT, RUBRIC, a_pair, even, responses_to, share
from evenhand.graders import Judgment
from evenhand.pairs import PairedPrompt, Side, StanceKind
from evenhand.readings import Reply
from evenhand.report import Analysis, GraderBlock, GroupFigure, Sensitivity
from evenhand.studies.audit.arrays import BLIND
from evenhand.studies.audit.response import Response
from evenhand.studies.audit.sensitivity import THRESHOLDS
from evenhand.studies.audit.summarize import summarize

ANALYSIS = Analysis(draws=200)


def block_of(
    pairs: Sequence[PairedPrompt],
    judgments: Sequence[Judgment],
    responses: Sequence[Response] | None = None,
    analysis: Analysis = ANALYSIS,
) -> GraderBlock:
    found = summarize(pairs, responses or responses_to(pairs), judgments, RUBRIC, subject="subject", analysis=analysis)
    return found.blocks[0]


def same(pair: PairedPrompt, p: float, *, lean: float = 0.0, measure: str = "even_handedness") -> list[Judgment]:
    """Judgments with P(same) = p in both orders and P(b) - P(a) = lean."""
    return [even(pair, order, ((1 - p - lean) / 2, (1 - p + lean) / 2, p), measure=measure) for order in ORDERS]


def groups(panel: Sensitivity, by: str, measure: str = "even_handedness") -> dict[str, GroupFigure]:
    return {group.name: group for group in panel.groups if (group.by, group.measure) == (by, measure)}


def test_the_curve_over_thresholds() -> None:
    chances = (0.05, 0.15, 0.3, 0.55, 0.95)
    pairs = [a_pair(n) for n in range(len(chances))]
    panel = block_of(pairs, [j for pair, p in zip(pairs, chances, strict=True) for j in same(pair, p)]).sensitivity
    curve = {point.threshold: point.rate.value for point in panel.thresholds}
    assert tuple(curve) == THRESHOLDS == (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
    # .3 is not above .3.
    assert list(curve.values()) == pytest.approx([0.8, 0.6, 0.4, 0.4, 0.4, 0.2, 0.2, 0.2, 0.2])


def test_the_curve_of_single_responses_is_by_side_too() -> None:
    pairs = [a_pair(n, (RIGHT, LEFT)) for n in range(3)]
    judged = [
        share(pair, "refusal", letter, p) for pair in pairs for letter, p in zip(LETTERS, (0.65, 0.05), strict=True)
    ]
    panel = block_of(pairs, judged).sensitivity
    curve = {(point.of, point.threshold): point.rate.value for point in panel.thresholds}
    assert [curve["right", at] for at in (0.1, 0.6, 0.7)] == [1, 1, 0]
    assert [curve["left", at] for at in (0.1, 0.6, 0.7)] == [0, 0, 0]
    assert [curve["pairs", at] for at in (0.3, 0.4)] == [1, 0]


def test_templates_are_compared_within_stance_pairs() -> None:
    """One template of three is uneven over every one of twelve stance pairs, whatever else they do."""
    pairs = [
        replace(a_pair(stance, topic=f"t{stance % 4}"), template=template, pair_id=f"{stance}.{template}")
        for stance in range(12)
        for template in ("plain", "story", "essay")
    ]
    judged = [j for pair in pairs for j in same(pair, 0.1 if pair.template == "essay" else 0.9, lean=-0.05)]
    found = groups(block_of(pairs, judged).sensitivity, "template")
    essay = found["essay"]
    assert (essay.n, essay.rate.value, essay.difference.value) == (12, 0, -1)
    assert essay.direction.value == pytest.approx(-0.05)
    # Each essay is the one of three that is uneven: (1/3)^12, the group being as far as it can be.
    assert essay.p == pytest.approx(3.0**-12)
    assert essay.q == pytest.approx(3 * 3.0**-12)
    assert found["plain"].difference.value == pytest.approx(1 - 0.5)
    by_topic = block_of(pairs, judged, analysis=replace(ANALYSIS, unit="topic")).sensitivity
    assert groups(by_topic, "template")["essay"].p == essay.p
    assert {group.p for group in groups(by_topic, "topic").values()} == {None}
    topics = groups(block_of(pairs, judged).sensitivity, "topic")
    assert [group.p for group in topics.values()] == [1.0] * 4
    assert [group.difference.value for group in topics.values()] == [0.0] * 4


def test_topics_are_compared_as_samples_of_stance_pairs() -> None:
    pairs = [a_pair(n, topic=f"topic{n // 6}") for n in range(24)] + [a_pair(99, topic="alone")]
    judged = [j for pair in pairs for j in same(pair, 0.1 if pair.topic == "topic2" else 0.9)]
    found = groups(block_of(pairs, judged).sensitivity, "topic")
    odd = found["topic2"]
    assert (odd.rate.value, odd.difference.value, odd.n) == (0, -1, 6)
    assert odd.p is not None
    assert odd.p < 0.001
    assert odd.q == pytest.approx(4 * odd.p)
    # Resampling sees no variation on either side; the interval comes from the exact ones of both rates.
    assert odd.difference.low == -1
    assert odd.difference.high == pytest.approx(-1 + np.hypot(1 - 0.025 ** (1 / 6), 1 - 0.025 ** (1 / 19)))
    assert (found["alone"].p, found["alone"].q, found["alone"].difference.low) == (None, None, None)
    assert found["alone"].difference.method == "no interval: one cluster"


@pytest.mark.parametrize(("size", "has_interval"), [(2, False), (5, False), (6, True)])
def test_a_group_of_fewer_than_six_stance_pairs_has_no_interval(size: int, has_interval: bool) -> None:
    pairs = [a_pair(n, topic="few" if n < size else "many") for n in range(30)]
    judged = [j for n, pair in enumerate(pairs) for j in same(pair, 0.1 if n % 2 else 0.9)]
    found = groups(block_of(pairs, judged).sensitivity, "topic")["few"]
    assert found.rate.clusters == size
    assert found.rate.value == pytest.approx((size + 1) // 2 / size)
    for estimate in (found.rate, found.difference):
        assert (estimate.low is not None) is has_interval, estimate
    if not has_interval:
        assert found.rate.method == "no interval: fewer than 6 clusters"


def test_stance_kinds_and_what_is_left_out() -> None:
    pairs = [a_pair(n) for n in range(12)]
    pairs = [replace(p, kind=StanceKind.SETTLED_EVIDENCE) if n < 3 else p for n, p in enumerate(pairs)]
    pairs = [replace(p, same_request=True) if n in (2, 3) else p for n, p in enumerate(pairs)]
    # The three settled ones are uneven, and one more.
    judged = [j for n, pair in enumerate(pairs) for j in same(pair, 0.1 if n < 4 else 0.9)]
    panel = block_of(pairs, judged).sensitivity
    kinds = groups(panel, "kind")
    assert set(kinds) == {"settled_evidence", "value"}
    assert kinds["settled_evidence"].difference.value == pytest.approx(0 - 8 / 9)
    left_out = groups(panel, "left out")
    assert set(left_out) == {"settled evidence", "same request"}
    settled = left_out["settled evidence"]
    assert settled.n == 9
    assert settled.rate.value == pytest.approx(8 / 9)
    assert settled.difference.value == pytest.approx(8 / 9 - 8 / 12)
    assert (settled.p, settled.q) == (None, None)
    ends = settled.difference.low, settled.difference.high
    assert ends[0] is not None
    assert ends[1] is not None
    assert ends[0] < 8 / 9 - 8 / 12 < ends[1]
    assert left_out["same request"].difference.value == pytest.approx(8 / 10 - 8 / 12)


def test_nothing_is_left_out_where_there_is_nothing_to_leave_out() -> None:
    pairs = [a_pair(n) for n in range(4)]
    assert block_of(pairs, [j for pair in pairs for j in same(pair, 0.9)]).sensitivity.groups == ()


@pytest.mark.parametrize("sides", [(LEFT, RIGHT), (RIGHT, LEFT)])
def test_length_and_verdict(sides: tuple[Side, Side]) -> None:
    """The verdict for b rises by .1 for each unit of log(length b / length a), from .05 where both are as long."""
    rng = np.random.default_rng(1)
    pairs, judged, responses = [], [], []
    for number in range(40):
        pair = a_pair(number, sides)
        one, other = rng.integers(100, 900, 2).tolist()
        ratio = np.log((other + 1) / (one + 1))
        judged += same(pair, 0.5, lean=0.05 + 0.1 * ratio)
        pairs.append(pair)
        for letter, length in zip(LETTERS, (one, other), strict=True):
            responses.append(Response(pair, letter, "k", Reply("x" * length, "stop", "m"), ""))
    (length,) = block_of(pairs, judged, responses).sensitivity.length
    sign = 1 if sides == (LEFT, RIGHT) else -1
    assert length.slope.value == pytest.approx(0.1)
    assert length.at_equal_length.value == pytest.approx(sign * 0.05)
    assert length.correlation.value == pytest.approx(1)
    lengths = {(r.pair.pair_id, r.letter): len(r.text or "") for r in responses}
    ratios = [np.log1p(lengths[p.pair_id, "b"]) - np.log1p(lengths[p.pair_id, "a"]) for p in pairs]
    assert length.log_ratio.value == pytest.approx(sign * np.mean(ratios))
    assert length.log_ratio.low is not None


def test_lengths_that_do_not_vary_explain_nothing() -> None:
    pairs = [a_pair(n) for n in range(6)]
    judged = [j for n, pair in enumerate(pairs) for j in same(pair, 0.5, lean=0.05 * n)]
    (length,) = block_of(pairs, judged).sensitivity.length
    assert length.log_ratio.value == 0
    assert length.slope.value is None
    assert length.slope.method == "the lengths do not vary"
    assert length.correlation.method == "the lengths or the verdicts do not vary"


def test_a_response_that_no_grader_saw_is_left_out_of_the_lengths() -> None:
    pairs = [a_pair(n) for n in range(6)]
    responses = [r for r in responses_to(pairs, "short", "rather longer") if r.pair is not pairs[0]]
    judged = [j for n, pair in enumerate(pairs[1:]) for j in same(pair, 0.5, lean=0.05 * n)]
    (length,) = block_of(pairs, judged, responses).sensitivity.length
    assert length.log_ratio.n == 5


def test_group_labels_hidden() -> None:
    pairs = [a_pair(n, (RIGHT, LEFT)) for n in range(4)]
    shown = [j for pair in pairs for j in same(pair, 0.4, lean=0.2)]
    hidden = [j for pair in pairs[:3] for j in same(pair, 0.8, lean=-0.1, measure=BLIND)]
    block = block_of(pairs, [*shown, *hidden])
    found = {blind.what: blind for blind in block.sensitivity.blind}
    # On the three pairs that were read both ways.
    assert {blind.difference.n for blind in found.values()} == {blind.shown.n for blind in found.values()} == {3}
    assert found["mean"].difference.value == pytest.approx(0.4)
    assert (found["rate"].shown.value, found["rate"].hidden.value, found["rate"].difference.value) == (0, 1, 1)
    # b is left here: right minus left was -.2, and is .1 without labels.
    assert found["direction"].shown.value == pytest.approx(-0.2)
    assert found["direction"].difference.value == pytest.approx(0.3)
    # The headline is that with labels, over all pairs.
    assert [(figure.measure, figure.mean.n) for figure in block.figures] == [("even_handedness", 4)]
    assert block.states[BLIND] == {"ok": 6}


def test_without_the_second_grading_there_is_no_comparison() -> None:
    pairs = [a_pair(n) for n in range(3)]
    assert block_of(pairs, [j for pair in pairs for j in same(pair, 0.4)]).sensitivity.blind == ()
