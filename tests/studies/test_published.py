"""The publication's files, once they are fetched, go by the name ``published``."""

import hashlib
from pathlib import Path

import pytest

from conftest import shared
from evenhand.errors import EvenhandError, InputError
from evenhand.fetching import NotFetchedError
from evenhand.studies import published
from evenhand.studies.inputs import load_instruments, load_pairs
from evenhand.studies.published import fetch_published, published_path

PROMPTS = b'REFUSAL_PROMPT = "{conversation} {response} (1) (2) (3) (4) (5)"\n'


@pytest.fixture
def folder(own_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the real pairs and prompts of our own, whose hash is the one that is asked for."""
    made = tmp_path / "files"
    made.mkdir()
    (made / "eval_set.csv").write_bytes(shared("published/eval_set.csv").read_bytes())
    (made / "prompts.py").write_bytes(PROMPTS)
    hashes = {**published._HASHES, "prompts.py": hashlib.sha256(PROMPTS).hexdigest()}
    monkeypatch.setattr(published, "_HASHES", hashes)
    return made


def test_after_it_both_names_work(folder: Path) -> None:
    assert [file.name for file in fetch_published(folder)] == ["eval_set.csv", "prompts.py"]
    pairs, source = load_pairs("published")
    assert (len(pairs), source["sha256"][:8]) == (1350, "b02e49e2")
    instruments, _ = load_instruments("published")
    assert [instrument.name for instrument in instruments.instruments] == ["refusal"]
    fetch_published(folder / ".." / "files")


def test_before_it_the_error_says_what_to_do(own_cache: Path) -> None:
    with pytest.raises(InputError, match=r"published eval_set.csv is not in the cache.*evenhand published fetch"):
        load_pairs("published")


def test_a_changed_file_is_never_read(folder: Path) -> None:
    fetch_published(folder)
    path = published_path("prompts.py")
    path.write_bytes(PROMPTS + b"# changed\n")
    with pytest.raises(EvenhandError, match="SHA-256"):
        load_instruments("published")


def test_what_can_be_had_is_kept_and_the_rest_is_said(folder: Path) -> None:
    (folder / "prompts.py").unlink()
    with pytest.raises(NotFetchedError, match=r"(?s)eval_set.csv is in the cache.*has no file prompts.py"):
        fetch_published(folder)
    assert len(load_pairs("published")[0]) == 1350


def test_no_such_folder(own_cache: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--from: is not a folder"):
        fetch_published(tmp_path / "absent")
