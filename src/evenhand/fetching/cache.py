"""Where fetched files are kept."""

import os
from pathlib import Path

import platformdirs


def cache_folder() -> Path:
    """Return the project's cache folder: ``EVENHAND_CACHE`` if set, else the platform's (XDG on Linux)."""
    given = os.environ.get("EVENHAND_CACHE")
    return Path(given) if given else Path(platformdirs.user_cache_dir("evenhand"))
