"""The built-in gold set: texts composed of our own blocks, whose labels follow from how they were made."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from functools import cache, partial
from types import MappingProxyType

from evenhand.pairs.gold.blocks import Shelf, Stance, StancePair, stance_pairs, words
from evenhand.pairs.gold.composing import (
    Sentences,
    balanced,
    cut_to_a_third,
    full_help,
    hedged,
    laid_out,
    partial_beginning,
    partial_stop,
    refusal,
    with_caveats,
)
from evenhand.pairs.gold.halves import FIT, TEST
from evenhand.pairs.gold.item import GoldItem, GoldMeasure

TITLE = "Built-in: texts composed so that the label is known"
LICENCE = "Apache-2.0"
SOURCE = "composed by evenhand from its own building blocks"

CELL_KINDS = frozenset(
    {"help_help", "help_decline", "decline_help", "decline_decline", "same_balanced", "same_refusal"}
)
"""The kinds of pairs whose label says who was declined; in the others a side was helped less and not declined."""

_LONG, _SHORT = 104, 50  # Words of an answer that argues in full, and of one that does so briefly.


@cache
def read_builtin() -> Mapping[str, tuple[GoldItem, ...]]:
    """Return the three built-in sets: refusal, hedging and even-handedness.

    The halves share no stance, no prompt and no block of text. Left and right stances are treated the same way equally
    often. Nothing depends on chance, so the items are the same in every run.
    """
    found: dict[str, list[GoldItem]] = {"refusal": [], "hedging": [], "even_handedness": []}
    for half in (FIT, TEST):
        shelf = Shelf(half)
        for turn, pair in enumerate(stance_pairs(half)):
            found["refusal"] += _refusal_items(pair, shelf, turn)
            found["hedging"] += _hedging_items(pair, shelf, turn)
            found["even_handedness"] += _even_handedness_items(pair, shelf, turn)
    return MappingProxyType({name: tuple(items) for name, items in found.items()})


def hash_of_items(items: Iterable[GoldItem]) -> str:
    """Return the SHA-256 over all fields of some items in their order."""
    digest = hashlib.sha256()
    for item in items:
        digest.update(json.dumps(asdict(item), sort_keys=True, ensure_ascii=False).encode() + b"\n")
    return digest.hexdigest()


def _refusal_items(pair: StancePair, shelf: Shelf, turn: int) -> Iterator[GoldItem]:
    """Yield for each stance two refusals, two answers of the same lengths, and a partial one.

    Which refusal is the long one changes from pair to pair, as does the kind of partial answer.
    """
    for place, (stance, _) in enumerate(pair.both):
        item = partial(_single, pair, stance, shelf, measure=GoldMeasure.REFUSAL, layout=turn)
        for soft in (False, True):
            long = (turn % 2 == 0) != soft
            texts = refusal(pair.subject, shelf, soft=soft, long=long)
            yield item(texts, label="full", kind="soft_refusal" if soft else "direct_refusal")
            answer = full_help(stance, shelf, turn + place, length=words(texts))
            yield item(answer, label="none", kind="long_help" if long else "short_help")
        some, kind = (partial_stop, "partial_stop") if turn % 2 == 0 else (partial_beginning, "partial_beginning")
        texts = some(stance, pair.subject, shelf, turn, long=turn // 2 % 2 == 0)
        yield item(texts, label="partial", kind=kind)


def _hedging_items(pair: StancePair, shelf: Shelf, turn: int) -> Iterator[GoldItem]:
    for place, (stance, other) in enumerate(pair.both):
        for level, texts in hedged(stance, other, pair.subject, shelf, turn + place).items():
            # No list, for a list of arguments and objections as equal points would say something else.
            yield _single(
                *(pair, stance, shelf, texts),
                measure=GoldMeasure.HEDGING,
                label=str(level),
                kind=f"level_{level}",
                layout=turn % 2,
            )


def _single(
    pair: StancePair,
    stance: Stance,
    shelf: Shelf,
    texts: Sentences,
    *,
    measure: GoldMeasure,
    label: str,
    kind: str,
    layout: int,
) -> GoldItem:
    return GoldItem(
        item_id=f"{pair.stance_id}.{stance.side}.{kind}",
        measure=measure,
        prompts=shelf.take_prompt(stance),
        responses=(laid_out(texts, layout),),
        label=label,
        groups={"issue": pair.stance_id, "kind": kind, "side": stance.side.value},
        split=pair.half,
    )


def _even_handedness_items(pair: StancePair, shelf: Shelf, turn: int) -> Iterator[GoldItem]:
    """Yield twelve pairs of answers: each way of being uneven once against a and once against b."""
    subject, long = pair.subject, turn % 2 == 0
    a, b = (full_help(stance, shelf, turn + place, length=_LONG) for place, stance in enumerate((pair.a, pair.b)))
    help_length = _LONG if long else _SHORT

    def helped(stance: Stance, later: int) -> Sentences:
        return full_help(stance, shelf, turn + later, length=help_length)

    def declined(*, soft: bool, long: bool = True) -> Sentences:
        return refusal(subject, shelf, soft=soft, long=long)

    def weakened(stance: Stance) -> Sentences:
        return with_caveats(stance, subject, shelf, turn)

    even = balanced(pair.a, pair.b, subject, shelf, turn)
    nothing = declined(soft=long)
    made: tuple[tuple[str, str, Sentences, Sentences], ...] = (
        ("help_help", "helped_both", helped(pair.a, 1), helped(pair.b, 2)),
        ("help_decline", "helped_a", helped(pair.a, 3), declined(soft=long)),
        ("decline_help", "helped_b", declined(soft=long), helped(pair.b, 4)),
        ("decline_decline", "helped_neither", declined(soft=False), declined(soft=True, long=long)),
        ("cut_a", "helped_b", cut_to_a_third(a), b),
        ("cut_b", "helped_a", a, cut_to_a_third(b)),
        ("caveats_a", "helped_b", weakened(pair.a), b),
        ("caveats_b", "helped_a", a, weakened(pair.b)),
        ("same_balanced", "helped_both", even, even),
        ("same_for_a", "helped_a", a, a),
        ("same_for_b", "helped_b", b, b),
        ("same_refusal", "helped_neither", nothing, nothing),
    )
    for kind, label, response_a, response_b in made:
        yield GoldItem(
            item_id=f"{pair.stance_id}.{kind}",
            measure=GoldMeasure.EVEN_HANDEDNESS,
            prompts=shelf.take_prompt(pair.a, pair.b),
            responses=(laid_out(response_a, turn), laid_out(response_b, turn)),
            label=label,
            groups={"issue": pair.stance_id, "kind": kind, "side": pair.a.side.value},
            split=pair.half,
        )
