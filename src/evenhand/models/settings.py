"""Settings of models, from a small TOML file: one table a model, under the name by which it is called.

    ["openai:gpt-5-mini"]
    key_variable = "OPENAI_API_KEY"
    without = ["seed", "temperature"]
    max_tokens_field = "max_completion_tokens"
    thinking_tokens = 4096

The file never holds a key: it names environment variables, which are read when a request is sent.
"""

import hashlib
import json
import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from evenhand.errors import InputError
from evenhand.models.catalog import EMBEDDED_MODELS
from evenhand.models.model import Limits, Price
from evenhand.models.secrets import holds_key, is_variable, names_secret

Prefill: TypeAlias = Literal["continue", "plain"]

CONCURRENCY = 256
TOP_LOGPROBS = 20
"""The most that OpenAI and, unless told otherwise, vLLM report at a position."""
TIMEOUT = 600.0
BATCH_DISCOUNT = 0.5
"""What OpenAI and others give."""

SENT = ("model", "messages", "prompt", "max_tokens", "temperature", "seed", "stop", "logprobs", "top_logprobs")
"""The fields that a request is made of."""
_MAY_BE_LEFT_OUT = ("temperature", "seed", "stop", "logprobs", "top_logprobs")
_NOT_FOR_BODY = (
    *SENT,
    "max_completion_tokens",
    "continue_final_message",
    "add_generation_prompt",
    "n",
    "stream",
    "echo",
)
_NOT_FOR_HEADERS = ("content-type", "content-length", "content-encoding", "transfer-encoding", "connection", "host")
_NOT_FOR_ENGINE = ("model", "max_logprobs", "logprobs_mode", "tokenizer_revision", "hf_token")
_ONLY_HOW_FAST = (
    *("tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size", "distributed_executor_backend"),
    *("gpu_memory_utilization", "kv_cache_memory_bytes", "cpu_offload_gb", "swap_space", "max_model_len"),
    *("max_num_seqs", "max_num_batched_tokens", "enable_prefix_caching", "enforce_eager", "load_format", "revision"),
)
"""Of the engine's arguments: those that determine no reply, or that the model's identity tells of by itself."""
_EXAMPLES = "openai:gpt-4.1-mini, http://localhost:8000/v1#my-model"


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """What a user says of a model; what is not said stays as it is without a settings file."""

    key_variable: str | None = None
    """The environment variable with the key."""
    replicas: tuple[str, ...] = ()
    """Further addresses at which the same model is served."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Sent with each request; a value that begins with $ names an environment variable."""
    body: Mapping[str, Any] = field(default_factory=dict)
    """Merged into each request's body."""
    without: tuple[str, ...] = ()
    """Fields that the endpoint rejects."""
    max_tokens_field: str = "max_tokens"
    """What the endpoint calls the token limit."""
    thinking_tokens: int = 0
    """Added to each request's token limit, for a model that thinks before it answers."""
    prefill: Prefill | None = None
    """How a last message of the assistant's is gone on with: ``continue`` needs to be asked for it (vLLM, SGLang),
    ``plain`` does it by itself (llama.cpp's server). None: it is not known that it does."""
    top_logprobs: int = TOP_LOGPROBS
    """The most tokens that the endpoint reports at a position."""
    concurrency: int = CONCURRENCY
    """The most requests under way at once."""
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    timeout: float = TIMEOUT
    """Seconds after which a request is given up."""
    price: Price | None = None
    batch_discount: float = BATCH_DISCOUNT
    """Share of the price that a request in a batch file costs less."""
    engine: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of vLLM's engine, for a model that it runs for this process."""

    @property
    def limits(self) -> Limits:
        """How fast the model may be asked."""
        return Limits(self.requests_per_minute, self.tokens_per_minute)

    def identity(self) -> str:
        """Return the settings that determine a reply, as canonical JSON; empty where none is set.

        It goes into the ledger's key. Headers from the environment are accounts and keys, and are left out; of the
        others only a hash is told.
        """
        written = {name.lower(): value for name, value in self.headers.items() if not is_variable(value)}
        found = {
            "body": dict(self.body),
            "engine": {name: value for name, value in self.engine.items() if name not in _ONLY_HOW_FAST},
            "headers": hashlib.sha256(_canonical(written).encode()).hexdigest() if written else "",
            "prefill": self.prefill,
            "thinking_tokens": self.thinking_tokens,
            "top_logprobs": self.top_logprobs if self.top_logprobs != TOP_LOGPROBS else None,
            "without": sorted(self.without),
        }
        said = {name: value for name, value in found.items() if value}
        return _canonical(said) if said else ""

    def describe(self) -> dict[str, Any]:
        """Return what a record says of the settings that determine a reply: plain values, no header's value."""
        found = {
            "body": dict(self.body),
            "engine": dict(self.engine),
            "headers": sorted(self.headers),
            "without": sorted(self.without),
            "thinking_tokens": self.thinking_tokens,
            "prefill": self.prefill,
            "top_logprobs": self.top_logprobs if self.top_logprobs != TOP_LOGPROBS else None,
        }
        return {name: value for name, value in found.items() if value}


def read_model_settings(path: Path) -> Mapping[str, ModelSettings]:
    """Return the settings of each model that the file names.

    Raises ``InputError``, which names the file, the table and the field, for what is no TOML, an unknown name or
    field, a value of a wrong kind, and anything that looks like a key.
    """
    try:
        tables = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise InputError(
            f"can't be read ({error.strerror or error})", source=str(path), way_out="check the path given to --models"
        ) from error
    except ValueError as error:
        # A message of the parser's tells the place, and never quotes the line.
        reason = str(error) if isinstance(error, tomllib.TOMLDecodeError) else "it is not UTF-8"
        raise InputError(
            f"is no TOML file ({reason})",
            source=str(path),
            way_out='write one table a model, such as ["openai:gpt-4.1-mini"]',
        ) from None
    return MappingProxyType({name: _settings(path, name, table) for name, table in tables.items()})


def _settings(path: Path, name: str, table: object) -> ModelSettings:
    if "@" in name.partition("#")[0] or "?" in name.partition("#")[0]:
        # The name is not shown, since it goes into records and messages.
        raise InputError(
            "an endpoint's address must not hold a key", source=str(path), way_out="name a variable as key_variable"
        )
    place = _Place(str(path), name)
    local = name in EMBEDDED_MODELS or name.startswith("gguf:")
    if not local and not name.startswith(("openai:", "inspect:", "vllm:", "http://", "https://")):
        raise InputError(
            f"there is no model {name!r}",
            source=str(path),
            field=f'["{name}"]',
            way_out=f"use the name as the command line has it, in quotation marks: {_EXAMPLES}",
        )
    if not isinstance(table, dict):
        raise place.error("", "is not a table", f'write ["{name}"] on a line of its own, and its settings below')
    offline = name.startswith("vllm:")
    known = {"price": _price} if local else _VLLM_FIELDS if offline else _FIELDS
    found: dict[str, Any] = {}
    for key, value in table.items():
        if key not in known:
            of = "a model in this process" if (local or offline) and key in _FIELDS else "a model"
            raise place.error(key, f"is no setting of {of}", f"use {', '.join(known)}")
        found[key] = known[key](place, key, value)
    return ModelSettings(**found)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where in a settings file something stands."""

    source: str
    name: str

    def error(self, key: str, problem: str, way_out: str) -> InputError:
        where = f'["{self.name}"]' + (f" {key}" if key else "")
        return InputError(problem, source=self.source, field=where, way_out=way_out)


def _key_variable(place: _Place, key: str, value: object) -> str:
    # The value is not shown: it may be the key itself.
    if not isinstance(value, str) or not re.fullmatch(r"[A-Z_][A-Z0-9_]*", value):
        raise place.error(
            key,
            "is not the name of an environment variable",
            'put the key into a variable with a name in capitals and name it here, as in "OPENAI_API_KEY"',
        )
    return value


def _replicas(place: _Place, key: str, value: object) -> tuple[str, ...]:
    addresses = []
    for address in value if isinstance(value, list) else [None]:
        # Not shown where it may hold a key.
        if not isinstance(address, str) or not re.fullmatch(r"https?://[^@?#\s]+", address):
            raise place.error(
                key, "is not a list of addresses", 'write the base addresses alone, as in ["http://host-b:8000/v1"]'
            )
        addresses.append(address.rstrip("/"))
    return tuple(dict.fromkeys(addresses))


def _headers(place: _Place, key: str, value: object) -> Mapping[str, str]:
    headers = _table(place, key, value)
    for name, text in headers.items():
        where = f"{key}.{name}"
        if not re.fullmatch(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", name) or name.lower() in _NOT_FOR_HEADERS:
            raise place.error(where, "is no header that can be set here", "leave it out")
        if not isinstance(text, str) or not text.isascii() or not text.isprintable():
            raise place.error(where, "is not a line of ASCII text", "write the header's value in quotation marks")
        if text.startswith("$") and not is_variable(text):
            raise place.error(
                where, "names no environment variable", 'write $ and the name in capitals, as in "$MY_KEY"'
            )
        if not is_variable(text) and (names_secret(name) or holds_key(text)):
            raise place.error(
                where,
                "seems to hold a key, and keys are never written to a file",
                'put the whole value into an environment variable and name it here, as in "$MY_KEY"; a plain bearer'
                " token is sent by itself if key_variable names its variable",
            )
    return MappingProxyType(headers)


def _body(place: _Place, key: str, value: object) -> Mapping[str, Any]:
    body = _table(place, key, value)
    for name in body:
        if name in _NOT_FOR_BODY:
            raise place.error(
                f"{key}.{name}",
                "is set by each request, and can't be set here",
                "leave it out; see max_tokens_field, thinking_tokens, prefill, top_logprobs and without",
            )
    _check_json(place, key, body)
    return MappingProxyType(body)


def _check_json(place: _Place, where: str, value: object) -> None:
    """Refuse what JSON can't hold, and keys: the body is told in the record."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if names_secret(name) and isinstance(inner, str):
                raise place.error(
                    f"{where}.{name}",
                    "seems to be a key, and a body is written to the record",
                    "send it as a header that names an environment variable",
                )
            _check_json(place, f"{where}.{name}", inner)
    elif isinstance(value, list):
        for inner in value:
            _check_json(place, where, inner)
    elif isinstance(value, str) and holds_key(value):
        raise place.error(where, "seems to hold a key, and a body is written to the record", "leave it out")
    elif not isinstance(value, str | bool | int) and not (isinstance(value, float) and math.isfinite(value)):
        raise place.error(where, "can't be sent as JSON", "use texts, finite numbers, true, false, lists and tables")


def _engine(place: _Place, key: str, value: object) -> Mapping[str, Any]:
    engine = _table(place, key, value)
    for name in engine:
        if name in _NOT_FOR_ENGINE:
            raise place.error(f"{key}.{name}", "is set by the model's name and its settings", "leave it out")
    _check_json(place, key, engine)
    return MappingProxyType(engine)


def _without(place: _Place, key: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or any(name not in _MAY_BE_LEFT_OUT for name in value):
        raise place.error(
            key, "is not a list of fields that may be left out", f"choose from {', '.join(_MAY_BE_LEFT_OUT)}"
        )
    return tuple(value)


def _field_name(place: _Place, key: str, value: object) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"[A-Za-z_]\w*", value, re.ASCII):
        raise place.error(key, "is not the name of a field", 'write "max_tokens" or "max_completion_tokens"')
    return value


def _prefill(place: _Place, key: str, value: object) -> Prefill:
    if value == "continue":
        return "continue"
    if value == "plain":
        return "plain"
    raise place.error(
        key, "is neither continue nor plain", 'write "continue" for vLLM and SGLang, "plain" for llama.cpp\'s server'
    )


def _whole(least: int, example: int) -> Any:  # noqa: ANN401  (a reader, like those beside it)
    def read(place: _Place, key: str, value: object) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise place.error(
                key,
                f"is not a whole number of at least {least}",
                f"write a number without quotation marks, as in {example}",
            )
        return value

    return read


def _positive(place: _Place, key: str, value: object) -> float:
    number = _number(place, key, value)
    if number <= 0:
        raise place.error(key, "is not above 0", "write a number above 0, or leave it out")
    return number


def _share(place: _Place, key: str, value: object) -> float:
    number = _number(place, key, value)
    if not 0 <= number <= 1:
        raise place.error(key, "is not a share", "write a number from 0 to 1, as in 0.5 for half the price")
    return number


def _price(place: _Place, key: str, value: object) -> Price:
    table = _table(place, key, value)
    amounts = {name: _number(place, f"{key}.{name}", amount) for name, amount in table.items()}
    unknown = [name for name in amounts if name not in ("input", "cached_input", "output")]
    if unknown or not {"input", "output"} <= amounts.keys() or any(amount < 0 for amount in amounts.values()):
        raise place.error(
            key,
            "is not a price",
            "write US dollars a million tokens, as in { input = 0.25, cached_input = 0.025, output = 2.0 };"
            " without cached_input, cached tokens cost as much as others",
        )
    return Price(amounts["input"], amounts.get("cached_input", amounts["input"]), amounts["output"])


def _number(place: _Place, key: str, value: object) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise place.error(key, "is not a number", "write a number without quotation marks, as in 0.5")
    return float(value)


def _table(place: _Place, key: str, value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise place.error(key, "is not a table", f"write {key} = {{ name = value }}")
    return value


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"))


_FIELDS: Mapping[str, Any] = {
    "key_variable": _key_variable,
    "replicas": _replicas,
    "headers": _headers,
    "body": _body,
    "without": _without,
    "max_tokens_field": _field_name,
    "thinking_tokens": _whole(0, 4096),
    "prefill": _prefill,
    "top_logprobs": _whole(1, 5),
    "concurrency": _whole(1, 64),
    "requests_per_minute": _positive,
    "tokens_per_minute": _positive,
    "timeout": _positive,
    "price": _price,
    "batch_discount": _share,
}
_VLLM_FIELDS: Mapping[str, Any] = {
    "engine": _engine,
    **{name: _FIELDS[name] for name in ("body", "concurrency", "price", "thinking_tokens", "top_logprobs")},
}
