"""From a model's name, as the user writes it, to the model."""

import difflib
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from evenhand.errors import InputError
from evenhand.fetching import FetchWatch, sha256_of_file
from evenhand.models.catalog import EMBEDDED_MODELS, weights_path
from evenhand.models.embedded import EmbeddedModel
from evenhand.models.model import Model, ModelRole
from evenhand.models.prices import known_price
from evenhand.models.settings import ModelSettings

OPENAI_HOST = "api.openai.com"
ENDPOINT_KEY = "EVENHAND_API_KEY"
"""The environment variable with the key of an endpoint that is named by its address."""


def open_model(
    name: str,
    role: ModelRole,
    watch: FetchWatch | None = None,
    settings: Mapping[str, ModelSettings] | None = None,
) -> Model:
    """Return the model of that name.

    ``smollm2-135m`` and the like are embedded, ``gguf:PATH`` is a file of the user's own, ``openai:MODEL`` is at
    OpenAI, ``http://HOST:PORT/v1#MODEL`` (or https) at any OpenAI-compatible endpoint, ``inspect:PROVIDER/MODEL``
    at any provider that Inspect knows, and ``vllm:FOLDER`` or ``vllm:OWNER/NAME`` one that vLLM's engine runs.

    Opening is cheap: weights are fetched and loaded when the first request needs them.

    Args:
        name: as the user writes it.
        role: what it is opened for.
        watch: told of weights that are fetched.
        settings: what the user says of models, by name (``read_model_settings``).

    Raises ``InputError`` for a name that there is no model of.
    """
    said = (settings or {}).get(name)
    if name.startswith("gguf:"):
        return _priced(_gguf_file(name, role), said)
    if name in EMBEDDED_MODELS:
        entry = EMBEDDED_MODELS[name]
        return _priced(EmbeddedModel(name, entry.sha256, lambda: weights_path(entry, watch), role), said)
    if name.startswith("openai:") and name != "openai:":
        return _openai(name, said)
    if name.startswith(("http://", "https://")):
        return _endpoint(name, said)
    if name.startswith("inspect:"):
        # Inspect is an extra, and takes seconds to import.
        from evenhand.models.inspect_provider import InspectModel  # noqa: PLC0415

        return InspectModel(name, said)
    if name.startswith("vllm:"):
        from evenhand.models.vllm_offline import VllmModel  # noqa: PLC0415  (few have it)

        return VllmModel(name, said)
    close = difflib.get_close_matches(name, EMBEDDED_MODELS, n=1)
    raise InputError(
        f"there is no model {name!r}" + (f"; did you mean {close[0]}?" if close else ""),
        way_out=f"use {', '.join(EMBEDDED_MODELS)}, gguf:PATH for a file of your own, openai:MODEL, http://HOST:PORT/v1#MODEL,"
        " vllm:FOLDER, or inspect:PROVIDER/MODEL",
    )


def _priced(model: EmbeddedModel, settings: ModelSettings | None) -> EmbeddedModel:
    if settings and settings.price:
        model.price = settings.price
    return model


def _openai(name: str, settings: ModelSettings | None) -> Model:
    model = name.removeprefix("openai:")
    from evenhand.models.http import HttpModel  # noqa: PLC0415  (see _endpoint)

    opened = HttpModel(name, f"https://{OPENAI_HOST}/v1", model, "OPENAI_API_KEY", settings, needs_key=True)
    opened.price = opened.price or known_price(model, OPENAI_HOST)
    return opened


def _endpoint(name: str, settings: ModelSettings | None) -> Model:
    address, _, model = name.partition("#")
    try:
        parts = urlsplit(address)
        whole = bool(model and parts.hostname and parts.port != 0)
    except ValueError:
        whole = False
    if "@" in address or "?" in address:
        # The name goes into records and messages.
        raise InputError(
            "an endpoint's address must not hold a key", way_out=f"put it into the environment variable {ENDPOINT_KEY}"
        )
    if not whole:
        raise InputError(
            f"{name!r} names no model at an endpoint", way_out="write http://HOST:PORT/v1#MODEL, as in #llama-3.1-8b"
        )
    # Its library takes a third of a second to import, and most commands call no endpoint.
    from evenhand.models.http import HttpModel  # noqa: PLC0415
    from evenhand.models.replicas import ReplicatedModel  # noqa: PLC0415

    first = HttpModel(name, address, model, ENDPOINT_KEY, settings)
    further = [
        HttpModel(name, other, model, ENDPOINT_KEY, settings)
        for other in (settings.replicas if settings else ())
        if other != first.base_url
    ]
    return ReplicatedModel([first, *further]) if further else first


def _gguf_file(name: str, role: ModelRole) -> EmbeddedModel:
    path = Path(name.removeprefix("gguf:")).expanduser()
    try:
        with path.open("rb") as file:
            magic = file.read(4)
    except OSError as error:
        raise InputError(
            f"can't be read ({error.strerror or error})", source=str(path), way_out="check the path"
        ) from error
    if magic != b"GGUF":
        raise InputError(
            "is not a GGUF file: it does not begin with GGUF",
            source=str(path),
            way_out="give the path of a model's .gguf file",
        )
    return EmbeddedModel(name, sha256_of_file(path), lambda: path, role)
