"""Gold sets at hand: the public ones brought at one commit and checked by hash, and read by name."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from evenhand.errors import InputError
from evenhand.fetching import Artifact, FetchWatch, NotFetchedError, Source, cached_path, fetch
from evenhand.fetching.cache import cache_folder
from evenhand.fetching.sources import FolderSource, UrlSource
from evenhand.pairs.gold import PUBLIC_SETS, GoldSet, PublicFile, PublicSet, builtin, practice, read_gold, stances
from evenhand.pairs.gold.read import BUILTIN, PRACTICE, STANCES
from evenhand.pairs.preferences.records import read_records
from evenhand.studies.cut_cells import warning_of, was_cut

_RAW = "https://raw.githubusercontent.com"
_HOST = "https://github.com/"
_SILVER = "issuebench-pairs"
_BOTH = "to hold graders against, or to fit them to its fitting half"
_PREFERENCES = "to hold graders against; nothing in it is political"
_USES: Mapping[str, tuple[tuple[str, ...], str]] = {
    BUILTIN: (("refusal", "hedging", "even_handedness"), f"{_BOTH}; no people were asked, and cases may be easy"),
    STANCES: (("hedging",), f"{_BOTH}; no people were asked"),
    PRACTICE: (("refusal",), "for `evenhand fit-grader --practice practice` alone: it has no testing half"),
    "xstest": (("refusal",), _BOTH),
    "issuebench": (("refusal", "hedging"), f"{_BOTH}; {_SILVER} (even_handedness) has to be named"),
    "pct": (("refusal", "hedging"), f"{_BOTH}; too few refusals for a figure about them"),
    "pandalm": (("preference",), _PREFERENCES),
    "llmbar": (("preference",), _PREFERENCES),
}
"""Of each set: what its labels say something about, and what it is for."""


@dataclass(frozen=True, slots=True)
class GoldEntry:
    """A gold set that goes by a name, and whether it can be read now."""

    name: str
    title: str
    licence: str
    source: str
    at_hand: bool
    measures: tuple[str, ...]
    """What its labels say something about."""
    use: str
    """What it is for, and what has to be known of it beforehand."""


def load_gold(name: str, *, folder: Path | None = None) -> list[GoldSet]:
    """Return the gold sets that a name or a path stands for, as `read_gold` does; public ones also from the cache.

    Args:
        name: see `read_gold`.
        folder: where the files of a public set are; None for the cache.

    A file whose texts a spreadsheet has cut comes with a warning that names the rows.
    """
    known = PUBLIC_SETS.get(name.partition("-")[0])
    if known is None or folder is not None:
        return _with_warnings(read_gold(name, folder=folder))
    # Without its files the message must say that they were not fetched, and not which folder of the cache is empty.
    return read_gold(name, folder=_cached_folder(known) if _at_hand(known) else None)


def gold_entries() -> list[GoldEntry]:
    """Return every set that has a name: those that come with the package, then the public ones."""
    own = [
        (BUILTIN, builtin.TITLE, builtin.SOURCE),
        (STANCES, stances.TITLE, stances.SOURCE),
        (PRACTICE, practice.TITLE, builtin.SOURCE),
    ]
    return [GoldEntry(name, title, builtin.LICENCE, source, True, *_USES[name]) for name, title, source in own] + [
        GoldEntry(known.name, known.title, known.licence, known.source, _at_hand(known), *_USES[known.name])
        for known in PUBLIC_SETS.values()
    ]


def labelled_by(gold: GoldSet) -> str:
    """Return who says what is right, as validity cards have it."""
    if gold.source in (builtin.SOURCE, stances.SOURCE):
        return "construction"
    return "silver" if gold.name == _SILVER else "people"


def fetch_gold(name: str, folder: Path | None = None, watch: FetchWatch | None = None) -> list[Path]:
    """Bring the files of a public set into the cache, from a folder or from their repository, and return their paths.

    The name of a part brings the set that it is of.
    A folder may hold the files under their names here, do so in a folder of the set's name, or be a checkout of the
    repository. Every file is tried; raises `NotFetchedError` where one can't be had, and says how to give it.
    """
    known = PUBLIC_SETS.get(name.partition("-")[0])
    if known is None:
        here = ": it comes with this package" if name.partition("-")[0] in (BUILTIN, STANCES, PRACTICE) else ""
        raise InputError(f"there is nothing to fetch for {name!r}{here}", way_out=f"use {', '.join(PUBLIC_SETS)}")
    if folder is not None and not folder.is_dir():
        raise InputError(
            "is not a folder", source=str(folder), field="--from", way_out="name the folder with the files"
        )
    paths: list[Path] = []
    problems: list[str] = []
    for file in known.files:
        try:
            paths.append(fetch(_artifact(known, file), _sources(known, file, folder), watch))
        except NotFetchedError as error:
            problems.append(str(error))
    if problems:
        raise NotFetchedError("\n".join(problems))
    return paths


def _with_warnings(sets: list[GoldSet]) -> list[GoldSet]:
    return [replace(gold, warnings=_warnings(gold.source)) if Path(gold.source).is_file() else gold for gold in sets]


def _warnings(file: str) -> tuple[str, ...]:
    rows = [record.row for record in read_records(Path(file)) if was_cut((record.values or {}).values())]
    return (f"{Path(file).name}: {warning_of(rows)}",) if rows else ()


def _at_hand(known: PublicSet) -> bool:
    return all(cached_path(_artifact(known, file)) for file in known.files)


def _cached_folder(known: PublicSet) -> Path:
    return cache_folder() / _place(known)


def _place(known: PublicSet) -> str:
    return f"gold/{known.name}-{known.commit}"


def _artifact(known: PublicSet, file: PublicFile) -> Artifact:
    return Artifact(
        path=f"{_place(known)}/{file.name}",
        sha256=file.sha256,
        by_hand=(
            f"Without a network: get {file.path} from {known.repository} at commit {known.commit} on another machine,"
            f" put it into a folder here as {file.name}, and run `evenhand gold fetch {known.name} --from FOLDER`."
        ),
    )


def _sources(known: PublicSet, file: PublicFile, folder: Path | None) -> list[Source]:
    if folder is None:
        return [UrlSource(f"{_RAW}/{known.repository.removeprefix(_HOST)}/{known.commit}/{file.path}")]
    return [
        FolderSource(folder, file.name),
        FolderSource(folder / known.name, file.name),
        FolderSource(folder, file.path),
    ]
