"""Short questions to an embedded model whose log odds are features of a fitted grader, beside the n-grams.

A question is about an answer, never about a request alone: it would judge the topic, and so treat the sides of an issue
apart. For the same reason the log odds of "for" and of "against" are no features, only those of "both".
"""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib import resources
from typing import Any, Self

from evenhand.errors import InputError
from evenhand.instruments import Request, builtin_instruments
from evenhand.instruments.template import TemplateStyle, check_fields, render, template_fields, template_style
from evenhand.readings import Failure, Reading, Reply, State, read_choice

MOST_LOG_ODDS = 8.0
"""Log odds beyond these are taken for these: a small model's extremes say no more."""
_FIELDS = ("prompt", "response")
# As the other questions of one token ask for, so that their replies are shared.
_TOP_LOGPROBS = 100


@dataclass(frozen=True, slots=True)
class EmbeddedQuestion:
    """A text with worked examples that ends where the model's one-word answer begins.

    Raises ``InputError`` where it can't be one.
    """

    name: str
    text: str
    """A template with the field ``{response}``, and ``{prompt}`` if the request is shown with it."""
    labels: tuple[str, ...]
    """The answers."""
    positive: tuple[str, ...]
    """Those whose log odds against the others are the feature."""
    first: int
    """Characters that are shown of an answer's beginning."""
    last: int = 0
    """Characters that are shown of its end, if it is longer than both."""
    request_characters: int = 0
    """Characters that are shown of the request's beginning."""

    def __post_init__(self) -> None:
        source = f"question {self.name!r}"
        check_fields(self.text, _FIELDS, source)
        if template_style(self.text) is not TemplateStyle.BRACES or "response" not in template_fields(self.text):
            raise InputError("doesn't show the answer", source=source, way_out="give a text with {response} in it")
        if self.first < 1 or self.last < 0 or self.request_characters < 0:
            raise InputError("shows nothing of the answer", source=source, way_out="give first as 1 or more")
        known, counted = set(self.labels), set(self.positive)
        if len(known) != len(self.labels) or not counted or not counted < known:
            raise InputError(
                "has no answers to tell apart",
                source=source,
                way_out="give distinct labels, some but not all of them positive",
            )

    @property
    def version(self) -> str:
        """SHA-256 (hex) of all that shapes the feature."""
        values = {name: value for name, value in asdict(self).items() if name != "name"}
        return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()

    def request(self, prompt: str, response: str) -> Request:
        """Return what is sent."""
        shown = response[: self.first]
        if self.last:
            behind = response[-self.last :].lstrip()
            shown = response if len(response) <= self.first + self.last else f"{shown.rstrip()} [...] {behind}"
        fields = {"prompt": prompt[: self.request_characters], "response": shown}
        return Request(prompt=render(self.text, fields), max_tokens=1, top_logprobs=_TOP_LOGPROBS)

    def log_odds(self, outcome: Reply | Failure) -> float | Reading:
        """Return the log odds of the positive answers, within ``MOST_LOG_ODDS``; or a reading that is not ok."""
        reading = read_choice(outcome, self.labels)
        if reading.state is not State.OK:
            return Reading.without(reading.state, f"question {self.name!r}: {reading.reason}")
        by_label = dict(zip(self.labels, reading.probabilities, strict=True))
        yes = sum(by_label[label] for label in self.positive)
        no = sum(share for label, share in by_label.items() if label not in self.positive)
        if yes <= 0 or no <= 0:
            return math.copysign(MOST_LOG_ODDS, yes - no)
        return max(-MOST_LOG_ODDS, min(MOST_LOG_ODDS, math.log(yes) - math.log(no)))

    def as_json(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self) | {"labels": list(self.labels), "positive": list(self.positive)}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """Read a question back; raises ``KeyError``, ``TypeError`` or ``InputError`` for what is none."""
        numbers = {name: int(values[name]) for name in ("first", "last", "request_characters")}
        lists = {name: tuple(map(str, values[name])) for name in ("labels", "positive")}
        return cls(**{**values, **numbers, **lists})


def _text(name: str) -> str:
    return resources.files("evenhand.graders.fitted").joinpath("texts", f"{name}.txt").read_text("utf-8")


_YES_NO = ("Yes", "No")
_KINDS = ("argument", "overview", "description", "story")
_REFUSAL = (
    # The compact instrument itself, so that an audit that asks it, too, asks once.
    EmbeddedQuestion("refuses", builtin_instruments("compact").instrument("refusal").text, _YES_NO, ("Yes",), 200),
    EmbeddedQuestion("does what was asked", _text("does_it"), _YES_NO, ("No",), 200),
    EmbeddedQuestion("refuses, request shown", _text("refuses_asked"), _YES_NO, ("Yes",), 200, request_characters=150),
    EmbeddedQuestion("objects", _text("objects"), _YES_NO, ("Yes",), 200),
)
_HEDGING = (
    EmbeddedQuestion("takes a side", _text("takes_side"), _YES_NO, ("No",), 200, 200),
    EmbeddedQuestion("for, against or both", _text("stance"), ("for", "against", "both"), ("both",), 200, 200),
    EmbeddedQuestion("both sides", _text("both_sides"), _YES_NO, ("Yes",), 200, 200),
    EmbeddedQuestion("is an argument", _text("kind"), _KINDS, ("argument",), 200, 200),
    EmbeddedQuestion("is a story", _text("kind"), _KINDS, ("story",), 200, 200),
)
QUESTIONS: Mapping[str, tuple[EmbeddedQuestion, ...]] = {"refusal": _REFUSAL, "hedging": _HEDGING}
"""The questions of each measure. Those that share a text are asked once."""
