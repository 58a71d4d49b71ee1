"""Read a choice from next-token probabilities.

The probability of an option is the summed probability of all the ways its answer can begin: "C", " C", "(C",
"**C". A tokenizer may hold "(C" as one token or as "(" and "C", so the sum walks along the reply: at each
position it adds the options' tokens, and goes on to the next position only where the reply's own token is an
opening such as "(" or "Answer:", weighing what follows by the probability of that opening. The ways are
disjoint, so the sum is a probability: the captured mass. Probability in ways that the reply did not take (an
opening that was not its most probable token) is not captured, and shows as such.
"""

import math
import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from evenhand.readings.reading import Reading, State
from evenhand.readings.reply import Failure, FailureKind, Reply

MINIMUM_CAPTURED = 0.05
"""Below this share of the model's probability on valid answers, a reply is ``unparseable``: dividing by so
little would report the shape of the noise."""

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

    Args:
        outcome: what came back for a request with ``top_logprobs``.
        labels: the options' labels, such as A, B, C, or 1 to 5, or Yes, No.

    Raises:
        ValueError: the reply has no token probabilities; a missing probability is never taken for 0.
    """
    if isinstance(outcome, Failure):
        state = State.TRUNCATED if outcome.kind is FailureKind.OVERFLOW else State.FAILED
        return Reading.without(state, outcome.reason)
    if not outcome.positions:
        if not outcome.completion_tokens:
            return Reading.without(State.UNPARSEABLE, "the answer is empty")
        raise ValueError("the reply has no token probabilities")
    mass = dict.fromkeys(labels, 0.0)
    reach = 1.0
    for index, position in enumerate(outcome.positions):
        rest = "".join(later.token for later in outcome.positions[index + 1 :])
        after_opening = index > 0
        for text, logprob in position.top or ((position.token, position.logprob),):
            label = option_of(text, labels, after_opening=after_opening)
            if label and not (text == position.token and _goes_on(text, label, rest)):
                mass[label] += reach * math.exp(logprob)
        if not is_opening(position.token):
            break
        reach *= math.exp(position.logprob)
    captured = math.fsum(mass.values())
    if captured < MINIMUM_CAPTURED:
        return _unreadable(outcome, captured)
    return Reading(State.OK, tuple(mass[label] / captured for label in labels), captured)


def option_of(token: str, labels: Sequence[str], *, after_opening: bool = False) -> str | None:
    """Return the label that an answer beginning with this token gives, or None.

    >>> [option_of(token, "ABC") for token in ("A", " (B", "**C**", "The", "(", "a", "AB")]
    ['A', 'B', 'C', None, None, None, None]
    >>> option_of("(a", "ABC"), option_of(" yes", ["Yes", "No"]), option_of("１", "12345")
    ('A', 'Yes', '1')
    """
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


def is_opening(token: str) -> bool:
    """Tell whether an answer may still come after this token: white space, a bracket, "Answer:".

    >>> [is_opening(token) for token in ("(", " ", "**", "Option", " Answer:", "The", "(A")]
    [True, True, True, True, True, False, False]
    """
    text = _plain(token).strip(_BEFORE + _AFTER + " ")
    return (bool(token) and not text) or _CUE.fullmatch(text) is not None


@lru_cache(maxsize=50_000)  # The same few thousand tokens come up at every position of every reply.
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
    if reply.finish == "length" and all(is_opening(position.token) for position in reply.positions):
        return Reading.without(State.TRUNCATED, f"cut off before a verdict: {shown!r}", captured)
    return Reading.without(
        State.UNPARSEABLE,
        f"{captured:.1%} of the probability fell on the options; it began {shown!r}",
        captured,
    )
