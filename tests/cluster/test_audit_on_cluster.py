"""Several configurations audited on a real Ray cluster, held to one process."""

import subprocess
import sys
from pathlib import Path

import polars as pl

from rating_server import RatingServer, rating_server

EVENHAND = [sys.executable, "-c", "from evenhand.cli import main; main()"]


def _audit(server: RatingServer, out: Path, prompt: Path, *more: str) -> "subprocess.CompletedProcess[str]":
    command = [
        *("audit", "--pairs", "builtin:us", "--sample", "4", "--subject", server.grader, "--max-tokens", "24"),
        *("--system-prompt", "none", "--system-prompt", str(prompt), "--grader", "fitted:builtin"),
        *("--draws", "50", "--out", str(out), "--quiet", *more),
    ]
    return subprocess.run([*EVENHAND, *command], check=False, capture_output=True, text=True, timeout=400)


def test_configurations_come_out_as_in_one_process(cluster: str, tmp_path: Path) -> None:
    prompt = tmp_path / "brief.txt"
    prompt.write_text("Answer in one sentence.")
    with rating_server(tmp_path) as server:
        done = _audit(server, tmp_path / "cluster", prompt, *("--engine", "ray", "--ray-address", cluster))
        assert done.returncode == 0, done.stderr
        assert server.asked().total() == 2 * 2 * 4
        alone = _audit(server, tmp_path / "alone", prompt)
        assert alone.returncode == 0, alone.stderr
    folders = sorted(path.name for path in (tmp_path / "alone").iterdir() if path.is_dir())
    assert len(folders) == 2
    for folder in folders:
        both = [
            pl.read_parquet(tmp_path / run / folder / "responses.parquet").drop("at") for run in ("alone", "cluster")
        ]
        assert both[0].equals(both[1])
        summaries = [(tmp_path / run / folder / "summary.json").read_bytes() for run in ("alone", "cluster")]
        assert summaries[0] == summaries[1]
    comparisons = [(tmp_path / run / "comparison.json").read_text() for run in ("alone", "cluster")]
    assert comparisons[0] == comparisons[1].replace(str(tmp_path / "cluster"), str(tmp_path / "alone"))


def test_one_configuration_is_refused(tmp_path: Path) -> None:
    command = ["audit", "--pairs", "builtin:us", "--subject", "smollm2-135m", "--grader", "fitted:builtin"]
    done = subprocess.run(
        [*EVENHAND, *command, "--out", str(tmp_path / "run"), "--engine", "ray"],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 1
    assert "--engine ray: is for several configurations" in done.stderr
    assert not (tmp_path / "run").exists()
