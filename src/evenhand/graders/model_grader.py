"""A model grader: an instrument put to a model and its answer read."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from evenhand.graders.judgment import Judgment
from evenhand.graders.reading_mode import ReadingMode
from evenhand.instruments import Derivation, Form, Instrument, InstrumentSet, Message, Request, Unit
from evenhand.instruments.boundary import boundary
from evenhand.instruments.instrument import Order
from evenhand.instruments.template import render
from evenhand.pairs import PairedPrompt
from evenhand.pairs.paired_prompt import Letter
from evenhand.readings import Failure, Reading, Reply, State, read_choice, read_choice_text, share_of_samples

ORDERS: tuple[Order, ...] = ("ab", "ba")
"""The orders in which two responses can be shown."""
BLIND_SUFFIX = "_blind"
"""What the name of a measure ends with where the groups were hidden."""

_LETTERS: tuple[Letter, ...] = ("a", "b")
# By place and not by stance, so that the words don't tell the two apart in both orders.
_HIDDEN_GROUPS = {"prompt_a_group": "one side", "prompt_b_group": "the other side"}
# Enough for "**Answer:** (C" in any tokenizer; a choice is read from its first tokens.
_CHOICE_TOKENS = 6
_TOP_LOGPROBS = 100
# A written answer may be preceded by a sentence or, in a thinking model, by much more.
_WRITTEN_TOKENS = 1024


@dataclass(frozen=True, slots=True)
class Question:
    """An instrument put to a unit in an order. Its requests are rendered when they are needed, and not kept."""

    instrument: Instrument
    pair: PairedPrompt
    letter: Letter | None
    """The response it is about; None for both."""
    order: Order | None
    """The order in which both are shown; None for one."""
    responses: tuple[str, ...]
    """The texts it is about: one, or those of a and b."""
    mode: ReadingMode
    hidden_groups: bool = False
    """The grader is not told for which groups of people the prompts speak."""

    @property
    def measure(self) -> str:
        """The measure that it gives."""
        return self.instrument.name + (BLIND_SUFFIX if self.hidden_groups else "")

    @property
    def count(self) -> int:
        """How many requests it takes: one; several where written answers are sampled."""
        return 1 if self.instrument.form is Form.COMPLETION or self.mode.probabilities else self.mode.samples

    @property
    def requests(self) -> tuple[Request, ...]:
        """What is sent."""
        if self.letter is not None:
            fields = _response_fields(self.instrument, self.pair.prompt(self.letter), self.responses[0])
        else:
            fields = _pair_fields(self.instrument, self.pair, self.responses, self.order or "ab")
            fields |= _HIDDEN_GROUPS if self.hidden_groups else {}
        return _requests(self.instrument, fields, self.mode)

    def read(self, outcome: Reply | Failure) -> Reading:
        """Return the reading of what one of its requests came to, labels in the order in which they were shown."""
        read = read_choice if self.mode.probabilities else read_choice_text
        return read(outcome, self.instrument.scale.labels)


def ask_all(
    instruments: InstrumentSet,
    pairs: Sequence[PairedPrompt],
    responses: Mapping[tuple[str, Letter], str],
    mode: ReadingMode | None = None,
    *,
    orders: Sequence[Order] = ORDERS,
    blind_groups: bool = False,
) -> Iterator[Question]:
    """Yield every question of a set, instrument by instrument, so that what begins alike is asked together.

    Args:
        instruments: what to ask.
        pairs: the units.
        responses: text by pair and letter; a unit that lacks a response is not asked about.
        mode: how the answers will be read.
        orders: in which orders both responses are shown.
        blind_groups: ask again, with the groups hidden, what names the groups of people for whom the prompts speak.
    """
    mode = mode or ReadingMode()
    plain = [(instrument, False) for instrument in instruments.instruments]
    hidden = [(instrument, True) for instrument in instruments.instruments if blind_groups and names_groups(instrument)]
    for instrument, hide in plain + hidden:
        for pair in pairs:
            texts = {
                letter: responses[pair.pair_id, letter] for letter in _LETTERS if (pair.pair_id, letter) in responses
            }
            if instrument.unit is Unit.RESPONSE:
                for letter, text in texts.items():
                    yield Question(instrument, pair, letter, None, (text,), mode)
            elif len(texts) == len(_LETTERS):
                for order in orders:
                    yield Question(instrument, pair, None, order, tuple(texts.values()), mode, hide)


def names_groups(instrument: Instrument) -> bool:
    """Tell whether an instrument tells the grader for which groups of people the prompts speak."""
    return instrument.unit is Unit.PAIR and "_group" in instrument.text


def judge(
    question: Question,
    readings: Sequence[Reading],
    grader: str,
    key: str,
    *,
    instruments: str = "",
    answered_by: str = "",
) -> Judgment:
    """Return the judgment that the readings of a question's requests give, labels mapped back to the order a, b."""
    scale = question.instrument.scale
    reading = share_of_samples(readings)
    if question.order == "ba" and reading.state is State.OK:
        by_label = dict(zip(scale.labels, reading.probabilities, strict=True))
        mapped = tuple(by_label[scale.swapped(label)] for label in scale.labels)
        reading = Reading(State.OK, mapped, reading.captured)
    return Judgment(
        grader=grader,
        measure=question.measure,
        version=question.instrument.version,
        pair_id=question.pair.pair_id,
        letter=question.letter,
        order=question.order,
        scale=scale,
        reading=reading,
        key=key,
        instruments=instruments,
        answered_by=answered_by,
    )


def derive(derivation: Derivation, version: str, a: Judgment, b: Judgment) -> Judgment:
    """Return the judgment of a pair that follows from those of its two responses."""
    p, q = a.positive, b.positive
    if p is None or q is None:
        worse = a if p is None else b
        reading = Reading.without(worse.reading.state, f"response {worse.letter}: {worse.reading.reason}")
    else:
        chances = {"A": (1 - p) * q, "B": p * (1 - q), "C": p * q + (1 - p) * (1 - q)}
        reading = Reading(
            State.OK,
            tuple(chances[label] for label in derivation.scale.labels),
            min((m for m in (a.reading.captured, b.reading.captured) if m is not None), default=None),
        )
    return Judgment(
        a.grader, derivation.name, version, a.pair_id, None, None, derivation.scale, reading, "", a.instruments
    )


def _human_turn(prompt: str) -> str:
    return f"[H]: {prompt}"


def _response_fields(instrument: Instrument, prompt: str, response: str) -> dict[str, str]:
    shown = response if instrument.response_characters is None else response[: instrument.response_characters]
    return {
        "conversation": _human_turn(prompt),
        "prompt": prompt,
        "response": shown,
        "boundary": boundary(prompt, shown),
    }


def _pair_fields(instrument: Instrument, pair: PairedPrompt, responses: Sequence[str], order: Order) -> dict[str, str]:
    groups = {"a": pair.group_a, "b": pair.group_b}
    texts = dict(zip(_LETTERS, responses, strict=True))
    fields: dict[str, str] = {}
    for place, letter in zip(_LETTERS, _LETTERS if order == "ab" else _LETTERS[::-1], strict=True):
        response = texts[letter]
        shown = response if instrument.response_characters is None else response[: instrument.response_characters]
        fields[f"prompt_{place}"] = f"{_human_turn(pair.prompt(letter))}\n\n[A]: "
        fields[f"response_{place}"] = shown
        fields[f"prompt_{place}_group"] = groups[letter]
    fields["boundary"] = boundary(*fields.values())
    return fields


def _requests(instrument: Instrument, fields: Mapping[str, str], mode: ReadingMode) -> tuple[Request, ...]:
    text = render(instrument.text, fields)
    if instrument.form is Form.COMPLETION:
        return (Request(prompt=text, max_tokens=1, top_logprobs=_TOP_LOGPROBS),)
    messages = (Message("user", text),)
    if mode.probabilities:
        return (Request(messages=messages, max_tokens=_CHOICE_TOKENS, top_logprobs=_TOP_LOGPROBS),)
    temperature = 1.0 if mode.samples > 1 else 0.0
    return tuple(
        Request(messages=messages, max_tokens=_WRITTEN_TOKENS, temperature=temperature, seed=sample)
        for sample in range(mode.samples)
    )
