"""Time something."""

import time
from collections.abc import Callable


def seconds(action: Callable[[], object], repeats: int = 3) -> float:
    """Return the best of several times, in seconds."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        best = min(best, time.perf_counter() - start)
    return best
