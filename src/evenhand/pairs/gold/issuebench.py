"""IssueBench: political writing labelled for its stance, read as refusal, as hedging, and as silver pairs."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from evenhand.pairs.gold.halves import in_halves
from evenhand.pairs.gold.item import GoldItem, GoldMeasure
from evenhand.pairs.gold.rows import GoldRow, gold_rows
from evenhand.pairs.paired_prompt import content_id

_COLUMNS = (
    *("cluster_id", "topic_polarity", "prompt_id", "prompt_text", "response_text", "response_model"),
    *("annot1_label", "annot2_label", "final_label"),
)
_ANNOTATORS = ("annot1_label", "annot2_label")
_STANCES = ("1 - only pro", "2 - mostly pro", "3 - neutral/ambivalent", "4 - mostly con", "5 - only con", "refusal")
_AS_IT_IS = {stance: stance for stance in _STANCES}
_REFUSAL = {stance: "full" if stance == "refusal" else "none" for stance in _STANCES}
_HEDGING = dict(zip(_STANCES[:5], ("none", "some", "balanced", "some", "none"), strict=True))
_ON_SIDE = {"pro": _STANCES[:2], "con": _STANCES[3:5]}
_CELLS = {
    (True, True): "helped_both",
    (True, False): "helped_a",
    (False, True): "helped_b",
    (False, False): "helped_neither",
}
UNKNOWN_MODEL = "unknown"
"""Six rows do not say which model wrote them."""


def read(paths: Sequence[Path]) -> Mapping[str, tuple[GoldItem, ...]]:
    """Read the file as three sets; the halves of each are told by issue, so that no issue stands in both,
    nor in different halves of two of the sets.

    * refusal: a refusal is `full`, anything else `none`.
    * hedging: only pro and only con are `none`, mostly pro and mostly con `some`, neutral `balanced`; refusals are
      left out, and an annotator who saw a refusal gave no label.
    * pairs: see `_pairs`.
    """
    rows = [row for path in paths for row in gold_rows(path, _COLUMNS)]
    hedging = [row for row in rows if row.label("final_label", _AS_IT_IS) != "refusal"]
    parts = {
        "refusal": [_item(row, GoldMeasure.REFUSAL, _REFUSAL) for row in rows],
        "hedging": [_item(row, GoldMeasure.HEDGING, _HEDGING) for row in hedging],
        "pairs": list(_pairs(rows)),
    }
    issues = [row.optional("cluster_id") for row in rows]
    return {part: in_halves(items, "issue", issues) for part, items in parts.items()}


def _item(row: GoldRow, measure: GoldMeasure, meanings: Mapping[str, str]) -> GoldItem:
    return GoldItem(
        item_id=str(row.row),
        measure=measure,
        prompts=(row.text("prompt_text"),),
        responses=(row.text("response_text"),),
        label=row.label("final_label", meanings),
        annotators=tuple(meanings.get(row.label(name, _AS_IT_IS)) for name in _ANNOTATORS),
        groups={
            "model": _model(row),
            "issue": row.optional("cluster_id"),
            "prompt": _prompt(row),
            "kind": row.text("topic_polarity"),
        },
    )


def _model(row: GoldRow) -> str:
    return row.optional("response_model") or UNKNOWN_MODEL


def _prompt(row: GoldRow) -> str:
    # Some rows name no template.
    return row.optional("prompt_id") or content_id(row.text("prompt_text"))


def _pairs(rows: Sequence[GoldRow]) -> Iterator[GoldItem]:
    """Yield what one model wrote when it was asked for one side of an issue and for the other: a is pro, b con.

    These are silver labels: nobody judged the two texts side by side. A side was helped where people saw the text as
    only or mostly on the side that was asked for, and not helped where they saw a refusal or the other side; a text
    that they saw as neutral is in between, and its pair is left out. The tasks of the two differ (a story and an
    essay, say). Texts are paired in the order of the file, each once.
    """
    sides: dict[tuple[str, str], dict[str, list[GoldRow]]] = defaultdict(lambda: {"pro": [], "con": []})
    for row in rows:
        if (asked := row.text("topic_polarity")) in _ON_SIDE and _model(row) != UNKNOWN_MODEL:
            sides[row.optional("cluster_id"), _model(row)][asked].append(row)
    for (issue, model), both in sides.items():
        for pro, con in zip(both["pro"], both["con"], strict=False):
            label = _cell(pro, con, "final_label")
            if label is not None:
                yield GoldItem(
                    item_id=f"{pro.row}-{con.row}",
                    measure=GoldMeasure.EVEN_HANDEDNESS,
                    prompts=(pro.text("prompt_text"), con.text("prompt_text")),
                    responses=(pro.text("response_text"), con.text("response_text")),
                    label=label,
                    annotators=tuple(_cell(pro, con, name) for name in _ANNOTATORS),
                    groups={
                        "model": model,
                        "issue": issue,
                        "prompt": f"{_prompt(pro)} {_prompt(con)}",
                        "kind": "silver",
                    },
                )


def _cell(pro: GoldRow, con: GoldRow, column: str) -> str | None:
    a, b = (_helped(row, column) for row in (pro, con))
    return None if a is None or b is None else _CELLS[a, b]


def _helped(row: GoldRow, column: str) -> bool | None:
    stance = row.label(column, _AS_IT_IS)
    return None if stance == _STANCES[2] else stance in _ON_SIDE[row.text("topic_polarity")]
