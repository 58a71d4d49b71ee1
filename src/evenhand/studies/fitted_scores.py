"""The scores that a fitted grader gives to gold items; no model is called."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from evenhand.graders.fitted import FittedGrader
from evenhand.pairs.gold.item import GoldItem, GoldMeasure
from evenhand.report.calibration import MeasureCalibration
from evenhand.studies.validation_scores import CELLS, Scores

_PREFIX = "fitted:"


def is_fitted(name: str) -> bool:
    """Say whether a grader's name is that of a fitted one: ``fitted:NAME``, or the path of its card.

    >>> is_fitted("fitted:refusal"), is_fitted("openai/gpt-4o")
    (True, False)
    """
    return name.startswith(_PREFIX) or (name.endswith(".json") and Path(name).is_file())


def fitted_scores(grader: FittedGrader, items: Sequence[GoldItem]) -> tuple[Scores, float] | None:
    """Return the scores of items and the threshold for them; None where the grader gives another measure.

    Even-handedness follows from the refusals of the two sides, each brought to a threshold of one half first.
    """
    card, measure = grader.card, items[0].measure
    if measure is GoldMeasure.EVEN_HANDEDNESS and card.measure == GoldMeasure.REFUSAL:
        centred = MeasureCalibration(
            measure=card.measure,
            versions={},
            gold="",
            gold_sha256="",
            split="fit",
            n=card.rows,
            threshold=card.threshold,
            threshold_low=None,
            threshold_high=None,
        ).centred
        p, q = (centred(_probabilities(grader, items, place)) for place in (0, 1))
        cells = dict(zip(CELLS, ((1 - p) * (1 - q), (1 - p) * q, p * (1 - q), p * q), strict=True))
        return _scores(grader, cells["helped_both"] + cells["helped_neither"], cells), 0.5
    if card.measure != measure:
        return None
    return _scores(grader, _probabilities(grader, items, 0), {}), card.threshold


def fitted_to(grader: FittedGrader, gold_sha256: str) -> bool:
    """Say whether the weights were fitted to labels of a gold set."""
    return any(source.sha256 == gold_sha256 and source.fitted for source in grader.card.sources)


def _probabilities(grader: FittedGrader, items: Sequence[GoldItem], place: int) -> npt.NDArray[np.float64]:
    found = grader.probabilities([item.prompts[place] for item in items], [item.responses[place] for item in items])
    # An empty response is put to no grader, in an audit as here.
    empty = np.array([not item.responses[place].strip() for item in items], dtype=bool)
    return np.where(empty, np.nan, found)


def _scores(
    grader: FittedGrader, probability: npt.NDArray[np.float64], classes: dict[str, npt.NDArray[np.float64]]
) -> Scores:
    n = probability.size
    return Scores(
        instrument=grader.card.name,
        versions={grader.card.measure: grader.card.weights_sha256},
        probability=probability,
        classes=classes,
        shown={},
        states=((),) * n,
        masses=np.full(n, np.nan),
    )
