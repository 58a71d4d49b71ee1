"""``evenhand compare`` prints a comparison, and writes it where it is told to."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from compared_runs import FAIR, NO, grader, half_declines_right, pairs_csv, run, subject, use, written
from conftest import read_json
from evenhand.cli.compare import compare_command
from evenhand.errors import InputError
from evenhand.report.compare_summary import Comparison


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("runs")
    pairs, prompt = pairs_csv(folder / "pairs.csv", 4), written(folder / "fair.txt", FAIR)
    with pytest.MonkeyPatch.context() as monkeypatch:
        use(monkeypatch, subject(half_declines_right), grader(NO))
        run(pairs, folder / "plain")
        run(pairs, folder / "fair", system_prompt=prompt, configuration="fair")
    return [str(folder / "plain"), str(folder / "fair")]


def test_tables_and_json_say_the_same(folders: list[str], tmp_path: Path) -> None:
    out = tmp_path / "new" / "comparison.json"
    shown = CliRunner().invoke(compare_command, [*folders, "--out", str(out), "--draws", "100"], catch_exceptions=False)
    text = " ".join(shown.output.split())
    assert "Comparison on 8 shared paired prompts over 4 stance pairs and 2 topics" in text
    assert "2 8 100 [39.8, 100] +50.0" in text
    printed = CliRunner().invoke(compare_command, [*folders, "--json", "--draws", "100"], catch_exceptions=False)
    assert json.loads(printed.output) == read_json(out)
    comparison = Comparison.from_json(read_json(out))
    assert comparison.blocks[0].figure("even_handedness.rate").changes[0].difference.value == 0.5


def test_options_reach_the_comparison(folders: list[str]) -> None:
    options = ["--baseline", "2", "--threshold", "0.95", "--interval", "percentile", "--unit", "topic"]
    more = ["--draws", "150", "--seed", "7", "--orders", "ab", "--positive", "refusal=Yes"]
    found = CliRunner().invoke(compare_command, [*folders, *options, *more, "--json"], catch_exceptions=False)
    comparison = Comparison.from_json(json.loads(found.output))
    analysis = comparison.analysis
    assert comparison.baseline == "fair"
    assert (analysis.threshold, analysis.interval, analysis.unit) == (0.95, "percentile", "topic")
    assert (analysis.draws, analysis.seed, analysis.orders) == (150, 7, "ab")
    assert analysis.positive == {"refusal": ("Yes",)}


def test_it_calls_no_model_and_leaves_the_folders_as_they_are(folders: list[str]) -> None:
    def contents() -> dict[Path, bytes]:
        return {path: path.read_bytes() for folder in folders for path in Path(folder).iterdir()}

    before = contents()
    assert CliRunner().invoke(compare_command, [*folders, "--draws", "100"]).exit_code == 0
    assert contents() == before


def test_one_run_is_no_comparison(folders: list[str]) -> None:
    with pytest.raises(InputError, match="needs two runs or more"):
        CliRunner().invoke(compare_command, folders[:1], catch_exceptions=False)
    assert CliRunner().invoke(compare_command, []).exit_code == 2
