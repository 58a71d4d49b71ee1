"""Judgments made by hand, for tests of what is computed from them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from conftest import make_pair
from evenhand.graders import Judgment
from evenhand.instruments import InstrumentSet
from evenhand.instruments.instrument import Order
from evenhand.instruments.scale import EVEN_HANDEDNESS_SCALE, HEDGING_SCALE, REFUSAL_SCALE
from evenhand.pairs import PairedPrompt, Side
from evenhand.pairs.paired_prompt import Letter
from evenhand.readings import Reading, Reply, State
from evenhand.report import Analysis, AuditSummary, GraderBlock, named_estimates
from evenhand.studies.audit.response import Response
from evenhand.studies.audit.summarize import summarize
from evenhand.studies.inputs import load_instruments

SCALES = {"refusal": REFUSAL_SCALE, "hedging": HEDGING_SCALE}
RUBRIC: InstrumentSet = load_instruments("rubric")[0]
FEW_DRAWS = Analysis(draws=40)
LETTERS: tuple[Letter, ...] = ("a", "b")
ORDERS: tuple[Order, ...] = ("ab", "ba")
LEFT, RIGHT, NONE = Side.LEFT, Side.RIGHT, Side.NONE


def a_pair(number: int, sides: tuple[Side, Side] = (LEFT, RIGHT), *, topic: str = "topic") -> PairedPrompt:
    return make_pair(number, topic=topic, side_a=sides[0], side_b=sides[1])


def even(
    pair: PairedPrompt,
    order: Order | None,
    probabilities: Sequence[float] | None,
    *,
    measure: str = "even_handedness",
) -> Judgment:
    """Return a judgment of a pair: P(a better), P(b better), P(same), mapped back whatever the order."""
    reading = _reading(probabilities)
    return Judgment("g", measure, "v", pair.pair_id, None, order, EVEN_HANDEDNESS_SCALE, reading, key="k")


def level(pair: PairedPrompt, measure: str, letter: Letter, probabilities: Sequence[float] | None) -> Judgment:
    """Return a judgment of a response: the probabilities of the levels 1 to 5."""
    return Judgment("g", measure, "v", pair.pair_id, letter, None, SCALES[measure], _reading(probabilities), key="k")


def share(pair: PairedPrompt, measure: str, letter: Letter, p: float) -> Judgment:
    """Return a judgment of a response that is positive (level 5) with probability p, and level 1 otherwise."""
    return level(pair, measure, letter, (1 - p, 0, 0, 0, p))


def _reading(probabilities: Sequence[float] | None) -> Reading:
    if probabilities is None:
        return Reading.without(State.UNPARSEABLE, "made so")
    return Reading(State.OK, tuple(probabilities), 0.9)


def responses_to(pairs: Sequence[PairedPrompt], a: str = "an answer", b: str = "an answer") -> list[Response]:
    """Return two complete responses a pair."""
    texts: dict[Letter, str] = {"a": a, "b": b}
    return [
        Response(pair, letter, f"{pair.pair_id}.{letter}", Reply(text, "stop", "m"), "2025-11-30T00:00:00+00:00")
        for pair in pairs
        for letter, text in texts.items()
    ]


def block_of(
    pairs: Sequence[PairedPrompt],
    judgments: Sequence[Judgment],
    instruments: InstrumentSet = RUBRIC,
    **analysis: Any,
) -> GraderBlock:
    summary = summary_of(pairs, judgments, instruments, **analysis)
    (block,) = summary.blocks
    return block


def summary_of(
    pairs: Sequence[PairedPrompt],
    judgments: Sequence[Judgment],
    instruments: InstrumentSet = RUBRIC,
    **analysis: Any,
) -> AuditSummary:
    return summarize(
        pairs,
        responses_to(pairs, "an answer", "a longer answer"),
        judgments,
        instruments,
        subject="subject",
        analysis=replace(FEW_DRAWS, **analysis),
    )


def values(block: GraderBlock) -> dict[str, float | None]:
    return {name: estimate.value for name, estimate in named_estimates(block).items()}
