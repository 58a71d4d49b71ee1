"""Many pairs, small screens, helpers of people who can't see, browsers that lack something."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evenhand.report.reader.audit_reader import audit_reader
from evenhand.report.reader.rate_reader import rate_reader
from rating_runs import pair_row, rating
from reader_pages import count, pair_id, ready, written
from reader_rows import AuditRows, long_text

MANY = 20_000
PHONE = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}


@pytest.fixture(scope="module")
def long_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = AuditRows(1350, lambda n, letter: long_text(2 * n + (letter == "b"), 3000), ["g"])
    return written(tmp_path_factory.mktemp("long"), audit_reader(rows.pairs(), rows.responses(), rows.judgments()))


def test_twenty_thousand_pairs_can_be_used(open_page: Callable[..., Any], tmp_path: Path) -> None:
    rows = AuditRows(MANY, graders=["g"])
    judgments = (row for row in rows.judgments() if row["measure"] == "even_handedness")
    opened = ready(open_page(written(tmp_path, audit_reader(rows.pairs(), rows.responses(), judgments))))
    assert count(opened) == "20,000 paired prompts"
    assert opened.locator(".reader-option").count() < 60
    opened.locator(".reader-list").focus()
    opened.keyboard.press("End")
    opened.locator(f".reader-option[aria-posinset='{MANY}'][aria-selected=true]").wait_for()
    opened.locator("[data-column=topic] select").select_option("abortion")
    assert count(opened) == "2,223 of 20,000 paired prompts"
    opened.get_by_role("button", name="Show all").click()
    opened.get_by_label("Search in all texts").fill('"to pair 19998."')
    opened.locator(".reader-count").filter(has_text="1 of 20,000 paired prompts").filter(
        has_not_text="so far"
    ).wait_for()
    opened.locator(".reader-option").click()
    opened.locator(".reader-pair-link").filter(has_text="pair-19998").wait_for()
    assert opened.locator(".reader-answer").first.inner_text() == "Answer a to pair 19998."


def test_long_answers_open_and_filter(open_page: Callable[..., Any], long_page: Path) -> None:
    opened = ready(open_page(long_page))
    assert count(opened) == "1,350 paired prompts"
    assert len(opened.locator(".reader-answer").first.inner_text()) > 2900
    before = opened.locator("*").count()
    opened.locator("[data-column=topic] select").select_option("energy")
    assert count(opened) == "150 of 1,350 paired prompts"
    assert opened.locator("*").count() < before + 100
    names = opened.evaluate("performance.getEntriesByType('measure').map(one => one.name)")
    assert {"reader-start", "reader-filter"} <= set(names), "what measures the reader is gone"


def test_a_phone_shows_the_list_or_the_pair(open_page: Callable[..., Any], long_page: Path) -> None:
    opened = ready(open_page(long_page, **PHONE))
    listed, article = opened.locator(".reader-list"), opened.locator(".reader-pair")
    assert listed.is_visible()
    assert not article.is_visible()
    assert not opened.locator(".reader-filters").is_visible()
    option = opened.locator(".reader-option").nth(3)
    wanted = f"pair-{option.get_attribute('data-row')}"
    option.tap()
    opened.wait_for_function("() => document.activeElement.classList.contains('reader-pair')")
    assert pair_id(opened) == wanted
    assert not listed.is_visible()
    boxes = [side.bounding_box() for side in opened.locator(".reader-side").all()]
    assert boxes[1]["y"] > boxes[0]["y"] + boxes[0]["height"] - 1
    assert opened.evaluate("document.documentElement.scrollWidth") == 360
    opened.get_by_role("button", name="Next").tap()
    opened.wait_for_function("id => document.querySelector('.reader-pair-link').textContent !== id", arg=wanted)
    opened.get_by_role("button", name="Back to the list").tap()
    assert listed.is_visible()
    assert opened.evaluate("document.activeElement.classList.contains('reader-list')")
    opened.go_back()
    article.wait_for()


def test_a_wide_window_shows_both_and_the_texts_side_by_side(open_page: Callable[..., Any], long_page: Path) -> None:
    opened = ready(open_page(long_page, viewport={"width": 1400, "height": 900}))
    assert opened.locator(".reader-list").is_visible()
    boxes = [side.bounding_box() for side in opened.locator(".reader-side").all()]
    assert boxes[0]["y"] == boxes[1]["y"]
    assert boxes[1]["x"] >= boxes[0]["x"] + boxes[0]["width"]


@pytest.mark.parametrize("options", [{}, {"color_scheme": "dark"}, PHONE], ids=["light", "dark", "phone"])
def test_axe_finds_nothing(open_page: Callable[..., Any], tmp_path: Path, options: dict[str, Any]) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed")
    rows = AuditRows(60)
    pairs = [pair_row(n, input=f"Input {n}", chosen="Good", rejected="Bad", tie=n == 2) for n in range(5)]
    ratings = [rating(n, None if n == 1 else 5, n, question=question) for n in range(5) for question in ("q0", "q1")]
    questions = [{"id": "q0", "text": "Is it kind?"}, {"id": "q1", "text": "Is it long?"}]
    path = written(
        tmp_path,
        audit_reader(rows.pairs(), rows.responses(), rows.judgments()),
        rate_reader(pairs, ratings, questions),
    )
    opened = ready(ready(open_page(path, "pair/pair-29", **options)), 2)
    opened.get_by_label("Search in all texts").first.fill("answer")
    opened.locator("mark").first.wait_for(state="attached")
    for dialog in (False, True) if not options else (False,):
        if dialog:
            opened.get_by_role("button", name="Keys and help").first.click()
        found = axe.Axe().run(opened).response
        assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found["violations"]] == []


def test_printing_leaves_the_controls_out(open_page: Callable[..., Any], long_page: Path) -> None:
    opened = ready(open_page(long_page))
    opened.emulate_media(media="print")
    for hidden in (".reader-controls", ".reader-list", ".reader-pair", ".reader-tools"):
        assert not opened.locator(hidden).is_visible()
    assert opened.get_by_text("1,350 pairs can be read and searched here").is_visible()
    opened.evaluate("location.hash = '#pair/pair-3'")
    opened.locator(".reader-answer").first.wait_for()
    assert opened.locator(".reader-side").count() == 2


def test_a_browser_that_cannot_unpack_says_so(open_page: Callable[..., Any], tmp_path: Path) -> None:
    rows = AuditRows(3)
    path = written(tmp_path, audit_reader(rows.pairs(), rows.responses(), rows.judgments()))
    opened = open_page(path)
    opened.add_init_script("delete window.DecompressionStream")
    opened.reload()
    opened.get_by_text("it lacks DecompressionStream").wait_for()
    assert not opened.locator(".reader-app").is_visible()


def test_without_scripts_a_note_stands_there(open_page: Callable[..., Any], tmp_path: Path) -> None:
    rows = AuditRows(3)
    path = written(tmp_path, audit_reader(rows.pairs(), rows.responses(), rows.judgments()))
    opened = open_page(path, java_script_enabled=False)
    note = opened.locator("noscript p")
    assert note.is_visible()
    assert note.inner_text().startswith("The 3 pairs are in this file, packed.")
    assert not opened.locator(".reader-app").is_visible()
