"""Take the pictures of docs/tour.md from the demo's page, in Chromium.

make demo && python docs/make_tour_pictures.py runs/demo/report.html
"""

import sys
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

_CHROMIUM = "/usr/bin/chromium"
_PICTURES = Path(__file__).parent / "pictures"
_PLACES = {"found": "", "rates": "rates", "grader": "validity", "pairs": "pairs", "record": "record"}
"""What each picture shows: the name of the file, and the anchor that the page is opened at."""
_QUALITY = 72


def main(report: Path) -> None:
    """Write every picture."""
    _PICTURES.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_CHROMIUM, args=["--no-sandbox"])
        for name, anchor in _PLACES.items():
            _take(browser, report, name, anchor)
        _take(browser, report, "dark", "cells", scheme="dark")
        _take(browser, report, "phone", "pairs", width=390, height=760)
        browser.close()


def _take(
    browser: Browser,
    report: Path,
    name: str,
    anchor: str,
    *,
    scheme: str = "light",
    width: int = 1100,
    height: int = 700,
) -> None:
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(f"{report.resolve().as_uri()}#{anchor}")
    page.wait_for_timeout(1500)
    page.screenshot(path=_PICTURES / f"{name}.jpeg", type="jpeg", quality=_QUALITY)
    context.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
