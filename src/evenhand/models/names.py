"""From a model's name, as the user writes it, to the model."""

import difflib
from pathlib import Path
from urllib.parse import urlsplit

from evenhand.errors import InputError
from evenhand.fetching import FetchWatch, sha256_of_file
from evenhand.models.catalog import EMBEDDED_MODELS, weights_path
from evenhand.models.embedded import EmbeddedModel
from evenhand.models.http import HttpModel
from evenhand.models.model import Model, ModelRole

ENDPOINT_KEY = "EVENHAND_API_KEY"
"""The environment variable with the key of an endpoint that is named by its address."""


def open_model(name: str, role: ModelRole, watch: FetchWatch | None = None) -> Model:
    """Return the model of that name.

    ``smollm2-135m`` and the like are embedded, ``gguf:PATH`` is a file of the user's own, ``openai:MODEL`` is at OpenAI
    and ``http://HOST:PORT/v1#MODEL`` (or https) at any OpenAI-compatible endpoint.

    Opening is cheap: weights are fetched and loaded when the first request needs them.

    Raises ``InputError`` for a name that there is no model of.
    """
    if name.startswith("gguf:"):
        return _gguf_file(name, role)
    if name.startswith("openai:") and name != "openai:":
        return HttpModel(name, "https://api.openai.com/v1", name.removeprefix("openai:"), "OPENAI_API_KEY")
    if name.startswith(("http://", "https://")):
        return _endpoint(name)
    if name in EMBEDDED_MODELS:
        entry = EMBEDDED_MODELS[name]
        return EmbeddedModel(name, entry.sha256, lambda: weights_path(entry, watch), role)
    close = difflib.get_close_matches(name, EMBEDDED_MODELS, n=1)
    raise InputError(
        f"there is no model {name!r}" + (f"; did you mean {close[0]}?" if close else ""),
        way_out=f"use {', '.join(EMBEDDED_MODELS)}, gguf:PATH for a file of your own, openai:MODEL, or http://HOST:PORT/v1#MODEL",
    )


def _endpoint(name: str) -> Model:
    address, _, model = name.partition("#")
    parts = urlsplit(address)
    if not model or not parts.hostname:
        raise InputError(
            f"{name!r} names no model at an endpoint", way_out="write http://HOST:PORT/v1#MODEL, as in #llama-3.1-8b"
        )
    if parts.username or parts.password or parts.query:
        # The name goes into records and messages.
        raise InputError(
            "an endpoint's address must not hold a key", way_out=f"put it into the environment variable {ENDPOINT_KEY}"
        )
    return HttpModel(name, address, model, ENDPOINT_KEY)


def _gguf_file(name: str, role: ModelRole) -> Model:
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
