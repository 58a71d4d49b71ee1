"""A user's own labelled file: CSV, JSON lines, JSON or Parquet."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evenhand.errors import InputError
from evenhand.pairs.gold.halves import FIT, TEST
from evenhand.pairs.gold.item import LABELS, PAIR_MEASURES, GoldItem, GoldMeasure
from evenhand.pairs.gold.rows import GoldRow, gold_rows
from evenhand.pairs.paired_prompt import content_id

SINGLE_COLUMNS = ("prompt", "response")
PAIR_COLUMNS = ("prompt_a", "prompt_b", "response_a", "response_b")
GROUP_COLUMNS = {"model": "model", "issue": "issue", "prompt_id": "prompt", "kind": "kind"}
"""Optional columns, and the group that each becomes."""

_ANNOTATOR = re.compile(r"label_(\d+)")
_SHOWN = 8


@dataclass(frozen=True, slots=True)
class _Shape:
    """What the columns say of every row."""

    pair: bool
    annotators: tuple[str, ...]


def read(path: Path) -> Mapping[str, tuple[GoldItem, ...]]:
    """Read a file with the columns `prompt` and `response`, or `prompt_a`, `prompt_b`, `response_a`, `response_b`.

    A preference may have one `prompt` in place of two. `label` holds the agreed label and `label_1`, `label_2` and so
    on each annotator's; one of the two kinds is enough, and without `label` most annotators decide. Optional columns:
    `measure`, `id`, `split` (fit, test) and `GROUP_COLUMNS`. Without `measure` the labels tell it.

    Raises `InputError`, which names file, row and column.
    """
    rows = list(gold_rows(path))
    shape = _shape(rows)
    measures = [_named_measure(row, shape) for row in rows]
    if not all(measures):
        told = _told_measure(rows, shape)
        measures = [measure or told for measure in measures]
    items = [_item(row, measure, shape) for row, measure in zip(rows, measures, strict=True) if measure]
    _refuse_without_majority(rows, items)
    _refuse_twice(rows, items)
    found = list(dict.fromkeys(item.measure for item in items))
    if len(found) == 1:
        return {"": tuple(items)}
    return {measure.value: tuple(item for item in items if item.measure == measure) for measure in found}


def _shape(rows: Sequence[GoldRow]) -> _Shape:
    first = rows[0]
    columns = {name for row in rows for name in row.values}
    pair = {"response_a", "response_b"} <= columns
    texts: tuple[str, ...] = SINGLE_COLUMNS
    if pair:
        texts = ("prompt", "response_a", "response_b") if "prompt" in columns else PAIR_COLUMNS
    missing = [name for name in texts if name not in columns]
    annotators = sorted((name for name in columns if _ANNOTATOR.fullmatch(name)), key=lambda name: int(name[6:]))
    if missing or not (annotators or "label" in columns):
        wanted = missing or ["label"]
        raise InputError(
            f"lacks the column{'s' if len(wanted) > 1 else ''} {', '.join(wanted)} (it has: {', '.join(first.values)})",
            source=first.source,
            row=first.row,
            way_out="give prompt and response, or prompt_a, prompt_b, response_a and response_b, with label or with"
            " label_1, label_2 and so on",
        )
    return _Shape(pair, tuple(annotators))


def _measures(shape: _Shape) -> list[GoldMeasure]:
    return [measure for measure in GoldMeasure if (measure in PAIR_MEASURES) == shape.pair]


def _named_measure(row: GoldRow, shape: _Shape) -> GoldMeasure | None:
    name = row.optional("measure").lower()
    possible = _measures(shape)
    if name and name not in possible:
        texts = "two responses" if shape.pair else "one response"
        raise row.error(f"is {name!r}", "measure", f"with {texts} a row, use {' or '.join(possible)}")
    return GoldMeasure(name) if name else None


def _told_measure(rows: Sequence[GoldRow], shape: _Shape) -> GoldMeasure:
    names = ("label", *shape.annotators)
    places = [
        (row, name, row.optional(name).lower())
        for row in rows
        if not row.optional("measure")
        for name in names
        if row.optional(name)
    ]
    possible = _measures(shape)
    known = {label for measure in possible for label in LABELS[measure]}
    for row, name, label in places:
        if label not in known:
            raise row.error(f"is {label!r}", name, _known_labels(possible))
    labels = {label for _, _, label in places}
    fitting = [measure for measure in possible if labels <= set(LABELS[measure])]
    if len(fitting) == 1:
        return fitting[0]
    shown = ", ".join(sorted(labels)) or "no label"
    raise InputError(
        f"what its labels ({shown}) say something about can't be told",
        source=rows[0].source,
        field="label",
        way_out=f"add a column measure that says {' or '.join(possible)}",
    )


def _known_labels(measures: Sequence[GoldMeasure]) -> str:
    return "use " + "; or ".join(f"{', '.join(LABELS[measure])} ({measure})" for measure in measures)


def _item(row: GoldRow, measure: GoldMeasure, shape: _Shape) -> GoldItem:
    prompts, responses = _texts(row, shape)
    annotators = tuple(_label(row, name, measure) for name in shape.annotators)
    split = row.optional("split").lower()
    if split not in (FIT, TEST, ""):
        raise row.error(f"is {split!r}", "split", "use fit or test, or leave it empty")
    groups = {group: found for column, group in GROUP_COLUMNS.items() if (found := row.optional(column))}
    return GoldItem(
        item_id=row.optional("id") or str(row.row),
        measure=measure,
        prompts=prompts,
        responses=responses,
        label=_label(row, "label", measure) or _majority(annotators),
        annotators=annotators,
        groups={"prompt": content_id(*prompts)} | groups,
        split=split,
    )


def _texts(row: GoldRow, shape: _Shape) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if not shape.pair:
        return (row.text("prompt"),), (row.text("response"),)
    names = ("prompt", "prompt") if "prompt" in row.values else ("prompt_a", "prompt_b")
    return tuple(row.text(name) for name in names), (row.text("response_a"), row.text("response_b"))


def _label(row: GoldRow, name: str, measure: GoldMeasure) -> str | None:
    found = row.optional(name).lower()
    if found and found not in LABELS[measure]:
        raise row.error(f"is {found!r}", name, _known_labels([measure]))
    return found or None


def _majority(annotators: Sequence[str | None]) -> str:
    given = [label for label in annotators if label is not None]
    winner, most = Counter(given).most_common(1)[0] if given else ("", 0)
    return winner if most * 2 > len(given) else ""


def _refuse_without_majority(rows: Sequence[GoldRow], items: Sequence[GoldItem]) -> None:
    undecided = [row for row, item in zip(rows, items, strict=True) if not item.label]
    if undecided:
        more = f" (and {len(undecided) - 1} more: {_numbers(undecided[1:])})" if len(undecided) > 1 else ""
        raise undecided[0].error(
            f"is empty, and no label has most of the annotators{more}", "label", "fill in what was agreed on"
        )


def _numbers(rows: Sequence[GoldRow]) -> str:
    shown = ", ".join(str(row.row) for row in rows[:_SHOWN])
    return shown + (", ..." if len(rows) > _SHOWN else "")


def _refuse_twice(rows: Sequence[GoldRow], items: Sequence[GoldItem]) -> None:
    seen: dict[str, int] = {}
    for row, item in zip(rows, items, strict=True):
        if item.item_id in seen:
            raise row.error(
                f"is {item.item_id!r} as in row {seen[item.item_id]}", "id", "give every row an id of its own, or none"
            )
        seen[item.item_id] = row.row
