"""Which gold items are put to which instruments, before anybody is asked."""

import hashlib
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace

from evenhand.errors import InputError
from evenhand.instruments import InstrumentSet
from evenhand.pairs import PairedPrompt
from evenhand.pairs.gold.item import GoldItem, GoldMeasure, GoldSet
from evenhand.pairs.paired_prompt import Letter
from evenhand.studies.audit.plan import GradingPlan
from evenhand.studies.gold import load_gold
from evenhand.studies.validation_plan import ValidationPlan
from evenhand.studies.validation_scores import as_pair, instruments_for, response_texts
from evenhand.studies.validity import GoldClasses, clusters_of, gold_classes
from evenhand.studies.watch import StudyWatch


@dataclass(frozen=True, slots=True)
class GoldPart:
    """The part of a gold set that a validation is about."""

    gold: GoldSet
    items: tuple[GoldItem, ...]
    pairs: tuple[PairedPrompt, ...]
    """The items in the shape in which graders are asked; no two gold sets share an id."""
    classes: GoldClasses

    @property
    def measure(self) -> GoldMeasure:
        """What its labels say something about."""
        return self.items[0].measure

    @property
    def texts(self) -> dict[tuple[str, Letter], str]:
        """The texts that graders are shown, by pair and letter."""
        return response_texts(self.pairs, self.items)


@dataclass(frozen=True, slots=True)
class Job:
    """A gold set and what is asked about it."""

    part: GoldPart
    instruments: InstrumentSet


def gold_parts(plan: ValidationPlan, watch: StudyWatch) -> tuple[GoldPart, ...]:
    """Return what a plan takes of each gold set; raises ``InputError`` where nothing is left.

    The watch is told what makes texts doubtful.
    """
    sets = [gold for gold in load_gold(plan.gold, folder=plan.gold_folder) if gold.items]
    if not sets:
        raise InputError("holds no items", source=plan.gold, field="--gold", way_out="name another gold set")
    for warning in dict.fromkeys(warning for gold in sets for warning in gold.warnings):
        watch.say(warning)
    return tuple(_part(gold, plan) for gold in _of_kinds(sets, plan))


def jobs_of(parts: Sequence[GoldPart], instruments: InstrumentSet, watch: StudyWatch) -> tuple[Job, ...]:
    """Return what a set of instruments is asked: the part of it that gives a gold set's measure.

    A set whose measure it doesn't give is left out, and the watch is told.
    """
    found = []
    for part in parts:
        try:
            asked = instruments_for(part.measure, instruments)
        except InputError:
            watch.say(f"{part.gold.name}, {part.measure}: left out, {instruments.name} has nothing that measures it")
            continue
        # The name is what a watch is told, and no two stages of a run have the same.
        found.append(Job(part, replace(asked, name=f"{asked.name} on {part.gold.name}")))
    return tuple(found)


def nothing_measured(parts: Sequence[GoldPart], sets: Sequence[InstrumentSet], grading: GradingPlan) -> InputError:
    """Return the error that no set of instruments, and no fitted grader, gives the measure of any part."""
    known = ", ".join(dict.fromkeys(measure for one in sets for measure in one.versions))
    wanted = ", ".join(dict.fromkeys(str(part.measure) for part in parts))
    return InputError(
        f"{', '.join([grading.instruments] * bool(grading.models) + [*grading.fitted])}: nothing measures {wanted}",
        field="--instruments" if grading.models else "--grader",
        way_out=f"name another, or a gold set of {known}",
    )


def _part(gold: GoldSet, plan: ValidationPlan) -> GoldPart:
    items = _chosen(gold, plan)
    measure = items[0].measure
    _, clusters = clusters_of(items)
    pairs = tuple(
        as_pair(item, cluster, f"{gold.name} {item.item_id}") for item, cluster in zip(items, clusters, strict=True)
    )
    return GoldPart(gold, items, pairs, gold_classes(measure, plan.gold_labels.get(measure, ())))


def _of_kinds(sets: Sequence[GoldSet], plan: ValidationPlan) -> list[GoldSet]:
    """Return the sets that have items of the kinds that a plan is about."""
    found = [gold for gold in sets if not plan.kinds or any(_kind(item) in plan.kinds for item in gold.items)]
    if not found:
        known = ", ".join(sorted({_kind(item) for gold in sets for item in gold.items} - {""}))
        raise InputError(
            f"{plan.gold} has no items of the kinds {', '.join(plan.kinds)}",
            field="--kind",
            way_out=f"use {known}" if known else "leave --kind away: its items are of no kind",
        )
    return found


def _kind(item: GoldItem) -> str:
    return item.groups.get("kind", "")


def _chosen(gold: GoldSet, plan: ValidationPlan) -> tuple[GoldItem, ...]:
    items = [item for item in gold.items if plan.split in ("", item.split)]
    if not items:
        raise InputError(
            f"{gold.name} has no items in its part {plan.split}", field="--split", way_out="leave --split away"
        )
    items = [item for item in items if not plan.kinds or _kind(item) in plan.kinds]
    if not items:
        raise InputError(
            f"{gold.name} has no items of the kinds {', '.join(plan.kinds)} in its part {plan.split}",
            field="--kind",
            way_out="leave --split away, or name other kinds",
        )
    if plan.sample is None or plan.sample >= len(items):
        return tuple(items)

    def lot(item: GoldItem) -> str:
        return hashlib.sha256(f"{plan.seed}\0{item.item_id}".encode("utf-8", "replace")).hexdigest()

    # The r-th of N comes when (r + 1/2) / N of the set have been drawn: each label by its share, and each half within a
    # label. A larger sample then holds a smaller one, so that its replies are not paid for again.
    in_line = sorted(items, key=lot)
    in_line = _by_share(_by_share(in_line, lambda item: (item.label, item.split)), lambda item: item.label)
    drawn = {item.item_id for item in in_line[: plan.sample]}
    return tuple(item for item in items if item.item_id in drawn)


def _by_share(items: Sequence[GoldItem], group: Callable[[GoldItem], Hashable]) -> list[GoldItem]:
    """Return items in an order of whose every beginning each group has its share; within a group as they were."""
    sizes = Counter(map(group, items))
    seen: Counter[Hashable] = Counter()
    places: list[float] = []
    for item in items:
        places.append((seen[group(item)] + 0.5) / sizes[group(item)])
        seen[group(item)] += 1
    return [items[row] for row in sorted(range(len(items)), key=places.__getitem__)]
