"""Every chart draws, and the table beside it says what was saved."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from chart_material import (
    HOSTILE,
    MISSING,
    audit,
    block,
    check_figure,
    comparison,
    effects,
    nothing_found,
    saved,
    shown_in,
)
from evenhand.report.charts import (
    blind_chart,
    cells_chart,
    changes_chart,
    compared_chart,
    direction_chart,
    effects_chart,
    graders_chart,
    groups_chart,
    held_out_chart,
    leak_chart,
    length_chart,
    penalty_chart,
    position_chart,
    rates_chart,
    redundancy_chart,
    responses_chart,
    states_chart,
    svg,
    threshold_chart,
    weights_chart,
)
from evenhand.report.charts.sensitivity_charts import MOST_GROUPS
from evenhand.report.page.blocks import Chart, Shown
from scoring_specs import question, spec

AUDIT, COMPARISON, EFFECTS = audit(), comparison(), effects()
SPEC = spec(question(HOSTILE, 0.3), question("long", -0.1, abstained_weight=-0.2), question("odd", 0.0))
OF_BLOCKS: dict[str, Callable[..., Chart | None]] = {
    "rates": rates_chart,
    "cells": cells_chart,
    "direction": direction_chart,
    "order": position_chart,
    "states": states_chart,
    "thresholds": threshold_chart,
    "length": length_chart,
    "blind": blind_chart,
}
CHARTS: dict[str, tuple[Chart | None, Any]] = {
    **{name: (made(AUDIT, 1), saved(AUDIT)) for name, made in OF_BLOCKS.items()},
    "graders": (graders_chart(AUDIT), saved(AUDIT)),
    "responses": (responses_chart(AUDIT), saved(AUDIT)),
    **{
        f"{by} {measure}": (groups_chart(AUDIT, 0, by, measure), saved(AUDIT))
        for by in ("topic", "template", "kind", "left out")
        for measure in ("even_handedness", "refusal")
    },
    "compared": (compared_chart(COMPARISON, 0, "refusal"), saved(COMPARISON)),
    "compared, one row each": (compared_chart(COMPARISON, 0, "even_handedness"), saved(COMPARISON)),
    "changes": (changes_chart(COMPARISON, 0), saved(COMPARISON)),
    "effects": (effects_chart(EFFECTS, 0), saved(EFFECTS)),
    "leak": (leak_chart(EFFECTS, 0), saved(EFFECTS)),
    "redundancy": (redundancy_chart(EFFECTS, 0), saved(EFFECTS)),
    "weights": (weights_chart(SPEC), saved(SPEC)),
    "held out": (held_out_chart(SPEC), saved(SPEC)),
    "penalties": (penalty_chart(SPEC), saved(SPEC)),
}


@pytest.mark.parametrize("name", CHARTS)
def test_the_table_says_what_was_saved(name: str) -> None:
    chart, values = CHARTS[name]
    assert chart is not None
    figures = list(shown_in(chart))
    assert figures
    for figure in figures:
        check_figure(figure, values)
    assert {len(row) for row in chart.table.rows} == {len(chart.table.columns)}


@pytest.mark.parametrize("name", CHARTS)
def test_it_draws_what_the_table_says(name: str) -> None:
    chart, _ = CHARTS[name]
    assert chart is not None
    root = ElementTree.fromstring(svg(chart, "file"))
    words = " ".join(element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text"))
    assert chart.title in words
    assert not re.search(r"\bNaN\b|undefined|null|Infinity", svg(chart))
    assert "{" not in (chart.table.note + chart.alt).replace("{{x}}", "")
    for verdict in ("unbiased", "neutral", "compliant"):
        assert verdict not in svg(chart, "file").lower()


@pytest.mark.parametrize("name", CHARTS)
def test_the_alternative_text_has_figures_and_an_end(name: str) -> None:
    chart, _ = CHARTS[name]
    assert chart is not None
    assert re.search(r"\d|each question is one of its own|cluster", chart.alt)
    assert chart.alt.endswith(".")
    assert len(chart.alt) < 1200


def test_names_are_unique_and_fit_for_files() -> None:
    of_audit = [chart.name for chart, values in CHARTS.values() if chart is not None and "blocks" in values]
    assert len(set(of_audit)) == len(of_audit)
    assert all(re.fullmatch(r"[a-z0-9-]+", chart.name) for chart, _ in CHARTS.values() if chart is not None)
    prefixed = rates_chart(AUDIT, 0, prefix="run-2-")
    assert prefixed is not None
    assert prefixed.name == "run-2-rates-1"


def test_drawn_values_are_the_figures() -> None:
    chart = rates_chart(AUDIT, 0)
    assert chart is not None
    first = AUDIT.blocks[0].figures[0]
    xs = [value.get("x") for layer in chart.spec["layer"] for value in layer["data"]["values"]]
    assert first.rate.value is not None
    assert any(x is not None and np.isclose(x, 100 * first.rate.value) for x in xs)


def test_of_nothing_there_is_no_chart() -> None:
    empty = nothing_found()
    for name, made in OF_BLOCKS.items():
        assert made(empty, 0) is None, name
    assert graders_chart(empty) is None
    assert responses_chart(empty) is None
    assert groups_chart(empty, 0, "topic", "even_handedness") is None
    assert groups_chart(AUDIT, 0, "category", "refusal") is None


def test_a_figure_that_is_missing_leaves_its_row() -> None:
    figures = tuple(replace(one, rate=MISSING) if one.of == "left" else one for one in block().figures)
    chart = rates_chart(audit(replace(block(), figures=figures)), 0)
    assert chart is not None
    row = next(row for row in chart.table.rows if row[0] == "Refusal, left")
    assert row[2] == "–"
    assert "–" in [element.text for element in ElementTree.fromstring(svg(chart)).iter()]


def test_of_very_many_groups_the_ends_are_drawn_and_the_table_has_all() -> None:
    one = block().sensitivity.groups[0]
    many = tuple(replace(one, name=f"topic {number}") for number in range(3 * MOST_GROUPS))
    graded = replace(block(), sensitivity=replace(block().sensitivity, groups=many))
    chart = groups_chart(audit(graded), 0, "topic", "even_handedness")
    assert chart is not None
    assert len(chart.table.rows) == 3 * MOST_GROUPS
    assert "the table has all" in chart.table.note
    names = [element.text or "" for element in ElementTree.fromstring(svg(chart)).iter()]
    assert sum(name.startswith("topic ") for name in names) == MOST_GROUPS


def test_two_configurations_need_no_headings() -> None:
    chart = changes_chart(comparison(2), 0)
    assert chart is not None
    assert "p" in chart.table.columns
    several = changes_chart(COMPARISON, 0)
    assert several is not None
    assert "p, adjusted" in several.table.columns
    assert len(several.table.rows) == 2 * len(chart.table.rows)


def test_more_states_than_patterns_are_put_together() -> None:
    states = ("ok", "abstained", "unparseable", "truncated", "unanswered", "declined", "failed", "new")
    crowded = audit(replace(block(), states={"refusal": dict.fromkeys(states, 10)}))
    chart = states_chart(crowded, 0)
    assert chart is not None
    words = [element.text for element in ElementTree.fromstring(svg(chart)).iter()]
    assert "all others" in words
    assert len(chart.table.columns) == 9


def test_leak_and_map_are_left_out_where_there_is_none() -> None:
    quiet = replace(EFFECTS.blocks[0], leak=None, spearman=((1.0,),), questions=EFFECTS.blocks[0].questions[:1])
    summary = replace(EFFECTS, blocks=(quiet,))
    assert leak_chart(summary, 0) is None
    assert redundancy_chart(summary, 0) is None


def test_a_map_puts_clusters_side_by_side() -> None:
    chart = redundancy_chart(EFFECTS, 0)
    assert chart is not None
    clusters = [cell.text for row in chart.table.rows if isinstance(cell := row[1], Shown)]
    assert clusters == ["1", "1", "2", "3", "4"]
    assert "cluster 1" in chart.alt


def test_many_questions_are_a_map_of_those_that_fit() -> None:
    chart = redundancy_chart(effects(60), 0)
    assert chart is not None
    assert "The first 40 of 60 questions" in chart.table.note
    assert ElementTree.fromstring(svg(chart)).get("width") == "680"


def test_without_a_path_there_is_no_curve_of_penalties() -> None:
    assert penalty_chart(replace(SPEC, fit=replace(SPEC.fit, path=()))) is None
