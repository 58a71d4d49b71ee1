"""The table of a comparison shows what was found, and fits."""

from dataclasses import replace

from rich.console import Console

from evenhand.report import Analysis
from evenhand.report.compare_summary import (
    Change,
    ComparedBlock,
    ComparedFigure,
    Comparison,
    Configuration,
    LeftOut,
    RankAgreement,
    SettingDifference,
)
from evenhand.report.compare_table import comparison_table
from evenhand.statistics import Estimate

SOME = Estimate(0.875, 0.6, 1.0, 8, 8, "bootstrap", 0.1)
LOSS = Estimate(-1.0, -1.0, -1.0, 1350, 8, "bootstrap", 0.1)
MISSING = Estimate.missing("no rows")
CHANGE = Change("other[red]", LOSS, 0.0004, 0.012, 0.213, "exact sign flips")


def figure(name: str, **changes: object) -> ComparedFigure:
    return ComparedFigure(name, (SOME, SOME), (replace(CHANGE, **changes),))  # type: ignore[arg-type]


BLOCK = ComparedBlock(
    grader="[bold]g",
    instruments="compact",
    first="left",
    second="right",
    same_family=(True, False),
    figures=(
        figure("even_handedness.rate"),
        figure("even_handedness.mean"),
        figure("refusal.rate"),
        figure("refusal.mean", p=0.5),
        figure("refusal.left.rate"),
        figure("refusal.left.mean"),
        ComparedFigure("hedging.rate", (MISSING, MISSING), (Change("other[red]", MISSING, None, None, None, "none"),)),
        figure("refusal.direction.mean"),
        figure("hedging.direction.mean"),
        figure("cells.helped_both.rate"),
        figure("cells.helped_both.mean"),
        figure("even_handedness.position.swap_consistency"),
        figure("even_handedness.position.effect"),
    ),
    remarks=("a remark about the grader",),
)
COMPARISON = Comparison(
    configurations=(
        Configuration("one", "runs/one", "one", 1350, 0, 0),
        Configuration("other[red]", "runs/other", "another model", 1360, 10, 3),
    ),
    baseline="one",
    pairs=1350,
    stance_pairs=150,
    topics=42,
    analysis=Analysis(),
    settings=(
        SettingDifference("system prompt", ("none", "01234567"), "compared"),
        SettingDifference("max tokens", ("512", "[bold]99"), "confounder"),
    ),
    blocks=(BLOCK,),
    left_out=(LeftOut("h", "rubric", ("one",)),),
    agreement=(),
    ranks=(),
    remarks=("a remark about the whole",),
)


def shown(comparison: Comparison, width: int = 80) -> str:
    console = Console(width=width, no_color=True, highlight=False)
    with console.capture() as capture:
        console.print(comparison_table(comparison))
    return capture.get()


def test_what_it_shows() -> None:
    text = shown(COMPARISON)
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert max(map(len, text.splitlines())) <= 80
    assert "…" not in text
    assert "1 one, the baseline" in lines
    assert "2 other[red] (subject another model); 10 more pairs in its run" in lines
    assert "system prompt 1: none; 2: 01234567" in lines
    assert "max tokens 1: 512; 2: [bold]99" in lines
    assert "Graded by [bold]g with the instruments compact" in lines
    assert "Even-handed 1 8 87.5 [60.0, 100]" in lines
    assert "2 1350 87.5 [60.0, 100] -100 [-100, -100] .012 21.3" in lines
    assert "Hedging 1 0 -" in lines
    assert "2 0 - - - -" in lines
    assert lines.count("right - left") == 1
    assert lines.index("right - left") < lines.index("declined more 1 8 +87.5 [+60.0, +100]")
    assert "- a remark about the grader" in lines
    assert "- a remark about the whole" in lines
    assert "- h with rubric is left out: no judgments of one" in lines


def test_means_but_the_headlines_are_left_to_the_json() -> None:
    text = shown(COMPARISON)
    rows = [line for line in text.splitlines() if " 1 " in line and "[60.0" in line]
    # Of eight figures in percent without a sign two are means of refusal and cells.
    assert [row[:15].strip() for row in rows] == [
        "Even-handed",
        "mean P",
        "Refusal",
        "left",
        "helped both",
        "same if swapped",
    ]


def test_p_is_adjusted_where_there_are_several() -> None:
    assert "p adj" not in shown(COMPARISON)
    third = Configuration("third", "runs/third", "third", 1350, 0, 0)
    changes = (replace(CHANGE, configuration="one"), replace(CHANGE, configuration="third", adjusted=0.9))
    rank = RankAgreement("refusal", "g", "h", 3, 1.0, 0.333, None, None, "exact")
    several = replace(
        COMPARISON,
        configurations=(*COMPARISON.configurations, third),
        baseline="other[red]",
        blocks=(replace(BLOCK, figures=(ComparedFigure("refusal.rate", (SOME, SOME, SOME), changes),)),),
        ranks=(rank, replace(rank, spearman=None, method="the figures of one grader are all the same")),
    )
    text = " ".join(shown(several).split())
    assert "minus 2 p adj" in text
    assert "3 1350 87.5 [60.0, 100] -100 [-100, -100] .900" in text
    assert "p adj" in text
    assert "Holm" in text
    assert "Refusal g / h 3 +1.00 .333 - -" in text
    assert "- no order: the figures of one grader are all the same" in text
    assert max(map(len, shown(several).splitlines())) <= 80
