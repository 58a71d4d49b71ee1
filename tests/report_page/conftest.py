"""A real browser for the pages that reports are."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = Path("/usr/bin/chromium")
_OURS = ("data:", "blob:", "about:")
"""What a page makes itself, and no request."""


@pytest.fixture(scope="module")
def chromium() -> Iterator["Browser"]:
    """A browser without a window.

    It lives as long as a test file: while it does, no other event loop can run in this thread. So make runs with
    ``report_pages.apart``, which gives them a thread of their own.
    """
    if not CHROMIUM.exists():
        pytest.skip(f"the browser {CHROMIUM} is not at hand")
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium: "Browser") -> Iterator[Callable[..., "Page"]]:
    """Return what opens a file: ``open_page(path, fragment="", **options of a browser context)``.

    At the end of the test it fails if a page had an error or asked anybody for anything.
    """
    contexts: list[Any] = []
    troubles: list[str] = []

    def opened(path: Path, fragment: str = "", **options: Any) -> "Page":
        context = chromium.new_context(**options)
        contexts.append(context)
        address = path.resolve().as_uri()

        def look_at(request: Any) -> None:
            if request.url.split("#")[0] != address and not request.url.startswith(_OURS):
                troubles.append(f"request: {request.url[:200]}")

        def answer(dialog: Any) -> None:
            troubles.append(f"dialog: {dialog.message}")
            dialog.dismiss()

        page = context.new_page()
        page.on("request", look_at)
        page.on("websocket", lambda socket: troubles.append(f"web socket: {socket.url}"))
        page.on("pageerror", lambda error: troubles.append(f"error: {error}"))
        page.on("dialog", answer)
        page.on("popup", lambda popup: troubles.append(f"popup: {popup.url}"))
        page.on(
            "console",
            lambda said: troubles.append(f"console: {said.text}") if said.type in {"error", "warning"} else None,
        )
        page.goto(f"{address}#{fragment}" if fragment else address)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not troubles, troubles
