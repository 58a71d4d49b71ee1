"""From the name of a gold set, or from a file, to its items."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from evenhand.errors import InputError
from evenhand.pairs.gold import builtin, issuebench, llmbar, own_file, pandalm, pct, practice, stances, xstest
from evenhand.pairs.gold.item import GoldItem, GoldMeasure, GoldSet
from evenhand.pairs.gold.public_sets import PUBLIC_SETS, PublicSet

BUILTIN = "builtin"
PRACTICE = "practice"
STANCES = "stances"

_Parts: TypeAlias = Mapping[str, tuple[GoldItem, ...]]
_READERS: Mapping[str, Callable[[Sequence[Path]], _Parts]] = {
    "xstest": xstest.read,
    "issuebench": issuebench.read,
    "pct": pct.read,
    "pandalm": pandalm.read,
    "llmbar": llmbar.read,
}
_SILVER = "issuebench-pairs"

GOLD_NAMES = (BUILTIN, STANCES, *_READERS, PRACTICE)
"""The names that `read_gold` knows beside paths."""


def read_gold(name: str, *, folder: Path | None = None) -> list[GoldSet]:
    """Return the gold sets that a name stands for, one for each measure.

    Args:
        name: one of `GOLD_NAMES`; one of its parts, as in `builtin-hedging`, `issuebench-refusal` or
            `issuebench-pairs` (silver labels, never read unless named); or the path of a file or a folder.
        folder: where the files of a public set are, itself or in a folder below it of the set's name.

    A public file is read only if its hash is the one that is known, wherever it lies and whatever it is called. The
    `sha256` of a set made of several files is the hash of their hashes in hex, one a line, in the order of the set.

    Raises `InputError` for a set that is not at hand, and for any fault of a file.
    """
    base, _, part = name.partition("-")
    if name in GOLD_NAMES or (base in GOLD_NAMES and not Path(name).exists()):
        own = {BUILTIN: _builtin, STANCES: _stances, PRACTICE: _practice}
        found = own[base]() if base in own else _public(PUBLIC_SETS[base], folder)
        if part:
            found = [known for known in found if known.name == name] or _no_such_part(name, found)
        return [known for known in found if part or known.name != _SILVER]
    path = Path(name)
    if path.is_dir():
        return _folder(path)
    if path.is_file():
        return _file(path)
    raise InputError(
        f"there is no gold set and no file {name!r}",
        way_out=f"use {', '.join(GOLD_NAMES)}, or the path of a labelled file",
    )


def _no_such_part(name: str, found: Sequence[GoldSet]) -> list[GoldSet]:
    raise InputError(f"there is no gold set {name!r}", way_out=f"use {', '.join(known.name for known in found)}")


def _builtin() -> list[GoldSet]:
    return [_own(f"{BUILTIN}-{part}", builtin.TITLE, items) for part, items in builtin.read_builtin().items()]


def _practice() -> list[GoldSet]:
    return [_own(f"{PRACTICE}-{GoldMeasure.REFUSAL}", practice.TITLE, practice.read_practice())]


def _stances() -> list[GoldSet]:
    return [_own(STANCES, stances.TITLE, stances.read_stances(), stances.SOURCE)]


def _own(name: str, title: str, items: tuple[GoldItem, ...], source: str = builtin.SOURCE) -> GoldSet:
    return GoldSet(name, title, builtin.LICENCE, source, builtin.hash_of_items(items), items)


def _public(known: PublicSet, folder: Path | None) -> list[GoldSet]:
    return _sets(known, [_found(known, file.name, folder) for file in known.files])


def _found(known: PublicSet, file: str, folder: Path | None) -> Path:
    way_out = (
        f"run `evenhand gold fetch {known.name}`, or without a network `evenhand gold fetch {known.name} --from FOLDER`"
        f" with its files from {known.source}"
    )
    if folder is None:
        raise InputError(f"the gold set {known.name} is not part of this package", way_out=way_out)
    for path in (folder / file, folder / known.name / file):
        if path.is_file():
            return path
    raise InputError(
        f"the gold set {known.name} is not at hand: there is no {file}", source=str(folder), way_out=way_out
    )


def _sets(known: PublicSet, paths: Sequence[Path]) -> list[GoldSet]:
    expected = {file.name: file.sha256 for file in known.files}
    hashes = [_hash(path) for path in paths]
    for path, found in zip(paths, hashes, strict=True):
        if found != expected.get(path.name, found):
            raise InputError(
                f"is not the file of {known.name} that is known: its SHA-256 is {found}, not {expected[path.name]}",
                source=str(path),
                way_out=f"get it from {known.source}",
            )
    return _of_public(known, _READERS[known.name](paths), _joint_hash(hashes))


def _of_public(known: PublicSet, parts: _Parts, sha256: str) -> list[GoldSet]:
    whole = GoldSet(known.name, known.title, known.licence, known.source, sha256, ())
    return [_part(whole, part, items) for part, items in parts.items()]


def _part(whole: GoldSet, part: str, items: tuple[GoldItem, ...]) -> GoldSet:
    return replace(whole, name=f"{whole.name}-{part}" if part else whole.name, items=items)


def _folder(path: Path) -> list[GoldSet]:
    found: list[GoldSet] = []
    for known in PUBLIC_SETS.values():
        places = [path / file.name for file in known.files]
        if all(place.is_file() for place in places):
            found += [each for each in _sets(known, places) if each.name != _SILVER]
    if not found:
        raise InputError(
            "holds none of the known gold sets whole",
            source=str(path),
            way_out="name a folder with the files of a set, or a single labelled file",
        )
    return found


def _file(path: Path) -> list[GoldSet]:
    sha256 = _hash(path)
    for known in PUBLIC_SETS.values():
        if sha256 in {file.sha256 for file in known.files}:
            found = _of_public(known, _READERS[known.name]([path]), sha256)
            return [each for each in found if each.name != _SILVER]
    whole = GoldSet(path.stem, path.name, "not said", str(path), sha256, ())
    return [_part(whole, part, items) for part, items in own_file.read(path).items()]


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _joint_hash(hashes: Sequence[str]) -> str:
    if len(hashes) == 1:
        return hashes[0]
    return hashlib.sha256("".join(f"{each}\n" for each in hashes).encode()).hexdigest()
