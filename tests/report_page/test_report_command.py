"""``evenhand report``: which folders it takes, what it writes, and what it says of those that it can't take."""

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from compared_runs import grader, half_declines_right, pairs_csv, subject, use
from compared_runs import run as audit_run
from conftest import read_json
from evenhand.cli.audit import audit_command
from evenhand.cli.report import report_command
from evenhand.errors import InputError
from evenhand.report.page.audit_record import audit_command as command_of
from evenhand.studies.effects import effects
from evenhand.studies.report import report
from evenhand.studies.report.write import FORMATS
from rating_runs import pair_row, rating, write_run
from report_pages import checked, figures_in, synthetic_run

_COMPACT = ["--grader", "grader", "--instruments", "compact"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("audits")
    with pytest.MonkeyPatch.context() as patch:
        use(patch, subject(half_declines_right), grader("I can't help."))
        audit_run(pairs_csv(folder / "pairs.csv"), folder / "run")
    return folder / "run"


def called(*arguments: object) -> str:
    return CliRunner().invoke(report_command, [str(one) for one in arguments], catch_exceptions=False).output


def files_in(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if not path.name.startswith("ledger.sqlite-")}


@pytest.mark.parametrize("text", ["just notes", "[1, 2]", "{}", '{"a": 1}'])
def test_a_file_that_is_no_run_is_not_said_to_be_a_damaged_one(tmp_path: Path, text: str) -> None:
    (tmp_path / "notes.txt").write_text(text)
    with pytest.raises(InputError, match="is no file that a report can be made of") as caught:
        report([tmp_path / "notes.txt"])
    assert "name the folder of a finished run" in str(caught.value)


def test_a_page_is_written_where_it_is_wanted_and_the_run_stays_as_it_was(run: Path, tmp_path: Path) -> None:
    before, out = files_in(run), tmp_path / "new" / "page.html"
    assert called(run, "--out", out) == f"Written: {out}\n"
    assert "<h1>Audit of subject</h1>" in out.read_text("utf-8")
    assert files_in(run) == before
    assert [path.name for path in out.parent.iterdir()] == ["page.html"]


def test_without_out_it_lies_in_the_run_folder_and_is_the_same_each_time(run: Path) -> None:
    said = json.loads(called(run, "--json"))
    assert said == {"format": "html", "written": str(run / "report.html")}
    first = (run / "report.html").read_bytes()
    called(run)
    assert (run / "report.html").read_bytes() == first


@pytest.mark.parametrize("kind", [kind for kind in FORMATS if kind not in {"html", "png", "svg"}])
def test_every_format_is_written(run: Path, tmp_path: Path, kind: str) -> None:
    out = tmp_path / "out"
    assert called(run, "--format", kind, "--out", out) == f"Written: {out}\n"
    files = list(out.iterdir()) if out.is_dir() else [out]
    assert files
    assert all(file.stat().st_size for file in files)


def test_charts_are_written_as_files(run: Path, tmp_path: Path) -> None:
    called(run, "--format", "svg", "--out", tmp_path / "charts")
    charts = list((tmp_path / "charts").iterdir())
    assert len(charts) > 3
    assert all(chart.read_text("utf-8").startswith("<svg") for chart in charts)


def _nothing(folder: Path) -> Path:
    return folder / "nothing"


def _empty(folder: Path) -> Path:
    return folder


def _begun(folder: Path) -> Path:
    (folder / "ledger.sqlite").write_bytes(b"")
    return folder


def _other_file(folder: Path) -> Path:
    (folder / "some.json").write_text("{}", "utf-8")
    return folder / "some.json"


def _no_json(folder: Path) -> Path:
    made = synthetic_run(folder / "run", stances=4, templates=1, draws=20)
    (made / "summary.json").write_text("{", "utf-8")
    return made


def _older(folder: Path) -> Path:
    made = synthetic_run(folder / "run", stances=4, templates=1, draws=20)
    (made / "summary.json").write_text('{"schema": 1}', "utf-8")
    return made


def _half(folder: Path) -> Path:
    made = synthetic_run(folder / "run", stances=4, templates=1, draws=20)
    values = read_json(made / "summary.json")
    del values["blocks"][0]["figures"][0]["rate"]
    (made / "summary.json").write_text(json.dumps(values), "utf-8")
    return made


def _torn(folder: Path) -> Path:
    made = synthetic_run(folder / "run", stances=4, templates=1, draws=20)
    (made / "judgments.parquet").write_bytes(b"PAR1")
    return made


def _without_effects(folder: Path) -> Path:
    return write_run(folder / "rated", [rating(0, 7, 3)], [pair_row(0)])


@pytest.mark.parametrize(
    ("made", "names", "way_out"),
    [
        (_nothing, "nothing: isn't there", "evenhand audit"),
        (_empty, "holds no run", "summary.json and record.json"),
        (_begun, "has not come to its end", "once more"),
        (_other_file, "some.json: is no file", "validation.json"),
        (_no_json, "summary.json: is not JSON", "once more"),
        (_older, "summary.json: the summary has the schema 1", "evenhand summarize"),
        (_half, "summary.json: is damaged", "once more"),
        (_torn, "judgments.parquet: can't be read", "once more"),
        (_without_effects, "effects.json: isn't there", "evenhand effects"),
    ],
)
def test_what_cannot_be_reported_is_named_with_the_way_out(
    tmp_path: Path, made: Callable[[Path], Path], names: str, way_out: str
) -> None:
    with pytest.raises(InputError) as caught:
        report([made(tmp_path)])
    assert names in str(caught.value)
    assert str(tmp_path) in str(caught.value)
    assert way_out in str(caught.value)


def test_a_place_that_cannot_be_written_is_named(run: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(InputError, match=r"--out.*another place"):
        called(run, "--out", tmp_path / "file" / "page.html")
    with pytest.raises(InputError, match="is a folder"):
        called(run, "--out", tmp_path)


def test_ratings_and_audits_come_side_by_side(run: Path, tmp_path: Path) -> None:
    rows = [
        rating(n, 7 if n % 3 else 2, 3, order=order) for n in range(12) for order in ("chosen_first", "rejected_first")
    ]
    rated = write_run(tmp_path / "rated", rows, [pair_row(n, chosen="yes", rejected="no") for n in range(12)])
    (rated / "record.json").write_text("{}", "utf-8")
    effects(rated, draws=50)
    found = report([run, rated])
    assert found.title == "Report of 2 runs"
    assert [section.anchor for section in found.sections] == ["run-1", "run-2"]
    page = found.page()
    checked(page, [run, rated])
    files = {(figure.run, figure.file) for figure in figures_in(page)}
    assert files == {(1, "summary.json"), (2, "effects.json")}


@pytest.mark.parametrize(
    "options",
    [
        _COMPACT,
        ["--grader", "fitted:builtin"],
        [*_COMPACT, "--sample", "8", "--seed", "3", "--max-tokens", "200", "--temperature", "0.7"],
        [*_COMPACT, "--orders", "ab", "--threshold", "0.7", "--unit", "topic", "--interval", "percentile"],
        [*_COMPACT, "--positive", "refusal=Yes", "--grader", "other", "--draws", "130"],
    ],
    ids=["plain", "fitted", "sampled", "analysed", "two graders"],
)
def test_the_command_in_the_record_asks_for_the_same(
    options: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, subject(half_declines_right), grader("I can't help."), grader("I can't help.", name="other"))
    pairs = pairs_csv(tmp_path / "pairs.csv")
    given = ["--pairs", str(pairs), "--subject", "subject", *options]
    done = CliRunner().invoke(
        audit_command, [*given, "--out", str(tmp_path / "run"), "--quiet"], catch_exceptions=False
    )
    assert done.exit_code == 0
    command = shlex.split(command_of(read_json(tmp_path / "run" / "record.json"), "again"))
    assert command[:2] == ["evenhand", "audit"]
    asked, again = (_parsed(arguments) for arguments in ([*given, "--out", "again"], command[2:]))
    # What the record does not say: where the file of pairs was.
    assert Path(asked.pop("pairs")).name == again.pop("pairs")
    assert again == asked


def _parsed(arguments: list[str]) -> dict[str, Any]:
    return dict(audit_command.make_context("audit", arguments).params)
