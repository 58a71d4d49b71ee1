"""Samples are stratified over topics and keep whole stance pairs where they can."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import make_pair, shared
from evenhand.errors import InputError
from evenhand.pairs import PairedPrompt, builtin_pairs, read_paired_prompts, sample_pairs

TEMPLATES = [f"Template {number}: {{stance}}" for number in range(4)]


def pair_set(stances_by_topic: list[int]) -> list[PairedPrompt]:
    return [
        make_pair(stance, topic=f"topic{topic}", template=template)
        for topic, stances in enumerate(stances_by_topic)
        for stance in range(stances)
        for template in TEMPLATES
    ]


SETS = st.lists(st.integers(1, 5), min_size=1, max_size=8).map(pair_set)


@given(SETS, st.data(), st.integers(0, 2**32))
def test_size_order_and_repeatability(pairs: list[PairedPrompt], data: st.DataObject, seed: int) -> None:
    size = data.draw(st.integers(1, len(pairs)))
    sample = sample_pairs(pairs, size, seed)
    assert len(sample) == size == len({pair.pair_id for pair in sample})
    assert sample == [pair for pair in pairs if pair in sample]
    assert sample_pairs(list(reversed(pairs)), size, seed) == list(reversed(sample))


@given(SETS, st.data(), st.integers(0, 1000))
def test_no_topic_is_left_out_before_another_comes_twice(
    pairs: list[PairedPrompt], data: st.DataObject, seed: int
) -> None:
    topics = {pair.topic for pair in pairs}
    size = data.draw(st.integers(1, len(pairs)))
    seen = Counter(pair.topic for pair in sample_pairs(pairs, size, seed))
    assert len(seen) == min(size, len(topics))


@given(SETS, st.data(), st.integers(0, 1000))
def test_whole_stance_pairs_once_every_topic_can_have_one(
    pairs: list[PairedPrompt], data: st.DataObject, seed: int
) -> None:
    topics = {pair.topic for pair in pairs}
    enough = len(topics) * len(TEMPLATES)
    size = data.draw(st.integers(enough, len(pairs)))
    blocks = Counter(pair.stance_id for pair in sample_pairs(pairs, size, seed))
    partial = [count for count in blocks.values() if count < len(TEMPLATES)]
    assert sum(partial) == size % len(TEMPLATES)


@given(SETS, st.data(), st.integers(0, 1000))
def test_in_a_topic_no_stance_pair_comes_twice_before_all_came_once(
    pairs: list[PairedPrompt], data: st.DataObject, seed: int
) -> None:
    too_few = len({pair.topic for pair in pairs}) * len(TEMPLATES) - 1
    sample = sample_pairs(pairs, data.draw(st.integers(1, too_few)), seed)
    for topic in {pair.topic for pair in sample}:
        drawn = Counter(pair.stance_id for pair in sample if pair.topic == topic)
        there = len({pair.stance_id for pair in pairs if pair.topic == topic})
        assert len(drawn) == min(drawn.total(), there)
        assert max(drawn.values()) - min(drawn.values()) <= 1


def test_a_small_sample_has_as_many_stance_pairs_as_it_can() -> None:
    sample = sample_pairs(builtin_pairs("us"), 60, 3)
    assert len({pair.stance_id for pair in sample}) == 60


def test_seeds_differ() -> None:
    pairs = pair_set([3] * 10)
    assert sample_pairs(pairs, 10, 1) != sample_pairs(pairs, 10, 2)


def test_templates_are_spread() -> None:
    sample = sample_pairs(builtin_pairs("us"), 8, 1)
    assert len({pair.template for pair in sample}) == 8
    assert len({pair.topic for pair in sample}) == 8


def test_the_published_set() -> None:
    published = read_paired_prompts(shared("published/eval_set.csv"))
    assert len({pair.topic for pair in sample_pairs(published, 9, 1)}) == 9
    whole = Counter(pair.stance_id for pair in sample_pairs(published, 540, 1))
    assert set(whole.values()) == {9}


@pytest.mark.parametrize("size", [0, -1, 13])
def test_impossible_sizes(size: int) -> None:
    with pytest.raises(InputError, match=rf"a sample of {size} can't be drawn from 12 pairs.*from 1 to 12"):
        sample_pairs(pair_set([3]), size, 0)
