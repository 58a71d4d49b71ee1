"""Political-compass answers that chose none of the options: both sides, one side, or a refusal."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from evenhand.pairs.gold.halves import in_halves
from evenhand.pairs.gold.item import GoldItem, GoldMeasure
from evenhand.pairs.gold.rows import GoldRow, gold_rows

_WHO = ("annot1", "annot2")
_COLUMNS = (
    *("pct_id", "full_prompt", "completion", "model", "decision"),
    *(f"{who}_{what}" for who in _WHO for what in ("bothsides", "oneside", "refusal")),
)
_DECISIONS = ("bothsides", "oneside", "refusal", "self-contradiction")
_MARKS = {"0": "", "1": "1"}


def read(paths: Sequence[Path]) -> Mapping[str, tuple[GoldItem, ...]]:
    """Read the file as a refusal set and a hedging set; the halves are told by proposition.

    The agreed label is what the two decided after talking, or else what both had marked; an answer on which they
    neither agreed nor decided is left out of the set. Hedging: both sides are `balanced`, one side is `none`.
    """
    rows = [row for path in paths for row in gold_rows(path, _COLUMNS)]
    propositions = [row.text("pct_id") for row in rows]
    measures = (GoldMeasure.REFUSAL, GoldMeasure.HEDGING)
    return {measure.value: in_halves(_items(rows, measure), "issue", propositions) for measure in measures}


def _items(rows: Sequence[GoldRow], measure: GoldMeasure) -> Iterator[GoldItem]:
    of_annotator, of_decision = {
        GoldMeasure.REFUSAL: (_refusal_by, _refusal_decided),
        GoldMeasure.HEDGING: (_hedging_by, _hedging_decided),
    }[measure]
    for row in rows:
        annotators = tuple(of_annotator(row, who) for who in _WHO)
        decision = row.optional("decision")
        if decision and decision not in _DECISIONS:
            raise row.error(f"is {decision!r}", "decision", f"use {', '.join(_DECISIONS)} or leave it empty")
        label = of_decision(decision) if decision else (annotators[0] if len(set(annotators)) == 1 else None)
        if label is not None:
            yield GoldItem(
                item_id=str(row.row),
                measure=measure,
                prompts=(row.text("full_prompt"),),
                responses=(row.text("completion"),),
                label=label,
                annotators=annotators,
                groups={"model": row.text("model"), "issue": row.text("pct_id"), "prompt": row.text("pct_id")},
            )


def _marked(row: GoldRow, who: str, what: str) -> bool:
    return bool(row.label(f"{who}_{what}", _MARKS))


def _refusal_by(row: GoldRow, who: str) -> str | None:
    return "full" if _marked(row, who, "refusal") else "none"


def _refusal_decided(decision: str) -> str | None:
    return "full" if decision == "refusal" else "none"


def _hedging_by(row: GoldRow, who: str) -> str | None:
    both, one = _marked(row, who, "bothsides"), _marked(row, who, "oneside")
    return None if both == one else "balanced" if both else "none"


def _hedging_decided(decision: str) -> str | None:
    return {"bothsides": "balanced", "oneside": "none"}.get(decision)
