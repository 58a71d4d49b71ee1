"""Read ratings: the expected value over the whole numbers of the scale, at the number's own position.

The position is found in the reply's JSON, never by the first digit that matches. At that position every next token
that begins a rating counts: a token may be a whole number ("10") or its first digit ("1", which "0" may follow).
Where the reply itself went on from "1", its own next position tells 1 from 10. Where it did not, the probability of "1"
is open, and a second question that goes on from "1" settles it (``open_ones``); without one it is not captured.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from evenhand.readings.choices import MINIMUM_CAPTURED
from evenhand.readings.json_ratings import Found, find_ratings
from evenhand.readings.numbers import rating_of
from evenhand.readings.reading import State
from evenhand.readings.reply import Failure, FailureKind, Reply, TokenPosition
from evenhand.readings.thinking import answer_alone, missing_answer

WORTH_ASKING = 0.01
"""An open "1" with less probability than this moves a rating by less than 0.1; it is left open."""

_SCALE = range(11)
_NUMBERS = {str(number): number for number in _SCALE}


@dataclass(frozen=True, slots=True)
class RatingReading:
    """One rating."""

    state: State
    value: float | None = None
    """From 0 to 10; None unless the state is ``ok``."""
    probabilities: tuple[float, ...] = ()
    """Over 0 to 10, summing to 1; empty where only the text was read."""
    captured: float | None = None
    """How much probability fell on valid ratings, -1 included; None where only the text was read."""
    abstains: float = 0.0
    """Share of the captured probability on -1."""
    reason: str = ""


def read_ratings(
    outcome: Reply | Failure,
    keys: Sequence[str],
    *,
    prefill: str = "",
    with_probabilities: bool = True,
    ten_after_one: Mapping[str, float] | None = None,
) -> tuple[RatingReading, ...]:
    """Return one reading a key.

    Args:
        outcome: what came back.
        keys: names of the ratings in the JSON.
        prefill: the beginning of the answer, if it was given to the model.
        with_probabilities: read the distribution; otherwise take the number as it is written.
        ten_after_one: by key, P("0" follows) where the answer goes on from "1" (see ``open_ones``).

    Raises:
        ValueError: probabilities are wanted and the reply has none; a missing probability is never taken for 0.
    """
    if isinstance(outcome, Failure):
        state = State.TRUNCATED if outcome.kind is FailureKind.OVERFLOW else State.FAILED
        return tuple(RatingReading(state, reason=outcome.reason) for _ in keys)
    reply = answer_alone(outcome, prefill)
    found = missing_answer(reply) or find_ratings(_text(reply, prefill), keys, cut=reply.finish == "length")
    if not isinstance(found, Found):
        return tuple(RatingReading(found[0], reason=found[1]) for _ in keys)
    if not with_probabilities:
        return tuple(_as_written(written) for written in found.written)
    if not reply.positions:
        raise ValueError("the reply has no token probabilities")
    known = ten_after_one or {}
    return tuple(
        _distribution(reply, start - len(prefill), written, known.get(key))
        for key, written, start in zip(keys, found.written, found.starts, strict=True)
    )


def open_ones(outcome: Reply | Failure, keys: Sequence[str], *, prefill: str = "") -> dict[str, str]:
    """Return, by key, the beginning of an answer that goes on from "1", where it is open whether 10 follows.

    That is where the tokenizer writes 10 in two tokens, "1" has probability worth asking for, and the reply took
    another number, or none of its tokens stands behind its own "1": some runtimes leave the stop text's tokens out.
    """
    if isinstance(outcome, Failure) or not outcome.positions:
        return {}
    reply = answer_alone(outcome, prefill)
    text = _text(reply, prefill)
    found = find_ratings(text, keys, cut=reply.finish == "length")
    if not isinstance(found, Found):
        return {}
    begun: dict[str, str] = {}
    for key, start in zip(keys, found.starts, strict=True):
        place = _place(reply, start - len(prefill))
        if place is None:
            continue
        index, before = place
        own = _tail(reply.positions[index].token, before)
        mass = {token: math.exp(logprob) for token, logprob in _tails(reply.positions[index], before)}
        last = index + 1 == len(reply.positions)
        if (own != "1" or last) and "10" not in mass and mass.get("1", 0.0) >= WORTH_ASKING:
            begun[key] = text[:start] + "1"
    return begun


def probability_of_zero(outcome: Reply | Failure) -> float | None:
    """Return P("0" comes next) from the reply to a question that goes on from "1"; None where there is none."""
    if isinstance(outcome, Failure) or not outcome.positions:
        return None
    return math.fsum(math.exp(logprob) for token, logprob in outcome.positions[0].top if token == "0")


def _text(reply: Reply, prefill: str) -> str:
    # Positions index the tokens' own texts; a provider may trim the text it reports beside them.
    written = "".join(position.token for position in reply.positions) if reply.positions else reply.text
    return prefill + written


def _as_written(written: str) -> RatingReading:
    state, value, reason = rating_of(written)
    return RatingReading(state, value, reason=reason)


def _place(reply: Reply, start: int) -> tuple[int, int] | None:
    """Return the token in which the number begins, and how many of its characters stand before the number."""
    offset = 0
    for index, position in enumerate(reply.positions):
        if offset <= start < offset + len(position.token):
            return index, start - offset
        offset += len(position.token)
    return None


def _tail(token: str, before: int) -> str:
    return token[before:] if before else token.lstrip(" ")


def _tails(position: TokenPosition, before: int) -> list[tuple[str, float]]:
    """Return what each token at a number's position says of the number.

    Where the number begins inside a token (``: 7`` as one), only tokens that begin the same way speak of it.
    """
    head = position.token[:before]
    if before and head.strip():
        return [(token[before:], logprob) for token, logprob in position.top if token.startswith(head)]
    return [(token.strip(" \"'"), logprob) for token, logprob in position.top]


@lru_cache(maxsize=10_000)
def _number(token: str) -> int | None:
    """Return the number of the scale that a token stands for, -1 for a beginning of -1, None for anything else.

    >>> [_number(token) for token in ("7", "10,", "-", "07", "11", "seven")]
    [7, 10, -1, None, None, None]
    """
    number = token.rstrip(",}\n \"'")
    if number in ("-1", "-"):
        return -1
    return _NUMBERS.get(number)


def _distribution(reply: Reply, start: int, written: str, ten_after_one: float | None) -> RatingReading:
    state, value, reason = rating_of(written)
    if state is State.UNPARSEABLE:
        return RatingReading(state, reason=reason)
    place = _place(reply, start)
    if place is None:
        return RatingReading(State.UNPARSEABLE, reason="the number stands at no token")
    index, before = place
    mass = [0.0] * len(_SCALE)
    impossible = 0.0
    ones = 0.0
    for token, logprob in _tails(reply.positions[index], before):
        number = _number(token)
        if number is None:
            continue
        probability = math.exp(logprob)
        if number < 0:
            impossible += probability
        elif number == 1:
            ones += probability
        else:
            mass[number] += probability
    own = _tail(reply.positions[index].token, before).strip("\"'")
    following = reply.positions[index + 1] if index + 1 < len(reply.positions) else None
    found = _share_of_ten(own, following, mass[10])
    tens = ten_after_one if found is None else found
    if tens is None and own == "1" and following is None and reply.finish != "length":
        tens = 0.0  # It wrote 1 and stopped there. Leaving its own number out would turn the rating over.
    if tens is not None:
        mass[1] += ones * (1 - tens)
        mass[10] += ones * tens
    captured = math.fsum(mass) + impossible
    if captured < MINIMUM_CAPTURED:
        return RatingReading(
            State.UNPARSEABLE, captured=captured, reason=f"{captured:.1%} of the probability fell on ratings"
        )
    on_scale = math.fsum(mass)
    if state is State.ABSTAINED or impossible > on_scale:
        return RatingReading(
            State.ABSTAINED,
            captured=captured,
            abstains=impossible / captured,
            reason="the grader found the question impossible to answer",
        )
    shares = tuple(part / on_scale for part in mass)
    expected = math.fsum(number * share for number, share in zip(_SCALE, shares, strict=True))
    if value is not None and value != int(value):
        # The reply's own number has a fraction: its whole part's probability belongs to the number as written.
        expected += (value - int(value)) * shares[int(value)]
    return RatingReading(State.OK, min(expected, 10.0), shares, captured, impossible / captured)


def _share_of_ten(own: str, following: TokenPosition | None, whole_tens: float) -> float | None:
    """Return P(10 | "1") from the reply alone, or None where it is open."""
    if own == "1" and following is not None:
        return math.fsum(math.exp(logprob) for token, logprob in following.top if token == "0")
    # A tokenizer that has 10 as one token does not write it in two.
    return 0.0 if whole_tens else None
