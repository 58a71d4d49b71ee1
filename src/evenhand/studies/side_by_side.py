"""Several models at work at once, so that none waits for another."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from evenhand.execution import StoppedError, drain_running
from evenhand.models import Model

T = TypeVar("T")


def side_by_side(models: Sequence[Model], work: Callable[[Model], Awaitable[T]], *, keep_open: bool = False) -> list[T]:
    """Return what each model's work comes to, in the order of the models.

    Models that run on this machine take turns with one another, since they would only slow each other down; every
    other model goes its own way. A model is closed as soon as its work is over, unless it is to be kept open. Where the
    work of one ends with an error, the others are asked to stop, so that their calls under way are kept, and then the
    error is raised.
    """
    return asyncio.run(_all(models, work, keep_open))


async def _all(models: Sequence[Model], work: Callable[[Model], Awaitable[T]], keep_open: bool) -> list[T]:
    this_machine = asyncio.Lock()
    errors: list[BaseException] = []

    async def one(model: Model) -> T:
        try:
            return await work(model)
        except BaseException as error:
            errors.append(error)
            drain_running()
            raise
        finally:
            if not keep_open:
                await asyncio.to_thread(model.close)

    async def in_turn(model: Model) -> T:
        if not model.local:
            return await one(model)
        async with this_machine:
            if errors:  # Whoever waited for this machine does not begin once another has ended with an error.
                raise StoppedError("another model's work ended with an error")
            return await one(model)

    tasks = [asyncio.create_task(in_turn(model)) for model in models]
    await asyncio.gather(*tasks, return_exceptions=True)
    if errors:
        raise errors[0]
    return [task.result() for task in tasks]
