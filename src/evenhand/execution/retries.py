"""One policy of trying again, for every kind of model."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from evenhand.instruments import Request
from evenhand.models import Model, TransportError
from evenhand.readings import Reply


@dataclass(frozen=True, slots=True)
class Patience:
    """How often and how long to wait for what may pass: a limit of requests, a busy server, a lost connection."""

    tries: int = 6
    first_wait: float = 1.0
    """Seconds before the second try; each further wait is twice as long, up to ``longest_wait``."""
    longest_wait: float = 60.0
    longest_asked: float = 600.0
    """Seconds that a server's ``Retry-After`` is heeded up to; a request told to wait longer fails."""


async def answer_with_patience(
    model: Model, request: Request, patience: Patience, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
) -> Reply:
    """Return the model's reply, asking again after a ``TransportError`` that may pass.

    Waits are drawn between half and the whole of their length, so that many workers don't come back at once; what
    the server asks for is the least.
    """
    wait = patience.first_wait
    for left in range(patience.tries - 1, -1, -1):
        try:
            return await model.answer(request)
        except TransportError as error:
            asked = error.wait or 0.0
            if not error.passing or not left or asked > patience.longest_asked:
                raise
            await sleep(max(asked, wait * random.uniform(0.5, 1.0)))  # noqa: S311
            wait = min(2 * wait, patience.longest_wait)
    raise AssertionError("a patience of no tries")
