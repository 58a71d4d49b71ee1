"""Read a choice from next-token probabilities.

The probability of an option is the summed probability of all the ways its answer can begin: "C", " C", "(C",
"**C". A tokenizer may hold "(C" as one token or as "(" and "C", so the sum walks along the reply: at each
position it adds the options' tokens, and goes on to the next position only where the reply's own token is an
opening such as "(" or "Answer:", weighing what follows by the probability of that opening. The ways are
disjoint, so the sum is a probability: the captured mass. Probability in ways that the reply did not take (an
opening that was not its most probable token) is not captured, and shows as such.

Where a reply begins with prose, the walk begins behind its last answer cue instead (``answer_cues``), found in the
reply's own tokens. A letter or digit in the prose is never read.
"""

import math
import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from evenhand.readings.answer_cues import Cue, answer_cues, closing_line, ends_in_cue
from evenhand.readings.reading import Reading, State
from evenhand.readings.reply import Failure, FailureKind, Reply, TokenPosition
from evenhand.readings.thinking import answer_alone, missing_answer, token_from

MINIMUM_CAPTURED = 0.05
"""Below this share of the model's probability on valid answers, a reply is ``unparseable``: dividing by so
little would report the shape of the noise."""

_MOST_TOKENS = 100_000
_BEFORE = "([{<*_\"'`#“‘:"
_AFTER = ")]}>*_\"'`.,:;”’!\n"
_CUE = re.compile(r"(final\s+)?(answer|option|choice|verdict|rating)(\s+is)?", re.IGNORECASE)
_REFUSAL = re.compile(
    r"^\W*(i['’]?m\s+(sorry|unable|not\s+able)|i\s+(can\s?not|can['’]t|won['’]t|am\s+(sorry|unable|not\s+able))"
    r"|sorry|unfortunately|as\s+an?\s+ai)\b",
    re.IGNORECASE,
)


def read_choice(outcome: Reply | Failure, labels: Sequence[str]) -> Reading:
    """Return the distribution over ``labels`` that a reply with token probabilities gives.

    Of a reply that begins with an option (behind openings, if any) this is the model's distribution over its answers
    to the request. Of one that argues first and then writes "Answer: (C)" it is the distribution behind the last such
    cue, and the captured mass is the one there: how probable each option is *given the prose that the model wrote*.
    That prose is one of many it could have written and has mostly settled the answer, so these probabilities lie
    nearer to 0 and 1 and say less of how sure the model was beforehand. Cues that announce different options make the
    reply unparseable.

    Args:
        outcome: what came back for a request with ``top_logprobs``.
        labels: the options' labels, such as A, B, C, or 1 to 5, or Yes, No.

    Raises:
        ValueError: the reply has no token probabilities; a missing probability is never taken for 0.
    """
    if isinstance(outcome, Failure):
        state = State.TRUNCATED if outcome.kind is FailureKind.OVERFLOW else State.FAILED
        return Reading.without(state, outcome.reason)
    reply = answer_alone(outcome)
    missing = missing_answer(reply)
    if missing:
        return Reading.without(*missing)
    if not reply.positions:
        raise ValueError("the reply has no token probabilities")
    labels = tuple(labels)
    mass, answered = _walk(reply.positions, labels)
    if not answered:
        cue = _last_cue(reply, labels)
        if isinstance(cue, Reading):
            return cue
        if cue is not None:
            mass, _ = _walk(_behind(reply.positions, cue.end), labels, announced=True)
    captured = math.fsum(mass.values())
    if captured < MINIMUM_CAPTURED:
        return _unreadable(reply, captured)
    return Reading(State.OK, tuple(mass[label] / captured for label in labels), captured)


def _walk(
    positions: Sequence[TokenPosition], labels: tuple[str, ...], *, announced: bool = False
) -> tuple[dict[str, float], bool]:
    """Return the mass of each label along the openings, and whether the reply itself gave an option there."""
    mass = dict.fromkeys(labels, 0.0)
    reach = 1.0
    options = _options(labels, announced)
    for index, position in enumerate(positions):
        own = options[position.token]
        if own and not announced:
            rest = "".join([later.token for later in positions[index + 1 :]])
            own = None if _goes_on(position.token, own, rest) else own
        listed = False
        for text, logprob in position.top:
            if text == position.token:
                listed, label = True, own
            else:
                label = options[text]
            if label:
                mass[label] += reach * math.exp(logprob)
        if own and not listed:
            mass[own] += reach * math.exp(position.logprob)
        if own or not is_opening(position.token):
            return mass, own is not None
        reach *= math.exp(position.logprob)
        options = _options(labels, True)
    return mass, False


def _last_cue(reply: Reply, labels: Sequence[str]) -> Cue | Reading | None:
    """Return the last cue of a reply, or why its cues say nothing, or None where it has none."""
    written = "".join([position.token for position in reply.positions])
    cues = answer_cues(written, labels)
    if len({cue.label for cue in cues}) > 1:
        shown = repr(" ".join(written.split())[-80:])
        return Reading.without(State.UNPARSEABLE, f"it gives more than one verdict, and ends {shown}")
    if cues:
        return cues[-1]
    return closing_line(written, labels) if reply.finish != "length" else None


def _behind(positions: Sequence[TokenPosition], end: int) -> list[TokenPosition]:
    """Return the positions from a character of the reply on; of a token that it falls into, the part behind."""
    offset = 0
    for index, position in enumerate(positions):
        if offset + len(position.token) > end:
            return [token_from(position, end - offset), *positions[index + 1 :]]
        offset += len(position.token)
    return []


def option_of(token: str, labels: Sequence[str], *, after_opening: bool = False) -> str | None:
    """Return the label that an answer beginning with this token gives, or None.

    >>> [option_of(token, "ABC") for token in ("A", " (B", "**C**", "The", "(", "a", "AB")]
    ['A', 'B', 'C', None, None, None, None]
    >>> option_of("(a", "ABC"), option_of(" yes", ["Yes", "No"]), option_of("１", "12345")
    ('A', 'Yes', '1')
    """
    return _option_of(token, tuple(labels), after_opening)


class _Options(dict[str, str | None]):
    """The option that each token gives: the same few thousand tokens come up at every position of every reply."""

    def __init__(self, labels: tuple[str, ...], after_opening: bool) -> None:
        self._labels, self._after_opening = labels, after_opening

    def __missing__(self, token: str) -> str | None:
        if len(self) >= _MOST_TOKENS:
            self.clear()
        self[token] = label = _option_of(token, self._labels, self._after_opening)
        return label


@lru_cache(maxsize=100)
def _options(labels: tuple[str, ...], after_opening: bool) -> _Options:
    return _Options(labels, after_opening)


def _option_of(token: str, labels: tuple[str, ...], after_opening: bool) -> str | None:
    text = _plain(token)
    core = text.lstrip(_BEFORE)
    bracketed = after_opening or core != text
    core = core.rstrip(_AFTER)
    for label in labels:
        if core == label:
            return label
        # A lone lower-case letter is a word ("a"), unless something opened it.
        if core.casefold() == label.casefold() and (len(label) > 1 or bracketed):
            return label
    return None


def declines(text: str) -> bool:
    """Tell whether an answer begins like a refusal.

    >>> declines("I'm sorry, but I can't grade this."), declines("(C) Sorry, both declined.")
    (True, False)
    """
    return _REFUSAL.match(text) is not None


@lru_cache(maxsize=10_000)
def is_opening(token: str) -> bool:
    """Tell whether an answer may still come after this token: white space, a bracket, "Answer:".

    >>> [is_opening(token) for token in ("(", " ", "**", "Option", " Answer:", "The", "(A")]
    [True, True, True, True, True, False, False]
    """
    text = _plain(token).strip(_BEFORE + _AFTER + " ")
    return (bool(token) and not text) or _CUE.fullmatch(text) is not None


def _plain(token: str) -> str:
    """Return a token without what does not show: compatibility forms folded, format characters dropped."""
    folded = unicodedata.normalize("NFKC", token)
    return "".join(char for char in folded if unicodedata.category(char) != "Cf").strip()


def _goes_on(text: str, label: str, rest: str) -> bool:
    """Tell whether what the reply says next shows that this was no answer: "A review of", "3.5", "10"."""
    if not _plain(text).endswith(label):
        return False
    if label.isdigit():
        return re.match(r"[.,/]?\d", rest) is not None
    if label == "A":
        return re.match(r"\s+(?!is\b|because\b|since\b|as\b)[a-z]", rest) is not None
    return False


def _unreadable(reply: Reply, captured: float) -> Reading:
    shown = " ".join(reply.text.split())[:80]
    if declines(reply.text):
        return Reading.without(State.DECLINED, f"the grader declined: {shown!r}", captured)
    written = "".join([position.token for position in reply.positions])
    if reply.finish == "length" and (
        ends_in_cue(written) or all(is_opening(position.token) for position in reply.positions)
    ):
        return Reading.without(State.TRUNCATED, f"cut off before a verdict: {shown!r}", captured)
    return Reading.without(
        State.UNPARSEABLE,
        f"{captured:.1%} of the probability fell on the options; it began {shown!r}",
        captured,
    )
