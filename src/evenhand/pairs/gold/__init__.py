"""Gold sets: texts with labels that people, or the way they were made, gave them; one reader a set."""

from evenhand.pairs.gold.builtin import CELL_KINDS
from evenhand.pairs.gold.halves import in_halves
from evenhand.pairs.gold.item import HEDGING_LEVELS, LABELS, PAIR_MEASURES, GoldItem, GoldMeasure, GoldSet
from evenhand.pairs.gold.public_sets import PUBLIC_SETS, PublicFile, PublicSet
from evenhand.pairs.gold.read import GOLD_NAMES, read_gold

__all__ = [
    "CELL_KINDS",
    "GOLD_NAMES",
    "HEDGING_LEVELS",
    "LABELS",
    "PAIR_MEASURES",
    "PUBLIC_SETS",
    "GoldItem",
    "GoldMeasure",
    "GoldSet",
    "PublicFile",
    "PublicSet",
    "in_halves",
    "read_gold",
]
