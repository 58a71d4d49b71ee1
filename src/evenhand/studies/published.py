"""The publication's own files: its pairs and its grader prompts, brought at one commit and checked by hash."""

from dataclasses import dataclass
from pathlib import Path

from evenhand.errors import InputError
from evenhand.fetching import Artifact, FetchWatch, NotFetchedError, Source, cached_path, check_file, fetch
from evenhand.fetching.sources import FolderSource, UrlSource

PUBLISHED = "published"
"""What ``--pairs`` and ``--instruments`` call them."""

COMMIT = "c5ed67908b56edc0781f47821241ca44114bd4ff"
REPOSITORY = "https://github.com/anthropics/political-neutrality-eval"
LICENCE = "CC BY 4.0"
CITE = (
    "Cite: Anthropic, Political Even-handedness Evaluation (November 2025), by the authors its repository names,"
    f" {REPOSITORY} at {COMMIT[:7]}."
)
_RAW = "https://raw.githubusercontent.com/anthropics/political-neutrality-eval"

_HASHES = {
    "eval_set.csv": "b02e49e2390c4f03225f176fa7a132858a3fd0d33eced9bae86ecb9f11670cf3",
    "prompts.py": "89251a9454841d842d2182a23d2a31deee8198e2cbfba45f77c9cc1a47bd2ce7",
}


@dataclass(frozen=True, slots=True)
class FetchedFile:
    """A published file in the cache."""

    name: str
    path: Path


def fetch_published(folder: Path | None = None, watch: FetchWatch | None = None) -> list[FetchedFile]:
    """Bring the publication's files into the cache, from a folder or from their repository.

    Every file is tried; raises ``NotFetchedError`` where one can't be had, and says how to give it.
    """
    if folder is not None and not folder.is_dir():
        raise InputError(
            "is not a folder", source=str(folder), field="--from", way_out="name the folder with the files"
        )
    fetched: list[FetchedFile] = []
    problems: list[str] = []
    for name in _HASHES:
        try:
            fetched.append(FetchedFile(name, fetch(_artifact(name), [_source(name, folder)], watch)))
        except NotFetchedError as error:
            problems.append(str(error))
    if problems:
        had = f"{', '.join(file.name for file in fetched)} is in the cache. " if fetched else ""
        raise NotFetchedError(had + "\n".join(problems))
    return fetched


def published_path(name: str) -> Path:
    """Return where a fetched file is, its hash checked; raises ``InputError`` where it was not fetched."""
    artifact = _artifact(name)
    path = cached_path(artifact)
    if path is None:
        raise InputError(
            f"the published {name} is not in the cache",
            way_out="run `evenhand published fetch`, or `evenhand published fetch --from FOLDER` without a network",
        )
    check_file(path, artifact.sha256)
    return path


def _artifact(name: str) -> Artifact:
    return Artifact(
        path=f"published/{COMMIT[:12]}/{name}",
        sha256=_HASHES[name],
        by_hand=(
            f"Without a network: get {name} from {REPOSITORY} at commit {COMMIT} on another machine, put it in a"
            " folder here, and run `evenhand published fetch --from FOLDER`."
        ),
    )


def _source(name: str, folder: Path | None) -> Source:
    return FolderSource(folder, name) if folder else UrlSource(f"{_RAW}/{COMMIT}/{name}")
