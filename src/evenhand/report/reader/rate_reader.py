"""The reader of ratings: the pairs behind each question, the chosen output beside the rejected one."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypeAlias

from evenhand.report.reader import columns
from evenhand.report.reader.findings import Row
from evenhand.report.reader.packing import packed
from evenhand.report.reader.reader import Reader

Rater: TypeAlias = tuple[str, str]
"""A grader and the protocol under which it rated."""

MOST_PAIRS = 20_000
_ROUNDING = 1e-9
_EXCERPT = 160
_VERDICTS = ("chosen higher", "equal", "rejected higher", "not rated")
_ORDERS = ("chosen_first", "rejected_first")


@dataclass(slots=True)
class _Output:
    """The ratings of one output of a pair, for one question."""

    total: float = 0.0
    n: int = 0
    states: set[str] = field(default_factory=set)

    def add(self, value: float | None, state: str) -> None:
        if state == "ok" and value is not None:
            self.total += value
            self.n += 1
        else:
            self.states.add(state)

    @property
    def mean(self) -> float | None:
        """Over the orders and repeats that could be read."""
        return self.total / self.n if self.n else None

    @property
    def shown(self) -> float | str | None:
        """The mean, or why there is none."""
        return round(self.total / self.n, 4) if self.n else ", ".join(sorted(self.states)) or None


@dataclass(slots=True)
class _Rated:
    """What was rated of one pair, for one question."""

    chosen: _Output = field(default_factory=_Output)
    rejected: _Output = field(default_factory=_Output)
    orders: dict[str, float] = field(default_factory=dict)
    """By order, the sum of chosen minus rejected."""

    @property
    def difference(self) -> float | None:
        """Chosen minus rejected, 0 where they are equal but for rounding."""
        one, other = self.chosen.mean, self.rejected.mean
        if one is None or other is None:
            return None
        return 0.0 if abs(one - other) < _ROUNDING else one - other


Ratings: TypeAlias = dict[Rater, dict[str, dict[str, _Rated]]]
"""By rater, question and pair."""


def rate_reader(
    pairs: Iterable[Row],
    ratings: Iterable[Row],
    questions: Sequence[Mapping[str, Any]],
    *,
    equal_within: float = 0.5,
    most: int = MOST_PAIRS,
    anchor: str = "rated-pair",
    heading: str = "The pairs behind each question",
) -> Reader:
    """Return the reader of a rating run, from the rows of its tables.

    Args:
        pairs: rows of ``pairs.parquet``.
        ratings: rows of ``ratings.parquet``; those of pairs beyond ``most`` are left out.
        questions: with ``id`` and ``text``, as in ``questions.json``.
        equal_within: outputs whose ratings differ by less are called equal, as in the effects.
        most: pairs to be read; of more, the first are taken, and the page says so.
        anchor: unique in a report.
        heading: of the reader.
    """
    all_of_them = iter(pairs)
    rows = list(islice(all_of_them, most))
    left_out = sum(1 for _ in all_of_them)
    found = _gathered(ratings, {row["pair_id"] for row in rows})
    asked = {
        rater: [question for question in questions if str(question["id"]) in by_question]
        for rater, by_question in found.items()
    }
    views = [
        _view(rows, found[rater][str(question["id"])], equal_within)
        for rater, these in asked.items()
        for question in these
    ]
    return packed(
        anchor,
        heading,
        _index(rows, asked, left_out),
        views or [{"columns": [], "badge": "", "figure": "", "figureName": "", "tags": []}],
        [_content(row, found, asked) for row in rows],
    )


def _gathered(ratings: Iterable[Row], wanted: set[str]) -> Ratings:
    found: Ratings = {}
    for row in ratings:
        if row["pair_id"] not in wanted:
            continue
        by_question = found.setdefault((str(row["grader"]), str(row["protocol"])), {})
        rated = by_question.setdefault(str(row["question"]), {}).setdefault(row["pair_id"], _Rated())
        rated.chosen.add(row["chosen"], row["chosen_state"])
        rated.rejected.add(row["rejected"], row["rejected_state"])
        if row["chosen_state"] == row["rejected_state"] == "ok":
            order = str(row["order"])
            rated.orders[order] = rated.orders.get(order, 0.0) + row["chosen"] - row["rejected"]
    return found


def _index(rows: Sequence[Row], asked: Mapping[Rater, Sequence[Mapping[str, Any]]], left_out: int) -> dict[str, Any]:
    lengths = [len(row["chosen"] or "") + len(row["rejected"] or "") for row in rows]
    gaps = [len(row["chosen"] or "") - len(row["rejected"] or "") for row in rows]
    strengths = [None if row.get("strength") is None else float(row["strength"]) for row in rows]
    strong = [columns.number("strength", "Strength of the preference", strengths, "number")]
    return {
        "kind": "rate",
        "noun": ["preference pair", "preference pairs"],
        "note": f"The first {len(rows):,} of {len(rows) + left_out:,} pairs." if left_out else "",
        "ids": [row["pair_id"] for row in rows],
        "title": "input",
        "subtitle": "",
        "columns": [
            columns.text("input", "Input", [_excerpt(row["input"] or "") for row in rows]),
            columns.category("tie", "Preference", ["tie" if row["tie"] else "one was chosen" for row in rows]),
            *(strong if any(value is not None for value in strengths) else []),
            columns.number("length", "Characters in both outputs", lengths, "count"),
            columns.number("longer", "Characters, chosen minus rejected", gaps, "count"),
        ],
        "viewLabel": "Question",
        "views": [
            {"group": f"{grader}, {protocol}", "label": str(question["text"]), "row": row, "scale": scale}
            for scale, ((grader, protocol), questions) in enumerate(asked.items())
            for row, question in enumerate(questions)
        ]
        or [{"group": "", "label": "none: nothing was rated"}],
        "scales": [
            {
                "view": None,
                "title": f"{grader}, {protocol}: ratings from 0 to 10",
                "rows": [str(question["text"]) for question in questions],
                "columns": [
                    {"label": "chosen"},
                    {"label": "rejected"},
                    {"label": "chosen minus rejected", "signed": True},
                ],
                "counts": "",
                "mean": False,
                "most": 10,
            }
            for (grader, protocol), questions in asked.items()
        ],
        "sorts": [
            columns.sort("Chosen higher by most first", "difference", descending=True),
            columns.sort("Rejected higher by most first", "difference"),
            columns.sort("Chosen output rated highest first", "chosen", descending=True),
            columns.sort("Rejected output rated highest first", "rejected", descending=True),
            columns.sort("Strongest preference first", "strength", descending=True),
            columns.sort("Chosen longer by most first", "longer", descending=True),
            columns.sort("Rejected longer by most first", "longer"),
            columns.sort("Longest outputs first", "length", descending=True),
            columns.sort("Order of the run", ""),
        ],
    }


def _view(rows: Sequence[Row], by_pair: Mapping[str, _Rated], equal_within: float) -> dict[str, Any]:
    rated = [by_pair.get(row["pair_id"], _Rated()) for row in rows]
    verdicts = [_verdict(one.difference, equal_within) for one in rated]
    marks = [_marks(one, row) for one, row in zip(rated, rows, strict=True)]
    levels = ("the orders point to different outputs", "unreadable", "tie")
    return {
        "columns": [
            columns.category("verdict", "Rated", verdicts, _VERDICTS),
            columns.number("chosen", "Chosen", [one.chosen.mean for one in rated], "rating"),
            columns.number("rejected", "Rejected", [one.rejected.mean for one in rated], "rating"),
            columns.number("difference", "Chosen minus rejected", [one.difference for one in rated], "signed rating"),
            columns.flags("marks", "Marked", marks, levels),
        ],
        "badge": "verdict",
        "figure": "difference",
        "figureName": "",
        "tags": ["marks"],
    }


def _verdict(difference: float | None, equal_within: float) -> str:
    if difference is None:
        return "not rated"
    if difference == 0 or abs(difference) < equal_within:
        return "equal"
    return "chosen higher" if difference > 0 else "rejected higher"


def _marks(rated: _Rated, row: Row) -> list[str]:
    marks = ["tie"] if row["tie"] else []
    if rated.chosen.states or rated.rejected.states:
        marks.append("unreadable")
    first, second = (rated.orders.get(order, 0.0) for order in _ORDERS)
    if first * second < 0:
        marks.append("the orders point to different outputs")
    return marks


def _content(row: Row, found: Ratings, asked: Mapping[Rater, Sequence[Mapping[str, Any]]]) -> dict[str, Any]:
    tables = []
    for scale, (rater, questions) in enumerate(asked.items()):
        rated = [found[rater][str(question["id"])].get(row["pair_id"]) for question in questions]
        if any(one is not None for one in rated):
            here = [one or _Rated() for one in rated]
            gaps = [None if one.difference is None else round(one.difference, 4) for one in here]
            cells = [[one.chosen.shown for one in here], [one.rejected.shown for one in here], gaps]
            tables.append({"scale": scale, "cells": [{"p": values} for values in cells]})
    return {
        "facts": [],
        "shared": row["input"],
        "sides": [
            {"name": name, "side": "", "about": [], "prompt": "", "text": row[name], "state": "", "reason": ""}
            for name in ("chosen", "rejected")
        ],
        "grids": tables,
    }


def _excerpt(text: str) -> str:
    start = " ".join(text[: 4 * _EXCERPT].split())
    return start if len(start) <= _EXCERPT and len(text) <= 4 * _EXCERPT else f"{start[: _EXCERPT - 1]}…"
