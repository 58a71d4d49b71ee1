"""PandaLM: two answers to an instruction, with the preferences of three people."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from evenhand.pairs.gold.halves import in_halves
from evenhand.pairs.gold.item import GoldItem, GoldMeasure
from evenhand.pairs.gold.rows import gold_rows
from evenhand.pairs.paired_prompt import content_id
from evenhand.pairs.preferences.row import joined

_WHO = ("annotator1", "annotator2", "annotator3")
_COLUMNS = ("idx", "motivation_app", "cmp_key", "instruction", "input", "response1", "response2", *_WHO)
_MEANINGS = {"0": "tie", "1": "a", "2": "b"}


def read(paths: Sequence[Path]) -> Mapping[str, tuple[GoldItem, ...]]:
    """Read the file; ties are kept, and three different votes are a tie. The halves are told by instruction."""
    return {"": in_halves([item for path in paths for item in _items(path)], "prompt")}


def _items(path: Path) -> Iterator[GoldItem]:
    for row in gold_rows(path, _COLUMNS):
        prompt = joined((row.optional("instruction"), row.optional("input")))
        if not prompt:
            raise row.error("is empty, and so is input", "instruction")
        votes = tuple(row.label(name, _MEANINGS) for name in _WHO)
        winner, most = Counter(votes).most_common(1)[0]
        yield GoldItem(
            item_id=row.optional("idx"),
            measure=GoldMeasure.PREFERENCE,
            prompts=(prompt, prompt),
            # Answers may be empty here, and people preferred the other one then.
            responses=(row.optional("response1"), row.optional("response2")),
            label=winner if most > 1 else "tie",
            annotators=votes,
            groups={"model": row.text("cmp_key"), "issue": row.text("motivation_app"), "prompt": content_id(prompt)},
        )
