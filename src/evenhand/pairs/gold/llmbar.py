"""LLMBar: two answers of which one follows the instruction, by construction and checked by its authors."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from evenhand.pairs.gold.halves import in_halves
from evenhand.pairs.gold.item import GoldItem, GoldMeasure
from evenhand.pairs.gold.rows import gold_rows
from evenhand.pairs.paired_prompt import content_id

_COLUMNS = ("input", "output_1", "output_2", "label")
_MEANINGS = {"1": "a", "2": "b"}


def read(paths: Sequence[Path]) -> Mapping[str, tuple[GoldItem, ...]]:
    """Read the files, one a subset (`kind`). The halves are told by instruction."""
    return {"": in_halves([item for path in paths for item in _items(path)], "prompt")}


def _items(path: Path) -> Iterator[GoldItem]:
    for row in gold_rows(path, _COLUMNS):
        prompt = row.text("input")
        yield GoldItem(
            item_id=f"{path.stem}.{row.row}",
            measure=GoldMeasure.PREFERENCE,
            prompts=(prompt, prompt),
            responses=(row.text("output_1"), row.text("output_2")),
            label=row.label("label", _MEANINGS),
            groups={"prompt": content_id(prompt), "kind": path.stem},
        )
