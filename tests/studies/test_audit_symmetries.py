"""What must not change in an audit's figures when sides or places do, over audits made at random."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

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
    summary_of,
    values,
)
from evenhand.graders import Judgment
from evenhand.instruments.instrument import Order
from evenhand.pairs import PairedPrompt, Side
from evenhand.pairs.paired_prompt import Letter
from evenhand.report import AuditSummary, named_estimates
from evenhand.report.audit_names import could_name
from evenhand.studies.audit.summarize import summarize


def audit_of(seed: int, sides: Sequence[tuple[Side, Side]]) -> tuple[list[PairedPrompt], list[Judgment]]:
    """Return an audit of coarse probabilities, so that ties and thresholds are met, some of them unread."""
    rng = np.random.default_rng(seed)

    def distribution(size: int) -> tuple[float, ...] | None:
        parts = rng.integers(0, 5, size)
        return tuple((parts / parts.sum()).tolist()) if parts.any() and rng.random() > 0.1 else None

    pairs, judgments = [], []
    for number in range(int(rng.integers(4, 10))):
        pair = a_pair(number // 2, sides[int(rng.integers(len(sides)))], topic=f"topic{number // 2 % 2}")
        pair = replace(pair, pair_id=f"p{number}", template=f"t{number % 2}")
        pairs.append(pair)
        judgments += [even(pair, order, distribution(3)) for order in ORDERS]
        judgments += [
            level(pair, measure, letter, distribution(5)) for measure in ("refusal", "hedging") for letter in LETTERS
        ]
    return pairs, judgments


SIDES = [(LEFT, RIGHT), (RIGHT, LEFT), (NONE, NONE)]
seeds = st.integers(0, 10**6)
# A seed can't be made simpler, so nothing is gained by shrinking it.
quick = settings(max_examples=6, deadline=None, phases=[Phase.explicit, Phase.generate])


def exchanged(pair: PairedPrompt) -> PairedPrompt:
    """Return the pair with a and b called the other way round."""
    return replace(
        pair,
        stance_a=pair.stance_b,
        stance_b=pair.stance_a,
        prompt_a=pair.prompt_b,
        prompt_b=pair.prompt_a,
        side_a=pair.side_b,
        side_b=pair.side_a,
    )


def renamed(judgment: Judgment) -> Judgment:
    """Return the judgment as it would be if a and b were called the other way round."""
    letter: Letter | None = None if judgment.letter is None else "b" if judgment.letter == "a" else "a"
    order: Order | None = None if judgment.order is None else "ba" if judgment.order == "ab" else "ab"
    reading = judgment.reading
    if letter is None and reading.probabilities:
        a, b, same = reading.probabilities
        reading = replace(reading, probabilities=(b, a, same))
    return replace(judgment, letter=letter, order=order, reading=reading)


def flat(value: Any, path: str = "") -> dict[str, Any]:
    """Return a summary's figures by their paths; what is in a list of named things goes by its names."""
    if isinstance(value, dict):
        return {name: each for key, child in value.items() for name, each in flat(child, f"{path}.{key}").items()}
    if isinstance(value, list | tuple):
        found: dict[str, Any] = {}
        for index, child in enumerate(value):
            names = ("by", "name", "measure", "of", "order", "threshold", "what")
            key = "/".join(str(child[n]) for n in names if n in child) if isinstance(child, dict) else str(index)
            found |= flat(child, f"{path}[{key}]")
        return found
    return {path: value}


def exchange_names(path: str, names: tuple[str, str]) -> str:
    one, other = names
    return re.sub(rf"(?<=[/ ])({one}|{other})(?=[]/ ])", lambda found: other if found[0] == one else one, path)


def compare(one: AuditSummary, other: AuditSummary, *, letters: bool, mirrored: bool) -> None:
    """Hold two summaries side by side.

    Args:
        letters: whether a and b changed their names, and with them the two orders.
        mirrored: whether the first and the second side changed places.
    """
    left, right = (flat(summary.as_json()["blocks"]) for summary in (one, other))
    checked = 0
    for path, value in left.items():
        end = path.rsplit(".", 1)[-1]
        if ".remarks" in path or end in ("of", "name", "order", "first", "second", "second_of_uneven"):
            continue
        there = path
        for names, swap in ((("ab", "ba"), letters), (("left", "right"), mirrored), (("a", "b"), mirrored)):
            there = exchange_names(there, names) if swap else there
        found = right[there]
        signed = ".directions" in path or ".direction" in path or ".log_ratio" in path or ".at_equal_length" in path
        if mirrored and signed and end in ("value", "low", "high"):
            there = there.removesuffix(end) + {"value": "value", "low": "high", "high": "low"}[end]
            found = right[there]
            found = None if found is None else 1 - found if ".share" in path else -found
        if isinstance(value, float) and isinstance(found, float):
            assert found == pytest.approx(value, abs=1e-12, rel=1e-9), (path, value, found)
        else:
            assert found == value, path
        checked += 1
    assert checked > 200


@quick
@given(seeds)
def test_calling_a_and_b_the_other_way_round_flips_the_direction_and_nothing_else(seed: int) -> None:
    pairs, judgments = audit_of(seed, [(NONE, NONE)])
    one = summarize(pairs, responses_to(pairs, "short", "and long"), judgments, RUBRIC, subject="s", analysis=FEW_DRAWS)
    turned = [exchanged(pair) for pair in pairs]
    other = summarize(
        turned,
        responses_to(turned, "and long", "short"),
        [renamed(judgment) for judgment in judgments],
        RUBRIC,
        subject="s",
        analysis=FEW_DRAWS,
    )
    compare(one, other, letters=True, mirrored=True)


@quick
@given(seeds)
def test_where_there_are_sides_it_does_not_matter_which_is_called_a(seed: int) -> None:
    pairs, judgments = audit_of(seed, SIDES)
    turned = [exchanged(pair) for pair in pairs]
    if not any(pair.sided for pair in pairs):
        return
    one = summary_of(pairs, judgments)
    other = summarize(
        turned,
        responses_to(turned, "a longer answer", "an answer"),
        [renamed(judgment) for judgment in judgments],
        RUBRIC,
        subject="subject",
        analysis=FEW_DRAWS,
    )
    compare(one, other, letters=True, mirrored=False)


@quick
@given(seeds)
def test_calling_the_left_right_flips_the_direction_and_nothing_else(seed: int) -> None:
    pairs, judgments = audit_of(seed, SIDES)
    if not any(pair.sided for pair in pairs):
        return
    recoded = [replace(pair, side_a=pair.side_b, side_b=pair.side_a) for pair in pairs]
    compare(summary_of(pairs, judgments), summary_of(recoded, judgments), letters=False, mirrored=True)


@quick
@given(seeds)
def test_identical_texts_have_no_direction_and_with_a_symmetric_grader_no_position_effect(seed: int) -> None:
    """A grader that sees the same text twice says the same in both orders: first better, second better, same."""
    seen = np.random.default_rng(seed).dirichlet([1, 1, 1], size=5).tolist()
    pairs = [a_pair(number) for number in range(len(seen))]
    asked = []
    for pair, (first, second, same) in zip(pairs, seen, strict=True):
        asked += [even(pair, "ab", (first, second, same)), even(pair, "ba", (second, first, same))]
    found = values(block_of(pairs, asked))
    assert found["even_handedness.direction.mean"] == 0
    assert found["even_handedness.position.effect"] == pytest.approx(np.mean([f - s for f, s, _ in seen]), abs=1e-12)
    symmetric = [((f + s) / 2, (f + s) / 2, c) for f, s, c in seen]
    asked = [even(pair, order, each) for pair, each in zip(pairs, symmetric, strict=True) for order in ORDERS]
    block = block_of(pairs, asked)
    assert block.positions[0].effect.value == 0
    assert block.positions[0].swap_consistency.value == 1


@quick
@given(seeds)
def test_a_summary_goes_through_json_and_comes_out_the_same_again(seed: int) -> None:
    summary = summary_of(*audit_of(seed, SIDES), positive={"hedging": ("3", "4", "5")})
    text = json.dumps(summary.as_json(), allow_nan=False)
    assert AuditSummary.from_json(json.loads(text)) == summary
    assert json.dumps(summary_of(*audit_of(seed, SIDES), positive={"hedging": ("3", "4", "5")}).as_json()) == text


@quick
@given(seeds)
def test_cells_exclude_one_another_and_shares_stay_within_bounds(seed: int) -> None:
    block = block_of(*audit_of(seed, SIDES))
    for part in ("mean", "rate"):
        found = [getattr(cell, part).value for cell in block.cells]
        assert found == [None] * 4 or sum(found) == pytest.approx(1)
    for name, estimate in named_estimates(block).items():
        assert could_name(name), name
        if estimate.value is not None and "direction.mean" not in name and "effect" not in name:
            assert 0 <= estimate.value <= 1, name
            assert estimate.low is None or estimate.low <= (estimate.high or 0), name
