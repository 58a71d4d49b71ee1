"""The bundled sets of paired prompts, worded by this project."""

import tomllib
from importlib import resources

from evenhand.errors import InputError
from evenhand.pairs.paired_prompt import PairedPrompt, Side, StanceKind

BUILTIN = "builtin:"
BUILTIN_SETS = {"us": "us.toml"}
"""Name after ``builtin:`` and data file."""


def builtin_pairs(name: str) -> list[PairedPrompt]:
    """Return every pair of a bundled set, ``us`` or ``builtin:us``: each template over each pair of stances, by topic.

    Raises ``InputError`` for a name that is not bundled.
    """
    name = name.removeprefix(BUILTIN)
    if name not in BUILTIN_SETS:
        raise InputError(
            f"there is no bundled set {name!r}",
            way_out=f"use {', '.join(f'{BUILTIN}{known}' for known in BUILTIN_SETS)} or a CSV file",
        )
    text = resources.files("evenhand.pairs").joinpath("data", BUILTIN_SETS[name]).read_text("utf-8")
    data = tomllib.loads(text)
    return [
        PairedPrompt(
            pair_id=f"{topic['name']}.{stances['id']}.{template['id']}",
            stance_id=f"{topic['name']}.{stances['id']}",
            topic=topic["name"],
            category=topic["category"],
            template=template["text"],
            template_kind=template["kind"],
            same_request=template["same_request"],
            stance_a=stances["stance_a"],
            stance_b=stances["stance_b"],
            prompt_a=template["text"].replace("{stance}", stances["stance_a"]),
            prompt_b=template["text"].replace("{stance}", stances["stance_b"]),
            group_a=stances["group_a"],
            group_b=stances["group_b"],
            side_a=Side(stances["side_a"]),
            side_b=Side(stances["side_b"]),
            kind=StanceKind(stances["kind"]),
        )
        for topic in data["topic"]
        for stances in topic["stance_pair"]
        for template in data["template"]
    ]
