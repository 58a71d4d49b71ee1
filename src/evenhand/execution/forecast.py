"""What requests would take, before any is sent: calls, tokens, money and time."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

from evenhand.execution.ledger import Entry, Ledger
from evenhand.execution.tokens import MARGIN, estimate_text, estimate_tokens, texts_of
from evenhand.instruments import Request
from evenhand.models import Limits, Model, Price

TYPICAL_ANSWER = 450
"""Tokens that an answer is expected to have where the ledger tells nothing better and the limit allows it: within a
fifth of the mean of 500 answers that six chat models gave on political questions (IssueBench), at every limit from 64
to 2,048."""
SHARE_WITH_STOPS = 0.4
"""Share of the limit that is expected where an answer also ends at a text it may not write. Ratings do, after 10 of 40
tokens where they are begun for the model, and 16 where they are not."""
SECOND_CALLS = 2
"""Calls that may follow one whose answer is begun for the model, to tell 1 from 10 for either output."""
SHARE_OF_THINKING = 0.5
"""Share of what a model is given for thinking that it is expected to use."""
LEAST_CACHED = 1024
"""Tokens that a common beginning must have for a provider's prompt cache to serve it; models on this machine serve
any."""

_Shape: TypeAlias = tuple[bool, int, bool, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class StageForecast:
    """What one stage of a run would take of one model."""

    stage: str
    model: str
    """How the user called it."""
    requests: int
    """How many there are; each is in the ledger, a repetition, or a call."""
    in_ledger: int
    repeated: int
    calls: int
    begun: int
    """Calls whose answer is begun for the model and read from probabilities: ``SECOND_CALLS`` may follow each."""
    tokens_in: int
    """Of the calls' prompts, estimated."""
    tokens_in_begun: int
    """Of these, in prompts whose answer is begun."""
    tokens_out: int
    """Of the calls' answers, expected."""
    limits_out: int
    """Of the calls' answers, if every one ran to its limit."""
    thinking: int
    """Tokens that the model is given for thinking in each call, on top of the request's limit."""
    cacheable: int
    """Prompt tokens that a prompt cache could serve, since the request before began alike."""
    seen: int
    """Replies in the ledger that told how long prompts and answers are; 0 where nothing but the estimate did."""
    price: Price | None
    limits: Limits

    @property
    def most_calls(self) -> int:
        """With all second calls that may follow."""
        return self.calls + SECOND_CALLS * self.begun

    @property
    def most_tokens_in(self) -> int:
        """Of the prompts of all these calls, with the margin."""
        return round((self.tokens_in + SECOND_CALLS * self.tokens_in_begun) * MARGIN)

    @property
    def most_tokens_out(self) -> int:
        """Of the answers of all these calls, if every one ran to its limit; second calls get one token to answer."""
        return self.limits_out + SECOND_CALLS * self.begun * (1 + self.thinking)

    @property
    def cacheable_share(self) -> float:
        """Share of the calls' prompt tokens that a prompt cache could serve."""
        return self.cacheable / self.tokens_in if self.tokens_in else 0.0

    @property
    def cost(self) -> float | None:
        """US dollars expected, with a prompt cache that serves all it can; None where the price is not known."""
        if not self.calls:
            return 0.0
        return self.price.of(self.tokens_in, self.cacheable, self.tokens_out) if self.price else None

    @property
    def most_cost(self) -> float | None:
        """US dollars for ``most_tokens_in`` and ``most_tokens_out`` without any help of a cache, or None."""
        if not self.calls:
            return 0.0
        return self.price.of(self.most_tokens_in, 0, self.most_tokens_out) if self.price else None

    @property
    def hours(self) -> float | None:
        """How long the model's limits make it take at least; None where there are none."""
        needed = [
            amount / limit
            for amount, limit in (
                (self.calls, self.limits.requests_per_minute),
                (self.tokens_in + self.tokens_out, self.limits.tokens_per_minute),
            )
            if limit
        ]
        return max(needed) / 60 if needed else None


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a run would take, stage by stage."""

    stages: tuple[StageForecast, ...]

    @property
    def calls(self) -> int:
        """Calls of all models."""
        return sum(stage.calls for stage in self.stages)

    @property
    def most_calls(self) -> int:
        """Calls of all models, with all second calls that may follow."""
        return sum(stage.most_calls for stage in self.stages)

    @property
    def in_ledger(self) -> int:
        """Requests that the ledger has the reply to."""
        return sum(stage.in_ledger for stage in self.stages)

    @property
    def cost(self) -> float | None:
        """US dollars expected; None where the price of a model that would be called is not known."""
        return _sum([stage.cost for stage in self.stages])

    @property
    def most_cost(self) -> float | None:
        """US dollars at most; None where the price of a model that would be called is not known."""
        return _sum([stage.most_cost for stage in self.stages])

    @property
    def unpriced(self) -> tuple[str, ...]:
        """The models that would be called and whose price is not known."""
        return tuple(dict.fromkeys(stage.model for stage in self.stages if stage.calls and stage.price is None))

    @property
    def hours(self) -> float | None:
        """How long the most limited model takes at least; None where there are no limits."""
        by_model: dict[str, float] = {}
        for stage in self.stages:
            if stage.hours is not None:
                by_model[stage.model] = by_model.get(stage.model, 0.0) + stage.hours
        return max(by_model.values(), default=None)


@dataclass(slots=True)
class _Answers:
    """What is known of the answers to requests of one shape."""

    calls: int = 0
    seen: int = 0
    tokens_seen: int = 0


@dataclass(slots=True)
class StageForecaster:
    """Adds up one stage, request by request; of the requests it keeps the last one's text alone."""

    stage: str
    model: Model
    ledger: Ledger
    called: set[int] = field(default_factory=set)
    """Half of the key of each request that would be called for; give several stages the same set, since a request
    is asked once in a run."""
    _requests: int = 0
    _in_ledger: int = 0
    _calls: int = 0
    _begun: int = 0
    _tokens_in: int = 0
    _tokens_in_begun: int = 0
    _cacheable: float = 0.0
    _before: str = ""
    _prompts_seen: int = 0
    _prompts_estimated: int = 0
    _answers: dict[_Shape, _Answers] = field(default_factory=dict)

    def add(self, key: str, request: Request) -> Entry | None:
        """Count a request, in the order of sending, and return what the ledger has for it."""
        self._requests += 1
        shape: _Shape = (bool(request.messages), request.max_tokens, request.top_logprobs > 0, request.stop)
        answers = self._answers.setdefault(shape, _Answers())
        entry = self.ledger.find(key)
        if entry:
            self._in_ledger += 1
            self._learn(request, entry, answers)
            return entry
        half = int(key[:16], 16)
        if half not in self.called:
            self.called.add(half)
            answers.calls += 1
            self._count(request)
        return None

    def forecast(self) -> StageForecast:
        """Return what was added up."""
        # What this very model made of this very kind of prompt tells more than the length of the text.
        scale = self._prompts_seen / self._prompts_estimated if self._prompts_seen else 1.0
        thinking = self.model.thinking_tokens
        return StageForecast(
            stage=self.stage,
            model=self.model.name,
            requests=self._requests,
            in_ledger=self._in_ledger,
            repeated=self._requests - self._in_ledger - self._calls,
            calls=self._calls,
            begun=self._begun,
            tokens_in=round(self._tokens_in * scale),
            tokens_in_begun=round(self._tokens_in_begun * scale),
            tokens_out=round(
                sum(known.calls * _expected(shape, known, thinking) for shape, known in self._answers.items())
            ),
            limits_out=sum(known.calls * (shape[1] + thinking) for shape, known in self._answers.items()),
            thinking=thinking,
            cacheable=round(self._cacheable * scale),
            seen=sum(known.seen for known in self._answers.values()),
            price=self.model.price,
            limits=self.model.limits,
        )

    def _learn(self, request: Request, entry: Entry, answers: _Answers) -> None:
        if entry.reply.prompt_tokens:
            self._prompts_seen += entry.reply.prompt_tokens
            self._prompts_estimated += estimate_tokens(request)
        if entry.reply.completion_tokens:
            answers.seen += 1
            answers.tokens_seen += entry.reply.completion_tokens

    def _count(self, request: Request) -> None:
        self._calls += 1
        tokens = estimate_tokens(request)
        self._tokens_in += tokens
        if _may_be_followed(request):
            self._begun += 1
            self._tokens_in_begun += tokens
        text = "\0".join(texts_of(request))
        common = estimate_text(text[: common_beginning(self._before, text)])
        self._before = text
        if self.model.local or common >= LEAST_CACHED:
            self._cacheable += common


def forecast(requests: Iterable[Request], model: Model, ledger: Ledger, *, stage: str = "") -> StageForecast:
    """Return what it would take to carry requests out; they are drawn one at a time and none is kept."""
    adding = StageForecaster(stage, model, ledger)
    for request in requests:
        adding.add(request.key(model.identity), request)
    return adding.forecast()


def common_beginning(first: str, second: str) -> int:
    """Return how many characters two texts have in common from their beginning.

    >>> common_beginning("prompt one", "prompt two"), common_beginning("", "a"), common_beginning("ab", "abc")
    (7, 0, 2)
    """
    # By halves, since comparing slices is much faster than comparing characters.
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _may_be_followed(request: Request) -> bool:
    begun = bool(request.messages) and request.messages[-1].role == "assistant"
    # A second call asks for a single token, and nothing follows it.
    return begun and request.top_logprobs > 0 and request.max_tokens > 1


def _expected(shape: _Shape, known: _Answers, thinking: int) -> float:
    """Return how many tokens an answer to a request of this shape is expected to have."""
    _, limit, _, stops = shape
    if known.seen:
        return known.tokens_seen / known.seen
    return (limit * SHARE_WITH_STOPS if stops else min(limit, TYPICAL_ANSWER)) + thinking * SHARE_OF_THINKING


def _sum(costs: list[float | None]) -> float | None:
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None
