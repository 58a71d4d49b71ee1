"""From a model's name, as the user writes it, to the model."""

import difflib
from pathlib import Path

from evenhand.errors import InputError
from evenhand.fetching import FetchWatch, sha256_of_file
from evenhand.models.catalog import EMBEDDED_MODELS, weights_path
from evenhand.models.embedded import EmbeddedModel
from evenhand.models.model import Model, ModelRole


def open_model(name: str, role: ModelRole, watch: FetchWatch | None = None) -> Model:
    """Return the model of that name: ``smollm2-135m`` and the like, or ``gguf:PATH``.

    Opening is cheap: weights are fetched and loaded when the first request needs them.

    Raises ``InputError`` for a name that there is no model of.
    """
    if name.startswith("gguf:"):
        return _gguf_file(name, role)
    if name in EMBEDDED_MODELS:
        entry = EMBEDDED_MODELS[name]
        return EmbeddedModel(name, entry.sha256, lambda: weights_path(entry, watch), role)
    close = difflib.get_close_matches(name, EMBEDDED_MODELS, n=1)
    raise InputError(
        f"there is no model {name!r}" + (f"; did you mean {close[0]}?" if close else ""),
        way_out=f"use {', '.join(EMBEDDED_MODELS)}, or gguf:PATH for a file of your own",
    )


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
