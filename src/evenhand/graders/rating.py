"""A question put to a grader about the outputs of a preference pair, and its ratings read."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from evenhand.instruments.boundary import boundary
from evenhand.instruments.instrument import Form
from evenhand.instruments.questions import Question
from evenhand.instruments.rating import Protocol, RatingInstrument
from evenhand.instruments.request import Message, Request
from evenhand.instruments.template import render
from evenhand.pairs.preference_pair import PreferencePair
from evenhand.readings import Failure, RatingReading, Reply, State, read_choice, read_ratings
from evenhand.readings.ratings import open_ones, probability_of_zero

RatingOrder: TypeAlias = Literal["chosen_first", "rejected_first", "single"]
Output: TypeAlias = Literal["chosen", "rejected"]

# Enough for two ratings in JSON, the line before them or a fence; a reason needs more.
_RATING_TOKENS, _REASON_TOKENS = 40, 200
_TOP_LOGPROBS = 100
_LABELS: Mapping[Output, str] = {"chosen": "CHOSEN", "rejected": "REJECTED"}


@dataclass(frozen=True, slots=True)
class RatingManner:
    """How ratings are asked for and read."""

    probabilities: bool = True
    """Read the distribution at the number; otherwise the number as it is written."""
    samples: int = 1
    """Answers a question; more than one are sampled at temperature 1."""
    reasons: bool = False
    """Let the grader go on to its reason; otherwise it stops after the numbers."""
    prefill: bool = False
    """Begin the answer for the grader (where the model allows it)."""
    seed: int = 0


@dataclass(frozen=True, slots=True)
class RatingAsk:
    """One call about one pair and one question. Its request is rendered when it is needed, and not kept."""

    instrument: RatingInstrument
    protocol: Protocol
    question: Question
    pair: PreferencePair
    manner: RatingManner
    order: RatingOrder
    output: Output | None
    """The output it rates; None for both."""
    repeat: int

    @property
    def prefill(self) -> str:
        """The beginning of the answer that is written for the grader; empty where it begins by itself."""
        begins = self.manner.prefill and self.instrument.form is Form.CHAT
        return f'{{"{self.instrument.keys[0]}":' if begins else ""

    @property
    def request(self) -> Request:
        """What is sent."""
        return _request(self)

    @property
    def outputs(self) -> tuple[Output, ...]:
        """The outputs it rates, in the order of the instrument's keys."""
        if self.output is not None:
            return (self.output,)
        return ("chosen", "rejected") if self.order == "chosen_first" else ("rejected", "chosen")


@dataclass(frozen=True, slots=True)
class PairRating:
    """What a grader gave the two outputs of a pair for one question, in one order, once."""

    grader: str
    protocol: Protocol
    question: str
    pair_id: str
    input_id: str
    order: RatingOrder
    repeat: int
    chosen: RatingReading
    rejected: RatingReading
    key: str


def ask_ratings(
    instrument: RatingInstrument,
    protocol: Protocol,
    pairs: Iterable[PreferencePair],
    questions: Sequence[Question],
    manner: RatingManner,
) -> Iterator[RatingAsk]:
    """Yield every call. All questions about the same texts follow one another, since their prompts begin alike."""
    for pair in pairs:
        for order, output in _views(instrument, protocol):
            for question in questions:
                for repeat in range(manner.samples):
                    yield RatingAsk(instrument, protocol, question, pair, manner, order, output, repeat)


def follow_ups(ask: RatingAsk, outcome: Reply | Failure) -> dict[str, Request]:
    """Return, by key of the instrument, the questions that settle whether "1" goes on to "10".

    Only where the answer was begun for the grader, since they begin it too.
    """
    if not ask.prefill or not ask.manner.probabilities:
        return {}
    begun = open_ones(outcome, ask.instrument.keys, prefill=ask.prefill)
    if not begun:
        return {}
    asked = ask.request
    return {
        key: replace(asked, messages=(*asked.messages[:-1], Message("assistant", text)), max_tokens=1, stop=())
        for key, text in begun.items()
    }


def read_asked(
    ask: RatingAsk, outcome: Reply | Failure, settled: Mapping[str, Reply | Failure]
) -> dict[Output, RatingReading]:
    """Return a reading for each output that the call was about."""
    if ask.instrument.form is Form.COMPLETION:
        return {output: _yes(outcome) for output in ask.outputs}
    tens = {key: p for key, reply in settled.items() if (p := probability_of_zero(reply)) is not None}
    readings = read_ratings(
        outcome,
        ask.instrument.keys,
        prefill=ask.prefill,
        with_probabilities=ask.manner.probabilities,
        ten_after_one=tens,
    )
    return dict(zip(ask.outputs, readings, strict=True))


def pair_up(grader: str, asked: Sequence[tuple[RatingAsk, dict[Output, RatingReading], str]]) -> Iterator[PairRating]:
    """Yield a row a pair, question, order and repeat; the calls about single outputs are put together."""
    rows: dict[tuple[str, str, RatingOrder, int], tuple[RatingAsk, dict[Output, RatingReading], list[str]]] = {}
    for ask, readings, key in asked:
        place = (ask.pair.pair_id, ask.question.id, ask.order, ask.repeat)
        _, found, keys = rows.setdefault(place, (ask, {}, []))
        found.update(readings)
        keys.append(key)
    missing = RatingReading(State.FAILED, reason="it was not asked")
    for ask, found, keys in rows.values():
        yield PairRating(
            grader=grader,
            protocol=ask.protocol,
            question=ask.question.id,
            pair_id=ask.pair.pair_id,
            input_id=ask.pair.input_id,
            order=ask.order,
            repeat=ask.repeat,
            chosen=found.get("chosen", missing),
            rejected=found.get("rejected", missing),
            key=" ".join(keys),
        )


def _views(instrument: RatingInstrument, protocol: Protocol) -> tuple[tuple[RatingOrder, Output | None], ...]:
    if instrument.one_output:
        return (("single", "chosen"), ("single", "rejected"))
    if protocol is Protocol.BLIND:
        return (("chosen_first", None), ("rejected_first", None))
    # As published the output called CHOSEN comes first; in the probe that is the rejected one.
    return (("rejected_first", None),) if protocol is Protocol.LABEL_SWAP else (("chosen_first", None),)


def _request(ask: RatingAsk) -> Request:
    instrument, manner = ask.instrument, ask.manner
    fields = _fields(instrument, ask.protocol, ask.pair, ask.question, order=ask.order, output=ask.output)
    text = render(instrument.text, fields)
    if instrument.form is Form.COMPLETION:
        return Request(prompt=text, max_tokens=1, top_logprobs=_TOP_LOGPROBS)
    if manner.reasons and instrument.source == "rating":
        text = text.rstrip().removesuffix("}") + ', "reason": "one sentence that says why"}\n'
    turns = (Message("user", text), *((Message("assistant", ask.prefill),) if ask.prefill else ()))
    return Request(
        messages=turns,
        max_tokens=_REASON_TOKENS if manner.reasons else _RATING_TOKENS,
        temperature=1.0 if manner.samples > 1 else 0.0,
        seed=manner.seed + ask.repeat,
        top_logprobs=_TOP_LOGPROBS if manner.probabilities else 0,
        stop=() if manner.reasons else ('"reason"', "}"),
    )


def _fields(
    instrument: RatingInstrument,
    protocol: Protocol,
    pair: PreferencePair,
    question: Question,
    *,
    order: RatingOrder,
    output: Output | None,
) -> dict[str, str]:
    texts: Mapping[Output, str] = {"chosen": pair.chosen, "rejected": pair.rejected}
    fields = {"input": pair.input, "question": question.text}
    if output is not None:
        told: Output = output
        if protocol is Protocol.LABEL_SWAP:
            told = "rejected" if output == "chosen" else "chosen"
        fields |= {"output": texts[output], "label": _LABELS[told]}
    else:
        first, second = (pair.chosen, pair.rejected) if order == "chosen_first" else (pair.rejected, pair.chosen)
        names = ("first", "second") if instrument.protocol is Protocol.BLIND else ("chosen", "rejected")
        fields |= dict(zip(names, (first, second), strict=True))
    mark = boundary(pair.input, pair.chosen, pair.rejected)
    if mark in question.text:
        mark = boundary(pair.input, pair.chosen, pair.rejected, question.text)
    # Otherwise the same mark for all questions about a pair, so that their prompts begin alike up to the question.
    return fields | {"boundary": mark}


def _yes(outcome: Reply | Failure) -> RatingReading:
    reading = read_choice(outcome, ("Yes", "No"))
    if reading.state is not State.OK:
        return RatingReading(reading.state, captured=reading.captured, reason=reading.reason)
    return RatingReading(State.OK, 10 * reading.probabilities[0], captured=reading.captured)
