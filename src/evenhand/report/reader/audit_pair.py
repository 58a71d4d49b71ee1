"""What the reader of an audit shows of one pair: the texts, and what each grader said of them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.instruments.scale import EVEN_HANDEDNESS_SCALE, HEDGING_SCALE, REFUSAL_SCALE
from evenhand.report.figure_texts import MEASURES
from evenhand.report.reader.counting import Counting
from evenhand.report.reader.findings import EVEN_HANDEDNESS, LETTERS, Row

_BLIND = f"{EVEN_HANDEDNESS}_blind"
_NAMES = {**MEASURES, _BLIND: "Even-handed, the groups hidden"}
_ORDERS = {"ab": "a shown first", "ba": "b shown first", None: "derived from refusal"}
_TREATMENT = {"A": "a better treated", "B": "b better treated", "C": "the same"}
_MEANINGS = {
    EVEN_HANDEDNESS: _TREATMENT,
    _BLIND: _TREATMENT,
    "refusal": {option.label: option.meaning for option in REFUSAL_SCALE.options},
    "hedging": {option.label: option.meaning for option in HEDGING_SCALE.options},
}
_KNOWN_LABELS = {
    **dict.fromkeys((EVEN_HANDEDNESS, _BLIND), EVEN_HANDEDNESS_SCALE.labels),
    "refusal": REFUSAL_SCALE.labels,
    "hedging": HEDGING_SCALE.labels,
}
_BECAME = {
    "complete": "",
    "cut": "cut at the token limit",
    "empty": "empty",
    "unanswered": "the model thought, and wrote no answer",
    "truncated": "the prompt is longer than the model's context",
    "failed": "no reply came",
}


@dataclass(frozen=True, slots=True)
class ScaleShown:
    """What the distributions of one grader and measure have in common: the head and first column of their table."""

    block: int
    measure: str
    labels: tuple[str, ...]
    columns: tuple[str | None, ...]
    """Orders, or letters."""

    def as_json(self) -> dict[str, Any]:
        """Return plain values."""
        known = self.labels == _KNOWN_LABELS.get(self.measure)
        meanings = _MEANINGS.get(self.measure, {}) if known else {}
        of_letters = all(column in LETTERS for column in self.columns)
        return {
            "view": self.block,
            "title": _NAMES.get(self.measure, self.measure),
            "rows": [f"{label}: {meanings[label]}" if label in meanings else label for label in self.labels],
            "columns": [
                {"label": column, "side": LETTERS.index(str(column))}
                if of_letters
                else {"label": _ORDERS.get(column, str(column))}
                for column in self.columns
            ],
            "counts": "" if self.measure in (EVEN_HANDEDNESS, _BLIND) else f"counts as {self.measure}",
            "mean": not of_letters and len(self.columns) > 1,
            "most": 1,
        }


@dataclass(frozen=True, slots=True)
class Grids:
    """The tables of distributions that pairs have."""

    scales: tuple[ScaleShown, ...]

    @classmethod
    def of(cls, graded: Mapping[tuple[str, str], Mapping[str, Sequence[Row]]]) -> "Grids":
        """Find out which tables there are: one a grader and measure."""
        found: dict[tuple[int, str], dict[str | None, None]] = {}
        labels: dict[tuple[int, str], tuple[str, ...]] = {}
        for block, by_pair in enumerate(graded.values()):
            for row in (row for rows in by_pair.values() for row in rows):
                key = (block, str(row["measure"]))
                found.setdefault(key, {})[row["letter"] or row["order"]] = None
                labels[key] = labels.get(key) or tuple(str(label) for label in row["labels"] or ())
        order = list(_NAMES)
        keys = sorted(found, key=lambda key: (key[0], order.index(key[1]) if key[1] in order else len(order)))
        return cls(tuple(ScaleShown(*key, labels[key], tuple(sorted(found[key], key=str))) for key in keys))


def pair_content(
    pair: Row,
    answers: Mapping[tuple[str, str], Row],
    judgments: Sequence[Iterable[Row]],
    grids: Grids,
    counting: Counting,
) -> dict[str, Any]:
    """Return what is shown of a pair; ``judgments`` are those of each grader."""
    by_place = {
        (block, str(row["measure"]), row["letter"] or row["order"]): row
        for block, rows in enumerate(judgments)
        for row in rows
    }
    tables = []
    for place, scale in enumerate(grids.scales):
        rows = [by_place.get((scale.block, scale.measure, column)) for column in scale.columns]
        if any(row is not None for row in rows):
            cells = [None if row is None else _cell(row, counting) for row in rows]
            tables.append({"scale": place, "cells": cells})
    return {
        "facts": [
            ["Topic", pair["topic"]],
            ["Template", pair["template"]],
            ["Kind of stance", str(pair["kind"]).replace("_", " ")],
        ],
        "sides": [_side(letter, pair, answers.get((pair["pair_id"], letter))) for letter in LETTERS],
        "grids": tables,
    }


def _side(letter: str, pair: Row, answer: Row | None) -> dict[str, Any]:
    side = str(pair[f"side_{letter}"])
    text = None if answer is None else answer["response"]
    return {
        "name": letter,
        "side": "" if side == "none" else side,
        "about": [["Stance", pair[f"stance_{letter}"]], ["Group", pair[f"group_{letter}"]]],
        "prompt": pair[f"prompt_{letter}"],
        "text": text,
        "state": "no answer was asked for" if answer is None else _BECAME.get(answer["became"], answer["became"]),
        "reason": "" if answer is None else answer["reason"] or "",
    }


def _cell(row: Row, counting: Counting) -> dict[str, Any]:
    if row["state"] != "ok":
        return {"state": row["state"], "reason": row["reason"] or ""}
    cell: dict[str, Any] = {"p": [round(float(p), 4) for p in row["probabilities"] or ()]}
    if row["captured"] is not None:
        cell["captured"] = round(float(row["captured"]), 4)
    counted = counting.positive(row)
    if counted is not None and row["letter"] is not None:
        cell["counts"] = round(counted, 4)
    elif counted is not None and counting.is_calibrated(row):
        cell["calibrated"] = round(counted, 4)
    return cell
