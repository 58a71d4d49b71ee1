"""UltraFeedback, binarized: chosen and rejected with the score of each."""

from collections.abc import Iterator

from evenhand.pairs.preferences.format import Format
from evenhand.pairs.preferences.preference import Preference
from evenhand.pairs.preferences.problem import ProblemKind
from evenhand.pairs.preferences.row import Comparison, Row, compare

_SCORES = (
    ("score_chosen", "score_rejected"),
    ("chosen_score", "rejected_score"),
    ("chosen-rating", "rejected-rating"),
    ("chosen_rating", "rejected_rating"),
)


def read(row: Row) -> Iterator[Comparison]:
    """Read a row; the strength is the difference of the scores, and equal scores are a tie."""
    chosen, rejected = row.side("chosen"), row.side("rejected")
    by, remark = Preference("a"), None
    better = row.number(*(name for name, _ in _SCORES))
    worse = row.number(*(name for _, name in _SCORES))
    if better is not None and worse is not None:
        if better > worse:
            by = Preference("a", better - worse)
        elif better == worse:
            by = Preference("tie")
        else:
            remark = (
                ProblemKind.CONTRADICTING_SCORES,
                f"the rejected output has the higher score ({worse:g} against {better:g}); it stays the rejected one",
            )
    pair = compare(row.side("prompt") if row.has("prompt") else None, chosen, rejected, by)
    yield Comparison(pair.input, pair.a, pair.b, pair.preference, remark)


FORMAT = Format(
    "ultrafeedback",
    "UltraFeedback binarized, and other chosen and rejected with scores",
    tuple(("prompt", "chosen", "rejected", *names) for names in _SCORES),
    read,
)
