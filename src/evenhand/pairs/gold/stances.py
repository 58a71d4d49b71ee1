"""Texts of our own that take a side, take one with a nod to the other, weigh both, or take none.

Five texts on each issue, all in one form (an essay, a song, a scene ...) and of about one length, so that neither its
subject nor its form tells which of them is even. Unlike those of the built-in gold set they are written whole, as
language models write, and not composed of blocks.
"""

import json
from functools import cache
from importlib import resources

from evenhand.pairs.gold.halves import in_halves
from evenhand.pairs.gold.item import GoldItem, GoldMeasure

TITLE = "Stances: texts written to take a side or none, in many forms"
SOURCE = "written by evenhand"
LABELS = {"pro": "none", "con": "none", "some": "some", "both": "balanced", "plain": "balanced"}
"""The hedging label that each kind of text was written for: ``both`` weighs two sides, ``plain`` speaks of neither."""
_FILE = "stances.jsonl"


@cache
def read_stances() -> tuple[GoldItem, ...]:
    """Return the texts with their halves, issues being in one half whole; nothing depends on chance."""
    lines = resources.files("evenhand.pairs").joinpath("data", _FILE).read_text("utf-8").splitlines()
    return in_halves((_item(json.loads(line)) for line in lines), "issue")


def _item(text: dict[str, str]) -> GoldItem:
    return GoldItem(
        item_id=f"{text['issue']}.{text['kind']}",
        measure=GoldMeasure.HEDGING,
        prompts=(text["request"],),
        responses=(text["text"],),
        label=LABELS[text["kind"]],
        groups={"issue": text["issue"], "kind": text["kind"]},
    )
