"""Figures that can't be written, on a full disk or into a folder only to be read, are seen all the same."""

import json
import resource
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click
import polars as pl
import pytest
from click.testing import CliRunner, Result

from audit_runs import MIXED, declines_right, open_scripted, pairs_file, plan, scripted, sees_refusals
from conftest import ScriptedModel
from evenhand.cli.compare import compare_command
from evenhand.cli.effects import effects_command
from evenhand.cli.fit import fit_command
from evenhand.cli.summarize import summarize_command
from evenhand.errors import InputError
from evenhand.execution import RunFolder, UnwritableError
from evenhand.studies.audit import audit
from evenhand.studies.effects import effects
from evenhand.studies.label_run import LabelPlan, write_label_sheet
from label_sheets import by_text, fill
from rating_runs import world, write_run


@contextmanager
def full_disk() -> Iterator[None]:
    """Let no file grow: what a full disk does, also to root."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("audited")
    known = {"subject": scripted(declines_right, "subject"), "grader": ScriptedModel(sees_refusals, name="grader")}
    with pytest.MonkeyPatch.context() as patch:
        open_scripted(patch, known)
        audit(plan(folder, pairs_file(folder, MIXED * 2), draws=100))
    return folder / "run"


@pytest.fixture(scope="module")
def rated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = world([0.5, 0.0], 60)
    rows = list(made.ratings(lambda p, q, o: tuple(made.qualities[p, q])))
    return write_run(tmp_path_factory.mktemp("rated") / "run", rows, made.pairs())


def files_in(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def called(command: click.Command, *arguments: object) -> Result:
    return CliRunner().invoke(command, [str(one) for one in arguments], catch_exceptions=False)


@pytest.mark.parametrize(
    ("command", "options", "unkept"),
    [
        (effects_command, [], ["effects.json"]),
        (fit_command, [], ["spec.json"]),
    ],
)
def test_ratings(rated: Path, command: click.Command, options: Sequence[str], unkept: Sequence[str]) -> None:
    _seen_and_not_kept(rated, command, options, unkept)


def test_a_summary(audited: Path) -> None:
    _seen_and_not_kept(audited, summarize_command, ["--threshold", "0.3"], ["summary.json"])


def test_corrected_shares_rest_on_the_summary_that_was_seen(audited: Path, tmp_path: Path) -> None:
    sheet = fill(write_label_sheet(LabelPlan(audited, 20, seed=1, out=tmp_path / "labels.csv")), by_text)
    options = ["--threshold", "0.3", "--labels", str(sheet), "--json"]
    said = _seen_and_not_kept(audited, summarize_command, options, ["summary.json", "corrected.json"])
    assert json.loads(said.stdout)["corrected"]["threshold"] == 0.3


def _seen_and_not_kept(run: Path, command: click.Command, options: Sequence[str], unkept: Sequence[str]) -> Result:
    before = files_in(run)
    with full_disk():
        said = called(command, run, *options)
    assert files_in(run) == before
    assert said.exit_code == 0
    lines = said.stderr.splitlines()
    assert len(lines) == len(unkept)
    for line, name in zip(lines, unkept, strict=True):
        assert line.startswith(f"Not kept: {run / name}: can't be written (File too large). The way out: ")
    assert said.stdout == called(command, run, *options).stdout
    return said


def test_a_comparison_is_seen_before_its_file_fails(audited: Path, tmp_path: Path) -> None:
    arguments = [str(audited), str(audited), "--out", str(tmp_path / "comparison.json")]
    with full_disk():
        said = CliRunner().invoke(compare_command, arguments)
    assert isinstance(said.exception, InputError)
    assert "comparison.json: can't be written" in str(said.exception)
    assert said.stdout == called(compare_command, audited, audited).stdout
    assert list(tmp_path.iterdir()) == []


def test_in_python_it_is_an_error_unless_somebody_is_told(rated: Path) -> None:
    told: list[UnwritableError] = []
    with full_disk():
        with pytest.raises(UnwritableError, match=r"effects\.json"):
            effects(rated, draws=100)
        found = effects(rated, draws=100, unkept=told.append)
    assert found.pairs == 60
    assert [Path(error.source).name for error in told] == ["effects.json"]


def test_every_kind_of_file_and_every_cause(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    table = pl.DataFrame({"a": range(1000)})
    for name in ("a.json", "a.txt", "a.parquet"):
        (folder.path / name).mkdir()
    writes: dict[str, Callable[[], None]] = {
        "a.json": lambda: folder.write_json("a.json", {}),
        "a.txt": lambda: folder.write_text("a.txt", "text"),
        "a.parquet": lambda: folder.write_table("a.parquet", table),
    }
    for name, write in writes.items():
        with pytest.raises(UnwritableError, match=r"Is a directory.*copy the run folder") as caught:
            write()
        assert caught.value.source == str(folder.path / name)
        with full_disk(), pytest.raises(UnwritableError, match=r"File too large.*make room"):
            write()
    with pytest.raises(UnwritableError, match=r"a\.txt"):
        folder.write_text("a.txt", "")
    assert sorted(path.name for path in folder.path.iterdir()) == sorted(writes)
