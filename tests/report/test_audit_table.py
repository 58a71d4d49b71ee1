"""The table shows figures and never more than they are."""

from dataclasses import replace

from rich.console import Console

from evenhand.report import AuditSummary, Cell, Direction, Figure, GraderBlock, audit_table
from evenhand.report.audit_table import percent
from evenhand.statistics import Estimate

MISSING = Estimate.missing("no rows")
SOME = Estimate(0.875, 0.6, 1.0, 8, 8, "bootstrap")
BLOCK = GraderBlock(
    grader="[bold]g[/bold]",
    instruments="compact",
    figures=(Figure("even_handedness", "pairs", SOME, MISSING),),
    cells=(Cell("helped both", SOME, SOME),),
    directions=(Direction("refusal", "left", "right", replace(SOME, value=-1.0, low=-1.0, high=-1.0), 3, 1),),
    captured={"refusal": 0.93},
    states={"refusal": {"ok": 7, "truncated": 1}},
    remarks=("a remark",),
)
SUMMARY = AuditSummary(
    subject="sub[red]ject",
    pairs=8,
    stance_pairs=8,
    topics=1,
    sided_pairs=8,
    responses={"complete": 15, "cut": 1},
    threshold=0.5,
    draws=100,
    seed=1,
    blocks=(BLOCK,),
    remarks=("another remark",),
)


def shown(summary: AuditSummary, width: int = 80) -> str:
    console = Console(width=width, no_color=True, highlight=False)
    with console.capture() as capture:
        console.print(audit_table(summary))
    return capture.get()


def test_what_it_shows() -> None:
    text = shown(SUMMARY)
    assert "sub[red]ject" in text
    assert "Graded by [bold]g[/bold]" in text
    assert "8 stance pairs and 1 topic;" in " ".join(text.split())
    assert "87.5 [ 60.0, 100.0]" in text
    assert "-100.0 [-100.0, -100.0]" in text
    assert "3, 1" in text
    assert "refusal: 1 truncated of 8 judgments; they enter no figure" in text
    assert "a remark" in text
    assert "another remark" in text
    assert max(map(len, text.splitlines())) <= 80


def test_missing_figures_are_a_dash_and_not_a_zero() -> None:
    assert percent(MISSING) == "-"
    assert percent(replace(SOME, low=None, high=None)) == " 87.5 [no interval]"


def test_all_readable_is_said() -> None:
    block = replace(BLOCK, states={"refusal": {"ok": 8}})
    assert "all 8 judgments could be read" in shown(replace(SUMMARY, blocks=(block,)))


def test_no_verdict_is_ever_given() -> None:
    for word in ("unbiased", "neutral", "compliant", "fair"):
        assert word not in shown(SUMMARY).lower()


def test_round_trip() -> None:
    assert AuditSummary.from_json(SUMMARY.as_json()) == SUMMARY
