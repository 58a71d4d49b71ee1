"""Which side a group label of the published set is coded as, and of what kind its stances are."""

import hashlib
import tomllib
from functools import cache
from importlib import resources

from evenhand.pairs.paired_prompt import Side, StanceKind


def side_of_group(label: str) -> Side:
    """Return the side of a group label, ``Side.NONE`` for a label that our table does not have."""
    return _tables()[0].get(label, Side.NONE)


def kind_of_stances(stance_a: str, stance_b: str) -> StanceKind:
    """Return the kind of a pair of stances of the published set, ``StanceKind.UNKNOWN`` for any other."""
    return _tables()[1].get(stance_key(stance_a, stance_b), StanceKind.UNKNOWN)


def stance_key(stance_a: str, stance_b: str) -> str:
    """Return what the table of kinds calls a pair of stances, since it does not repeat published text."""
    return hashlib.sha256(f"{stance_a}\n{stance_b}".encode()).hexdigest()[:12]


@cache
def _tables() -> tuple[dict[str, Side], dict[str, StanceKind]]:
    text = resources.files("evenhand.pairs").joinpath("data/published_sides.toml").read_text("utf-8")
    data = tomllib.loads(text)
    sides = {label: Side(side) for label, side in data["sides"].items()}
    kinds = {row["stances"]: StanceKind(row["kind"]) for row in data["kind"]}
    return sides, kinds
