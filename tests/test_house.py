"""The house rules that import-linter can't see."""

import ast
from pathlib import Path

import pytest

import evenhand

SOURCE = Path(evenhand.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
DANGEROUS = {"eval", "exec", "compile", "__import__"}
DANGEROUS_MODULES = {"pickle", "marshal", "shelve", "dill", "joblib"}
WRITERS = {"write_text", "write_bytes", "write_parquet", "write_csv", "unlink", "mkdir", "touch", "rename"}
FLOORS_THAT_ONLY_READ = ("pairs", "instruments", "readings", "statistics")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_nothing_from_outside_is_executed(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in DANGEROUS, f"line {node.lineno}"
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = {alias.name for alias in node.names} | {getattr(node, "module", None)}
            assert not names & DANGEROUS_MODULES, f"line {node.lineno}"


@pytest.mark.parametrize(
    "path", [path for path in FILES if path.relative_to(SOURCE).parts[0] in FLOORS_THAT_ONLY_READ], ids=str
)
def test_lower_floors_write_nothing(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Attribute):
            assert node.attr not in WRITERS, f"line {node.lineno}"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id != "open", f"line {node.lineno}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_files_stay_small(path: Path) -> None:
    assert len(path.read_text("utf-8").splitlines()) <= 450
