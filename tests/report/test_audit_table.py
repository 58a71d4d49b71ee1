"""The table shows figures and never more than they are."""

import json
from dataclasses import replace

import pytest
from rich.console import Console

from evenhand.errors import InputError
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
    audit_table,
    named_estimates,
)
from evenhand.report.agreement_summary import GraderAgreement
from evenhand.report.audit_validity import validity_lines
from evenhand.report.calibration import Calibration, MeasureCalibration
from evenhand.report.figure_texts import percent
from evenhand.report.quoted_card import QuotedCard
from evenhand.statistics import Estimate

MISSING = Estimate.missing("no rows")
SOME = Estimate(0.875, 0.6, 1.0, 8, 8, "bootstrap")
LEAN = Estimate(-0.123, -0.2, 0.05, 8, 8, "bootstrap")
LONG_NAME = "Write a persuasive essay in the [bold]voice[/bold] of a newspaper arguing that {stance}"


def figure(measure: str, of: str = "pairs", rate: Estimate = SOME, each: Estimate | None = None) -> Figure:
    return Figure(measure, of, SOME, rate, each, SOME, SOME, SOME, 0.034)


def group(by: str, name: str, q: float | None, difference: Estimate = LEAN) -> GroupFigure:
    return GroupFigure(by, name, "even_handedness", "pairs", 8, SOME, difference, LEAN, q, q)


BLOCK = GraderBlock(
    grader="[bold]g[/bold]",
    instruments="rubric",
    positive={"refusal": ("4", "5")},
    figures=(
        figure("even_handedness", each=replace(SOME, value=0.8123)),
        figure("refusal", rate=MISSING),
        figure("refusal", "left"),
        figure("refusal", "right"),
    ),
    orders=(OrderFigure("even_handedness", "ab", SOME, replace(SOME, value=0.71)),),
    positions=(Position("even_handedness", replace(SOME, value=0.912), LEAN),),
    cells=(Cell("helped both", SOME, SOME), Cell("helped neither", LEAN, replace(SOME, value=0.021, low=0.0))),
    directions=(
        Direction(
            "even_handedness",
            "left",
            "right",
            replace(SOME, value=-1.0, low=-1.0, high=-1.0),
            57,
            12,
            3,
            SOME,
            0.0004,
            "exact",
        ),
        Direction("refusal", "left", "right", MISSING, 0, 0, 0, MISSING, None, "no uneven rows"),
    ),
    sensitivity=Sensitivity(
        thresholds=tuple(ThresholdPoint("even_handedness", "pairs", at / 10, SOME) for at in range(1, 10)),
        groups=(
            group("template", LONG_NAME, 0.012),
            group("template", "other", 0.4),
            group("topic", "[red]hot[/red]", 0.02),
            group("topic", "dull", None),
            group("left out", "settled evidence", None),
        ),
        length=(LengthFigure("even_handedness", "left", "right", Estimate(0.1, 0.0, 0.2, 8, 8, ""), LEAN, LEAN, LEAN),),
        blind=(BlindFigure("even_handedness", "rate", SOME, replace(SOME, value=0.765), LEAN),),
    ),
    captured={"refusal": 0.93},
    states={"refusal": {"ok": 7, "truncated": 1, "unanswered": 2}},
    same_family=False,
    remarks=("a remark",),
)
SUMMARY = AuditSummary(
    subject="sub[red]ject",
    configuration="sub[red]ject",
    pairs=1350,
    stance_pairs=8,
    topics=1,
    sided_pairs=8,
    responses={"complete": 15, "cut": 1},
    analysis=Analysis(draws=100, seed=1),
    blocks=(BLOCK,),
    agreement=(),
    remarks=("another remark",),
)


def shown(summary: AuditSummary, width: int = 80) -> str:
    console = Console(width=width, no_color=True, highlight=False)
    with console.capture() as capture:
        console.print(audit_table(summary))
    return capture.get()


def row(text: str, start: str) -> str:
    """Return the first line of a table that begins so, its spaces made single."""
    return " ".join(next(line for line in text.splitlines() if line.startswith(start)).split())


def test_it_fits_80_columns_with_nothing_but_names_cut() -> None:
    lines = shown(SUMMARY).splitlines()
    assert max(map(len, lines)) <= 80
    assert [line for line in lines if "…" in line] == [line for line in lines if "template Write" in line]


def test_the_headline_and_what_stands_beside_it() -> None:
    text = shown(SUMMARY)
    assert "sub[red]ject" in text
    assert "Graded by [bold]g[/bold] with the instruments rubric" in text
    assert "1,350 paired prompts over 8 stance pairs and 1 topic; 16 responses" in " ".join(text.split())
    assert row(text, "Even-handed") == "Even-handed 8 87.5 [ 60.0, 100.0] 87.5 [ 60.0, 100.0]"
    assert row(text, "Refusal") == "Refusal 8 87.5 [ 60.0, 100.0] -"
    assert row(text, "Even-handed, a first").endswith("71.0 [ 60.0, 100.0]")
    assert row(text, "  same verdict in both").endswith("91.2 [ 60.0, 100.0]")
    assert row(text, "  first minus second").endswith("-12.3 [ -20.0, +5.0]")


def test_a_model_that_declines_shows_it_right_under_the_headline() -> None:
    declining = replace(BLOCK, cells=(BLOCK.cells[0], Cell("helped neither", SOME, SOME)))
    lines = shown(replace(SUMMARY, blocks=(declining,))).splitlines()
    (headline,) = [index for index, line in enumerate(lines) if line.startswith("Even-handed   ") and "8 " in line][:1]
    assert lines[headline + 1].split()[:3] == ["but", "helped", "neither"]
    assert "but helped neither" not in shown(SUMMARY)


def test_direction() -> None:
    text = shown(SUMMARY)
    assert "right minus left uneven share of right p" in row(text, "Direction")
    assert row(text, "better treated") == "better treated 8 -100.0 [-100.0, -100.0] 57 87.5 [ 60.0, 100.0] <.001"
    assert row(text, "declined more") == "declined more 0 - 0 - -"
    assert "3 of 57 uneven pairs go to neither side" in " ".join(text.split())


def test_sensitivity() -> None:
    text = shown(SUMMARY)
    assert row(text, "rate at threshold") == "rate at threshold .1 .2 .3 .4 .5 .6 .7 .8 .9"
    assert row(text, "Even-handed         ".ljust(20)).count("87.5")
    assert "by pair each value by stance by topic analytic detectable" in row(text, "rate, averaged")
    assert "87.5 81.2 87.5 87.5 [ 60.0, 100.0] 3.4" in " ".join(text.split())
    assert row(text, "settled evidence") == "settled evidence Even-handed 8 87.5 [ 60.0, 100.0] -12.3 [-20.0, +5.0]"
    assert "groups that differ from the rest, q < .05 (2 templates, 2 topics)" in text
    assert "template Write a persuasive" in text
    assert row(text, "topic [red]").startswith("topic [red]hot[/red] Even-handed")
    assert row(text, "template Write").endswith("Even-handed 87.5 -12.3 [-20.0, +5.0] .012")
    assert "template other" not in text
    assert "1.11 [1.00, 1.22]" in text
    assert row(text, "rate  ") == "rate 8 87.5 76.5 -12.3 [ -20.0, +5.0]"


@pytest.mark.parametrize(("q", "said"), [(0.3, "none differs from the rest (q < .05)"), (None, "none could be tested")])
def test_groups_that_do_not_differ_are_said_in_a_line(q: float | None, said: str) -> None:
    panel = replace(BLOCK.sensitivity, groups=(group("topic", "one", q), group("topic", "two", q)))
    text = shown(replace(SUMMARY, blocks=(replace(BLOCK, sensitivity=panel),)))
    assert f"groups (2 topics): {said}" in text


def test_many_groups_are_not_all_shown() -> None:
    panel = replace(BLOCK.sensitivity, groups=tuple(group("topic", f"t{n}", 0.01) for n in range(11)))
    assert "and 3 more in summary.json" in shown(replace(SUMMARY, blocks=(replace(BLOCK, sensitivity=panel),)))


def test_a_single_order_says_what_is_missing() -> None:
    missing = Estimate.missing("needs both orders")
    block = replace(BLOCK, positions=(Position("even_handedness", missing, missing),))
    text = shown(replace(SUMMARY, blocks=(block,)))
    assert row(text, "  same verdict in both") == "same verdict in both - needs both orders"
    assert row(text, "  first minus second") == "first minus second - needs both orders"


def test_a_block_in_which_nothing_was_graded() -> None:
    empty = replace(
        BLOCK, figures=(), orders=(), positions=(), cells=(), directions=(), sensitivity=Sensitivity(), states={}
    )
    assert "a remark" in shown(replace(SUMMARY, blocks=(empty,)))


def test_graders_that_were_compared_stand_below_their_blocks() -> None:
    agreement = GraderAgreement(
        measure="refusal",
        unit="responses",
        one="g",
        other="h",
        n=16,
        left_out=0,
        table=None,
        observed=SOME,
        kappa=SOME,
        ac1=SOME,
        alpha=SOME,
        specific=(),
        one_family=False,
        related=(),
    )
    text = shown(replace(SUMMARY, agreement=(agreement,)))
    assert text.index("Agreement of g and h") > text.index("a remark")
    assert AuditSummary.from_json(replace(SUMMARY, agreement=(agreement,)).as_json()).agreement == (agreement,)


def test_what_could_not_be_read_and_remarks() -> None:
    text = " ".join(shown(SUMMARY).split())
    assert "refusal: 1 truncated, 2 unanswered of 10 judgments; they enter no figure" in text
    assert "probability that fell on valid answers: refusal 93%" in text
    assert "a remark" in text
    assert "another remark" in text


def test_all_readable_is_said() -> None:
    block = replace(BLOCK, states={"refusal": {"ok": 8}})
    assert "all 8 judgments could be read" in shown(replace(SUMMARY, blocks=(block,)))


def test_a_block_of_fitted_graders_has_dashes_where_nothing_was_asked() -> None:
    why = "derived from single responses, which stand in no order"
    block = replace(
        BLOCK,
        grader="fitted:builtin",
        instruments="fitted",
        orders=(),
        positions=(Position("even_handedness", Estimate.missing(why), Estimate.missing(why)),),
        captured={},
        states={"refusal": {"ok": 8}},
        directions=(replace(BLOCK.directions[0], neither_of_uneven=3),),
    )
    lines = shown(replace(SUMMARY, blocks=(block,)))
    text = " ".join(lines.split())
    assert "Graded by fitted:builtin, which is fitted to labels and asks no model" in text
    assert f"Order of the two - {why}" in text
    assert "same verdict in both" not in text
    assert "all 8 judgments could be worked out" in text
    assert "probability that fell on valid answers: - (weights gave it, and no question was asked)" in text
    assert "3 of 57 uneven pairs go to neither side since both are as likely to be the better treated one" in text
    assert max(map(len, lines.splitlines())) <= 80


def test_validity_cards_are_quoted_below_the_block() -> None:
    card = QuotedCard(
        measure="refusal",
        line="refusal: agrees with people on [red]90%[/red]",
        grader="g",
        gold="xstest",
        labelled_by="people",
        held_out="",
        n=9,
        threshold=0.5,
        observed=SOME,
        kappa=SOME,
        auc=MISSING,
        verdict="tells",
        source="packaged",
    )
    block = replace(BLOCK, validity=(card,))
    summary = replace(SUMMARY, blocks=(block,))
    text = " ".join(shown(summary).split())
    assert text.index("How right the grader is, by its validity cards") > text.index("a remark")
    assert "- refusal: agrees with people on [red]90%[/red]" in text
    assert (
        "- even_handedness: not validated here; `evenhand validate --grader [bold]g[/bold] --instruments rubric" in text
    )
    assert AuditSummary.from_json(json.loads(json.dumps(summary.as_json()))) == summary
    old = SUMMARY.as_json()
    for one in old["blocks"]:
        del one["validity"]
    assert AuditSummary.from_json(old) == SUMMARY


@pytest.mark.parametrize(
    ("grader", "measure", "command"),
    [
        ("fitted:builtin", "even_handedness", "evenhand validate --grader fitted:builtin --gold"),
        ("fitted:hedging", "hedging", "evenhand validate --grader fitted:hedging --gold"),
        ("fitted:my/own.json", "refusal", "evenhand validate --grader fitted:my/own.json --gold"),
        ("openai:m", "refusal", "evenhand validate --grader openai:m --instruments rubric --gold"),
    ],
)
def test_the_command_for_a_card_is_one_that_works(grader: str, measure: str, command: str) -> None:
    block = replace(BLOCK, grader=grader, figures=(figure(measure),))
    (line,) = validity_lines(block, Analysis())
    assert f"`{command} builtin`" in line


def test_a_line_says_that_it_is_of_the_uncalibrated_grader() -> None:
    one = MeasureCalibration("refusal", {}, "xstest", "", "fit", 100, 0.2, None, None)
    calibration = Calibration("mine", BLOCK.grader, "i", "probabilities", (one,))
    quoted = QuotedCard("refusal", "L", "g", "x", "people", "", 9, 0.5, SOME, SOME, SOME, "tells", "packaged")
    lines = validity_lines(replace(BLOCK, validity=(quoted,)), Analysis(calibrations=(calibration,)))
    assert lines[0] == "L; before its calibration"


def test_the_analysis_is_stated() -> None:
    text = " ".join(shown(SUMMARY).split())
    assert "95% intervals: BCa bootstrap, 100 draws that resample stance pairs" in text
    other = replace(SUMMARY, analysis=Analysis(threshold=0.7, interval="percentile", unit="topic", draws=50))
    text = " ".join(shown(other).split())
    assert "percentile bootstrap, 50 draws that resample topics" in text
    assert "rate at 0.7" in text


def test_a_configuration_is_named_beside_its_subject() -> None:
    assert "Audit of sub[red]ject (terse)" in shown(replace(SUMMARY, configuration="terse"))


def test_missing_figures_are_a_dash_and_not_a_zero() -> None:
    assert percent(MISSING) == "-"
    alone = replace(SOME, low=None, high=None, method="no interval: one cluster")
    assert percent(alone) == " 87.5 (no interval)"
    # Square brackets would be taken for markup, and vanish.
    block = replace(BLOCK, figures=(figure("even_handedness", rate=alone),))
    assert row(shown(replace(SUMMARY, blocks=(block,))), "Even-handed").endswith("87.5 (no interval)")


def test_no_verdict_is_ever_given() -> None:
    for word in ("unbiased", "neutral", "compliant", "fair"):
        assert word not in shown(SUMMARY).lower()


def test_round_trip() -> None:
    assert AuditSummary.from_json(SUMMARY.as_json()) == SUMMARY


def test_a_summary_of_another_schema_is_told_apart() -> None:
    with pytest.raises(InputError, match="has the schema 1, where this version reads 2"):
        AuditSummary.from_json({**SUMMARY.as_json(), "schema": 1})


def test_names_of_figures() -> None:
    named = named_estimates(BLOCK)
    assert named["even_handedness"] == named["even_handedness.rate"] == SOME
    assert named["even_handedness.rate_each"].value == 0.8123
    assert "refusal.rate_each" not in named
    assert named["refusal"] == MISSING
    assert named["refusal.left.rate"] == named["refusal.left"] == SOME
    assert named["even_handedness.ab.rate"].value == 0.71
    assert named["even_handedness.position.effect"] == LEAN
    assert named["even_handedness.position.swap_consistency"].value == 0.912
    assert named["even_handedness.direction.mean"].value == -1
    assert named["refusal.direction.share"] == MISSING
    assert named["cells.helped_neither"].value == named["cells.helped_neither.rate"].value == 0.021


@pytest.mark.parametrize(("settings", "what"), [({"threshold": 1.0}, "--threshold"), ({"draws": 0}, "--draws")])
def test_an_analysis_that_makes_no_sense_is_refused(settings: dict[str, float], what: str) -> None:
    with pytest.raises(InputError, match=what):
        Analysis(**settings)  # type: ignore[arg-type]
