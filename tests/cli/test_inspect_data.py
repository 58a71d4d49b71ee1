"""The command: what it shows in 80 columns, its JSON, and its messages."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from evenhand.cli.inspect_data import inspect_data_command
from evenhand.errors import InputError


def run(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": "80", "NO_COLOR": "1"}).invoke(inspect_data_command, arguments)


@pytest.fixture
def faulty(tmp_path: Path) -> str:
    rows = [
        {"prompt": "[red]Q?[/red]", "chosen": "a long answer", "rejected": "short"},
        {"prompt": "Q?", "chosen": "yes", "rejected": "yes"},
        {"prompt": "Q?", "chosen": True, "rejected": "yes"},
        *[{"prompt": "R?", "chosen": "", "rejected": "no"}] * 7,
    ]
    path = tmp_path / "faulty [bold].jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return str(path)


def test_table(faulty: str) -> None:
    found = run(faulty)
    assert found.exit_code == 0, found.exception
    assert max(map(len, found.stdout.splitlines())) <= 80
    text = " ".join(found.stdout.split())
    for part in (
        "Preference data in faulty [bold].jsonl",
        "Format trl: it has the columns chosen, rejected, and the prompt is in prompt.",
        "10 rows gave 9 pairs; 1 gave none.",
        "3 inputs; pairs an input: 1 to 7 (median 1).",
        "both outputs are the same 1 pairs 2",
        "an output is empty 7 pairs 4, 5, 6, 7, 8, ...",
        "the same pair again 6 pairs",
        "no text where text should be 1 rows 3",
        "- row 3: chosen is the boolean true where text should be",
        "Not found: one output is a prefix of the other;",
        "Length: the longer output is the chosen one in 12.5%",
    ):
        assert part in text, part


def test_nothing_wrong_and_one_input(tmp_path: Path) -> None:
    path = tmp_path / "good.csv"
    path.write_text("q,left,right,w\nQ?,longer,short,left\nQ?,s,longest,right\n", "utf-8")
    found = run(str(path), "--input", "q", "--a", "left", "--b", "right", "--preference", "w")
    text = " ".join(found.stdout.split())
    assert "2 rows gave 2 pairs; none was lost." in text
    assert "1 input; pairs an input: 2 (median 2)." in text
    assert "first rows" not in text
    assert "in 100.0% (no interval: one cluster) of 2 pairs" in text


def test_json(faulty: str) -> None:
    found = json.loads(run(faulty, "--json", "--max-characters", "25", "--format", "trl").stdout)
    assert (found["rows"], found["pairs"], found["lost_rows"]) == (10, 9, 1)
    assert found["reason"] == "it was named"
    assert found["findings"]["over_long"] == {"count": 1, "of": "pairs", "rows": [1], "example": ""}
    assert found["findings"]["wrong_type"]["rows"] == [3]
    assert found["longer_chosen"]["value"] == pytest.approx(1 / 8)
    assert set(found["pairs_per_input"]) == {"fewest", "median", "most"}


def test_values_and_other_columns(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("left,right,w,s\nx,y,0,3\nx,z,1,2\n", "utf-8")
    columns = ("--a", "left", "--b", "right", "--preference", "w", "--strength", "s")
    found = json.loads(run(str(path), *columns, "--values", "a=0,b=1", "--json").stdout)
    assert (found["format"], found["with_strength"], found["without_input"]) == ("columns", 2, 2)
    refused = run(str(path), *columns)
    assert isinstance(refused.exception, InputError)
    assert "--values" in str(refused.exception)


def test_no_verdict_is_given(faulty: str) -> None:
    for word in ("unbiased", "neutral", "compliant", "fair"):
        assert word not in run(faulty).stdout.lower()
