"""Find the ratings in a reply: the values of the asked keys, and where they stand."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.readings.reading import State

_VALUE = (
    r"""(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|[^\s,{}\[\]"']+(?:[ \t]+(?:out|of|/)[ \t]+\d+|[ \t]*/[ \t]*\d+)*)"""
)


@dataclass(frozen=True, slots=True)
class Found:
    """The values of the keys, in the order of the keys, as they were written and where."""

    written: tuple[str, ...]
    starts: tuple[int, ...]
    """Index of each value's first character in the reply's text; a quote before a number is not counted."""


def find_ratings(text: str, keys: Sequence[str], *, cut: bool) -> Found | tuple[State, str]:
    """Return where the ratings stand, or the state and the reason why they can't be told.

    Args:
        text: the answer, with what was prefilled before it and without any thinking.
        keys: the names that were asked for.
        cut: the reply ended at the token limit.

    An object counts if it opens with the keys (in any order), whatever follows them; quotes may be single, and the end
    may be missing. Two objects that say different things say nothing.
    """
    found = [hit for match in re.finditer(r"\{", text) if (hit := _object_at(text, match.end(), keys))]
    if not found:
        if cut:
            return State.TRUNCATED, f"cut off before its ratings: {_shown(text)}"
        return State.UNPARSEABLE, f"there are no ratings named {', '.join(keys)} in {_shown(text)}"
    if len({hit.written for hit in found}) > 1:
        return State.UNPARSEABLE, "it gives ratings twice, and they differ"
    return found[-1]


def _object_at(text: str, at: int, keys: Sequence[str]) -> Found | None:
    """Read ``key: value`` pairs from just behind an opening brace until every key is there."""
    values: dict[str, tuple[str, int]] = {}
    pair = re.compile(rf"""\s*["'“”]?(\w+)["'“”]?\s*[:=]\s*({_VALUE})\s*(,|\}}|$)?""", re.UNICODE)
    while len(values) < len(keys):
        match = pair.match(text, at)
        if not match or match[1] not in keys or match[1] in values:
            return None
        start = match.start(2)
        values[match[1]] = (match[2], start + (text[start] in "\"'"))
        at = match.end()
        if match[3] != "," and len(values) < len(keys):
            return None
    return Found(tuple(values[key][0] for key in keys), tuple(values[key][1] for key in keys))


def _shown(text: str) -> str:
    return repr(" ".join(text.split())[:80])
