"""Charts of a validity card and the sections that it takes on a page."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from chart_material import HOSTILE, MISSING, all_sections, check_figure, saved, shown_in, some
from evenhand.pairs.gold.item import GoldItem, GoldMeasure, GoldSet
from evenhand.report.charts import (
    agreement_chart,
    card_threshold_chart,
    controls_chart,
    gold_kinds_chart,
    gold_labels_chart,
    raters_chart,
    reliability_chart,
    svg,
)
from evenhand.report.page.blocks import Chart, Command, Table, Text
from evenhand.report.page.card_sections import card_sections
from evenhand.report.validity_card import KindFigure, RaterAgreement, ValidityCard
from evenhand.statistics.detection import Verdict
from evenhand.statistics.thresholds import best_threshold, threshold_curve
from evenhand.studies.validation_scores import CELLS, Scores
from evenhand.studies.validity import GradedBy, gold_classes, validity_card

RNG = np.random.default_rng(3)
P = RNG.uniform(0, 0.6, 120) + np.where(np.arange(120) % 2 == 0, 0.3, 0.0)
LABELS = np.arange(120) % 2 == 0
CURVE = threshold_curve(P, LABELS)
MADE: dict[str, Callable[..., Chart | None]] = {
    "agreement": agreement_chart,
    "controls": controls_chart,
    "raters": raters_chart,
    "reliability": reliability_chart,
    "labels": gold_labels_chart,
    "kinds": gold_kinds_chart,
}


def a_card(measure: GoldMeasure = GoldMeasure.REFUSAL) -> ValidityCard:
    """Return a real card of made-up probabilities, with a hostile grader and hostile kinds."""
    names = ("full", "none") if measure is GoldMeasure.REFUSAL else CELLS
    texts = 1 if measure is GoldMeasure.REFUSAL else 2
    items = tuple(
        GoldItem(
            f"i{number}",
            measure,
            tuple(f"prompt {number} {place}" for place in range(texts)),
            tuple("x" * (20 + number % 7 + place) for place in range(texts)),
            names[number % len(names)],
            annotators=(names[number % len(names)], names[(number + number % 3) % len(names)]),
            groups={"issue": f"issue {number // 3}", "kind": f"{HOSTILE} {number % 2}"},
        )
        for number in range(120)
    )
    classes = {}
    if measure is not GoldMeasure.REFUSAL:
        classes = {cell: np.array([0.7 if item.label == cell else 0.1 for item in items]) for cell in CELLS}
    card = validity_card(
        GoldSet("made-set", "Made: a set", "CC0", "here", "ab" * 32, items),
        items,
        Scores(str(measure), {"refusal": "v"}, P, classes, {}, ((),) * 120, np.full(120, 0.3)),
        GradedBy(HOSTILE, "an identity", "compact", "probabilities", "both"),
        classes=gold_classes(measure),
    )
    return replace(card, best_threshold=best_threshold(P, LABELS))


CARD, PAIRS = a_card(), a_card(GoldMeasure.EVEN_HANDEDNESS)
SAVED = {"cards": [saved(CARD), saved(PAIRS)]}
CHARTS = {
    **{name: made(CARD, 0) for name, made in MADE.items()},
    "all classes": agreement_chart(PAIRS, 1),
    "threshold": card_threshold_chart(CARD, 0, CURVE),
}


@pytest.mark.parametrize("name", CHARTS)
def test_the_table_says_what_was_saved(name: str) -> None:
    chart = CHARTS[name]
    assert chart is not None
    figures = list(shown_in(chart))
    assert figures
    for figure in figures:
        check_figure(figure, SAVED)
    assert {len(row) for row in chart.table.rows} == {len(chart.table.columns)}
    root = ElementTree.fromstring(svg(chart, "file"))
    words = [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert chart.title.startswith(words[0][:20])
    assert max(map(len, words)) < 140
    assert re.search(r"\d", chart.alt)


def test_the_curve_is_the_one_given_and_the_best_threshold_is_on_it() -> None:
    chart = card_threshold_chart(CARD, 0, CURVE)
    assert chart is not None
    values = [value for layer in chart.spec["layer"] for value in layer["data"]["values"]]
    drawn = [(value["x"], value["y"]) for value in values if "x" in value and "y" in value]
    for point in CURVE:
        assert (point.threshold, 100 * point.sensitivity) in drawn
        assert (point.threshold, 100 * point.specificity) in drawn
    assert {"x": CARD.best_threshold.threshold} in values
    assert card_threshold_chart(CARD, 0) is None


def test_of_nothing_there_is_no_chart() -> None:
    figures = ("observed", "kappa", "ac1", "alpha", "sensitivity", "specificity", "auc")
    empty = replace(
        CARD,
        **dict.fromkeys(figures, MISSING),  # type: ignore[arg-type]
        specific=(),
        reliability=replace(CARD.reliability, curve=()),
        by_label=(),
        by_kind=(KindFigure("a kind", MISSING),),
        controls=replace(CARD.controls, **dict.fromkeys(vars_of(CARD.controls), MISSING)),
        annotators=(),
    )
    assert all(made(empty, 0) is None for made in MADE.values())


def vars_of(values: Any) -> list[str]:
    return list(values.__dataclass_fields__)


def test_kappas_below_zero_have_an_axis() -> None:
    one = RaterAgreement(CARD.grader, "annotator 1", 40, some(0.3), some(-0.3), some(-0.2), some(-0.2))
    chart = raters_chart(replace(CARD, annotators=(one,)), 0)
    assert chart is not None
    assert [row[0] for row in chart.table.rows] == ["the grader - annotator 1"]
    texts = [element.text for element in ElementTree.fromstring(svg(chart)).iter()]
    assert "−0.5" in texts


def test_the_sections_of_cards() -> None:
    record = {
        "evenhand": "0.1.0",
        "sample": {"size": 50, "seed": 0},
        "gold": [{"name": "made-set", "measure": "refusal", "items": 120, "licence": HOSTILE}],
    }
    sections = card_sections((CARD, PAIRS), record, (CURVE,), prefix="run-2-", run="runs/it's here")
    found = list(all_sections(sections))
    anchors = [section.anchor for section in found]
    assert len(set(anchors)) == len(anchors)
    assert all(anchor.startswith("run-2-") for anchor in anchors)
    blocks = [block for section in found for block in section.blocks]
    charts = [block for block in blocks if isinstance(block, Chart)]
    assert len({chart.name for chart in charts}) == len(charts) >= 12
    assert all(chart.name.startswith("run-2-card-") for chart in charts)
    figures = [figure for block in blocks for figure in shown_in(block)]
    assert {"cards/0/kappa", "cards/1/auc", "cards/0/table/0/1", "cards/1/classes/table/3/3"} <= {
        figure.path for figure in figures
    }
    for figure in figures:
        check_figure(figure, SAVED)
    for table in (block for block in blocks if isinstance(block, Table)):
        assert {len(row) for row in table.rows} <= {len(table.columns)}
    commands = [block.text for block in blocks if isinstance(block, Command)]
    assert len(commands) == 1
    assert commands[0].endswith("--gold made-set --sample 50 --out 'runs/it'\"'\"'s here'")


@pytest.mark.parametrize("verdict", [Verdict.RANDOM, Verdict.CONSTANT, Verdict.INVERTED, Verdict.ONE_SIDED])
def test_a_grader_that_says_nothing_is_called_so(verdict: Verdict) -> None:
    (section, _) = card_sections((replace(CARD, verdict=verdict, remarks=("a remark",)),))
    cautions = [block.text for block in section.blocks if isinstance(block, Text) and block.kind == "caution"]
    assert len(cautions) == 1
    notes = [block.text for block in section.blocks if isinstance(block, Text) and block.kind == "note"]
    assert notes == ["A remark."]


def test_one_card_needs_no_overview() -> None:
    assert [section.anchor for section in card_sections((CARD,))] == ["card-1", "record"]
    assert [section.anchor for section in card_sections(())] == ["record"]
