"""Whatever a model wrote shows as text, and none of it runs."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evenhand.report.reader.audit_reader import audit_reader
from evenhand.report.reader.rate_reader import rate_reader
from rating_runs import pair_row, rating
from reader_pages import ready, written
from reader_rows import AuditRows

PWN = "window.pwned=(window.pwned||0)+1"
HOSTILE = {
    "script": f"<script>{PWN}</script>",
    "end of a script": f"</script><script>{PWN}</script><svg onload={PWN}>",
    "comment": f"<!--<script>{PWN}</script>-->",
    "open comment": "<!-- never ended <script>",
    "image": f'<img src=x onerror="{PWN}"><video><source onerror="{PWN}"></video>',
    "link": f'<a href="javascript:{PWN}" onmouseover="{PWN}">javascript:{PWN}</a>',
    "frame": f"<iframe srcdoc=\"<script>parent.{PWN}</script>\"></iframe><base href='https://example.org/'>",
    "unclosed": "<div><table><style>* { display: none } <textarea><title><plaintext>",
    "template": f"{{{{ constructor.constructor('{PWN}')() }}}} ${{{PWN}}} {{% raw %}}",
    "entities": "&lt;script&gt; &#60;b&#62; &amp;nbsp; &quot;",
    "ansi": "\x1b[31mred\x1b[0m \x1b]8;;https://example.org\x07link\x1b]8;;\x07 \x9b2J",
    "right to left": "user \u202egnp.exe\u202c and \u2067isolated\u2069 \u200fmark \u061c end",
    "invisible": "soft\u00adhyphen zero\u200bwidth \ufeffmark \U000e0041\U000e0042 \u2028line \u2029paragraph",
    "nul": "before\x00after \x01\x08\x0b\x7f\x85 end",
    "half a character": "half \ud83d and other half \ude00, whole \U0001f600",
    "carriage returns": "one\r\ntwo\rthree",
}
SHOWN = {
    "ansi": "[ESC][31mred[ESC][0m [ESC]]8;;https://example.org[BEL]link[ESC]]8;;[BEL] [U+009B]2J",
    "right to left": "user [U+202E]gnp.exe[U+202C] and [U+2067]isolated[U+2069] [U+200F]mark [U+061C] end",
    "invisible": "soft[U+00AD]hyphen zero[U+200B]width [U+FEFF]mark [U+E0041][U+E0042] [U+2028]line [U+2029]paragraph",
    "nul": "before[NUL]after [SOH][BS][VT][DEL][U+0085] end",
    "half a character": "half [U+D83D] and other half [U+DE00], whole \U0001f600",
    "carriage returns": "one\ntwo[CR]three",
}
NAMES = list(HOSTILE)


@pytest.fixture(scope="module")
def hostile_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    texts = list(HOSTILE.values())
    changes = {
        n: dict.fromkeys(("topic", "template", "prompt_a", "prompt_b", "stance_a", "group_a", "kind"), text)
        for n, text in enumerate(texts)
    }
    rows = AuditRows(len(texts), lambda n, letter: texts[n], graders=[texts[1], texts[4]], changes=changes)
    judgments = [
        {**row, "state": "declined", "reason": texts[n % len(texts)], "probabilities": None}
        if n % 3 == 0
        else {**row, "labels": [f"{label}{texts[0]}" for label in row["labels"]]}
        for n, row in enumerate(rows.judgments())
    ]
    ids = [*texts[:3], 'p" onclick="x', "p/../#?&%", *(f"p{n}" for n in range(5, len(texts)))]
    rated = rate_reader(
        [pair_row(n, pair_id=ids[n], input=text, chosen=text, rejected=text) for n, text in enumerate(texts)],
        [rating(n, 5, 3, pair_id=ids[n], grader=texts[0], protocol=texts[1]) for n in range(len(texts))],
        [{"id": "q0", "text": texts[4]}],
        heading=texts[0],
    )
    folder = tmp_path_factory.mktemp("hostile")
    return written(folder, audit_reader(rows.pairs(), rows.responses(), judgments, heading=texts[1]), rated)


def shown(name: str) -> str:
    return SHOWN.get(name, HOSTILE[name])


@pytest.mark.parametrize("bypass_csp", [False, True], ids=["as it is", "without its policy"])
def test_every_text_shows_as_it_is_and_nothing_runs(
    open_page: Callable[..., Any], hostile_page: Path, bypass_csp: bool
) -> None:
    """The policy forbids scripts of the data; they must not come to be even where it doesn't hold."""
    opened = ready(open_page(hostile_page, bypass_csp=bypass_csp))
    assert opened.evaluate("window.pwned") is None
    for n, name in enumerate(NAMES):
        opened.evaluate("id => { location.hash = '#pair/' + id }", f"pair-{n}")
        opened.wait_for_function(
            "id => document.querySelector('.reader-pair-link').textContent === id", arg=f"pair-{n}"
        )
        texts = opened.locator("section.reader").first.locator(".reader-side .reader-text")
        assert texts.evaluate_all("all => all.map(one => one.textContent)") == [shown(name)] * 4, name
        one_line = "one two three" if name == "carriage returns" else shown(name)
        assert opened.locator(".reader-pair-title").first.text_content() == one_line, name
    assert opened.evaluate("window.pwned") is None
    made = "article.reader-pair :is(script, style, img, svg, iframe, video, base, textarea, title, plaintext, [onload])"
    assert opened.locator(made).count() == 0
    assert opened.evaluate("document.baseURI.startsWith('file:')")
    assert opened.locator("[href^='javascript']").count() == 0


def test_lists_filters_search_and_export_run_nothing(open_page: Callable[..., Any], hostile_page: Path) -> None:
    opened = ready(open_page(hostile_page, accept_downloads=True))
    first = opened.locator("section.reader").first
    assert first.locator(".reader-option").count() > 5
    first.locator("[data-column=topic] select").select_option(HOSTILE["image"])
    assert first.locator(".reader-count").inner_text().startswith("1 of")
    first.get_by_role("button", name="Show all").click()
    for query in ("<script>", "onerror", "</script>", '"><', "\\", "\ud83d", "[", "\x1b"):
        first.get_by_label("Search in all texts").evaluate(
            "(box, text) => { box.value = text; box.dispatchEvent(new Event('input')) }", query
        )
        opened.wait_for_timeout(150)
    first.get_by_role("button", name="Show all").click()
    for kind in ("CSV", "JSON"):
        with opened.expect_download() as found:
            first.get_by_role("button", name=f"{kind} of this list").click()
        assert Path(found.value.path()).stat().st_size > 1000
    opened.evaluate("for (const one of document.querySelectorAll('*')) one.dispatchEvent(new MouseEvent('mouseover'))")
    assert opened.evaluate("window.pwned") is None


def test_pairs_with_hostile_names_have_addresses(open_page: Callable[..., Any], hostile_page: Path) -> None:
    opened = ready(ready(open_page(hostile_page)), 2)
    second = opened.locator("section.reader").nth(1)
    for wanted in ("<script>", 'p" onclick="x', "p/../#?&%"):
        option = second.locator(".reader-option")
        second.get_by_label("Search in all texts").fill(f'"{wanted}"' if '"' not in wanted else "onclick")
        opened.wait_for_timeout(200)
        option.first.click()
        link = second.locator(".reader-pair-link")
        link.filter(has_text=wanted).wait_for()
        address = link.get_attribute("href")
        opened.evaluate("history.replaceState(null, '', '#x')")
        opened.evaluate("address => { location.hash = address }", address)
        link.filter(has_text=wanted).wait_for()
    assert opened.evaluate("window.pwned") is None


def test_what_is_in_one_text_does_not_turn_its_neighbours_around(
    open_page: Callable[..., Any], hostile_page: Path
) -> None:
    opened = ready(open_page(hostile_page, f"pair/pair-{NAMES.index('right to left')}"))
    styles = "all => all.map(one => [getComputedStyle(one).unicodeBidi, one.dir || one.tagName])"
    found = opened.locator("section.reader").first.locator(".reader-text, bdi").evaluate_all(styles)
    assert found
    assert {bidi for bidi, _ in found} <= {"isolate", "plaintext"}
    unseen = "[\u202a-\u202e\u2066-\u2069\u200e\u200f]"
    assert not opened.evaluate(f"/{unseen}/.test(document.querySelector('.reader').innerText)")


def test_a_megabyte_of_one_word_stays_in_its_box(open_page: Callable[..., Any], tmp_path: Path) -> None:
    word = "x" * 1_000_000
    rows = AuditRows(2, lambda n, letter: word if letter == "a" else "short", graders=["g"])
    path = written(tmp_path, audit_reader(rows.pairs(), rows.responses(), rows.judgments()))
    opened = ready(open_page(path, viewport={"width": 1200, "height": 800}))
    assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth")
    answer = opened.locator(".reader-answer").first
    assert answer.evaluate("one => one.textContent.length") == 100_000
    opened.get_by_role("button", name="Show all 1,000,000 characters").click()
    assert answer.evaluate("one => one.textContent.length") == 1_000_000
    assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert opened.locator(".reader-side").first.evaluate("one => one.scrollWidth <= one.clientWidth + 1")
