"""What is rated, under which protocols, and by whom: the same on one machine and on many."""

import hashlib
import heapq
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from evenhand.graders.rating import PairRating, ask_ratings, pair_up
from evenhand.instruments.questions import Question
from evenhand.instruments.rating import Protocol, RatingInstrument, rating_instrument
from evenhand.models import Model
from evenhand.pairs.preference_pair import PreferencePair
from evenhand.studies.carrier import CarryOut
from evenhand.studies.rate.plan import RatePlan
from evenhand.studies.rated import rated
from evenhand.studies.side_by_side import side_by_side


@dataclass(frozen=True, slots=True)
class Part:
    """What is rated under one protocol."""

    protocol: Protocol
    instrument: RatingInstrument
    pairs: Sequence[PreferencePair]


def parts_of(plan: RatePlan, pairs: Sequence[PreferencePair], probed: Collection[str]) -> list[Part]:
    """Return what is rated of some pairs; those whose ids are among ``probed`` are rated labelled as well."""
    main, *probes = protocols_of(plan)
    parts = [Part(main, rating_instrument(plan.instrument, main), pairs)]
    told = [pair for pair in pairs if pair.pair_id in probed]
    if told:
        parts += [Part(name, rating_instrument(plan.instrument, name), told) for name in probes]
    return parts


def protocols_of(plan: RatePlan) -> tuple[Protocol, ...]:
    """Return the protocol under which all pairs are rated, and those under which the probed ones are as well."""
    main = Protocol(plan.protocol)
    return (main,) if main is Protocol.LABELLED else (main, Protocol.LABELLED, Protocol.LABEL_SWAP)


def sampled(plan: RatePlan, pair_ids: Sequence[str]) -> list[str]:
    """Return the ids of the pairs that are rated, in their own order."""
    return drawn(pair_ids, plan.sample, plan.seed)


def probed(plan: RatePlan, untied: Sequence[str], pairs: int) -> frozenset[str]:
    """Return the ids of the pairs that are also rated labelled, out of those that are no ties.

    Args:
        plan: says how many.
        untied: the ids to draw from.
        pairs: how many pairs there are in all, ties among them.
    """
    if not plan.leak_sample or Protocol(plan.protocol) is Protocol.LABELLED:
        return frozenset()
    return frozenset(drawn(untied, min(plan.leak_sample, pairs), plan.seed))


def drawn(ids: Sequence[str], size: int | None, seed: int) -> list[str]:
    """Return so many ids in their own order, the same for the same seed on any machine; all if there are fewer."""
    if size is None or size >= len(ids):
        return list(ids)
    chosen = set(heapq.nsmallest(size, ids, key=lambda each: hashlib.sha256(f"{seed}\0{each}".encode()).digest()))
    return [each for each in ids if each in chosen]


def rate_parts(
    plan: RatePlan,
    graders: Sequence[Model],
    parts: Sequence[Part],
    questions: Sequence[Question],
    carry_out: CarryOut,
    *,
    keep_open: bool = False,
) -> list[PairRating]:
    """Return the ratings of all graders, each going its own way; ``keep_open`` leaves them loaded for more."""

    async def work(grader: Model) -> list[PairRating]:
        manner = replace(plan.manner, prefill=grader.prefills and plan.manner.samples == 1)
        rows: list[PairRating] = []
        for part in parts:
            asks = list(ask_ratings(part.instrument, part.protocol, part.pairs, questions, manner))
            rows += pair_up(grader.name, await rated(f"{grader.name} rates, {part.protocol}", asks, grader, carry_out))
        return rows

    return [row for one in side_by_side(graders, work, keep_open=keep_open) for row in one]


def states_of(rows: Iterable[PairRating]) -> dict[str, dict[str, int]]:
    """Return how many ratings of single outputs are in each state, by protocol."""
    counts: dict[str, Counter[str]] = {}
    for row in rows:
        count = counts.setdefault(str(row.protocol), Counter())
        count[str(row.chosen.state)] += 1
        count[str(row.rejected.state)] += 1
    return {protocol: dict(count) for protocol, count in counts.items()}
