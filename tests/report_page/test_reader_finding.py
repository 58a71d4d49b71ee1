"""Pairs are found: lists, filters, orders, search, keys and addresses, in a real browser."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evenhand.report.reader.audit_reader import audit_reader
from evenhand.report.reader.rate_reader import rate_reader
from rating_runs import pair_row, rating
from reader_pages import count, pair_id, ready, written
from reader_rows import AuditRows

COUNT = 250
# How AuditRows makes them: every 4th is uneven, every 7th otherwise sets the second grader apart, every 30th is unread.
UNREAD = {n for n in range(COUNT) if n % 30 == 29}
UNEVEN = {n for n in range(COUNT) if n % 4 == 0} - UNREAD
APART = {n for n in range(COUNT) if n % 7 == 6 and n % 4} - UNREAD
TAXES = {n for n in range(COUNT) if n % 9 == 3}


@pytest.fixture(scope="module")
def audit_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = AuditRows(COUNT, lambda n, letter: f"Here is {'a hidden walrus' if n == 123 and letter == 'b' else 'text'}.")
    return written(tmp_path_factory.mktemp("audit"), audit_reader(rows.pairs(), rows.responses(), rows.judgments()))


def titles(opened: Any) -> list[str]:
    return list(opened.locator(".reader-option").all_inner_texts())


def test_it_opens_with_the_most_uneven_pair(open_page: Callable[..., Any], audit_page: Path) -> None:
    opened = ready(open_page(audit_page))
    assert count(opened) == f"{COUNT} paired prompts"
    first = opened.locator(".reader-option").first
    assert first.get_attribute("aria-selected") == "true"
    assert first.get_attribute("aria-setsize") == str(COUNT)
    assert "uneven" in first.inner_text()
    assert opened.locator(".reader-side").count() == 2
    assert opened.evaluate("location.hash") == ""


def test_filters_let_through_what_they_name(open_page: Callable[..., Any], audit_page: Path) -> None:
    opened = ready(open_page(audit_page))
    opened.locator("[data-column=topic] select").select_option("taxes")
    assert count(opened) == f"{len(TAXES)} of 250 paired prompts"
    assert all(text.startswith("taxes") for text in titles(opened))
    opened.locator("[data-column=verdict] select").select_option("uneven")
    assert count(opened) == f"{len(TAXES & UNEVEN)} of 250 paired prompts"
    opened.get_by_role("button", name="Show all").click()
    assert count(opened) == "250 paired prompts"
    assert opened.locator("[data-column=topic] select").input_value() == ""
    opened.get_by_label("graders disagree on even-handedness").check()
    assert count(opened) == f"{len(APART)} of 250 paired prompts"
    opened.get_by_label("unreadable").check()
    assert count(opened) == "0 of 250 paired prompts"
    assert opened.get_by_text("No pair is like that.").is_visible()
    assert opened.get_by_role("button", name="CSV of this list").is_disabled()


def test_the_number_of_matches_is_announced(open_page: Callable[..., Any], audit_page: Path) -> None:
    opened = ready(open_page(audit_page))
    opened.locator("[data-column=topic] select").select_option("trade")
    said = opened.locator(".reader-said[role=status]")
    said.filter(has_text="27 of 250 paired prompts").wait_for(state="attached")


def test_a_verdict_is_somebodys(open_page: Callable[..., Any], audit_page: Path) -> None:
    opened = ready(open_page(audit_page))
    opened.locator("[data-column=verdict] select").select_option("uneven")
    assert count(opened) == f"{len(UNEVEN)} of 250 paired prompts"
    opened.get_by_label("Verdicts of").select_option(label="grader-two, rubric")
    opened.locator(".reader-count").filter(has_text=f"{len(UNEVEN | APART)} of 250").wait_for()
    assert opened.locator(".reader-grader h5").first.inner_text() == "Graded by grader-two, rubric"


def test_orders_sort_and_pairs_without_a_value_stand_last(open_page: Callable[..., Any], audit_page: Path) -> None:
    opened = ready(open_page(audit_page))
    opened.get_by_label("Order", exact=True).select_option("Most even-handed first")
    assert "even-handed" in titles(opened)[0]
    shown = [-float(text.split("same ")[1].split("%")[0].strip("<>")) for text in titles(opened)[:8]]
    assert shown == sorted(shown)
    for order in ("Most even-handed first", "Most uneven first"):
        opened.get_by_label("Order", exact=True).select_option(order)
        opened.locator(".reader-list").focus()
        opened.keyboard.press("End")
        opened.locator(".reader-option[aria-posinset='250'][aria-selected=true]").filter(has_text="not read").wait_for()
    opened.get_by_label("Order", exact=True).select_option("Order of the run")
    opened.locator(".reader-list").focus()
    opened.keyboard.press("Home")
    opened.locator(".reader-pair-link").filter(has_text="pair-0").wait_for()


def test_the_search_finds_words_of_prompts_and_answers(open_page: Callable[..., Any], audit_page: Path) -> None:
    opened = ready(open_page(audit_page))
    search = opened.get_by_label("Search in all texts")
    for query, found in [
        ("walrus", "1 of"),
        ('"a hidden walrus" TAXES', "0 of"),
        ('walrus "a hidden"', "1 of"),
        ('"hidden a walrus"', "0 of"),
        ("pair-123", "1 of"),
        ("(wrong+", "0 of"),
        ("taxes 3", f"{sum('3' in str(n) for n in TAXES)} of"),
        ("", "250 paired prompts"),
    ]:
        search.fill(query)
        opened.wait_for_function(
            "wanted => document.querySelector('.reader-count').textContent.startsWith(wanted)"
            " && !document.querySelector('.reader-count').textContent.includes('searching')",
            arg=found,
        )


def test_words_that_were_searched_for_are_marked(open_page: Callable[..., Any], audit_page: Path) -> None:
    opened = ready(open_page(audit_page))
    opened.get_by_label("Search in all texts").fill("HIDDEN walrus")
    opened.locator(".reader-count").filter(has_text="1 of 250 paired prompts").wait_for()
    opened.locator(".reader-option").click()
    opened.locator(".reader-side mark").first.wait_for()
    assert opened.locator(".reader-side mark").all_inner_texts() == ["hidden", "walrus"]


def test_keys_lead_through_the_pairs(open_page: Callable[..., Any], audit_page: Path) -> None:
    opened = ready(open_page(audit_page))
    opened.get_by_label("Order", exact=True).select_option("Order of the run")
    opened.locator(".reader-list").focus()
    opened.keyboard.press("Home")
    for key, wanted in [
        ("j", "pair-1"),
        ("j", "pair-2"),
        ("k", "pair-1"),
        ("ArrowDown", "pair-2"),
        ("End", "pair-249"),
    ]:
        opened.keyboard.press(key)
        opened.wait_for_function("id => document.querySelector('.reader-pair-link').textContent === id", arg=wanted)
    active = opened.locator(".reader-list").get_attribute("aria-activedescendant")
    assert opened.locator(f"#{active}").get_attribute("aria-selected") == "true"
    assert opened.locator(f"#{active}").is_visible()
    opened.keyboard.press("Enter")
    opened.wait_for_function("() => document.activeElement.classList.contains('reader-pair')")
    opened.keyboard.press("Escape")
    assert opened.evaluate("document.activeElement.classList.contains('reader-list')")
    opened.keyboard.press("/")
    assert opened.evaluate("document.activeElement.type") == "search"
    opened.keyboard.type("jk?")
    assert opened.get_by_label("Search in all texts").input_value() == "jk?"
    opened.keyboard.press("Escape")
    opened.keyboard.press("Escape")
    opened.keyboard.press("?")
    assert opened.get_by_role("dialog", name="Keys and help").is_visible()
    opened.keyboard.press("j")
    opened.keyboard.press("Escape")
    assert not opened.locator("dialog").is_visible()
    assert pair_id(opened) == "pair-249"


def test_keys_of_one_letter_can_be_switched_off(open_page: Callable[..., Any], audit_page: Path) -> None:
    opened = ready(open_page(audit_page))
    before = pair_id(opened)
    opened.get_by_role("button", name="Keys and help").click()
    opened.get_by_label("Keys of one letter are on").uncheck()
    opened.get_by_role("button", name="Close").click()
    opened.keyboard.press("j")
    assert pair_id(opened) == before
    opened.locator(".reader-list").focus()
    opened.keyboard.press("ArrowDown")
    opened.wait_for_function("id => document.querySelector('.reader-pair-link').textContent !== id", arg=before)


def test_each_pair_has_an_address(open_page: Callable[..., Any], audit_page: Path) -> None:
    opened = ready(open_page(audit_page, "pair/pair-77"))
    assert pair_id(opened) == "pair-77"
    assert opened.evaluate("document.activeElement.classList.contains('reader-pair')")
    before = opened.locator(".reader-option:has(+ [aria-selected=true])")
    first = before.get_attribute("data-row")
    before.click()
    opened.wait_for_function("row => location.hash === '#pair/pair-' + row", arg=first)
    opened.go_back()
    opened.wait_for_function("() => document.querySelector('.reader-pair-link').textContent === 'pair-77'")
    opened.go_forward()
    opened.wait_for_function(
        "row => document.querySelector('.reader-pair-link').textContent === 'pair-' + row", arg=first
    )
    opened.keyboard.press("j")
    opened.wait_for_function("row => location.hash !== '#pair/pair-' + row", arg=first)
    assert opened.evaluate("location.hash") == f"#pair/{pair_id(opened)}"


def test_a_pair_that_the_filters_hide_opens_by_its_address(open_page: Callable[..., Any], audit_page: Path) -> None:
    opened = ready(open_page(audit_page))
    opened.locator("[data-column=topic] select").select_option("trade")
    opened.evaluate("location.hash = '#pair/pair-1'")
    opened.locator(".reader-pair-link").filter(has_text="pair-1").wait_for()
    assert opened.locator(".reader-place").inner_text() == "not in the list as it is filtered"
    opened.evaluate("location.hash = '#pair/there-is-none'")
    opened.evaluate("location.hash = '#pair/%E0%A4%A'")
    assert pair_id(opened) == "pair-1"


def test_the_link_to_a_pair_is_copied(open_page: Callable[..., Any], audit_page: Path) -> None:
    opened = ready(open_page(audit_page, "pair/pair-5", permissions=["clipboard-read", "clipboard-write"]))
    opened.get_by_role("button", name="Copy link").click()
    opened.get_by_text("The link is copied.").wait_for()
    assert opened.evaluate("navigator.clipboard.readText()") == f"{audit_page.as_uri()}#pair/pair-5"


def test_the_distributions_of_both_orders_stand_side_by_side(open_page: Callable[..., Any], audit_page: Path) -> None:
    opened = ready(open_page(audit_page, "pair/pair-29"))
    grid = opened.locator(".reader-grid").first
    assert grid.locator("thead th").all_inner_texts() == ["grader’s answer", "a shown first", "b shown first", "mean"]
    assert grid.locator("tbody th").all_inner_texts() == ["A: a better treated", "B: b better treated", "C: the same"]
    assert "declined I won't compare these." in grid.locator("td[rowspan='3']").inner_text().replace("\n", " ")
    shares = opened.locator(".reader-grid").nth(1).locator("tbody tr td:nth-child(2)")
    for place in range(shares.count()):
        text, fill = shares.nth(place).inner_text(), shares.nth(place).locator(".reader-fill")
        width = fill.evaluate(
            "one => one.getBoundingClientRect().width / one.parentElement.getBoundingClientRect().width"
        )
        assert abs(100 * width - float(text.strip("<>%"))) < 1


def test_two_readers_of_a_page_do_not_disturb_each_other(open_page: Callable[..., Any], tmp_path: Path) -> None:
    rows = AuditRows(5, graders=["g"])
    ratings = [rating(n, 9 - n, n) for n in range(5)]
    pairs = [pair_row(n, input=f"Input {n}", chosen=f"Good {n}", rejected=f"Bad {n}") for n in range(5)]
    path = written(
        tmp_path,
        audit_reader(rows.pairs(), rows.responses(), rows.judgments()),
        rate_reader(pairs, ratings, [{"id": "q0", "text": "Is it kind?"}]),
    )
    opened = ready(ready(open_page(path, "rated-pair/p3")), 2)
    second = opened.locator("section.reader").nth(1)
    assert second.locator(".reader-pair-title").inner_text() == "Input 3"
    assert second.locator(".reader-side .reader-text").all_inner_texts() == ["Good 3", "Bad 3"]
    before = pair_id(opened)
    opened.keyboard.press("k")
    opened.wait_for_function("() => location.hash === '#rated-pair/p2'")
    assert pair_id(opened) == before
    ids = opened.evaluate("[...document.querySelectorAll('[id]')].map(one => one.id)")
    assert len(ids) == len(set(ids))
