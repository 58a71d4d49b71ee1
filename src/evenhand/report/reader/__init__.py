"""The reader of a page: every pair, its texts side by side, found and sorted in the browser."""

from evenhand.report.reader.markup import fragment, script, style
from evenhand.report.reader.reader import Reader

__all__ = ["Reader", "fragment", "script", "style"]
