"""The page "How to read an audit" shows what the program prints, and leaves nothing of it unexplained."""

import importlib.util
import re
from dataclasses import fields
from pathlib import Path
from types import ModuleType

import pytest

from evenhand.readings import State
from evenhand.report import (
    Analysis,
    AuditSummary,
    BlindFigure,
    Cell,
    Direction,
    Figure,
    GraderBlock,
    GroupFigure,
    LengthFigure,
    OrderFigure,
    Position,
    Sensitivity,
    ThresholdPoint,
)
from evenhand.report.quoted_card import QuotedCard
from evenhand.statistics import Estimate

DOCS = Path(__file__).parent.parent.parent / "docs"
PAGE = DOCS / "how-to-read-an-audit.md"
COMMAND = "PYTHONPATH=tests python docs/make_audit_example.py"
NUMBER = re.compile(r"(?<![\w.-])[-+]?\d*\.?\d+(?![\w-])")
ROWS = (
    *("same verdict in both", "first minus second", "but helped neither"),
    *("better treated", "declined more", "hedged more", "settled evidence", "same request"),
)
COLUMNS = (
    *("n", "mean P", "rate at 0.5", "right minus left", "uneven", "share of right", "p"),
    *("rate at threshold", "by pair", "each value", "by stance", "by topic", "analytic", "detectable"),
    *("change", "minus the rest", "q", "right / left", "difference if as long", "rank correlation"),
    *("shown", "hidden", "hidden minus shown", "observed", "kappa", "AC1", "alpha", "so does the other"),
)
PARTS = (
    *(AuditSummary, Analysis, GraderBlock, Figure, OrderFigure, Position, Cell, Direction, Sensitivity, Estimate),
    *(ThresholdPoint, GroupFigure, LengthFigure, BlindFigure, QuotedCard),
)


def prose() -> str:
    """Return the page without its tables, on one line."""
    return " ".join(re.sub(r"```text\n.*?```", "", PAGE.read_text("utf-8"), flags=re.DOTALL).split())


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_audit_example", DOCS / "make_audit_example.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_tables_are_what_the_program_prints(maker: ModuleType) -> None:
    """To the letter, but for numbers in their last digit: another processor may round a random draw otherwise."""
    text = PAGE.read_text("utf-8")
    assert text.count("```text") == len(re.findall(r"<!-- (?:audit|declining): ", text)) > 10
    there, printed = (" ".join(one.split()) for one in (text, maker.page(text)))
    assert NUMBER.sub("#", there) == NUMBER.sub("#", printed), f"run {COMMAND}"
    found, expected = ([float(number) for number in NUMBER.findall(one)] for one in (there, printed))
    assert found == pytest.approx(expected, abs=0.11), f"run {COMMAND}"


def test_every_column_of_the_tables_is_explained() -> None:
    page = prose()
    shown = re.findall(r"<!-- (?:audit|declining): .*?```text\n(.*?)```", PAGE.read_text("utf-8"), flags=re.DOTALL)
    for name in (*ROWS, *COLUMNS):
        assert any(name in table for table in shown), f"{name} is no column any more"
        assert re.search(rf"\*\*[^*]*\b{re.escape(name)}\b[^*]*\*\*", page), name


@pytest.mark.parametrize("kind", PARTS)
def test_every_part_of_the_summary_is_explained(kind: type) -> None:
    page = prose()
    missing = [field.name for field in fields(kind) if f"`{field.name}`" not in page]
    assert not missing


@pytest.mark.parametrize("state", [state for state in State if state is not State.OK])
def test_every_state_is_explained(state: State) -> None:
    assert f"**{state}**" in prose()
