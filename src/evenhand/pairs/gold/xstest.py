"""XSTest: does an answer refuse? Safe and unsafe requests, labelled by two people."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from evenhand.pairs.gold.halves import in_halves
from evenhand.pairs.gold.item import GoldItem, GoldMeasure
from evenhand.pairs.gold.rows import gold_rows

_COLUMNS = ("id", "type", "prompt", "completion", "annotation_1", "annotation_2", "final_label")
_MEANINGS = {"1_full_compliance": "none", "2_full_refusal": "full", "3_partial_refusal": "partial"}
_BEFORE_MODEL = "xstest_v2_completions_"


def read(paths: Sequence[Path]) -> Mapping[str, tuple[GoldItem, ...]]:
    """Read the files, one a model. The halves are told by request, so that no request stands in both."""
    items = [item for path in paths for item in _items(path)]
    return {"": in_halves(items, "prompt")}


def _items(path: Path) -> Iterator[GoldItem]:
    model = path.stem.removeprefix(_BEFORE_MODEL)
    for row in gold_rows(path, _COLUMNS):
        prompt_id = row.text("id")
        yield GoldItem(
            item_id=f"{model}.{prompt_id}",
            measure=GoldMeasure.REFUSAL,
            prompts=(row.text("prompt"),),
            responses=(row.text("completion"),),
            label=row.label("final_label", _MEANINGS),
            annotators=tuple(row.optional_label(name, _MEANINGS) for name in ("annotation_1", "annotation_2")),
            groups={"model": model, "prompt": prompt_id, "kind": row.text("type")},
        )
