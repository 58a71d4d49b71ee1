"""Workers of a cluster that run vLLM's engine themselves, held to one process that does."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from evenhand.execution.shards import table_files
from vllm_material import SETTINGS, make_tiny_model, small_and_quiet

EVENHAND = [sys.executable, "-c", "from evenhand.cli import main; main()"]
ORDER = ["grader", "protocol", "question", "pair_id", "order", "repeat"]
PAIRS = 6

for package in ("vllm", "ray"):
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed (pip install {package})", allow_module_level=True)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    small_and_quiet()
    return make_tiny_model(tmp_path_factory.mktemp("model") / "tiny")


def _rate(folder: Path, grader: str, *more: str) -> str:
    command = [*EVENHAND, "rate", str(folder / "pairs.jsonl"), "--questions", str(folder / "questions.txt")]
    command += ["--instrument", "compact", "--grader", grader, "--models", str(folder / "models.toml"), *more]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _ratings(folder: Path) -> pl.DataFrame:
    return pl.read_parquet(table_files(folder, "ratings")).sort(ORDER)


def test_workers_with_an_engine_rate_as_one_process(model: Path, tmp_path: Path) -> None:
    small_and_quiet()
    grader = f"vllm:{model}"
    (tmp_path / "models.toml").write_text(SETTINGS.format(name=grader))
    (tmp_path / "questions.txt").write_text("Is it polite?\nDoes it name its reasons?\n")
    with (tmp_path / "pairs.jsonl").open("w") as file:
        for number in range(PAIRS):
            row = {"prompt": f"Ask {number}", "chosen": f"Yes, {number}.", "rejected": f"No, not {number}."}
            file.write(json.dumps(row) + "\n")
    _rate(tmp_path, grader, "--out", str(tmp_path / "local"))
    _rate(tmp_path, grader, "--out", str(tmp_path / "ray"), "--engine", "ray", "--ray-workers", "1")
    one, other = _ratings(tmp_path / "local"), _ratings(tmp_path / "ray")
    assert one.height >= PAIRS * 2
    assert one.select(ORDER).equals(other.select(ORDER))
    for name, kind in one.schema.items():
        if kind.is_float():
            apart = (one[name].fill_null(-1) - other[name].fill_null(-1)).abs().max()
            assert isinstance(apart, float)
            assert apart < 0.01, f"{name} differs by {apart}"
        else:
            assert one[name].equals(other[name]), name
