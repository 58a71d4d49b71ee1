"""One policy of trying again, for every kind of model."""

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from evenhand.models import ContextOverflowError, TransportError, Trouble

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Patience:
    """How often and how long to wait for what may pass: a limit of requests, a busy server, a lost connection."""

    tries: int = 6
    """Calls that may come to nothing for the same reason, before a request fails."""
    rate_limit_tries: int = 12
    """The same where the model says that it is asked too often: that passes, given time."""
    bad_reply_tries: int = 3
    """The same where something came back that is no reply: it may have been billed."""
    first_wait: float = 1.0
    """Seconds before the second try; each further wait is twice as long, up to ``longest_wait``."""
    longest_wait: float = 60.0
    longest_asked: float = 600.0
    """Seconds that a server's ``Retry-After`` is heeded up to; a request told to wait longer fails."""

    def allows(self, trouble: Trouble) -> int:
        """Return how many calls may come to nothing for that reason."""
        if trouble is Trouble.RATE_LIMIT:
            return max(self.tries, self.rate_limit_tries)
        return min(self.tries, self.bad_reply_tries) if trouble is Trouble.BAD_REPLY else self.tries


async def answer_with_patience(
    call: Callable[[], Awaitable[T]],
    patience: Patience,
    in_vain: Callable[[Trouble, float], None] = lambda _trouble, _wait: None,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> tuple[T, int]:
    """Return what a call gives, and how many calls it took; after a ``TransportError`` that may pass it is made again.

    Waits are drawn between half and the whole of their length, so that many workers don't come back at once; what
    the server asks for is the least. The error that is given up on has the number of calls as ``tries``.
    """
    wait = patience.first_wait
    counts: Counter[Trouble] = Counter()
    while True:
        try:
            return await call(), counts.total() + 1
        except ContextOverflowError as error:
            error.tries = counts.total() + 1
            raise
        except TransportError as error:
            counts[error.trouble] += 1
            error.tries = counts.total()
            asked = error.wait or 0.0
            spent = counts[error.trouble] >= patience.allows(error.trouble)
            if not error.passing or spent or asked > patience.longest_asked:
                raise
            pause = max(asked, wait * random.uniform(0.5, 1.0))  # noqa: S311
            in_vain(error.trouble, pause)
            wait = min(2 * wait, patience.longest_wait)
        await sleep(pause)
