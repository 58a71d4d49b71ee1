"""The table of effects shows figures and never more than they are."""

from dataclasses import replace

from rich.console import Console

from evenhand.report.effects_summary import Effect, EffectsSummary, GraderEffects, Leak, QuestionEffect, Reliability
from evenhand.report.effects_table import effects_table
from evenhand.statistics import Estimate

MISSING = Estimate.missing("no rows")
SOME = Estimate(0.634, 0.601, 0.667, 1234, 900, "bootstrap")
EFFECT = Effect(SOME, replace(SOME, value=0.82), SOME, 0.125, 0.0001, 0.0002)
UNKNOWN = Effect(MISSING, MISSING, MISSING, None, None, None)
RELIABILITY = Reliability(SOME, replace(SOME, value=0.71), SOME, MISSING, SOME)
LEAK = Leak(SOME, replace(SOME, value=0.9), Estimate(0.27, 0.2, 0.34, 50, 50, "b"), 0.001, SOME, flagged=True)
QUESTION = QuestionEffect(
    question="[red]q[/red]",
    text="Is it?",
    direction=None,
    states={"chosen": {"ok": 97, "abstained": 3}, "rejected": {"ok": 99, "failed": 1}},
    pairs=1234,
    effect=EFFECT,
    reliability=RELIABILITY,
    cluster=1,
    representative=True,
    leak=LEAK,
)
BLOCK = GraderEffects(
    grader="[bold]g[/bold]",
    protocol="blind",
    orders=("chosen_first", "rejected_first"),
    questions=(
        replace(QUESTION, question="unread", effect=UNKNOWN, cluster=2),
        QUESTION,
        replace(QUESTION, question="a_question_of_the_same_kind", representative=False, leak=None),
    ),
    spearman=((1.0, None, 0.8), (None, 1.0, 0.1), (0.8, 0.1, 1.0)),
    leak=LEAK,
    leak_orders=("chosen_first",),
    remarks=("a remark",),
)
SUMMARY = EffectsSummary(
    pairs=1300,
    ties=66,
    inputs=900,
    length=replace(EFFECT, q_value=None),
    blocks=(BLOCK,),
    cluster="input",
    equal_within=0.5,
    redundancy_distance=0.3,
    leak_size=0.02,
    draws=2000,
    seed=0,
    remarks=("another remark",),
)


def shown(summary: EffectsSummary, width: int = 80) -> str:
    console = Console(width=width, no_color=True, highlight=False)
    with console.capture() as capture:
        console.print(effects_table(summary))
    return capture.get()


def test_what_it_shows() -> None:
    text = shown(SUMMARY)
    words = " ".join(text.split())
    assert "1,300 pairs over 900 inputs; 66 ties" in words
    assert "Rated by [bold]g[/bold], protocol blind (chosen_first, rejected_first)" in words
    assert "[red]q[/red] 1,234 63.4 [ 60.1, 66.7] <.001 +0.82 12.5 0.71 1*" in words
    assert "length 1,234" in words
    assert "[red]q[/red], no rating of chosen / rejected: abstained 3.0% / 0.0%, failed 0.0% / 1.0%" in words
    assert "cluster 1: [red]q[/red] stands for a_question_of_the_same_kind" in words
    assert "unread: not estimable, no rows" in words
    assert "+27.0 [ +20.0, +34.0]" in words
    assert "LEAKS" in words
    assert "a remark" in words
    assert "another remark" in words
    assert max(map(len, text.splitlines())) <= 80


def test_questions_without_a_figure_come_last_and_are_no_zero() -> None:
    text = shown(SUMMARY)
    assert text.index("[red]q[/red]") < text.index("unread")
    (line,) = [line for line in text.splitlines() if line.startswith("unread ") and "*" in line]
    assert line.split()[:5] == ["unread", "0", "-", "-", "-"]


def test_no_leak_is_not_called_none() -> None:
    quiet = replace(BLOCK, leak=replace(LEAK, flagged=False), questions=(replace(QUESTION, leak=None),))
    words = " ".join(shown(replace(SUMMARY, blocks=(quiet,))).split())
    assert "LEAKS" not in words
    assert "small samples can't show one" in words
    assert "Label leak" not in shown(replace(SUMMARY, blocks=(replace(BLOCK, leak=None),)))


def test_no_verdict_is_ever_given() -> None:
    for word in ("unbiased", "neutral", "compliant", "fair"):
        assert word not in shown(SUMMARY).lower()


def test_round_trip() -> None:
    assert EffectsSummary.from_json(SUMMARY.as_json()) == SUMMARY
