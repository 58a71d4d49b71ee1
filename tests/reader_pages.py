"""Pages of readers, written and looked at."""

from pathlib import Path
from typing import Any

from evenhand.report.page.blocks import Section
from evenhand.report.page.build import page
from evenhand.report.reader.reader import Reader


def written(folder: Path, *readers: Reader) -> Path:
    """Write a page with a section for each reader."""
    path = folder / "report.html"
    sections = [Section(f"section-{n}", f"Section {n}", (reader,)) for n, reader in enumerate(readers)]
    path.write_text(page("Pairs", sections), "utf-8")
    return path


def ready(opened: Any, number: int = 1) -> Any:
    """Wait until a reader of a page can be used, and return the page."""
    opened.locator(f"section.reader[data-number='{number}'][data-ready=yes]").wait_for()
    return opened


def count(opened: Any) -> str:
    """Return what the first reader says of its list."""
    return str(opened.locator(".reader-count").first.inner_text())


def pair_id(opened: Any) -> str:
    """Return the pair that is open in the first reader."""
    return str(opened.locator(".reader-pair-link").first.inner_text())
