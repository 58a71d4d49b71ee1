"""From what the user names to what a study works on: pairs, instruments, a system prompt, settings of models."""

from collections.abc import Mapping
from pathlib import Path

from evenhand.errors import InputError
from evenhand.fetching import sha256_of_file
from evenhand.instruments import BUILTIN_INSTRUMENT_SETS, InstrumentSet, builtin_instruments, read_prompt_file
from evenhand.models import ModelSettings, read_model_settings
from evenhand.pairs import PairedPrompt, builtin_pairs, read_paired_prompts
from evenhand.pairs.builtin import BUILTIN
from evenhand.pairs.text_file import read_text_file
from evenhand.studies.published import PUBLISHED, published_path


def load_pairs(name: str) -> tuple[list[PairedPrompt], dict[str, str]]:
    """Return the pairs of ``builtin:us``, ``published`` or a CSV file, and what a record says of their source."""
    if name.startswith(BUILTIN):
        return builtin_pairs(name), {"name": name}
    path = published_path("eval_set.csv") if name == PUBLISHED else Path(name)
    pairs = read_paired_prompts(path)
    return pairs, {"name": path.name, "sha256": sha256_of_file(path)}


def load_instruments(name: str) -> tuple[InstrumentSet, dict[str, str]]:
    """Return ``rubric``, ``compact``, ``published`` or the prompts of a file, and what a record says of them."""
    if name in BUILTIN_INSTRUMENT_SETS:
        return builtin_instruments(name), {"name": name}
    if name != PUBLISHED and not Path(name).suffix and not Path(name).exists():
        raise InputError(
            f"there are no instruments {name!r}",
            field="--instruments",
            way_out=f"use {', '.join(BUILTIN_INSTRUMENT_SETS)}, {PUBLISHED}, or the path of a prompt file",
        )
    path = published_path("prompts.py") if name == PUBLISHED else Path(name)
    return read_prompt_file(path), {"name": path.name, "sha256": sha256_of_file(path)}


def load_model_settings(path: Path | None) -> Mapping[str, ModelSettings]:
    """Return what a file says of models, by their names; nothing for no file."""
    return read_model_settings(path) if path else {}


def load_system_prompt(path: Path | None) -> str:
    """Return the text of a system prompt file, to the letter; empty for none."""
    if path is None:
        return ""
    text = read_text_file(path, field="--system-prompt")
    if not text.strip():
        raise InputError(
            "is empty",
            source=str(path),
            field="--system-prompt",
            way_out="leave the option away for no system prompt",
        )
    return text
