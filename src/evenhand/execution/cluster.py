"""Work on many machines: items to a pool of workers, by Ray Data."""

import importlib
import json
import logging
import os
import re
import socket
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
    gpus: float = 0.0
    """That each worker has to itself, for a grader that it runs; below 1 for several workers to a GPU."""

    def __post_init__(self) -> None:
        if not (0 <= self.gpus < 1 or float(self.gpus).is_integer()) or self.gpus < 0:
            raise InputError(f"is {self.gpus:g}", field="--ray-gpus", way_out="give a whole number, or a share below 1")
        if self.workers < 1:
            raise InputError(f"is {self.workers}", field="--ray-workers", way_out="give 1 or more")


_ERROR = "evenhand_error"


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
    # What goes wrong comes as an exception; what Ray's core writes beside it, at every run, would only frighten.
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
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
    logging.getLogger("ray.data").setLevel(logging.CRITICAL)  # Errors are raised, too.
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
    gpus: float = 0.0,
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
        gpus: that each of them has to itself.
    """
    data = ray.data.from_items([{"item": json.dumps(item)} for item in items], override_num_blocks=len(items))
    done = data.map_batches(
        _Batch,
        fn_constructor_args=(make, tuple(arguments), str(Path.cwd())),
        batch_size=1,
        compute=ray.data.ActorPoolStrategy(size=min(workers, len(items))),
        num_cpus=processors,
        num_gpus=gpus or None,
    )
    try:
        for row in done.iter_rows():
            result = json.loads(row["result"])
            if _ERROR in result:
                raise EvenhandError(result[_ERROR])
            yield result
    except ray.exceptions.RayError as error:
        raise error_of_worker(error) from error


class _Batch:
    """A worker in the shape in which Ray Data wants it."""

    def __init__(self, make: Callable[..., Worker], arguments: tuple[Any, ...], folder: str) -> None:
        self._make, self._arguments, self._folder = make, arguments, folder
        self._worker: Worker | None = None

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[str]]:
        return {"result": [json.dumps(self._result(json.loads(str(item)))) for item in batch["item"]]}

    def _result(self, item: dict[str, Any]) -> dict[str, Any]:
        """Return what the worker made of an item, or the error of ours that it ended with: Ray would wrap it up."""
        try:
            if self._worker is None:
                self._enter()
                self._worker = self._make(*self._arguments)
            return self._worker(item)
        except EvenhandError as error:
            return {_ERROR: str(error)}

    def _enter(self) -> None:
        """Go where the command was given, so that a path means here what it means there."""
        try:
            os.chdir(self._folder)
        except OSError as error:  # A machine that came to the cluster after all were looked at.
            raise EvenhandError(
                f"{socket.gethostname()}, a machine of the cluster, has no folder {self._folder}. The way out: give the"
                " command in a folder that all machines of the cluster share; what was asked is kept."
            ) from error


def error_of_worker(error: Exception) -> EvenhandError:
    """Return the error of ours that Ray tells of, or else one that says what Ray says."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    ours = re.search(r"^evenhand\.[\w.]+Error: (.+)$", text, re.MULTILINE)
    return EvenhandError(ours[1] if ours else f"the cluster gave up: {text}")
