"""The reader of an audit: every paired prompt with its two answers and what each grader said of them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from evenhand.report.audit_summary import Analysis
from evenhand.report.reader import columns
from evenhand.report.reader.audit_pair import Grids, pair_content
from evenhand.report.reader.audit_view import Block, Sides, disagreements, view
from evenhand.report.reader.counting import Counting
from evenhand.report.reader.findings import EVEN_HANDEDNESS, LETTERS, Row, finding
from evenhand.report.reader.packing import packed
from evenhand.report.reader.reader import Reader

ByPair: TypeAlias = dict[str, list[Row]]


def audit_reader(
    pairs: Iterable[Row],
    responses: Iterable[Row],
    judgments: Iterable[Row],
    *,
    analysis: Analysis | None = None,
    anchor: str = "pair",
    heading: str = "Every pair, with its two answers",
) -> Reader:
    """Return the reader of an audit, from the rows of its tables.

    Verdicts are those of the summary: with its threshold, labels and calibrations, and derived measures derived anew.

    Args:
        pairs: rows of ``pairs.parquet``, in the order of the run.
        responses: rows of ``responses.parquet``.
        judgments: rows of ``judgments.parquet``; those in an order that the analysis doesn't use are shown, and enter
            no verdict.
        analysis: how judgments become figures, as in the summary.
        anchor: unique in a report.
        heading: of the reader.
    """
    rows = list(pairs)
    used = analysis or Analysis()
    counting = Counting.of(used)
    answers = {(row["pair_id"], row["letter"]): row for row in responses}
    sides = [(str(row["side_a"]), str(row["side_b"])) for row in rows]
    names = Sides.of(sides)
    graded = _graded(judgments)
    blocks = {name: _block(by_pair, rows, counting) for name, by_pair in graded.items()}
    disagree = disagreements(list(blocks.values()), used.threshold)
    marks = [_answer_marks(row["pair_id"], answers) for row in rows]
    grids = Grids.of(graded)
    return packed(
        anchor,
        heading,
        _index(rows, answers, blocks, grids, names),
        [
            view(block, names, sides=sides, disagree=disagree, marks=marks, threshold=used.threshold)
            for block in blocks.values()
        ]
        or [_no_view(marks)],
        [
            pair_content(
                row, answers, [by_pair.get(row["pair_id"], ()) for by_pair in graded.values()], grids, counting
            )
            for row in rows
        ],
    )


def _graded(judgments: Iterable[Row]) -> dict[tuple[str, str], ByPair]:
    """Return judgments by grader and set of instruments, and by pair."""
    found: dict[tuple[str, str], ByPair] = {}
    for row in judgments:
        block = (str(row["grader"]), str(row.get("instruments") or ""))
        found.setdefault(block, defaultdict(list))[row["pair_id"]].append(row)
    return found


def _block(by_pair: Mapping[str, Sequence[Row]], pairs: Sequence[Row], counting: Counting) -> Block:
    def counts(row: Row) -> bool:
        return row["order"] is None or counting.analysis.orders in ("both", row["order"])

    counted = {pair_id: [row for row in rows if counts(row)] for pair_id, rows in by_pair.items()}
    orders = {row["order"] for rows in counted.values() for row in rows if row["measure"] == EVEN_HANDEDNESS}
    measures = {row["measure"] for rows in counted.values() for row in rows}
    in_order = sorted(orders, key=str)
    found = [finding(counted.get(row["pair_id"], ()), in_order, counting) for row in pairs]
    return Block(frozenset(measures), tuple(found))


def _index(
    pairs: Sequence[Row],
    answers: Mapping[tuple[str, str], Row],
    blocks: Mapping[tuple[str, str], Block],
    grids: Grids,
    sides: Sides,
) -> dict[str, Any]:
    lengths = [sum(len(_text(answers.get((row["pair_id"], letter)))) for letter in LETTERS) for row in pairs]
    return {
        "kind": "audit",
        "noun": ["paired prompt", "paired prompts"],
        "ids": [row["pair_id"] for row in pairs],
        "title": "topic",
        "subtitle": "template",
        "columns": [
            columns.category("topic", "Topic", [str(row["topic"]) for row in pairs]),
            columns.category("template", "Template", [str(row["template"]) for row in pairs]),
            columns.category("kind", "Kind of stance", [str(row["kind"]).replace("_", " ") for row in pairs]),
            columns.number("length", "Characters in both answers", lengths, "count"),
            *([columns.number("apart", "Graders apart by", _apart(blocks), "percent")] if len(blocks) > 1 else []),
        ],
        "viewLabel": "Verdicts of",
        "views": [
            {"group": "", "label": f"{grader}, {instruments}" if instruments else grader}
            for grader, instruments in blocks
        ]
        or [{"group": "", "label": "nobody: nothing was graded"}],
        "scales": [scale.as_json() for scale in grids.scales],
        "sorts": [
            columns.sort("Most uneven first", "even"),
            columns.sort("Most even-handed first", "even", descending=True),
            columns.sort(f"Leaning most to {sides.second} first", "lean", descending=True),
            columns.sort(f"Leaning most to {sides.first} first", "lean"),
            columns.sort("Changed most by the order first", "moved", descending=True),
            columns.sort("Graders furthest apart first", "apart", descending=True),
            columns.sort("Most declined first", "refused", descending=True),
            columns.sort("Most hedged first", "hedged", descending=True),
            columns.sort("Longest answers first", "length", descending=True),
            columns.sort("Topic", "topic"),
            columns.sort("Template", "template"),
            columns.sort("Order of the run", ""),
        ],
    }


def _apart(blocks: Mapping[tuple[str, str], Block]) -> list[float | None]:
    """Return how far graders' probabilities of "the same kind of response" lie apart, a pair."""
    found: list[float | None] = []
    for here in zip(*(block.findings for block in blocks.values()), strict=True):
        known = [one.even for one in here if one.even is not None]
        found.append(max(known) - min(known) if len(known) > 1 else None)
    return found


def _answer_marks(pair_id: str, answers: Mapping[tuple[str, str], Row]) -> list[str]:
    became = [str(answers[pair_id, letter]["became"]) for letter in LETTERS if (pair_id, letter) in answers]
    marks = []
    if len(became) < 2 or any(one not in ("complete", "cut") for one in became):
        marks.append("an answer is missing")
    if "cut" in became:
        marks.append("an answer was cut")
    return marks


def _no_view(marks: Sequence[Sequence[str]]) -> dict[str, Any]:
    levels = ("an answer is missing", "an answer was cut")
    marked = columns.flags("marks", "Marked", marks, levels)
    return {"columns": [marked], "badge": "", "figure": "", "figureName": "", "tags": ["marks"]}


def _text(row: Row | None) -> str:
    return "" if row is None else str(row["response"] or "")
