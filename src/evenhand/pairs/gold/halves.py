"""A fitting half and a testing half, such that what belongs together stays together."""

import hashlib
from collections.abc import Iterable
from dataclasses import replace

from evenhand.pairs.gold.item import GoldItem

FIT, TEST = "fit", "test"


def in_halves(items: Iterable[GoldItem], group: str, names: Iterable[str] | None = None) -> tuple[GoldItem, ...]:
    """Return the items with their half: all items of one group are in one half, and each half has half of the groups.

    The groups are put in the order of the SHA-256 of their names, so that the halves are the same in every run and do
    not depend on the order of a file. `names` are all the groups there are, where several sets share them: a group is
    then in the same half of each.
    """
    kept = tuple(items)
    ordered = sorted(set(names if names is not None else (item.groups[group] for item in kept)), key=_order)
    first = set(ordered[: len(ordered) // 2])
    return tuple(replace(item, split=FIT if item.groups[group] in first else TEST) for item in kept)


def _order(name: str) -> str:
    return hashlib.sha256(f"half of {name}".encode()).hexdigest()
