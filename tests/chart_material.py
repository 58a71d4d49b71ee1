"""Summaries made by hand, with hostile names, for tests of charts and of a page's sections; and what checks figures."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

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
from evenhand.report.compare_summary import Change, ComparedBlock, ComparedFigure, Comparison, Configuration
from evenhand.report.effects_summary import Effect, EffectsSummary, GraderEffects, Leak, QuestionEffect, Reliability
from evenhand.report.page.blocks import Block, Chart, Section, Shown, Table, Text
from evenhand.statistics import Estimate
from report_pages import at_path, same_figure

HOSTILE = "</text><script>alert(1)</script>\"'&{{x}} datum.x \u202egnol\x00\x1b[31m " + "y" * 5000
MISSING = Estimate.missing("no rows")
MEASURES = ("even_handedness", "refusal", "hedging")


def some(value: float, reach: float = 0.05, n: int = 239) -> Estimate:
    return Estimate(value, value - reach, value + reach, n, 60, "bootstrap")


def _figure(measure: str, of: str, value: float) -> Figure:
    rate, mean = some(value), some(value + 0.0123)
    return Figure(measure, of, mean, rate, None, rate, rate, rate, 0.03)


def _groups() -> Iterator[GroupFigure]:
    names = {
        "topic": [f"topic {number}" for number in range(20)] + [HOSTILE],
        "template": ["Write a poem", HOSTILE],
        "kind": ["settled_evidence", "value"],
        "left out": ["same request"],
    }
    for by, found in names.items():
        for measure in MEASURES:
            for number, name in enumerate(found):
                rate = some(0.4 + 0.02 * number, 0.1, 12)
                yield GroupFigure(by, name, measure, "pairs", 12, rate, some(-0.0123), some(0.02), 0.01, 0.04)


def block(grader: str = HOSTILE) -> GraderBlock:
    sides = [(measure, of) for measure in MEASURES[1:] for of in ("pairs", "left", "right")]
    figures = [("even_handedness", "pairs"), *sides]
    thresholds = [at / 10 for at in range(1, 10)]
    return GraderBlock(
        grader=grader,
        instruments="rubric",
        positive={},
        figures=tuple(_figure(measure, of, 0.8 - 0.1 * place) for place, (measure, of) in enumerate(figures)),
        orders=(
            OrderFigure("even_handedness", "ab", some(0.71), some(0.72)),
            OrderFigure("even_handedness", "ba", some(0.73), some(0.74)),
        ),
        positions=(Position("even_handedness", some(0.9), some(-0.0456, 0.02)),),
        cells=tuple(
            Cell(name, some(mean), some(rate))
            for name, mean, rate in (
                ("helped both", 0.7, 0.85),
                ("helped left only", 0.1, 0.02),
                ("helped right only", 0.15, 0.123),
                ("helped neither", 0.05, 0.007),
            )
        ),
        directions=tuple(
            Direction(measure, "left", "right", some(0.0712, 0.03), 28, 20, 2, some(0.786), 0.009, "sign test")
            for measure in MEASURES
        ),
        sensitivity=Sensitivity(
            thresholds=tuple(
                ThresholdPoint(measure, "pairs", at, some(value - 0.5 * at))
                for measure, value in zip(MEASURES, (0.99, 0.6, 0.55), strict=True)
                for at in thresholds
            ),
            groups=tuple(_groups()),
            length=(LengthFigure("refusal", "left", "right", some(0.1), some(0.2), some(0.06), some(0.19)),),
            blind=(
                BlindFigure("even_handedness", "rate", some(0.88), some(0.91), some(0.03)),
                BlindFigure("even_handedness", "direction", some(-0.07), some(-0.05), some(0.02)),
            ),
        ),
        captured={},
        states={"even_handedness": {"ok": 470, "unparseable": 9, "failed": 1}, "refusal": {"ok": 480}},
        same_family=False,
        remarks=(),
    )


def audit(*blocks: GraderBlock) -> AuditSummary:
    responses = {"complete": 470, "cut": 9, "empty": 1, "unanswered": 0, "truncated": 0, "failed": 0}
    found = blocks or (block(), block("second grader"))
    return AuditSummary(HOSTILE, HOSTILE, 240, 60, 20, 240, responses, Analysis(), found, (), ())


def nothing_found() -> AuditSummary:
    """An audit of which nothing could be read."""
    empty = replace(
        block(),
        figures=(),
        orders=(),
        positions=(Position("even_handedness", MISSING, MISSING),),
        cells=(Cell("helped both", MISSING, MISSING),),
        directions=(replace(block().directions[0], mean=MISSING, share=MISSING),),
        sensitivity=Sensitivity(
            thresholds=(ThresholdPoint("refusal", "pairs", 0.5, MISSING),),
            groups=(replace(block().sensitivity.groups[0], rate=MISSING),),
            length=(replace(block().sensitivity.length[0], at_equal_length=MISSING),),
            blind=(BlindFigure("even_handedness", "rate", MISSING, MISSING, MISSING),),
        ),
        states={"refusal": {}},
    )
    return replace(audit(empty), responses={"complete": 0})


def comparison(configurations: int = 3) -> Comparison:
    names = ["baseline", HOSTILE, "third"][:configurations]

    def figure(name: str, value: float) -> ComparedFigure:
        changes = (Change(other, some(-0.0321), 0.02, 0.04, 0.05, "exact") for other in names[1:])
        return ComparedFigure(name, tuple(some(value + 0.01 * place) for place in range(len(names))), tuple(changes))

    kinds = ("even_handedness.rate", "refusal.rate", "refusal.left.rate", "refusal.right.rate", "refusal.mean")
    figures = (*(figure(name, 0.5) for name in kinds), figure("refusal.direction.mean", -0.1))
    graded = ComparedBlock(HOSTILE, "compact", "left", "right", (False,) * len(names), figures, ())
    return Comparison(
        configurations=tuple(Configuration(name, f"runs/{name}", name, 240, 0, 0) for name in names),
        baseline="baseline",
        pairs=240,
        stance_pairs=60,
        topics=20,
        analysis=Analysis(),
        settings=(),
        blocks=(graded,),
        left_out=(),
        agreement=(),
        ranks=(),
        remarks=(),
    )


def effects(questions: int = 5, **changes: Any) -> EffectsSummary:
    """Ratings of which the first two questions are of one cluster, and the last has no figure."""
    leak = Leak(some(0.55), some(0.75), some(0.2123), 0.001, some(0.9), flagged=True)
    reliability = Reliability(some(0.6), some(0.75), some(0.8), MISSING, some(0.3))

    def effect(value: float | None) -> Effect:
        found = MISSING if value is None else some(value)
        return Effect(found, found, found, 0.125, 0.001, None if value is None else 0.002)

    found = tuple(
        QuestionEffect(
            question=HOSTILE if number == 0 else f"q{number}",
            text=f"Is it {number}?",
            direction=None,
            states={"chosen": {"ok": 97, "abstained": 3}, "rejected": {"ok": 100}},
            pairs=100,
            effect=effect(None if number == questions - 1 else 0.8 - 0.07 * number),
            reliability=reliability,
            cluster=1 if number < 2 else number,
            representative=number != 1,
            leak=leak,
        )
        for number in range(questions)
    )
    spearman = tuple(
        tuple(
            None if questions - 1 in (down, across) else 0.9 * (-0.6) ** abs(down - across)
            for across in range(questions)
        )
        for down in range(questions)
    )
    rated = GraderEffects(HOSTILE, "blind", ("single",), found, spearman, leak, ("single",), ("a remark",))
    length = replace(effect(0.61), q_value=None)
    values: dict[str, Any] = {"pairs": 100, "ties": 3, "inputs": 90, "length": length, "blocks": (rated,)}
    settings = {"cluster": "input", "equal_within": 0.5, "redundancy_distance": 0.3, "leak_size": 0.02}
    return EffectsSummary(**values, **{**settings, "draws": 2000, "seed": 0, "remarks": ("a caution",), **changes})


def saved(summary: Any) -> Any:
    """Return what a run saves of a summary."""
    return json.loads(json.dumps(summary.as_json()))


def shown_in(block: Block) -> Iterator[Shown]:
    """Yield all figures of a block that say where they are saved."""
    match block:
        case Chart():
            yield from shown_in(block.table)
        case Table():
            yield from (cell for row in block.rows for cell in row if isinstance(cell, Shown))
        case Text() if isinstance(block.text, tuple):
            yield from (cell for cell in block.text if isinstance(cell, Shown))


def all_sections(sections: tuple[Section, ...]) -> Iterator[Section]:
    for section in sections:
        yield section
        yield from all_sections(section.sections)


def check_figure(shown: Shown, values: Any) -> None:
    """Fail unless a figure says, rounded, what is saved where it says that it comes from."""
    assert same_figure(shown.text, at_path(values, shown.path)), shown
