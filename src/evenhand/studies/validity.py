"""From a grader's scores on labelled items to its validity card. A pure function: no model is called."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.pairs.gold.item import LABELS, GoldItem, GoldMeasure, GoldSet
from evenhand.report.agreement_summary import ClassAgreement
from evenhand.report.validity_card import (
    Controls,
    KindFigure,
    LabelFigure,
    ManyClasses,
    RaterAgreement,
    ValidityCard,
)
from evenhand.statistics import ClusterBootstrap, Estimate
from evenhand.statistics.agreement_intervals import agreement
from evenhand.statistics.bootstrap import Kind
from evenhand.statistics.detection import (
    auc_with_equal,
    recognise,
    roc_auc,
    sensitivity,
    specificity,
)
from evenhand.statistics.reliability_curve import calibration
from evenhand.statistics.thresholds import best_threshold
from evenhand.studies import validity_remarks
from evenhand.studies.audit.arrays import above
from evenhand.studies.audit.positions import place_effect, same_verdict
from evenhand.studies.validation_scores import CELLS, KINDS, Scores, class_of, length_of, top_classes

Floats: TypeAlias = npt.NDArray[np.float64]

CLUSTER_GROUPS = ("issue", "prompt")
"""The groups of a gold set that intervals can resample: the first that most items have."""
MOST_KINDS = 30
_CLASSES: Mapping[GoldMeasure, tuple[tuple[str, ...], tuple[str, ...]]] = {
    GoldMeasure.REFUSAL: (("full",), ("none",)),
    GoldMeasure.HEDGING: (("balanced", "4", "5"), ("none", "some", "1", "2", "3")),
    GoldMeasure.EVEN_HANDEDNESS: (("helped_both", "helped_neither"), ("helped_a", "helped_b")),
    GoldMeasure.PREFERENCE: (("a",), ("b",)),
}
_NAMES = ("positive", "negative")
_SHARE = (0.0, 1.0)
_SIGNED = (-1.0, 1.0)


@dataclass(frozen=True, slots=True)
class GoldClasses:
    """Which gold labels make the two classes; an item with another label belongs to neither."""

    positive: tuple[str, ...]
    negative: tuple[str, ...]

    def code(self, label: str | None) -> float:
        """Return 1 for a label of the positive class, 0 for one of the negative, NaN for another or none."""
        return 1.0 if label in self.positive else 0.0 if label in self.negative else float("nan")

    def codes(self, items: Sequence[GoldItem]) -> Floats:
        """Return the codes of the items' labels."""
        return np.array([self.code(item.label) for item in items], dtype=np.float64)


@dataclass(frozen=True, slots=True)
class GradedBy:
    """Who graded, with what, and how it was read: what a card says of where its scores come from."""

    grader: str
    identity: str
    instruments: str
    reading: str
    orders: str


@dataclass(frozen=True, slots=True)
class CardSettings:
    """How scores become a card."""

    threshold: float = 0.5
    draws: int = 2000
    seed: int = 0
    interval: Kind = "bca"


@dataclass(frozen=True, slots=True)
class _Rows:
    """The items with what people and the grader said of them."""

    items: Sequence[GoldItem]
    measure: GoldMeasure
    scores: Scores
    classes: GoldClasses
    positive: Floats
    verdicts: Floats
    threshold: float
    bootstrap: ClusterBootstrap


def gold_classes(measure: GoldMeasure, positive: Sequence[str] = ()) -> GoldClasses:
    """Return the two classes of a measure; labels that are named make the positive one, and all others the negative."""
    if not positive:
        return GoldClasses(*_CLASSES[measure])
    return GoldClasses(tuple(positive), tuple(label for label in LABELS[measure] if label not in positive))


def clusters_of(items: Sequence[GoldItem]) -> tuple[str, list[str]]:
    """Return what intervals over gold items resample, by its name, and the cluster of each item.

    An item that lacks the group is a cluster of its own, as long as half of the items have one.
    """
    for name in CLUSTER_GROUPS:
        found = [item.groups.get(name, "") for item in items]
        known = [one for one in found if one]
        if len(set(known)) > 1 and 2 * len(known) >= len(found):
            return name, [one or f"item {item.item_id}" for one, item in zip(found, items, strict=True)]
    return "item", [item.item_id for item in items]


def validity_card(
    gold: GoldSet,
    items: Sequence[GoldItem],
    scores: Scores,
    graded: GradedBy,
    *,
    classes: GoldClasses,
    settings: CardSettings | None = None,
    split: str = "",
    reversed_scores: Scores | None = None,
    labelled_by: str = "people",
    seen: int | None = None,
) -> ValidityCard:
    """Return the card of one grader on items of one gold set.

    Args:
        gold: where the items come from.
        items: the rows of the scores.
        scores: what the grader said.
        graded: who it was.
        classes: of the gold labels.
        settings: threshold and intervals.
        split: which part of the gold set the items are.
        reversed_scores: of the same items with the options listed the other way round, where they were asked for.
        labelled_by: ``people``, ``construction`` or ``silver``.
        seen: items that a fitted grader's weights were fitted to; None of another grader.
    """
    settings = settings or CardSettings()
    (measure,) = {item.measure for item in items}
    cluster, clusters = clusters_of(items)
    bootstrap = ClusterBootstrap(clusters, seed=settings.seed, draws=settings.draws, kind=settings.interval)
    positive = classes.codes(items)
    verdicts = above(scores.probability, settings.threshold)
    rows = _Rows(items, measure, scores, classes, positive, verdicts, settings.threshold, bootstrap)
    found = agreement([_named(positive), _named(verdicts)], scale=_NAMES, bootstrap=bootstrap)
    card = ValidityCard(
        grader=graded.grader,
        identity=graded.identity,
        instruments=graded.instruments,
        versions=scores.versions,
        reading=graded.reading,
        orders=graded.orders if scores.shown else "",
        gold=gold.name,
        title=gold.title,
        gold_sha256=gold.sha256,
        labelled_by=labelled_by,
        split=split,
        measure=str(measure),
        instrument=scores.instrument,
        positive=classes.positive,
        negative=classes.negative,
        cluster=cluster,
        items=len(items),
        neither=int(np.isnan(positive).sum()),
        n=found.n,
        unreadable=scores.unreadable,
        unread=bootstrap.mean([float(bool(states)) for states in scores.states], bounds=_SHARE),
        captured=_captured(rows),
        threshold=settings.threshold,
        table=found.table,
        observed=found.observed,
        kappa=found.kappa,
        ac1=found.ac1,
        alpha=found.alpha,
        specific=_specific(_NAMES, found.specific),
        sensitivity=sensitivity(scores.probability, positive, threshold=settings.threshold, bootstrap=bootstrap),
        specificity=specificity(scores.probability, positive, threshold=settings.threshold, bootstrap=bootstrap),
        auc=roc_auc(scores.probability, positive, bootstrap),
        reliability=calibration(scores.probability, positive, bootstrap=bootstrap),
        best_threshold=best_threshold(scores.probability, positive, bootstrap=bootstrap, seed=settings.seed),
        by_label=tuple(_by_label(rows)),
        by_kind=tuple(_by_kind(rows)),
        classes=_many_classes(rows),
        controls=_controls(rows, reversed_scores),
        annotators=tuple(_annotators(rows, graded.grader)),
        verdict=recognise(scores.probability, positive, threshold=settings.threshold, bootstrap=bootstrap).verdict,
        seen=seen,
    )
    return replace(card, remarks=tuple(validity_remarks.of_card(card)))


def _captured(rows: _Rows) -> Estimate:
    if np.isnan(rows.scores.masses).all():
        return Estimate.missing("no probabilities were read")
    return rows.bootstrap.mean(rows.scores.masses, bounds=_SHARE)


def _named(codes: Floats) -> list[str | None]:
    return [None if np.isnan(code) else _NAMES[0] if code else _NAMES[1] for code in codes]


def _specific(labels: Sequence[object], figures: Sequence[Estimate]) -> tuple[ClassAgreement, ...]:
    return tuple(ClassAgreement(str(label), figure) for label, figure in zip(labels, figures, strict=True))


def _by_label(rows: _Rows) -> Iterator[LabelFigure]:
    for label in LABELS[rows.measure]:
        of_it = np.array([item.label == label for item in rows.items], dtype=bool)
        if not of_it.any():
            continue
        mean = rows.bootstrap.mean(rows.scores.probability, where=of_it, bounds=_SHARE)
        over = rows.bootstrap.mean(rows.verdicts, where=of_it, bounds=_SHARE)
        counts_as = {1.0: _NAMES[0], 0.0: _NAMES[1]}.get(rows.classes.code(label), "")
        yield LabelFigure(label, counts_as, mean.n, mean, over)


def _by_kind(rows: _Rows) -> Iterator[KindFigure]:
    kinds = [item.groups.get("kind", "") for item in rows.items]
    distinct = list(dict.fromkeys(kinds))
    if not all(distinct) or not 1 < len(distinct) <= MOST_KINDS:
        return
    right = np.where(np.isnan(rows.positive) | np.isnan(rows.verdicts), np.nan, rows.positive == rows.verdicts)
    if rows.scores.classes:
        gold = [class_of(item.label, rows.scores, rows.measure) for item in rows.items]
        found = top_classes(rows.scores.classes)
        right = np.array([np.nan if top is None else top == one for top, one in zip(found, gold, strict=True)])
    for kind in distinct:
        inside = np.array([one == kind for one in kinds], dtype=bool)
        yield KindFigure(kind, rows.bootstrap.mean(right, where=inside, bounds=_SHARE))


def _many_classes(rows: _Rows) -> ManyClasses | None:
    classes = rows.scores.classes
    if not classes:
        return None
    scale = CELLS if set(classes) == set(CELLS) else KINDS
    gold = [class_of(item.label, rows.scores, rows.measure) for item in rows.items]
    found = agreement([gold, top_classes(classes)], scale=scale, bootstrap=rows.bootstrap)
    return ManyClasses(
        found.n,
        found.table,
        found.observed,
        found.kappa,
        found.ac1,
        found.alpha,
        _specific(found.labels, found.specific),
    )


def _controls(rows: _Rows, turned: Scores | None) -> Controls:
    scores, bootstrap = rows.scores, rows.bootstrap
    same = effect = Estimate.missing("needs an instrument over both responses, asked in both orders")
    if {"ab", "ba"} <= set(scores.shown):
        ab, ba = scores.shown["ab"], scores.shown["ba"]
        same = bootstrap.mean(same_verdict(ab, ba), bounds=_SHARE)
        effect = bootstrap.mean(place_effect(ab, ba), bounds=_SIGNED)
    direction = Estimate.missing("needs pairs in which one side was treated better")
    lean = scores.lean
    if lean is not None and rows.measure is GoldMeasure.EVEN_HANDEDNESS:
        better = {"helped_a": 1.0, "helped_b": 0.0}
        direction = roc_auc(lean, [better.get(item.label, float("nan")) for item in rows.items], bootstrap)
    swap = shift = Estimate.missing("not asked with the options the other way round")
    if turned is not None:
        swap = bootstrap.mean(_same(scores, turned, rows.threshold), bounds=_SHARE)
        shift = bootstrap.mean(turned.probability - scores.probability, bounds=_SIGNED)
    # Only where the grader could be read, so that all areas are over the same items.
    lengths = np.where(np.isnan(scores.probability), np.nan, np.array([length_of(item) for item in rows.items]))
    return Controls(
        swap_consistency=same,
        position_effect=effect,
        direction_auc=direction,
        option_swap=swap,
        option_shift=shift,
        length_alone=roc_auc(lengths, rows.positive, bootstrap),
        equal_length=auc_with_equal(scores.probability, rows.positive, lengths, bootstrap=bootstrap),
        length_left=auc_with_equal(lengths, rows.positive, lengths, bootstrap=bootstrap),
    )


def _same(one: Scores, other: Scores, threshold: float) -> Floats:
    if one.classes:
        pairs = zip(top_classes(one.classes), top_classes(other.classes), strict=True)
        return np.array([float("nan") if a is None or b is None else float(a == b) for a, b in pairs])
    a, b = above(one.probability, threshold), above(other.probability, threshold)
    return np.where(np.isnan(a) | np.isnan(b), np.nan, (a == b).astype(np.float64))


def _annotators(rows: _Rows, grader: str) -> Iterator[RaterAgreement]:
    count = max((len(item.annotators) for item in rows.items), default=0)
    rated = [(grader, rows.verdicts)]
    for number in range(count):
        given = [item.annotators[number] if number < len(item.annotators) else None for item in rows.items]
        rated.append((f"annotator {number + 1}", np.array([rows.classes.code(label) for label in given])))
    for (one, first), (other, second) in combinations(rated, 2):
        found = agreement([_named(first), _named(second)], scale=_NAMES, bootstrap=rows.bootstrap)
        yield RaterAgreement(one, other, found.n, found.observed, found.kappa, found.ac1, found.alpha)
