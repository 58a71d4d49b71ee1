"""Several models at work at once, so that none waits for another."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from evenhand.execution import drain_running
from evenhand.models import Model

T = TypeVar("T")


def side_by_side(models: Sequence[Model], work: Callable[[Model], Awaitable[T]]) -> list[T]:
    """Return what each model's work comes to, in the order of the models.

    Models that run on this machine take turns with one another, since they would only slow each other down; every
    other model goes its own way. A model is closed as soon as its work is over. Where the work of one ends with an
    error, the others are asked to stop, so that their calls under way are kept, and then the error is raised.
    """
    return asyncio.run(_all(models, work))


async def _all(models: Sequence[Model], work: Callable[[Model], Awaitable[T]]) -> list[T]:
    this_machine = asyncio.Lock()

    async def one(model: Model) -> T:
        try:
            if not model.local:
                return await work(model)
            async with this_machine:
                return await work(model)
        finally:
            await asyncio.to_thread(model.close)

    errors: list[BaseException] = []

    def note(task: asyncio.Task[T]) -> None:
        if not task.cancelled() and (error := task.exception()):
            errors.append(error)
            drain_running()

    tasks = [asyncio.create_task(one(model)) for model in models]
    for task in tasks:
        task.add_done_callback(note)
    await asyncio.gather(*tasks, return_exceptions=True)
    if errors:
        raise errors[0]
    return [task.result() for task in tasks]
