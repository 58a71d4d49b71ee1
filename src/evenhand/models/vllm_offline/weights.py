"""Which weights a ``vllm:`` name stands for, told before anything is loaded."""

import hashlib
import json
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from evenhand.errors import InputError
from evenhand.fetching import sha256_of_file

_SUFFIXES = (".json", ".safetensors", ".bin", ".pt", ".pth", ".model", ".txt", ".jinja", ".tiktoken", ".py")
"""Of the files that vLLM and its tokenizer read: a read-me beside them changes no reply."""
_HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+")
_COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights of a model, its tokenizer and its chat template."""

    model: str
    """A folder's path, or a name on the Hugging Face hub."""
    revision: str | None
    """The commit on the hub; None for a folder."""
    sha256: str | None
    """Over the names and hashes of a folder's files; None for what the hub names by its commit."""

    @property
    def identity(self) -> str:
        """What determines replies; the same folder elsewhere, or under another name, has the same."""
        return f"sha256:{self.sha256}" if self.sha256 else f"{self.model}@{self.revision}"


def find_weights(path: str, source: str, revision: str | None = None) -> Weights:
    """Return the weights in a folder, or those of a name on the Hugging Face hub.

    A name's revision is looked up in the local cache and, where that does not have it, on the hub, so that the weights
    which are loaded are those that the identity tells of.

    Args:
        path: a folder as ``save_pretrained`` writes it, or ``OWNER/NAME``.
        source: what errors name.
        revision: a branch, a tag or a commit of the hub's; ``main`` unless given.

    Raises ``InputError``.
    """
    folder = Path(path).expanduser()
    if folder.is_dir():
        if revision:
            raise InputError("a folder has no revision", source=source, field="engine.revision", way_out="leave it out")
        return Weights(str(folder.resolve()), None, _sha256_of_folder(folder, source))
    if folder.exists():
        hint = "name it as gguf:PATH" if folder.suffix == ".gguf" else "give the folder that it is in"
        raise InputError("is a file, and vLLM takes a folder", source=source, way_out=hint)
    if not _HUB_NAME.fullmatch(path):
        raise InputError(
            "is no folder", source=source, way_out="give the folder of a model, or OWNER/NAME of one on Hugging Face"
        )
    return Weights(path, _commit(path, revision or "main", source), None)


def _sha256_of_folder(folder: Path, source: str) -> str:
    try:
        files = sorted(file for file in folder.iterdir() if file.suffix in _SUFFIXES and file.is_file())
        if not any(file.name == "config.json" for file in files):
            raise InputError(
                "has no config.json",
                source=source,
                way_out="give the folder of a model in the shape that save_pretrained writes",
            )
        found = [[file.name, _sha256(file, file.stat().st_size, file.stat().st_mtime_ns)] for file in files]
    except OSError as error:
        raise InputError(
            f"can't be read ({error.strerror or error})", source=source, way_out="check the folder"
        ) from error
    return hashlib.sha256(json.dumps(found).encode()).hexdigest()


@lru_cache(maxsize=1000)
def _sha256(file: Path, size: int, changed: int) -> str:
    # A model is opened several times a run, and tens of gigabytes take a minute to hash.
    return sha256_of_file(file)


def _commit(name: str, revision: str, source: str) -> str:
    if _COMMIT.fullmatch(revision):
        return revision
    import huggingface_hub  # noqa: PLC0415  (it takes a third of a second, and a folder needs none of it)

    here = huggingface_hub.try_to_load_from_cache(name, "config.json", revision=revision)
    if isinstance(here, str):
        return Path(here).parent.name
    try:
        found = huggingface_hub.HfApi().model_info(name, revision=revision).sha
    except Exception as error:
        raise InputError(
            f"is no folder, and Hugging Face does not tell of such a model ({type(error).__name__})",
            source=source,
            way_out="check the name, or give the folder of a model",
        ) from error
    return str(found)
