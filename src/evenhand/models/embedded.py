"""GGUF models in this process, through llama.cpp."""

import asyncio
import importlib.metadata
import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from evenhand.errors import InputError
from evenhand.instruments import Request
from evenhand.models.control_tokens import defuse
from evenhand.models.model import ContextOverflowError, Limits, ModelRole, Price, TransportError
from evenhand.readings import Reply, TokenPosition
from evenhand.readings.thinking import answer_alone

# One slot keeps a grader's prefix cache whole and its figures repeatable; four make a subject write faster.
_SLOTS = {ModelRole.SUBJECT: 4, ModelRole.GRADER: 1}
_CONTEXT = {ModelRole.SUBJECT: 4096, ModelRole.GRADER: 8192}
"""Tokens of prompt and answer together, a slot."""


class EmbeddedModel:
    """A model that runs in this process. It is loaded by the first request."""

    prefills = True
    local = True
    thinking_tokens = 0
    limits = Limits()
    price: Price | None = Price(0.0, 0.0, 0.0)

    def __init__(self, name: str, sha256: str, weights: Callable[[], Path], role: ModelRole) -> None:
        """Take the weights' hash, and how to get at them once they are needed."""
        self.name = name
        self.sha256 = sha256
        self.runtime = f"xllamacpp {importlib.metadata.version('xllamacpp')}"
        self.identity = f"gguf sha256:{sha256} on {self.runtime}"
        self.concurrency = _SLOTS[role]
        self.context = _CONTEXT[role]
        self._weights = weights
        self._server: Any = None
        self._lock = asyncio.Lock()
        self._threads = self._pool()

    async def answer(self, request: Request) -> Reply:
        """Return the model's reply."""
        loop = asyncio.get_running_loop()
        async with self._lock:
            if self._server is None:
                self._server = await loop.run_in_executor(self._threads, self._load)
        return await loop.run_in_executor(self._threads, self._ask, request)

    async def rest(self) -> None:
        """Nothing belongs to the event loop."""

    def describe(self) -> dict[str, Any]:
        """Return what a record says of the model."""
        return {
            "name": self.name,
            "kind": "embedded",
            "weights_sha256": self.sha256,
            "runtime": self.runtime,
            "context_tokens": self.context,
            "parallel_slots": self.concurrency,
        }

    def close(self) -> None:
        """Unload the model; a request after that loads it anew."""
        self._server = None
        self._threads.shutdown(wait=True)
        self._threads = self._pool()

    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self.concurrency, thread_name_prefix=f"model-{self.name}")

    def _load(self) -> Any:  # noqa: ANN401  (the runtime has no types)
        # Threads that wait by spinning starve each other when two processes share the cores: nine times slower.
        # OpenMP reads this once, when the runtime is loaded.
        os.environ.setdefault("OMP_WAIT_POLICY", "passive")
        # Loading the runtime takes a while; a run that finds all its replies in the ledger never needs it.
        import xllamacpp  # noqa: PLC0415

        path = self._weights()
        params = xllamacpp.CommonParams()
        params.model.path = str(path)
        params.n_ctx = self.context * self.concurrency
        params.n_parallel = self.concurrency
        params.verbosity = -1
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = _threads_here()
        # The runtime also listens on the loopback interface: let nobody in by accident.
        params.api_keys = [os.urandom(24).hex()]
        try:
            return xllamacpp.Server(params)
        except RuntimeError as error:
            raise InputError(
                f"can't be loaded as a model ({error})",
                source=str(path),
                way_out="check that the file is whole and of a kind that llama.cpp runs",
            ) from error

    def _ask(self, request: Request) -> Reply:
        asked: dict[str, Any] = {
            "max_tokens": request.max_tokens,
            "temperature": request.temperature,
            "seed": request.seed,
            "cache_prompt": True,
        }
        if request.stop:
            asked["stop"] = list(request.stop)
        if request.messages:
            asked["messages"] = [
                {"role": message.role, "content": defuse(message.content)} for message in request.messages
            ]
            if request.top_logprobs:
                asked |= {"logprobs": True, "top_logprobs": request.top_logprobs}
            answer = self._server.handle_chat_completions(asked)
        else:
            asked["prompt"] = defuse(request.prompt)
            if request.top_logprobs:
                asked["logprobs"] = request.top_logprobs
            answer = self._server.handle_completions(asked)
        begun = asked["messages"][-1] if request.messages else {"role": ""}
        reply = _reply(json.loads(answer) if isinstance(answer, str) else answer, self.name)
        return answer_alone(reply, begun["content"] if begun["role"] == "assistant" else "")


def _threads_here() -> int:
    """Return how many threads compute: one a core, or as many as the usual variable of OpenMP allows."""
    cores = max(1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
    allowed = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    return min(cores, int(allowed)) if allowed.isdecimal() and int(allowed) > 0 else cores


def _reply(answer: dict[str, Any], name: str) -> Reply:
    if "error" in answer:
        error = answer["error"]
        message = error.get("message", "no reason given") if isinstance(error, dict) else str(error)
        if isinstance(error, dict) and error.get("type") == "exceed_context_size_error":
            raise ContextOverflowError(
                f"the request has {error.get('n_prompt_tokens')} tokens and the context of {name} holds"
                f" {error.get('n_ctx')}"
            )
        raise TransportError(f"{name}: {message}")
    choice = answer["choices"][0]
    message = choice.get("message") or {"content": choice.get("text")}
    usage = answer.get("usage", {})
    positions = tuple(
        TokenPosition(
            place["token"],
            place["logprob"],
            tuple((entry["token"], entry["logprob"]) for entry in place["top_logprobs"]),
        )
        for place in (choice.get("logprobs") or {}).get("content") or ()
    )
    return Reply(
        text=message.get("content") or "",
        finish=choice.get("finish_reason") or "stop",
        model=name,
        positions=positions,
        prompt_tokens=usage.get("prompt_tokens", 0),
        completion_tokens=usage.get("completion_tokens", 0),
        cached_tokens=(usage.get("prompt_tokens_details") or {}).get("cached_tokens", 0),
        thinking=(message.get("reasoning_content") or "").strip(),
    )
