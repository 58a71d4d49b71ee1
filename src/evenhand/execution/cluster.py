"""Work on many machines: items to a pool of workers, by Ray Data."""

import importlib
import json
import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from evenhand.errors import EvenhandError, InputError


@dataclass(frozen=True, slots=True)
class Cluster:
    """Where to work."""

    address: str | None = None
    """Of a running cluster (``auto``, ``HOST:PORT`` or ``ray://HOST:PORT``); None begins one on this machine."""
    workers: int = 2
    """Processes that work at the same time; each calls with the whole concurrency of its models."""

    def __post_init__(self) -> None:
        if self.workers < 1:
            raise InputError(f"is {self.workers}", field="--ray-workers", way_out="give 1 or more")


class Worker(Protocol):
    """Works on one item after another; made once in a process of its own."""

    def __call__(self, item: dict[str, Any]) -> dict[str, Any]:
        """Return what an item came to; both are plain values that JSON holds."""


def ray_data() -> Any:  # noqa: ANN401  (a module that may not be there)
    """Return the module ``ray.data``; raises ``EvenhandError`` where Ray is not installed."""
    try:
        return importlib.import_module("ray.data")
    except ImportError as error:
        raise EvenhandError(
            "--engine ray needs Ray, which is not installed. The way out: pip install 'evenhand[ray]' on every machine"
            " of the cluster."
        ) from error


@contextmanager
def connected(address: str | None) -> Iterator[Any]:
    """Give the module ``ray`` while this process is connected to a cluster.

    Args:
        address: of a running cluster (``auto``, ``HOST:PORT`` or ``ray://HOST:PORT``); None begins one on this machine.
    """
    ray_data()
    ray = importlib.import_module("ray")
    try:
        ray.init(
            address=address,
            logging_level=logging.ERROR,
            log_to_driver=False,
            configure_logging=False,
            include_dashboard=False if address is None else None,
        )
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise EvenhandError(
            f"no Ray cluster answers at {address or 'this machine'} ({error}). The way out: start one with"
            " `ray start --head`, or leave --ray-address away."
        ) from error
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    context.verbose_stats_logs = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    try:
        yield ray
    finally:
        ray.shutdown()


def over_workers(
    ray: Any,  # noqa: ANN401  (the module)
    items: Sequence[dict[str, Any]],
    make: Callable[..., Worker],
    arguments: Sequence[Any],
    *,
    workers: int,
    processors: float = 1.0,
) -> Iterator[dict[str, Any]]:
    """Yield what the workers made of the items, as it comes in.

    A worker that is lost is started anew, and its item is given out again. An error of ours that a worker raises is
    raised here.

    Args:
        ray: what ``connected`` gave.
        items: each goes to one worker as a whole.
        make: called with ``arguments`` in each worker's process.
        arguments: what can be pickled.
        workers: how many at the same time.
        processors: that each of them takes up.
    """
    data = ray.data.from_items([{"item": json.dumps(item)} for item in items], override_num_blocks=len(items))
    done = data.map_batches(
        _Batch,
        fn_constructor_args=(make, tuple(arguments), str(Path.cwd())),
        batch_size=1,
        compute=ray.data.ActorPoolStrategy(size=min(workers, len(items))),
        num_cpus=processors,
    )
    try:
        for row in done.iter_rows():
            yield json.loads(row["result"])
    except ray.exceptions.RayError as error:
        raise _ours(error) from error


class _Batch:
    """A worker in the shape in which Ray Data wants it."""

    def __init__(self, make: Callable[..., Worker], arguments: tuple[Any, ...], folder: str) -> None:
        os.chdir(folder)  # So that a path means what it means where the command was given.
        self._worker = make(*arguments)

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[str]]:
        return {"result": [json.dumps(self._worker(json.loads(str(item)))) for item in batch["item"]]}


def _ours(error: BaseException) -> BaseException:
    """Return the error of ours that a worker ended with, or else the one that Ray raised."""
    cause: BaseException | None = error
    while cause is not None:
        inner = getattr(cause, "cause", None)
        if isinstance(cause, EvenhandError):
            return cause
        cause = inner if isinstance(inner, BaseException) else cause.__cause__
    return EvenhandError(f"the cluster gave up: {error}")
