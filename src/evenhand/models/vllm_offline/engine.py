"""vLLM's asynchronous engine in a thread of its own, whose event loop outlives the stages of a run."""

import asyncio
import importlib
import os
import threading
from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar

from evenhand.errors import InputError

T = TypeVar("T")

_QUIET = {
    # A process that is forked from one with threads may never come up; vLLM's manual tells to spawn.
    "VLLM_WORKER_MULTIPROC_METHOD": "spawn",
    "VLLM_LOGGING_LEVEL": "ERROR",
    # vLLM would tell its makers of each engine that is started.
    "VLLM_NO_USAGE_STATS": "1",
}


class EngineThread:
    """A thread with an event loop, in which the engine is made and asked."""

    def __init__(self, name: str) -> None:
        """Take the thread's name; it begins with the first work."""
        self._name = name
        self._begin = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    async def do(self, work: Coroutine[Any, Any, T]) -> T:
        """Return what the work comes to in the thread; a cancelled wait cancels it there."""
        with self._begin:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name=self._name, daemon=True)
                self._thread.start()
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
        return await asyncio.wrap_future(future)

    def end(self, last: Coroutine[Any, Any, None]) -> None:
        """Do a last piece of work in the thread, and end it."""
        with self._begin:
            loop, thread, self._loop, self._thread = self._loop, self._thread, None, None
        if loop is None or thread is None:
            last.close()
            return
        try:
            asyncio.run_coroutine_threadsafe(last, loop).result()
        finally:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()


def make_engine(arguments: Mapping[str, Any], name: str) -> Any:  # noqa: ANN401  (vLLM's AsyncLLM)
    """Return vLLM's engine, with the model loaded.

    Args:
        arguments: of vLLM's ``AsyncEngineArgs``.
        name: of the model, for errors.

    Raises ``InputError`` where vLLM does not take the arguments or can't load the model.
    """
    for variable, value in _QUIET.items():
        os.environ.setdefault(variable, value)
    try:
        vllm = importlib.import_module("vllm")
        made = vllm.AsyncEngineArgs(**arguments)
    except ImportError as error:
        raise InputError(
            f"{name}: vLLM is not whole ({error})", way_out="install it anew, as its manual says for this machine"
        ) from error
    except TypeError as error:
        raise InputError(
            f"is not taken by this vLLM ({error})",
            source=name,
            field="engine",
            way_out="use the names of vLLM's engine arguments, written with underscores",
        ) from error
    try:
        return vllm.AsyncLLMEngine.from_engine_args(made)
    except Exception as error:
        raise InputError(
            f"can't be loaded by vLLM ({shown(error)})",
            source=name,
            way_out=(
                "see what vLLM wrote above (on a cluster: in the worker's log); where memory is short, give"
                " engine = { max_model_len = 8192, gpu_memory_utilization = 0.8 } in a file for --models"
            ),
        ) from error


def shown(error: BaseException) -> str:
    """Return an error's text on one line, its end cut off where it is long."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return text if len(text) <= 400 else f"{text[:399]}…"
