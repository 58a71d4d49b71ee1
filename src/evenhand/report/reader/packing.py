"""What the browser opens again: JSON, gzipped, as Base64, the same bytes for the same values."""

import base64
import gzip
import json
from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.report.reader.reader import Reader

PAIRS_A_CHUNK = 100
_LEVEL = 6


def pack(value: Any) -> str:  # noqa: ANN401  (whatever JSON holds)
    """Return a value as text that is safe in any markup: letters, digits, ``+``, ``/`` and ``=``.

    JSON is written in ASCII, so that half of a surrogate pair, which UTF-8 can't hold, comes through.

    >>> unpack(pack({"answer": "</script>" + chr(0xD800)}))
    {'answer': '</script>\\ud800'}
    """
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode("ascii"), _LEVEL, mtime=0)).decode("ascii")


def unpack(text: str) -> Any:  # noqa: ANN401  (whatever was packed)
    """Return what was packed."""
    return json.loads(gzip.decompress(base64.b64decode(text)))


def packed(
    anchor: str,
    heading: str,
    index: Mapping[str, Any],
    views: Sequence[Mapping[str, Any]],
    pairs: Sequence[Mapping[str, Any]],
) -> Reader:
    """Return a reader of pairs.

    Args:
        anchor: unique in a report.
        heading: of the reader.
        index: what is known of all pairs, whoever judged them.
        views: what is known of all pairs by one grader, or by the ratings of one question.
        pairs: the texts of each pair and what was found of it, in the order of the index.
    """
    return Reader(
        anchor=anchor,
        heading=heading,
        index=pack({**index, "size": PAIRS_A_CHUNK}),
        chunks=tuple(pack(pairs[start : start + PAIRS_A_CHUNK]) for start in range(0, len(pairs), PAIRS_A_CHUNK)),
        views=tuple(pack(view) for view in views),
        pairs=len(pairs),
    )
