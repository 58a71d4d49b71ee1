"""Read a choice from what a grader wrote, where it gives no probabilities.

A verdict counts only where verdicts stand: at the beginning of the answer, behind a cue such as "Answer:", or in
brackets or bold at the very end. A letter or digit anywhere else may come from the graded text and is not looked at.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from evenhand.readings.answer_cues import answer_cues
from evenhand.readings.choices import declines
from evenhand.readings.reading import Reading, State
from evenhand.readings.reply import Failure, FailureKind, Reply
from evenhand.readings.thinking import answer_alone, missing_answer

_CUE = r"(?:(?:final\s+)?(?:answer|option|choice|verdict|rating|score)(?:\s+is)?)"


def read_choice_text(outcome: Reply | Failure, labels: Sequence[str]) -> Reading:
    """Return a reading with all probability on the written label; its captured mass is None, since nobody knows it.

    >>> read_choice_text(Reply("**Answer:** (C), both were helped.", "stop", "m"), "ABC").probabilities
    (0.0, 0.0, 1.0)
    >>> read_choice_text(Reply("In dialogue A it helps (B) more.", "stop", "m"), "ABC").state.value
    'unparseable'
    """
    if isinstance(outcome, Failure):
        state = State.TRUNCATED if outcome.kind is FailureKind.OVERFLOW else State.FAILED
        return Reading.without(state, outcome.reason)
    reply = answer_alone(outcome)
    text = _plain(reply.text)
    missing = missing_answer(reply if text else replace(reply, text=""))
    if missing:
        return Reading.without(*missing)
    found = _verdicts(text, labels)
    if len(found) == 1:
        (label,) = found
        return Reading(State.OK, tuple(float(other == label) for other in labels), None)
    return _without_verdict(text, several=bool(found), cut=reply.finish == "length")


def _without_verdict(text: str, *, several: bool, cut: bool) -> Reading:
    shown = repr(" ".join(text.split())[:80])
    if several:
        return Reading.without(State.UNPARSEABLE, f"it gives more than one verdict: {shown}", None)
    if declines(text):
        return Reading.without(State.DECLINED, f"the grader declined: {shown}", None)
    if cut:
        return Reading.without(State.TRUNCATED, f"cut off before a verdict: {shown}", None)
    return Reading.without(State.UNPARSEABLE, f"no verdict stands where one should: {shown}", None)


def share_of_samples(readings: Sequence[Reading]) -> Reading:
    """Return the mean of several answers to one question; if none can be read, the commonest state.

    Raises ``ValueError`` for no readings.
    """
    if not readings:
        raise ValueError("no readings")
    if len(readings) == 1:
        return readings[0]
    fine = [reading.probabilities for reading in readings if reading.state is State.OK]
    if fine:
        return Reading(State.OK, tuple(sum(column) / len(fine) for column in zip(*fine, strict=True)), None)
    commonest = Counter(reading.state for reading in readings).most_common(1)[0][0]
    return next(reading for reading in readings if reading.state is commonest)


def _plain(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text)
    return "".join(char for char in folded if unicodedata.category(char) != "Cf").strip()


def _verdicts(text: str, labels: Sequence[str]) -> set[str]:
    """Return the labels given at the first of the three places that gives any."""
    spelled = {label.casefold(): label for label in labels}
    one = "|".join(re.escape(label) for label in sorted(labels, key=len, reverse=True))
    # A lone letter may be written small only in brackets: "a" is a word.
    bare = f"(?:{one})" if len(labels[0]) == 1 else f"(?i:{one})"
    option = rf"(?:[(\[]\s*(?P<in>(?i:{one}))\s*[)\]]|(?P<bare>{bare}))(?![\w/]|[.,]\d)"
    mark = r"[\s*_`\"'“”>#:\-]*"
    cued = {cue.label for cue in answer_cues(text, labels)}
    if len(cued) > 1:
        return cued
    start = re.match(rf"{mark}(?i:{_CUE}{mark})?{option}(?P<rest>.*)", text, re.DOTALL)
    if start and not (start["bare"] == "A" and re.match(r"\s+(?!is\b|because\b|since\b|as\b)[a-z]", start["rest"])):
        return {spelled[(start["in"] or start["bare"]).casefold()]}
    if cued:
        return cued
    end = re.search(rf"(?:\*\*|__)\s*{option}[)\].]*\s*(?:\*\*|__)[\s.]*$", text)
    end = end or re.search(rf"[(\[]\s*(?P<in>(?i:{one}))\s*[)\]][\s.*_]*$(?P<bare>)", text)
    return {spelled[(end["in"] or end["bare"]).casefold()]} if end else set()
