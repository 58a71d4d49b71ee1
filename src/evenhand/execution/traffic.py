"""What goes to and fro between a run and its models, counted as it happens."""

import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from evenhand.execution.answered import Answered
from evenhand.models import Trouble
from evenhand.readings import Failure

_BUCKET = 1.0
"""Seconds whose answers are counted together."""
_WINDOW = 30.0
"""Seconds that a rate looks back."""
_FEWEST, _LONGEST = 5, 300.0
"""A slow model's rate looks back further, until so many answers are in sight or so many seconds are."""
_ENOUGH = 2
"""Answers without which there is no rate yet."""


@dataclass(frozen=True, slots=True)
class Traffic:
    """The traffic of a stage, or of several together, up to one moment."""

    total: int | None = None
    """Requests that there are; None where nobody knows it."""
    by_call: int = 0
    """Requests with a reply that a model was called for."""
    from_ledger: int = 0
    """Requests with a reply that was there already."""
    failed: int = 0
    """Requests that got no reply."""
    last_failure: str = ""
    """Why the latest of them got none."""
    calls: int = 0
    """Calls made, those that came to nothing among them."""
    prompt_tokens: int = 0
    """Of replies by call, as all tokens here: what the ledger holds was counted when it was paid for."""
    completion_tokens: int = 0
    cached_tokens: int = 0
    """Prompt tokens that a prefix cache served."""
    retries: Mapping[Trouble, int] = field(default_factory=dict)
    """Calls that came to nothing and were made again, by what was the trouble."""
    paid: float = 0.0
    """US dollars, for the calls whose price is known."""
    unpriced: int = 0
    """Requests called for whose price is not known."""
    seconds: float = 0.0
    """Since the beginning; after the end, between the two."""
    calls_per_second: float | None = None
    """Requests that a call settled, in the recent past; after the end, in all the time that calls took."""
    tokens_per_second: float | None = None
    """Of prompts and answers together, over the same time."""
    seconds_left: float | None = None
    """At the most: some of what is left may be in the ledger. None while there is nothing to go by."""
    under_way: bool = False

    @property
    def done(self) -> int:
        """Requests that came to something, a reply or a failure."""
        return self.by_call + self.from_ledger + self.failed

    @property
    def cost(self) -> float | None:
        """US dollars for all of it; None where the price of a part is not known."""
        return None if self.unpriced else self.paid

    @property
    def cached_share(self) -> float | None:
        """Share of the prompt tokens that a prefix cache served; None where there are none."""
        return self.cached_tokens / self.prompt_tokens if self.prompt_tokens else None

    def as_json(self) -> dict[str, Any]:
        """Return plain values, rates and sums rounded to what can be meant."""
        return {
            "total": self.total,
            "done": self.done,
            "by_call": self.by_call,
            "from_ledger": self.from_ledger,
            "failed": self.failed,
            "calls": self.calls,
            "retries": {str(trouble): count for trouble, count in sorted(self.retries.items())},
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "cached_tokens": self.cached_tokens,
            "cost": _rounded(self.cost, 6),
            "seconds": round(self.seconds, 3),
            "calls_per_second": _rounded(self.calls_per_second, 3),
            "tokens_per_second": _rounded(self.tokens_per_second, 1),
            "seconds_left": _rounded(self.seconds_left, 1),
        }


def together(parts: Iterable[Traffic]) -> Traffic:
    """Return the traffic of several stages as one.

    The rates are those of the stages under way, which are under way at the same time; the last of them to be done
    says how long it takes.
    """
    parts = list(parts)
    totals = [part.total for part in parts]
    open_ones = [part for part in parts if part.under_way]
    retries: Counter[Trouble] = Counter()
    for part in parts:
        retries.update(part.retries)
    return Traffic(
        total=None if None in totals else sum(total or 0 for total in totals),
        by_call=sum(part.by_call for part in parts),
        from_ledger=sum(part.from_ledger for part in parts),
        failed=sum(part.failed for part in parts),
        last_failure=next((part.last_failure for part in reversed(parts) if part.last_failure), ""),
        calls=sum(part.calls for part in parts),
        prompt_tokens=sum(part.prompt_tokens for part in parts),
        completion_tokens=sum(part.completion_tokens for part in parts),
        cached_tokens=sum(part.cached_tokens for part in parts),
        retries=dict(retries),
        paid=sum(part.paid for part in parts),
        unpriced=sum(part.unpriced for part in parts),
        seconds=max((part.seconds for part in parts), default=0.0),
        calls_per_second=_sum_of_known(part.calls_per_second for part in open_ones),
        tokens_per_second=_sum_of_known(part.tokens_per_second for part in open_ones),
        seconds_left=_longest(part.seconds_left for part in open_ones),
        under_way=bool(open_ones),
    )


class StageMeter:
    """Counts the traffic of one stage.

    Rates are over the time spent calling: the time before a reply from the ledger is left out, so that ten thousand
    of them in a row neither make the model look fast nor, when they are over, slow.
    """

    def __init__(self, total: int | None, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin; a total of 0 is taken as not known."""
        self._total = total or None
        self._clock = clock
        self._began = self._last = clock()
        self._ended: float | None = None
        self._by_call = self._from_ledger = self._failed = self._settled = 0
        self._prompt = self._completion = self._cached = 0
        self._last_failure = ""
        self._retries: Counter[Trouble] = Counter()
        self._paid, self._unpriced = 0.0, 0
        self._calling = 0.0
        # Each bucket is its place in the time spent calling, its answers and its tokens.
        self._buckets: deque[list[int]] = deque()
        self._in_sight = [0, 0]
        self._sight_from = 0.0

    def answered(self, answer: Answered) -> None:
        """Count what one request came to."""
        now = self._clock()
        outcome = answer.outcome
        tokens = 0
        if isinstance(outcome, Failure):
            self._failed += 1
            self._last_failure = outcome.reason
        elif answer.called:
            self._by_call += 1
            tokens = outcome.prompt_tokens + outcome.completion_tokens
            self._prompt += outcome.prompt_tokens
            self._completion += outcome.completion_tokens
            self._cached += outcome.cached_tokens
        else:
            self._from_ledger += 1
        if answer.called:
            self._settled += 1
            if answer.cost is None:
                self._unpriced += 1
            else:
                self._paid += answer.cost
            self._calling += now - self._last
            self._put_in_sight(tokens)
        self._last = now

    def tried_in_vain(self, trouble: Trouble) -> None:
        """Count a call that came to nothing and is made again."""
        now = self._clock()
        self._retries[trouble] += 1
        self._calling += now - self._last
        self._last = now

    def end(self) -> None:
        """Stop the clock."""
        self._ended = self._clock()

    def read(self) -> Traffic:
        """Return the traffic up to now."""
        done = self._by_call + self._from_ledger + self._failed
        calls, tokens = self._rates()
        left: float | None = None
        if self._total is not None and done <= self._total and self._ended is None:
            remaining = self._total - done
            left = remaining / calls if remaining and calls else None if remaining else 0.0
        return Traffic(
            total=self._total if self._total is None or done <= self._total else None,
            by_call=self._by_call,
            from_ledger=self._from_ledger,
            failed=self._failed,
            last_failure=self._last_failure,
            calls=self._settled + self._retries.total(),
            prompt_tokens=self._prompt,
            completion_tokens=self._completion,
            cached_tokens=self._cached,
            retries=dict(self._retries),
            paid=self._paid,
            unpriced=self._unpriced,
            seconds=(self._clock() if self._ended is None else self._ended) - self._began,
            calls_per_second=calls,
            tokens_per_second=tokens,
            seconds_left=left,
            under_way=self._ended is None,
        )

    def _put_in_sight(self, tokens: int) -> None:
        place = int(self._calling / _BUCKET)
        buckets, seen = self._buckets, self._in_sight
        if not buckets or buckets[-1][0] != place:
            buckets.append([place, 0, 0])
        buckets[-1][1] += 1
        buckets[-1][2] += tokens
        seen[0] += 1
        seen[1] += tokens
        while len(buckets) > 1:
            oldest, answers, its_tokens = buckets[0]
            age = (place - oldest) * _BUCKET
            if age <= _WINDOW or (age <= _LONGEST and seen[0] - answers < _FEWEST):
                return
            buckets.popleft()
            seen[0] -= answers
            seen[1] -= its_tokens
            self._sight_from = (oldest + 1) * _BUCKET

    def _rates(self) -> tuple[float | None, float | None]:
        if self._ended is not None:
            answers, tokens = self._settled, self._prompt + self._completion
            span = self._calling
        else:
            answers, tokens = self._in_sight
            span = self._calling + self._clock() - self._last - self._sight_from
        return (answers / span, tokens / span) if answers >= _ENOUGH and span > 0 else (None, None)


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)


def _sum_of_known(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _longest(values: Iterable[float | None]) -> float | None:
    values = list(values)
    known = [value for value in values if value is not None]
    return max(known) if known and len(known) == len(values) else None
