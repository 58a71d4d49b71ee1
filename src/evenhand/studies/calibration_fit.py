"""A calibration fitted to one half of a gold set."""

import hashlib
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.errors import InputError
from evenhand.pairs.gold.item import GoldItem, GoldSet
from evenhand.report.calibration import MeasureCalibration
from evenhand.statistics import ClusterBootstrap
from evenhand.statistics.calibration_maps import fit_map
from evenhand.statistics.detection import Verdict, recognise
from evenhand.statistics.thresholds import best_threshold
from evenhand.studies.validation_scores import Scores
from evenhand.studies.validity import clusters_of

Bools: TypeAlias = npt.NDArray[np.bool_]
Floats: TypeAlias = npt.NDArray[np.float64]

_EDGE = 1e-6


def halves(items: Sequence[GoldItem]) -> tuple[Bools, str]:
    """Return which items are for fitting, and what the others are called.

    Those that the gold set says; where it says nothing, half of the clusters by lot, whole clusters so that no issue
    or prompt is on both sides, and always the same half.
    """
    if any(item.split == "fit" for item in items) and any(item.split == "test" for item in items):
        return np.array([item.split == "fit" for item in items], dtype=bool), "test"
    _, clusters = clusters_of(items)
    lots = {name: hashlib.sha256(name.encode("utf-8", "replace")).hexdigest() for name in set(clusters)}
    in_line = sorted(lots, key=lambda name: (lots[name], name))
    chosen = set(in_line[: (len(in_line) + 1) // 2])
    return np.array([name in chosen for name in clusters], dtype=bool), "held out"


def fit_measure(
    gold: GoldSet, items: Sequence[GoldItem], scores: Scores, positive: Floats, *, where: Bools, seed: int = 0
) -> MeasureCalibration:
    """Fit the threshold of a measure, and the map that so many labels can carry.

    Args:
        gold: where the items come from.
        items: the rows.
        scores: what the grader said.
        positive: the items' class: 1, 0, NaN for neither.
        where: the rows to fit to; no other is looked at.
        seed: of the threshold's interval.

    Raises:
        InputError: the grader doesn't tell the classes apart: a threshold would give it a credit that it hasn't earned.
    """
    measure = str(items[0].measure)
    chosen = np.flatnonzero(where)
    rows = [items[int(row)] for row in chosen]
    p, y = scores.probability[chosen], positive[chosen]
    bootstrap = ClusterBootstrap(clusters_of(rows)[1], seed=seed, draws=1)
    found = recognise(p, y, bootstrap=bootstrap)
    if found.verdict not in (Verdict.TELLS, Verdict.ONE_SIDED):
        raise InputError(
            f"{measure} can't be calibrated on {gold.name}: {found.sentence.rstrip('.')}",
            field="--calibrate",
            way_out="use another grader or another wording, or more labels",
        )
    known = ~(np.isnan(p) | np.isnan(y))
    fitted = fit_map(p[known], y[known])
    mapped = p if fitted is None else fitted.probabilities(p)
    best = best_threshold(mapped, y, bootstrap=bootstrap, seed=seed)
    if best.threshold is None:
        raise InputError(f"{measure}: {best.method}", field="--calibrate", way_out="give more labels")
    return MeasureCalibration(
        measure=measure,
        versions=scores.versions,
        gold=gold.name,
        gold_sha256=gold.sha256,
        split="fit",
        n=int(known.sum()),
        threshold=min(max(best.threshold, _EDGE), 1 - _EDGE),
        threshold_low=best.low,
        threshold_high=best.high,
        map={} if fitted is None else fitted.as_json(),
    )
