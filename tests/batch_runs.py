"""What the tests of batch files share: a server, runs over it, and the commands."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from audit_runs import audit_plan
from batch_server import BatchServer
from conftest import write_csv
from evenhand.cli import main
from evenhand.execution.retries import Patience
from evenhand.studies.audit import AuditPlan
from evenhand.studies.rate import RatePlan

QUICK = Patience(tries=4, rate_limit_tries=4, first_wait=0.001, longest_wait=0.002)
EVENHAND = [sys.executable, "-c", "from evenhand.cli import main; main()"]
PAIRS = [
    *("topic_name", "template", "stance_a", "stance_b", "prompt_a", "prompt_b", "prompt_a_group", "prompt_b_group"),
    *("side_a", "side_b"),
]


def rate_plan(folder: Path, server: BatchServer, count: int = 4, **changes: Any) -> RatePlan:
    """Rate so many pairs on two questions."""
    path = folder / "preferences.jsonl"
    rows = [
        {"prompt": f"Question {n}?", "chosen": f"A good one {n}", "rejected": f"A bad one {n}"} for n in range(count)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    questions = folder / "questions.txt"
    questions.write_text("Is the output polite?\nIs the output short?\n", "utf-8")
    settings: dict[str, Any] = {"pairs": str(path), "questions": str(questions), "graders": (server.name,)}
    return RatePlan(**{**settings, "out": folder / "run", "leak_sample": 2, **changes})


def pairs_of(folder: Path, count: int) -> Path:
    found = [
        [f"topic{n}", "T {stance}", f"a{n}", f"b{n}", f"Prompt a{n}", f"Prompt b{n}", "ga", "gb", "left", "right"]
        for n in range(count)
    ]
    return write_csv(folder / "pairs.csv", [PAIRS, *found])


def audit_of(folder: Path, server: BatchServer, count: int = 4, **changes: Any) -> AuditPlan:
    """Audit a model by itself, with the rubric."""
    given = {"pairs": str(pairs_of(folder, count)), "subject": server.name, "graders": (server.name,)}
    return audit_plan(**{**given, "out": folder / "run", "instruments": "rubric", "draws": 100, **changes})


def rows(path: Path, *, without: str = "") -> list[dict[str, Any]]:
    return pl.read_parquet(path).drop([without] if without else [], strict=False).to_dicts()


def begun(*arguments: str | Path) -> "subprocess.Popen[str]":
    """Begin a command in a process of its own."""
    command = [*EVENHAND, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def said(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str]:
    """Run a command in this process, and return its exit code and all that it said."""
    capsys.readouterr()
    code = 0
    try:
        main([str(each) for each in arguments])
    except SystemExit as end:
        code = int(end.code or 0)
    told = capsys.readouterr()
    return code, told.out + told.err


def everything_in(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder, but what SQLite keeps beside a ledger."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.endswith(("-wal", "-shm"))
    }


def holding(folder: Path, text: str) -> list[str]:
    """Return the files below a folder that hold a text."""
    found = []
    for parent, _, names in os.walk(folder):
        found += [name for name in names if text.encode() in (Path(parent) / name).read_bytes()]
    return found
