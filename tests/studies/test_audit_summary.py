"""The figures of an audit against what is worked out by hand."""

from dataclasses import replace

import pytest

from audit_judgments import (
    FEW_DRAWS,
    LEFT,
    LETTERS,
    NONE,
    ORDERS,
    RIGHT,
    RUBRIC,
    a_pair,
    block_of,
    even,
    level,
    responses_to,
    share,
    summary_of,
    values,
)
from evenhand.graders import Judgment
from evenhand.instruments import InstrumentSet
from evenhand.instruments.instrument import Order
from evenhand.pairs import PairedPrompt, Side
from evenhand.pairs.paired_prompt import Letter
from evenhand.statistics import Estimate
from evenhand.studies.audit.graded import Graded
from evenhand.studies.audit.summarize import summarize_graded
from evenhand.studies.inputs import load_instruments

COMPACT: InstrumentSet = load_instruments("compact")[0]


def prefers_a(pair: PairedPrompt) -> list[Judgment]:
    """Judgments that give a the better treatment in both orders, the more so where a is shown first."""
    return [even(pair, "ab", (0.7, 0.1, 0.2)), even(pair, "ba", (0.5, 0.3, 0.2))]


# The mean is P(a) .6, P(b) .2, P(same) .2, so b - a is -.4; right - left is that, or its opposite where a is right.
@pytest.mark.parametrize(
    ("sides", "mean", "second", "uneven"),
    [
        ([(LEFT, RIGHT)] * 2, -0.4, 0, 2),
        ([(RIGHT, LEFT)] * 2, +0.4, 2, 2),
        ([(LEFT, RIGHT), (RIGHT, LEFT)], 0.0, 1, 2),
        ([(LEFT, RIGHT), (RIGHT, LEFT), (LEFT, RIGHT)], -0.4 / 3, 1, 3),
        ([(LEFT, RIGHT), (NONE, NONE)], -0.4, 0, 1),
        ([(LEFT, RIGHT), (LEFT, NONE)], -0.4, 0, 1),
        ([(NONE, NONE)] * 2, -0.4, 0, 2),
    ],
)
def test_direction_of_even_handedness(sides: list[tuple[Side, Side]], mean: float, second: int, uneven: int) -> None:
    pairs = [a_pair(n, side) for n, side in enumerate(sides)]
    block = block_of(pairs, [judgment for pair in pairs for judgment in prefers_a(pair)])
    (direction,) = block.directions
    assert direction.mean.value == pytest.approx(mean)
    assert (direction.second_of_uneven, direction.uneven, direction.neither_of_uneven) == (second, uneven, 0)
    assert direction.share.value == pytest.approx(second / uneven)
    names = ("a", "b") if all(side == (NONE, NONE) for side in sides) else ("left", "right")
    assert (direction.first, direction.second) == names
    # The place and the verdict do not depend on who is left.
    (position,) = block.positions
    assert position.effect.value == pytest.approx(((0.7 - 0.1) + (0.3 - 0.5)) / 2)
    assert position.swap_consistency.value == 1
    assert block.figures[0].mean.value == pytest.approx(0.2)
    assert block.figures[0].mean.n == len(pairs)


@pytest.mark.parametrize(
    ("sides", "first", "second"),
    [((LEFT, RIGHT), 0.8, 0.1), ((RIGHT, LEFT), 0.1, 0.8), ((NONE, NONE), 0.8, 0.1)],
)
def test_single_responses_belong_to_their_side(sides: tuple[Side, Side], first: float, second: float) -> None:
    pairs = [a_pair(0, sides), a_pair(1, sides)]
    block = block_of(
        pairs, [share(pair, measure, *each) for pair in pairs for measure in ("refusal", "hedging") for each in PQ]
    )
    one, other = ("a", "b") if sides == (NONE, NONE) else ("left", "right")
    found = values(block)
    for measure in ("refusal", "hedging"):
        assert found[f"{measure}.{one}.mean"] == pytest.approx(first)
        assert found[f"{measure}.{other}.mean"] == pytest.approx(second)
        assert found[f"{measure}.direction.mean"] == pytest.approx(second - first)
        assert found[f"{measure}.direction.share"] == float(second > first)
        assert found[f"{measure}.mean"] == pytest.approx(0.45)
        assert (found[f"{measure}.rate"], found[f"{measure}.rate_each"]) == (0, 0.5)
    assert found["cells.helped_both.mean"] == pytest.approx(0.2 * 0.9)
    assert found[f"cells.helped_{one}_only.mean"] == pytest.approx((1 - first) * second)
    assert found[f"cells.helped_{other}_only.mean"] == pytest.approx(first * (1 - second))
    assert found["cells.helped_neither.mean"] == pytest.approx(0.8 * 0.1)
    # The one that was declined is not the one that was helped.
    helped = other if first > second else one
    assert found[f"cells.helped_{helped}_only"] == 1


PQ: tuple[tuple[Letter, float], ...] = (("a", 0.8), ("b", 0.1))


def test_the_two_averaging_rules() -> None:
    pairs = [a_pair(n) for n in range(4)]
    orders = [((0, 0, 1.0), (0.6, 0, 0.4)), ((0, 0, 1.0), (1.0, 0, 0)), ((1.0, 0, 0), (1.0, 0, 0))]
    judgments = [
        even(pair, order, each)
        for pair, both in zip(pairs, orders, strict=False)
        for order, each in zip(ORDERS, both, strict=True)
    ]
    judgments.append(even(pairs[3], "ab", (0, 0, 1.0)))
    found = values(block_of(pairs, judgments))
    # P(same) of the pairs: 1 and .4, mean .7; 1 and 0, mean .5, which is not above .5; 0 and 0. The last has one order.
    assert found["even_handedness.rate"] == pytest.approx(1 / 3)
    assert found["even_handedness.rate_each"] == pytest.approx((0.5 + 0.5 + 0) / 3)
    assert found["even_handedness.ab.rate"] == pytest.approx(3 / 4)
    assert found["even_handedness.ba.rate"] == 0
    assert found["even_handedness.ba.mean"] == pytest.approx(0.4 / 3)


def test_a_pair_that_both_orders_give_to_neither_side_is_told_apart() -> None:
    """A grader that always prefers what it sees first: uneven, and to no side."""
    pairs = [a_pair(n) for n in range(3)]
    judgments = [j for p in pairs[:2] for j in (even(p, "ab", (0.8, 0.1, 0.1)), even(p, "ba", (0.1, 0.8, 0.1)))]
    judgments += prefers_a(pairs[2])
    block = block_of(pairs, judgments)
    (direction,), (position,) = block.directions, block.positions
    assert (direction.uneven, direction.second_of_uneven, direction.neither_of_uneven) == (3, 0, 2)
    assert (direction.share.value, direction.share.n) == (0, 1)
    assert position.swap_consistency.value == pytest.approx(1 / 3)
    assert position.effect.value == pytest.approx((0.7 + 0.7 + 0.2) / 3)
    assert any("favours the response shown first by 53 points" in remark for remark in block.remarks)
    assert any("only 33% of the verdicts survive" in remark for remark in block.remarks)


@pytest.mark.parametrize("order", ORDERS)
def test_a_single_order_has_no_position_effect(order: Order) -> None:
    pairs = [a_pair(n) for n in range(3)]
    both = [judgment for pair in pairs for judgment in prefers_a(pair)]
    for judgments, orders in ((both, order), ([j for j in both if j.order == order], "both")):
        block = block_of(pairs, judgments, orders=orders)
        assert [figure.order for figure in block.orders] == [order]
        (position,) = block.positions
        assert position.effect == position.swap_consistency == Estimate.missing("needs both orders")
        (figure,) = block.figures
        assert figure.rate_each is None
        assert block.directions[0].mean.value == pytest.approx(-0.6 if order == "ab" else -0.2)
        assert any(f"in the order {order} alone" in remark for remark in block.remarks)


def test_an_order_that_nobody_asked_for_gives_no_figure() -> None:
    pairs = [a_pair(n) for n in range(3)]
    block = block_of(pairs, [even(pair, "ab", (0, 0, 1.0)) for pair in pairs], orders="ba")
    assert not block.figures
    assert not block.positions
    assert any("no pair was graded in the order ba" in remark for remark in block.remarks)


def test_a_model_that_declines_everything() -> None:
    pairs = [a_pair(n) for n in range(4)]
    judgments = [share(pair, "refusal", letter, 1.0) for pair in pairs for letter in LETTERS]
    judgments += [even(pair, order, (0, 0, 1.0)) for pair in pairs for order in ORDERS]
    block = block_of(pairs, judgments)
    found = values(block)
    assert (found["even_handedness"], found["cells.helped_neither"], found["cells.helped_both"]) == (1, 1, 0)
    assert block.remarks[0].startswith("the model helped neither side in 100% of the pairs")


def test_which_levels_count_can_be_chosen_afterwards() -> None:
    pairs = [a_pair(n) for n in range(2)]
    judgments = [level(pair, "refusal", letter, (0.1, 0.2, 0.3, 0.25, 0.15)) for pair in pairs for letter in LETTERS]
    own, wide = block_of(pairs, judgments), block_of(pairs, judgments, positive={"refusal": ("5", "3", "4")})
    assert values(own)["refusal.mean"] == pytest.approx(0.4)
    assert values(wide)["refusal.mean"] == pytest.approx(0.7)
    assert values(wide)["cells.helped_neither.mean"] == pytest.approx(0.49)
    assert (own.positive, wide.positive) == ({"refusal": ("4", "5")}, {"refusal": ("3", "4", "5")})
    assert block_of(pairs, judgments, positive={"refusal": ("4", "5")}).figures == own.figures


def test_levels_that_a_scale_lacks_are_said_and_its_own_count() -> None:
    pairs = [a_pair(n) for n in range(2)]
    judgments = [level(pair, "refusal", letter, (0.1, 0.2, 0.3, 0.25, 0.15)) for pair in pairs for letter in LETTERS]
    block = block_of(pairs, judgments, positive={"refusal": ("Yes",)})
    assert values(block)["refusal.mean"] == pytest.approx(0.4)
    assert "refusal: these instruments have no Yes; 4, 5 counts" in block.remarks


def test_what_is_derived_follows_and_has_no_order() -> None:
    pairs = [a_pair(0, (RIGHT, LEFT)), a_pair(1, (RIGHT, LEFT))]
    judgments = [share(pair, "refusal", *each) for pair in pairs for each in PQ]
    block = block_of(pairs, judgments, COMPACT)
    found = values(block)
    assert found["even_handedness.mean"] == pytest.approx(0.8 * 0.1 + 0.2 * 0.9)
    # a, which is right, was declined: the left was treated better.
    assert found["even_handedness.direction.mean"] == pytest.approx(0.1 - 0.8)
    assert block.orders == ()
    assert block.positions[0].effect.method.startswith("derived from single responses")
    assert any("even_handedness is derived from" in remark for remark in block.remarks)


def test_micro_stance_and_topic_averages() -> None:
    """Two templates over one stance pair, one over two others; of a topic with two stance pairs and one with one."""
    one, two, three = (a_pair(n, topic="t" if n < 2 else "u") for n in range(3))
    again = replace(one, pair_id="again", template="other")
    pairs = [one, again, two, three]
    verdicts = [1.0, 1.0, 0.0, 0.0]
    judgments = [even(p, order, (1 - v, 0, v)) for p, v in zip(pairs, verdicts, strict=True) for order in ORDERS]
    figure = block_of(pairs, judgments).figures[0]
    assert figure.rate.value == pytest.approx(2 / 4)
    assert figure.stance_macro.value == pytest.approx((1 + 0 + 0) / 3)
    assert figure.topic_macro.value == pytest.approx((2 / 3 + 0) / 2)
    assert (figure.rate.clusters, figure.topic_macro.clusters) == (3, 2)
    assert figure.robust.value == figure.rate.value
    assert figure.rate.standard_error == pytest.approx(figure.robust.standard_error)
    # No two rates can differ by as much as these three stance pairs would need to show.
    assert figure.detectable is None
    by_topic = block_of(pairs, judgments, unit="topic").figures[0]
    assert by_topic.rate.clusters == 2


@pytest.mark.parametrize("interval", ["bca", "percentile"])
def test_the_kind_of_interval_is_stated(interval: str) -> None:
    pairs = [a_pair(n) for n in range(6)]
    judgments = [even(p, order, (n / 6, 0, 1 - n / 6)) for n, p in enumerate(pairs) for order in ORDERS]
    method = block_of(pairs, judgments, interval=interval).figures[0].mean.method
    assert method.startswith(f"{'BCa' if interval == 'bca' else interval} bootstrap over clusters, 40 draws")


def test_states_are_counted_in_a_fixed_order_and_enter_no_figure() -> None:
    pairs = [a_pair(n) for n in range(3)]
    judgments = [even(p, o, None) for p in pairs[:1] for o in ORDERS] + prefers_a(pairs[1]) + prefers_a(pairs[2])
    block = block_of(pairs, judgments)
    assert list(block.states["even_handedness"].items()) == [("ok", 4), ("unparseable", 2)]
    assert block.figures[0].mean.n == 2
    assert block.captured == {"even_handedness": pytest.approx(0.9)}


def test_several_sets_of_instruments_give_a_block_each() -> None:
    pairs = [a_pair(n) for n in range(3)]
    refusals = [share(pair, "refusal", letter, 0.2) for pair in pairs for letter in LETTERS]
    both = summarize_graded(
        pairs,
        responses_to(pairs),
        [Graded("gpt-4.1", RUBRIC, prefers_a(pairs[0])), Graded("qwen3-8b", COMPACT, refusals)],
        subject="qwen2.5-7b",
        analysis=FEW_DRAWS,
        configuration="terse",
    )
    assert [(block.grader, block.instruments, block.same_family) for block in both.blocks] == [
        ("gpt-4.1", "rubric", False),
        ("qwen3-8b", "compact", True),
    ]
    assert any("one maker" in remark for remark in both.blocks[1].remarks)
    assert (both.subject, both.configuration) == ("qwen2.5-7b", "terse")


def test_few_clusters_are_said() -> None:
    few, many = [a_pair(n) for n in range(8)], [a_pair(n) for n in range(31)]
    assert any("with 8 stance pairs" in remark for remark in summary_of(few, prefers_a(few[0])).remarks)
    assert not summary_of(many, prefers_a(many[0])).remarks
    assert any("with 1 topic the" in remark for remark in summary_of(many, prefers_a(many[0]), unit="topic").remarks)


def test_few_uneven_pairs_are_said() -> None:
    pairs = [a_pair(n) for n in range(40)]
    judged = [even(pair, order, (1, 0, 0) if n < 2 else (0, 0, 1)) for n, pair in enumerate(pairs) for order in ORDERS]
    (remark,) = [one for one in block_of(pairs, judged).remarks if "of the rarer kind" in one]
    assert remark.endswith("rather too narrow: even_handedness")
