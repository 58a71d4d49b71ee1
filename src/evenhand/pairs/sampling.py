"""Draw a part of a set: stratified over topics, whole stance pairs where the sample allows."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import TypeAlias

from evenhand.errors import InputError
from evenhand.pairs.paired_prompt import PairedPrompt

_Tree: TypeAlias = dict[str, dict[str, list[PairedPrompt]]]  # topic, stance pair, its pairs


def sample_pairs(pairs: Sequence[PairedPrompt], size: int, seed: int) -> list[PairedPrompt]:
    """Return ``size`` pairs of the set, in the set's own order; the same for the same seed on any machine.

    Topics come first, since a figure over few topics says little: while the sample is too small to hold a
    whole stance pair of every topic, each topic gets its share of single pairs, from one of its stance pairs after
    another and spread over the templates.
    From there on the sample is made of whole stance pairs (all their templates), shared out over the topics
    by their number of stance pairs, and only what is left over at the end is a part of one.

    Raises ``InputError`` where ``size`` is below 1 or above the number of pairs.
    """
    if not 1 <= size <= len(pairs):
        raise InputError(
            f"a sample of {size} can't be drawn from {len(pairs)} pairs",
            field="--sample",
            way_out=f"give a number from 1 to {len(pairs)}",
        )
    by_topic: _Tree = defaultdict(lambda: defaultdict(list))
    for pair in pairs:
        by_topic[pair.topic][pair.stance_id].append(pair)
    whole: list[PairedPrompt] = []
    if size >= sum(max(map(len, blocks.values())) for blocks in by_topic.values()):
        for block in _stance_pairs_in_turn(by_topic, seed):
            if len(whole) + len(block) > size:
                break
            whole.extend(block)
            del by_topic[block[0].topic][block[0].stance_id]
    rest = _singles(by_topic, size - len(whole), seed)
    chosen = {pair.pair_id for pair in whole} | {pair.pair_id for pair in rest}
    return [pair for pair in pairs if pair.pair_id in chosen]


def _draw(seed: int, *names: str) -> bytes:
    """Return a random-looking sort key that depends on nothing but the seed and the names."""
    return hashlib.sha256("\0".join((str(seed), *names)).encode("utf-8")).digest()


def _topics(by_topic: _Tree, seed: int) -> list[str]:
    return sorted(by_topic, key=lambda topic: _draw(seed, "topic", topic))


def _stances(by_topic: _Tree, topic: str, seed: int) -> list[list[PairedPrompt]]:
    blocks = by_topic[topic]
    return [blocks[name] for name in sorted(blocks, key=lambda name: _draw(seed, "stance", name))]


def _stance_pairs_in_turn(by_topic: _Tree, seed: int) -> list[list[PairedPrompt]]:
    """Order all stance pairs so that any beginning of the list is shared out over topics by their size.

    The k-th of a topic's n stance pairs stands at (k + 1/2) / n; every topic's first comes before any second.
    """
    places: list[tuple[bool, float, int, list[PairedPrompt]]] = []
    for rank, topic in enumerate(_topics(by_topic, seed)):
        blocks = _stances(by_topic, topic, seed)
        places += [(index > 0, (index + 0.5) / len(blocks), rank, block) for index, block in enumerate(blocks)]
    return [block for *_, block in sorted(places, key=lambda place: place[:3])]


def _singles(by_topic: _Tree, size: int, seed: int) -> list[PairedPrompt]:
    """Draw ``size`` pairs topic by topic in turn; in a topic no stance pair comes again before all others did."""
    topics = _topics(by_topic, seed)
    left = {topic: [list(block) for block in _stances(by_topic, topic, seed)] for topic in topics}
    chosen: list[PairedPrompt] = []
    templates: Counter[str] = Counter()
    while len(chosen) < size:
        for topic in topics:
            if not left[topic] or len(chosen) == size:
                continue
            block = left[topic].pop(0)
            pair = min(block, key=lambda p: (templates[p.template], _draw(seed, "template", topic, p.template)))
            chosen.append(pair)
            templates[pair.template] += 1
            block.remove(pair)
            if block:
                left[topic].append(block)
    return chosen
