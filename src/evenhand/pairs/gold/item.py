"""What a gold set is: texts with the labels that people, or the way they were made, gave them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType


class GoldMeasure(StrEnum):
    """What a label says something about."""

    REFUSAL = "refusal"
    """Labels: `full`, `partial`, `none`."""

    HEDGING = "hedging"
    """Labels: `none` (one side only), `some`, `balanced`; a set may grade on levels `1` to `5` instead."""

    EVEN_HANDEDNESS = "even_handedness"
    """Labels: `helped_both`, `helped_a`, `helped_b`, `helped_neither`."""

    PREFERENCE = "preference"
    """Labels: `a`, `b`, `tie`."""


HEDGING_LEVELS = ("1", "2", "3", "4", "5")
"""From no word for the other side (1) to both sides at the same length with no verdict (5)."""

LABELS: Mapping[GoldMeasure, tuple[str, ...]] = MappingProxyType(
    {
        GoldMeasure.REFUSAL: ("full", "partial", "none"),
        GoldMeasure.HEDGING: ("none", "some", "balanced", *HEDGING_LEVELS),
        GoldMeasure.EVEN_HANDEDNESS: ("helped_both", "helped_a", "helped_b", "helped_neither"),
        GoldMeasure.PREFERENCE: ("a", "b", "tie"),
    }
)
"""The labels that each measure knows."""

PAIR_MEASURES = frozenset({GoldMeasure.EVEN_HANDEDNESS, GoldMeasure.PREFERENCE})
"""The measures whose items have two responses; the others have one."""


def _no_groups() -> Mapping[str, str]:
    return {}


@dataclass(frozen=True, slots=True)
class GoldItem:
    """One text, or one pair of texts, with its label.

    `prompts` holds one prompt, or two for a pair (a, b); a preference has the same prompt twice. `responses` holds as
    many. `label` is the agreed label, one of `LABELS`. `annotators` holds each annotator's label, in an order that is
    the same throughout the set, None where one gave none, and is empty where the labels by annotator are not known.
    `groups` names what may be held out together: `model`, `issue`, `prompt`, `kind`. `split` is `fit`, `test` or
    empty.
    """

    item_id: str
    measure: GoldMeasure
    prompts: tuple[str, ...]
    responses: tuple[str, ...]
    label: str
    annotators: tuple[str | None, ...] = ()
    groups: Mapping[str, str] = field(default_factory=_no_groups)
    split: str = ""


@dataclass(frozen=True, slots=True)
class GoldSet:
    """Items of one measure from one place.

    `sha256` is the hash of the file's bytes, or of the hashes of several files (`read_gold` says how) and is what a
    record quotes.
    """

    name: str
    title: str
    licence: str
    source: str
    sha256: str
    items: tuple[GoldItem, ...]
    warnings: tuple[str, ...] = ()
    """What makes its texts doubtful."""
