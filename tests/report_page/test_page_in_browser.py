"""A page as a reader has it: in a browser, on paper, on a phone, without a mouse, without scripts."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pytest

from compared_runs import grader as scripted_grader
from compared_runs import half_declines_right, pairs_csv, run, subject, use
from evenhand.pairs import PairedPrompt
from evenhand.studies.report import report
from report_pages import apart, synthetic_run, until

if TYPE_CHECKING:
    from playwright.sync_api import Page

Opener: TypeAlias = Callable[..., "Page"]
DESK = {"width": 1280, "height": 900}
PHONE = {"width": 360, "height": 740}
SCRIPT = "<script>window.ran = true</script>"
HOSTILE = (
    *(SCRIPT, "</script>" + SCRIPT, "</style>" + SCRIPT, "<img src=x onerror='window.ran = true'>"),
    *('"><svg onload="window.ran = true">', "' autofocus onfocus='window.ran = true", "javascript:window.ran = true"),
    *("<!-- <b>unclosed <a href='x'>", "\x1b[31mred\x1b[0m \u202ereversed", "W" * 20_000, "nul \x00 nul"),
)


@pytest.fixture(scope="module")
def real_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of an audit that was carried out by the code of the program, with models that a test computes."""
    folder = tmp_path_factory.mktemp("real")
    with pytest.MonkeyPatch.context() as patch:
        other = scripted_grader("I can't help.", name="other", sure=0.8)
        use(patch, subject(half_declines_right), scripted_grader("I can't help."), other)
        apart(run, pairs_csv(folder / "pairs.csv"), folder / "run", graders=("grader", "other"))
    return written(folder, [folder / "run"])


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of two audits with an instrument that is read in both orders."""
    folder = tmp_path_factory.mktemp("two")
    return written(folder, [synthetic_run(folder / f"run {n}", seed=n, subject=f"subject {n}") for n in (1, 2)])


def written(folder: Path, runs: list[Path]) -> Path:
    path = folder / "report.html"
    path.write_text(report(runs).page(), "utf-8")
    return path


def test_a_page_opens_and_asks_nobody_for_anything(open_page: Opener, real_page: Path, two_runs: Path) -> None:
    for path in (real_page, two_runs):
        page = open_page(path)
        assert page.title() == page.inner_text("h1")
        assert page.locator("html").get_attribute("lang") == "en"
        assert page.locator("figure.chart svg").count() > 5


def test_a_link_leads_to_its_section(open_page: Opener, real_page: Path) -> None:
    page = open_page(real_page, "record", viewport=DESK)
    until(page, "document.getElementById('record').getBoundingClientRect().top < 100")
    page.wait_for_selector("nav.contents a[href='#record'][aria-current]")
    page.click("nav.contents a[href='#direction']")
    until(page, "document.getElementById('direction').getBoundingClientRect().top < 100")
    assert page.evaluate("location.hash") == "#direction"


def _background(page: "Page") -> int:
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    return sum(int(part) for part in colour.strip("rgb()").split(","))


def test_colours_follow_the_system_and_the_switch(open_page: Opener, real_page: Path) -> None:
    light, dark = open_page(real_page, color_scheme="light"), open_page(real_page, color_scheme="dark")
    assert _background(light) > 600
    assert _background(dark) < 150
    assert dark.inner_text("#theme") == "Light colours"
    dark.click("#theme")
    assert _background(dark) > 600
    dark.wait_for_timeout(500)  # A browser keeps what is to be kept a moment later.
    dark.reload()
    assert _background(dark) > 600
    assert dark.inner_text("#theme") == "Dark colours"


def test_paper_gets_everything_open_and_no_controls(open_page: Opener, real_page: Path) -> None:
    page = open_page(real_page, viewport=DESK, color_scheme="dark")
    tables = page.locator("figure.chart details")
    assert tables.count() > 5
    folded = page.locator("figure.chart details:not([open])").count()
    assert not tables.first.locator("table").is_visible()
    page.emulate_media(media="print", color_scheme="dark")
    until(page, "!document.querySelector('figure.chart details:not([open])')")
    assert tables.first.locator("table").is_visible()
    assert _background(page) > 600
    for control in ("nav.contents", "#theme", "button.copy"):
        assert not page.locator(control).first.is_visible()
    page.emulate_media(media="screen")
    until(page, f"document.querySelectorAll('figure.chart details:not([open])').length === {folded}")


def test_nothing_is_wider_than_the_screen(open_page: Opener, two_runs: Path) -> None:
    page = open_page(two_runs)
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
    for width in (320, 375, 700, 1024, 1920):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        boxes = page.evaluate(
            "[...document.querySelectorAll('.scroll')].filter((one) => one.offsetParent)"
            ".map((one) => one.getBoundingClientRect().right)"
        )
        assert boxes
        assert max(boxes) <= width


def test_everything_can_be_reached_without_a_mouse(open_page: Opener, real_page: Path) -> None:
    page = open_page(real_page, viewport=PHONE)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    assert page.locator(".skip").bounding_box()["y"] >= 0  # type: ignore[index]
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    reached = set()
    for _ in range(400):
        page.keyboard.press("Tab")
        where = page.evaluate(
            "(() => { const one = document.activeElement; const style = getComputedStyle(one);"
            " return [one.className || one.tagName, style.outlineStyle, one.closest('main') !== null]; })()"
        )
        if not where[2]:
            break
        reached.add(where[0])
        assert where[1] != "none", where
    assert {"copy", "SUMMARY", "scroll wide"} <= reached


def test_a_command_is_copied(open_page: Opener, real_page: Path) -> None:
    page = open_page(real_page, permissions=["clipboard-read", "clipboard-write"])
    line = page.locator("#record .command").first
    line.locator("button").click()
    until(page, "document.getElementById('said').textContent === 'The command is copied.'")
    command = page.evaluate("navigator.clipboard.readText()")
    assert command == line.locator("code").inner_text()
    assert command.startswith("evenhand audit --pairs pairs.csv")


@pytest.mark.parametrize(
    ("which", "scheme", "screen"),
    [("two_runs", "light", DESK), ("real_page", "dark", DESK), ("real_page", "light", PHONE)],
    ids=["light", "dark", "phone"],
)
def test_axe_finds_nothing_serious(
    open_page: Opener, request: pytest.FixtureRequest, which: str, scheme: str, screen: dict[str, int]
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = open_page(request.getfixturevalue(which), color_scheme=scheme, viewport=screen, reduced_motion="reduce")
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
    # A frame or two, in which boxes that have become too narrow are made reachable.
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    serious = [
        (one["id"], one["help"], [node["html"][:200] for node in one["nodes"][:3]])
        for one in axe.run(page).response["violations"]
        if one["impact"] in {"serious", "critical"}
    ]
    assert not serious


def test_without_scripts_the_figures_are_there_and_no_dead_buttons(open_page: Opener, real_page: Path) -> None:
    page = open_page(real_page, java_script_enabled=False, viewport=DESK)
    assert page.locator("#found data.figure").first.is_visible()
    assert page.locator("figure.chart svg").first.is_visible()
    for control in ("#theme", "button.copy"):
        assert not page.locator(control).first.is_visible()


@pytest.fixture(scope="module")
def hostile_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of an audit all of whose texts try to be more than texts."""

    def worse(pair: PairedPrompt) -> PairedPrompt:
        text = HOSTILE[len(pair.pair_id) * 7 % len(HOSTILE)] + pair.pair_id
        return replace(
            pair,
            topic=HOSTILE[sum(map(ord, pair.topic)) % len(HOSTILE)],
            template=f"{HOSTILE[0]} {pair.template}",
            stance_a=text,
            stance_b=text,
            prompt_a=text,
            prompt_b=text,
            group_a=text,
            group_b=text,
        )

    def answer(pair: PairedPrompt, letter: str) -> str:
        return HOSTILE[(sum(map(ord, pair.pair_id)) + ord(letter)) % len(HOSTILE)] + " an answer"

    folder = tmp_path_factory.mktemp("hostile")
    names = (f"grader {SCRIPT}", '"><img src=x onerror="window.ran = true">')
    made = synthetic_run(folder / "run", graders=names, change=worse, answer=answer, subject=f"a{HOSTILE[1]}")
    return written(folder, [made])


def test_hostile_texts_are_shown_and_run_nothing(open_page: Opener, hostile_page: Path) -> None:
    page = open_page(hostile_page, viewport=PHONE)
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
    page.wait_for_timeout(300)
    assert page.evaluate("window.ran") is None
    assert page.inner_text("h1") == f"Audit of a{HOSTILE[1]}"
    assert f"Graded by grader {SCRIPT}" in page.inner_text("#found")
    assert page.locator("main img, main script:not([type])").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
