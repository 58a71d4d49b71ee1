"""The page "From Python" says what is there: its code runs, and the names in its table can be imported."""

import importlib
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parent.parent.parent / "docs" / "python.md"


def test_the_code_runs_from_top_to_bottom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert len(blocks) == 6
    exec(compile("\n".join(blocks), str(PAGE), "exec"), {"__name__": "page"})  # our own page
    assert (tmp_path / "runs" / "bot" / "summary.json").is_file()


def test_every_function_and_plan_in_the_table_is_there() -> None:
    rows = re.findall(r"^\| `.*\|$", PAGE.read_text("utf-8"), re.MULTILINE)
    assert len(rows) == 9
    for row in rows:
        functions, plans = (re.findall(r"`([\w.]+)`", cell) for cell in row.split("|")[2:4])
        module = ""
        for name in functions:
            module = name.rpartition(".")[0] or module
            assert callable(getattr(importlib.import_module(module), name.rpartition(".")[2])), name
        for name in plans:
            assert hasattr(importlib.import_module(module), name), name
