"""Which gold items a fitted grader has seen: a figure on those is none of a card."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.graders.fitted import FittedCard, LabelSource
from evenhand.pairs.gold import GOLD_NAMES, PAIR_MEASURES, GoldMeasure, GoldSet
from evenhand.pairs.gold.halves import FIT
from evenhand.studies.fit_grader import examples_of
from evenhand.studies.validation_jobs import GoldPart

Bools: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class SeenInFitting:
    """What the weights of a grader were fitted to of the items that it is held against."""

    items: Bools
    """Those in its fitting, shape (items,)."""
    named: bool
    """Its card names the gold set among the sources of its labels."""
    has_rest: bool
    """The gold set has a testing half by its own saying, which ``--split test`` takes."""

    def remark(self, rows: npt.NDArray[np.int64]) -> str:
        """Return in words how much of some items was in the fitting."""
        seen = int(self.items[rows].sum())
        if not self.named:
            return "its weights were fitted to no labels of this gold set, by name and hash"
        if not seen:
            return (
                "none of these items was in its fitting half; its weights were fitted to other items of this gold set"
            )
        way_out = "--split test holds it against the others" if self.has_rest else "labels that it hasn't seen say more"
        were = "was" if seen == 1 else "were"
        return f"{seen:,} of these {rows.size:,} items {were} in its fitting half, which flatters it: {way_out}"


def seen_in_fitting(card: FittedCard, part: GoldPart) -> SeenInFitting:
    """Return which items of a gold set the weights of a card were fitted to.

    Of pairs, those are counted whose texts belong to the fitting half: even-handedness follows from what was fitted to
    texts of the same set.
    """
    gold = part.gold
    has_rest = any(item.split not in ("", FIT) for item in gold.items)
    if not any(_is_source(source, gold) for source in card.sources):
        return SeenInFitting(np.zeros(len(part.items), dtype=bool), named=False, has_rest=has_rest)
    if part.measure in PAIR_MEASURES:
        fitted = {item.item_id for item in gold.items if item.split == FIT}
    else:
        examples = examples_of([gold], GoldMeasure(card.measure))
        fitted = {one.item_id for one in examples if one.half == FIT and not np.isnan(one.target)}
    seen = np.array([item.item_id in fitted for item in part.items], dtype=bool)
    return SeenInFitting(seen, named=True, has_rest=has_rest)


def _is_source(source: LabelSource, gold: GoldSet) -> bool:
    """Say whether labels came from a gold set, or from another part of the set that goes by its name.

    Parts of a set share their texts and their halves.
    """
    if not source.fitted:
        return False
    base = gold.name.partition("-")[0]
    related = base in GOLD_NAMES and source.name.partition("-")[0] == base and source.source == gold.source
    return source.sha256 == gold.sha256 or related
