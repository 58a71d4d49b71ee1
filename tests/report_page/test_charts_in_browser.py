"""Charts in a real browser: its fonts, its colours."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from chart_material import audit, comparison, effects
from evenhand.report.charts import (
    blind_chart,
    cells_chart,
    changes_chart,
    compared_chart,
    direction_chart,
    effects_chart,
    groups_chart,
    held_out_chart,
    leak_chart,
    length_chart,
    penalty_chart,
    position_chart,
    rates_chart,
    redundancy_chart,
    states_chart,
    threshold_chart,
    weights_chart,
)
from evenhand.report.page.blocks import Section
from evenhand.report.page.build import page
from scoring_specs import spec

if TYPE_CHECKING:
    from playwright.sync_api import Page

AUDIT, COMPARISON, EFFECTS, SPEC = audit(), comparison(), effects(12), spec()
CHARTS = [
    *(made(AUDIT, 0) for made in (rates_chart, cells_chart, direction_chart, position_chart, states_chart)),
    *(made(AUDIT, 0) for made in (threshold_chart, length_chart, blind_chart)),
    *(groups_chart(AUDIT, 0, by, "refusal") for by in ("topic", "template", "left out")),
    *(compared_chart(COMPARISON, 0, "refusal"), changes_chart(COMPARISON, 0)),
    *(made(EFFECTS, 0) for made in (effects_chart, leak_chart, redundancy_chart)),
    *(made(SPEC) for made in (weights_chart, held_out_chart, penalty_chart)),
]
OUTSIDE = """
() => [...document.querySelectorAll('figure svg')].flatMap(svg => {
  const room = svg.getBoundingClientRect();
  return [...svg.querySelectorAll('text')].filter(text => {
    const box = text.getBoundingClientRect();
    return box.left < room.left - 1 || box.right > room.right + 1
      || box.top < room.top - 1 || box.bottom > room.bottom + 1;
  }).map(text => svg.getAttribute('aria-label').slice(0, 40) + ': ' + text.textContent);
})
"""
OVERLAPPING = """
() => [...document.querySelectorAll('figure svg')].flatMap(svg => {
  const all = [...svg.querySelectorAll('text')].map(text => [text.textContent, text.getBoundingClientRect()]);
  return all.flatMap(([one, a], at) => all.slice(at + 1).filter(([other, b]) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4
  ).map(([other]) => svg.getAttribute('aria-label').slice(0, 40) + ': ' + one + ' | ' + other));
})
"""
FILL = "element => getComputedStyle(element).fill"


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("charts") / "charts.html"
    blocks = tuple(chart for chart in CHARTS if chart is not None)
    assert len(blocks) == len(CHARTS)
    path.write_text(page("Charts", (Section("charts", "Charts", blocks),), ()), "utf-8")
    return path


def test_no_text_is_cut_off_and_none_lies_on_another(drawn: Path, open_page: Callable[..., "Page"]) -> None:
    opened = open_page(drawn, viewport={"width": 1200, "height": 900})
    assert opened.locator("figure svg").count() == len(CHARTS)
    assert opened.evaluate(OUTSIDE) == []
    assert opened.evaluate(OVERLAPPING) == []


def test_charts_take_the_colours_of_the_page(drawn: Path, open_page: Callable[..., "Page"]) -> None:
    found: dict[str, dict[str, Any]] = {}
    for scheme in ("light", "dark"):
        opened = open_page(drawn, color_scheme=scheme)
        found[scheme] = {
            paint: opened.locator(f"figure svg [fill='var({paint})']").first.evaluate(FILL)
            for paint in ("--ink", "--muted", "--paper", "--chart-1")
        }
        assert all(colour.startswith("rgb(") for colour in found[scheme].values())
    assert all(found["light"][paint] != found["dark"][paint] for paint in found["light"])


def test_patterns_are_found_in_the_page(drawn: Path, open_page: Callable[..., "Page"]) -> None:
    opened = open_page(drawn)
    missing = opened.evaluate(
        "() => [...document.querySelectorAll('figure svg [fill^=\"url(#\"]')]"
        ".map(one => one.getAttribute('fill').slice(5, -1)).filter(id => document.getElementById(id) === null)"
    )
    assert missing == []
    ids = opened.evaluate("() => [...document.querySelectorAll('pattern')].map(one => one.id)")
    assert len(set(ids)) == len(ids) >= 6
