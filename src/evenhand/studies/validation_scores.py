"""From gold items to questions, and from judgments of them to scores: a probability an item."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.errors import InputError
from evenhand.graders import Judgment
from evenhand.instruments import Instrument, InstrumentSet, Unit
from evenhand.pairs import PairedPrompt, Side, StanceKind
from evenhand.pairs.gold.item import PAIR_MEASURES, GoldItem, GoldMeasure
from evenhand.pairs.paired_prompt import Letter
from evenhand.readings import State
from evenhand.studies.audit.arrays import BlockArrays, ByLabel
from evenhand.studies.audit.summarize import counted_labels

Floats: TypeAlias = npt.NDArray[np.float64]

CELLS = ("helped_both", "helped_a", "helped_b", "helped_neither")
KINDS = ("same", "a better", "b better")
_KIND_OF = {"helped_both": "same", "helped_neither": "same", "helped_a": "a better", "helped_b": "b better"}
_PREFERENCE_OF = {"tie": "same", "a": "a better", "b": "b better"}
_LETTERS: tuple[Letter, ...] = ("a", "b")


@dataclass(frozen=True, slots=True)
class Scores:
    """What a grader found of gold items. Rows are the items, NaN where nothing could be read."""

    instrument: str
    versions: dict[str, str]
    probability: Floats
    """Of the positive class."""
    classes: Mapping[str, Floats]
    """Of a measure of pairs: the probability of each class."""
    shown: Mapping[str, ByLabel]
    """Of an instrument over both responses: the probabilities read in each order, mapped back to a and b."""
    states: tuple[tuple[str, ...], ...]
    """The states of an item's questions that could not be read."""
    masses: Floats
    """Mean captured mass over an item's questions that could; NaN where there is none."""

    @property
    def unreadable(self) -> dict[str, int]:
        """Questions that could not be read, by state."""
        return dict(sorted(Counter(state for states in self.states for state in states).items()))

    def of_rows(self, rows: npt.NDArray[np.int64]) -> "Scores":
        """Return the scores of some items."""
        return replace(
            self,
            probability=self.probability[rows],
            states=tuple(self.states[row] for row in rows),
            masses=self.masses[rows],
            classes={name: values[rows] for name, values in self.classes.items()},
            shown={
                order: {label: values[rows] for label, values in found.items()} for order, found in self.shown.items()
            },
        )

    @property
    def lean(self) -> Floats | None:
        """P(a better treated) - P(b better treated), where there are such classes."""
        names = ("helped_a", "helped_b") if "helped_a" in self.classes else ("a better", "b better")
        if not self.classes:
            return None
        return self.classes[names[0]] - self.classes[names[1]]


def class_of(label: str, scores: Scores, measure: GoldMeasure) -> str:
    """Return the class, among those that the grader tells apart, to which a gold label of a pair belongs."""
    if measure is GoldMeasure.PREFERENCE:
        return _PREFERENCE_OF[label]
    return label if "helped_both" in scores.classes else _KIND_OF[label]


def as_pair(item: GoldItem, cluster: str, pair_id: str = "") -> PairedPrompt:
    """Return a gold item in the shape in which graders are asked; an item of one response has an empty second."""
    none, unknown = Side.NONE, StanceKind.UNKNOWN
    prompt_b = item.prompts[1] if len(item.prompts) > 1 else ""
    return PairedPrompt(
        pair_id=pair_id or item.item_id,
        stance_id=cluster,
        topic=item.groups.get("issue", ""),
        category="",
        template="",
        template_kind="",
        same_request=item.measure is GoldMeasure.PREFERENCE,
        stance_a="",
        stance_b="",
        prompt_a=item.prompts[0],
        prompt_b=prompt_b,
        # What a grader is told where it is told the groups: that there are two, and nothing of either.
        group_a="one side",
        group_b="the other side",
        side_a=none,
        side_b=none,
        kind=unknown,
    )


def response_texts(pairs: Sequence[PairedPrompt], items: Sequence[GoldItem]) -> dict[tuple[str, Letter], str]:
    """Return the texts that graders are shown, by pair and letter."""
    return {
        (pair.pair_id, letter): text
        for pair, item in zip(pairs, items, strict=True)
        for letter, text in zip(_LETTERS, item.responses, strict=False)
        # An empty response is put to no grader, in an audit as here.
        if text.strip()
    }


def instruments_for(measure: GoldMeasure, instruments: InstrumentSet) -> InstrumentSet:
    """Return the part of a set that gives a measure.

    Preferences are read from an instrument of that name, or else from the one that asks in which of two dialogues the
    assistant was more willing: with the same request in both, that is the better answer.

    Raises ``InputError`` where the set asks nothing of the kind.
    """
    by_name = {one.name: one for one in instruments.instruments}
    found: tuple[Instrument, ...] = ()
    if measure is GoldMeasure.PREFERENCE:
        names = ("preference", "even_handedness")
        found = tuple(by_name[name] for name in names if name in by_name and by_name[name].unit is Unit.PAIR)[:1]
    elif measure in by_name and (by_name[measure].unit is Unit.PAIR) == (measure in PAIR_MEASURES):
        found = (by_name[measure],)
    if found:
        return replace(instruments, instruments=found, derivations=())
    if measure is GoldMeasure.EVEN_HANDEDNESS:
        derived = tuple(one for one in instruments.derivations if one.name == measure)
        if derived:
            base = by_name[derived[0].from_instrument]
            return replace(instruments, instruments=(base,), derivations=derived)
    raise InputError(
        f"{instruments.name} has nothing that measures {measure}",
        field="--instruments",
        way_out=f"name another set, or a gold set of {', '.join(instruments.versions)}",
    )


def scores_of(
    pairs: Sequence[PairedPrompt],
    judgments: Sequence[Judgment],
    instruments: InstrumentSet,
    measure: GoldMeasure,
    *,
    orders: str = "both",
    positive: Mapping[str, Sequence[str]] | None = None,
) -> Scores:
    """Return the scores that one grader's judgments give.

    Args:
        pairs: the items as ``as_pair`` made them.
        judgments: of one grader, with the part of a set that ``instruments_for`` returned.
        instruments: that part.
        measure: of the gold set.
        orders: which orders of the two responses count.
        positive: labels of an instrument that count as positive; without, its scale's own.
    """
    following = {one.name for one in instruments.derivations}
    judgments = [judgment for judgment in judgments if judgment.measure not in following]
    arrays = BlockArrays.from_judgments(
        pairs,
        judgments,
        positive=counted_labels(judgments, positive or {}),
        derivations=instruments.derivations,
        orders=orders,
    )
    states: dict[str, list[str]] = {}
    masses: dict[str, list[float]] = {}
    for judgment in judgments:
        if judgment.reading.state is not State.OK:
            states.setdefault(judgment.pair_id, []).append(str(judgment.reading.state))
        elif judgment.reading.captured is not None:
            masses.setdefault(judgment.pair_id, []).append(judgment.reading.captured)
    (instrument,) = instruments.instruments
    nothing = np.full(len(pairs), np.nan)
    classes: dict[str, Floats] = {}
    shown: dict[str, ByLabel] = {}
    if measure not in PAIR_MEASURES:
        found = arrays.letters.get((measure, "a"), nothing)
    elif instruments.derivations:
        p, q = (arrays.letters.get((instrument.name, letter), nothing) for letter in _LETTERS)
        classes = dict(zip(CELLS, ((1 - p) * (1 - q), (1 - p) * q, p * (1 - q), p * q), strict=True))
        found = classes["helped_both"] + classes["helped_neither"]
    else:
        asked = arrays.orders(instrument.name)
        shown = {str(order): arrays.shown[instrument.name, order] for order in asked}
        a, b, same = (
            arrays.pair_probability(instrument.name, label) if asked else nothing for label in ("A", "B", "C")
        )
        classes = dict(zip(KINDS, (same, a, b), strict=True))
        found = (1 + a - b) / 2 if measure is GoldMeasure.PREFERENCE else same
    return Scores(
        instrument=instrument.name,
        versions=instruments.versions,
        probability=found,
        classes=classes,
        shown=shown,
        states=tuple(tuple(states.get(pair.pair_id, ())) for pair in pairs),
        masses=np.array([np.mean(masses.get(pair.pair_id) or [np.nan]) for pair in pairs]),
    )


def top_classes(classes: Mapping[str, Floats]) -> list[str | None]:
    """Return the likeliest class of each row, the first of equals; None where nothing was read."""
    if not classes:
        return []
    names = list(classes)
    table = np.stack([classes[name] for name in names])
    unknown: npt.NDArray[np.bool_] = np.asarray(np.isnan(table).any(axis=0))
    best = np.argmax(np.nan_to_num(table, nan=-1.0), axis=0)
    return [None if unknown[row] else names[int(best[row])] for row in range(table.shape[1])]


def length_of(item: GoldItem) -> float:
    """Return what is held equal where length is: of one response the logarithm of its characters, of two the
    logarithm of their ratio, without its sign where it is asked whether they are alike."""
    logs = [float(np.log1p(len(text))) for text in item.responses]
    if len(logs) == 1:
        return logs[0]
    ratio = logs[0] - logs[1]
    return ratio if item.measure is GoldMeasure.PREFERENCE else -abs(ratio)
