"""Which of the corrected figures to read, and what speaks against them."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from evenhand.errors import InputError
from evenhand.statistics.correction import cluster_parts, grader_bias, humans_alone, power, ppi_mean, raw
from evenhand.statistics.estimate import Estimate
from evenhand.statistics.labelled_run import LabelledRun
from evenhand.statistics.rogan_gladen import Rates, rates, rogan_gladen
from evenhand.statistics.student_t import two_sided_p

FEWEST_LABELS = 50
FEWEST_CLUSTERS = 20
FEWEST_FOR_PPI = 10
"""With fewer clusters lambda is a guess, and PPI's intervals are no shorter than those of the labels alone."""
FEWEST_OF_A_CLASS = 10
FEWEST_ERRORS = 5
WEAK = 0.5
"""Below this sensitivity + specificity - 1 Rogan-Gladen did worse than the labels alone on real graders."""
USELESS = 0.05
"""Below this lambda the grader's values add nothing worth having."""
SHIFT_LEVEL = 0.01
"""Of the test for a shift, over all features together: a false alarm in a hundred runs."""


class Choice(StrEnum):
    """The estimate to read."""

    PPI = "ppi"
    ROGAN_GLADEN = "rogan_gladen"
    HUMANS = "humans_alone"
    NONE = "none"
    """None of them holds."""


class Caution(StrEnum):
    """What speaks against the figures."""

    NOT_THIS_RUN = "not_this_run"
    SHIFTED = "shifted"
    FEW_LABELS = "few_labels"
    FEW_CLUSTERS = "few_clusters"
    RARE_CLASS = "rare_class"
    FEW_ERRORS = "few_errors"
    WEAK_GRADER = "weak_grader"
    USELESS_GRADER = "useless_grader"


@dataclass(frozen=True, slots=True)
class Shift:
    """How a feature differs between the labelled rows and the rest."""

    feature: str
    labelled: float
    """Its mean over the labelled rows."""
    rest: float
    p: float
    """Two-sided, not corrected for the number of features."""


@dataclass(frozen=True, slots=True)
class Correction:
    """Every estimate of one figure, and which to read."""

    labels: int
    rest: int
    """Rows without a label."""
    raw: Estimate
    humans: Estimate
    ppi: Estimate
    rogan_gladen: Estimate
    bias: Estimate
    """By how much the grader is too high on the labelled rows."""
    sensitivity: Estimate
    specificity: Estimate
    power: float
    """Lambda of PPI++."""
    shifts: tuple[Shift, ...]
    choice: Choice
    reason: str
    """Of the choice, a sentence."""
    cautions: tuple[Caution, ...]
    sentences: tuple[str, ...]
    """One a caution."""

    @property
    def best(self) -> Estimate | None:
        """The estimate to read; None where none holds."""
        estimates = {
            Choice.PPI: self.ppi,
            Choice.ROGAN_GLADEN: self.rogan_gladen,
            Choice.HUMANS: self.humans,
            Choice.NONE: None,
        }
        return estimates[self.choice]

    def as_json(self) -> dict[str, Any]:
        """Return plain values; ``from_json`` takes them back."""
        return {
            **asdict(self),
            "choice": str(self.choice),
            "cautions": [str(caution) for caution in self.cautions],
        }

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Self:
        """Return what ``as_json`` gave, before or after it was written as JSON."""
        figures = ("raw", "humans", "ppi", "rogan_gladen", "bias", "sensitivity", "specificity")
        return cls(
            **{
                **values,
                **{name: Estimate(**values[name]) for name in figures},
                "shifts": tuple(Shift(**found) for found in values["shifts"]),
                "choice": Choice(values["choice"]),
                "cautions": tuple(Caution(name) for name in values["cautions"]),
                "sentences": tuple(values["sentences"]),
            }
        )


def correct(
    run: LabelledRun,
    *,
    features: Mapping[str, tuple[npt.ArrayLike, npt.ArrayLike]] | None = None,
    from_this_run: bool = True,
) -> Correction:
    """Return every estimate of a mean or share, and advice.

    What people labelled must be a random part of the run for PPI and for the labels alone to be right. That can't be
    seen for certain; where the grader's values, or a feature, differ between the labelled rows and the rest by more
    than chance would have it, it is not so.

    The choice: PPI where the labels are a random part of the run, because it is right on average whatever the
    grader is worth, and with the best lambda not less sure than the labels alone; the labels alone where there are
    fewer than 10 clusters with labels, so few that lambda can't be told, or where the grader adds nothing. Rogan-Gladen
    where the labels are not a random part, which only it can bear, and the grader's rates are good enough to divide by;
    no estimate otherwise.

    Args:
        run: see ``labelled_run``.
        features: further values by which to compare labelled rows and rest, as (labelled, rest): the length, a
            stratum's 0 and 1. The grader's value is always compared. Rows in the order of the run; NaN not allowed.
        from_this_run: false where the labels are of other answers than those of the run.

    Raises:
        InputError: a feature with another number of rows than the run.
    """
    found = rates(run) if run.binary else None
    shifts = _shifts(run, features or {})
    estimate = rogan_gladen(run) if run.binary else Estimate.missing("the grader's values are not 0 and 1")
    none = Estimate.missing("the labels or the grader's values are not 0 and 1")
    strength = power(run)
    shifted = any(shift.p * len(shifts) < SHIFT_LEVEL for shift in shifts)
    told = _cautions(run, found, strength, shifts, from_this_run=from_this_run)
    choice, reason = _choice(run, found, strength, random_part=from_this_run and not shifted)
    return Correction(
        labels=int(run.labels.size),
        rest=run.rows - int(run.labels.size),
        raw=raw(run),
        humans=humans_alone(run),
        ppi=ppi_mean(run),
        rogan_gladen=estimate,
        bias=grader_bias(run),
        sensitivity=found.sensitivity if found else none,
        specificity=found.specificity if found else none,
        power=strength,
        shifts=shifts,
        choice=choice,
        reason=reason,
        cautions=tuple(told),
        sentences=tuple(told.values()),
    )


def shift(run: LabelledRun, feature: str, labelled: npt.ArrayLike, rest: npt.ArrayLike) -> Shift:
    """Test whether the mean of a feature is the same over the labelled rows and the rest.

    t of the difference on G - 1 degrees of freedom, G the clusters with a label. The standard error is the larger of
    the cluster-robust one, which knows rows that are in both parts, and that of independent rows with the pooled
    variance, which a part where nothing varies does not fool; so the test rather misses a shift than invents one.

    Args:
        run: see ``labelled_run``.
        feature: its name.
        labelled: its values over the labelled rows of the run, shape (labelled,).
        rest: over the rest, shape (rest,).
    """
    first, second = np.asarray(labelled, dtype=np.float64), np.asarray(rest, dtype=np.float64)
    if first.shape != run.labels.shape or second.shape != run.rest.shape:
        raise InputError(
            f"{first.size} and {second.size} values for {run.labels.size} labelled rows and {run.rest.size} others",
            field=feature,
            way_out="give one a row",
        )
    means = float(run.weights @ first), float(run.rest_weights @ second)
    few = run.labelled_clusters
    if few < 2:
        return Shift(feature, *means, 1.0)
    _, parts = cluster_parts(replace(run, predicted=first, rest=second))
    pooled = float(np.var(np.concatenate([first, second]), ddof=1))
    alone = pooled * float(run.weights @ run.weights + run.rest_weights @ run.rest_weights)
    error = math.sqrt(max(few / (few - 1) * float(parts @ parts), alone if run.independent else 0.0))
    error = max(error, math.sqrt(alone) if not np.ptp(first) else 0.0)
    gap = means[0] - means[1]
    if error <= 1e-12:
        return Shift(feature, *means, 1.0)
    return Shift(feature, *means, two_sided_p(gap / error, few - 1))


def _shifts(run: LabelledRun, features: Mapping[str, tuple[npt.ArrayLike, npt.ArrayLike]]) -> tuple[Shift, ...]:
    return (
        shift(run, "the grader's value", run.predicted, run.rest),
        *(shift(run, name, labelled, rest) for name, (labelled, rest) in features.items()),
    )


def _choice(run: LabelledRun, found: Rates | None, strength: float, *, random_part: bool) -> tuple[Choice, str]:
    worth = found.youden if found else None
    if not random_part:
        if worth is not None and worth >= WEAK:
            return Choice.ROGAN_GLADEN, (
                "The labels are not a random part of the run; Rogan-Gladen holds if the grader errs on it as on them."
            )
        return Choice.NONE, "The labels are not a random part of the run, and no estimate bears that: label some of it."
    if run.labelled_clusters < FEWEST_FOR_PPI:
        return Choice.HUMANS, "So few independent labels can't tell what the grader adds: read the labels alone."
    if strength < USELESS:
        return Choice.HUMANS, "The grader's values add nothing to the labels."
    return Choice.PPI, "The labels are a random part of the run, and the grader's values make them go further."


def _cautions(
    run: LabelledRun, found: Rates | None, strength: float, shifts: tuple[Shift, ...], *, from_this_run: bool
) -> dict[Caution, str]:
    """Return what speaks against the figures, with a sentence each."""
    told: dict[Caution, str] = {}
    n, rest = run.labels.size, run.rows - run.labels.size
    if not from_this_run:
        told[Caution.NOT_THIS_RUN] = (
            "The labels are of other answers than those of this run: PPI and the labels alone speak of those answers."
        )
    moved = [found for found in shifts if found.p * len(shifts) < SHIFT_LEVEL]
    if moved:
        named = ", ".join(f"{found.feature} ({found.labelled:.3g} against {found.rest:.3g})" for found in moved)
        told[Caution.SHIFTED] = (
            f"The labelled answers differ from the rest in {named}: they are no random part, or were drawn by strata "
            "without weights."
        )
    if n < FEWEST_LABELS:
        told[Caution.FEW_LABELS] = f"{n} labels are few: below {FEWEST_LABELS} the intervals are rough."
    clusters = run.labelled_clusters
    if clusters < min(FEWEST_CLUSTERS, n):
        told[Caution.FEW_CLUSTERS] = (
            f"The labels fall on {clusters} independent clusters: below {FEWEST_CLUSTERS} the intervals are rough."
        )
    if found is not None:
        told.update(_cautions_of_rates(run, found))
        errors = int(np.sum(run.labels != run.predicted))
        if errors < FEWEST_ERRORS and rest >= 10 * n:
            told[Caution.FEW_ERRORS] = (
                f"{errors} errors of the grader among {n} labels, and {rest} answers without one: how often it errs is "
                "hardly known, and the corrected figures are less sure than their intervals say."
            )
    if strength < USELESS:
        told[Caution.USELESS_GRADER] = (
            "The grader's values hardly go with the labels: correcting by them gains nothing."
        )
    return told


def _cautions_of_rates(run: LabelledRun, found: Rates) -> dict[Caution, str]:
    told: dict[Caution, str] = {}
    positive = int(run.labels.sum())
    rarer = min(positive, run.labels.size - positive)
    if rarer < FEWEST_OF_A_CLASS:
        which = "positive" if positive == rarer else "negative"
        told[Caution.RARE_CLASS] = (
            f"{rarer} labels are {which}: below {FEWEST_OF_A_CLASS} the share and the grader's rates are rough."
        )
    worth, error = found.youden, found.youden_error
    if worth is None or error is None:
        return told
    if worth < WEAK or worth - 2 * error <= 0:
        told[Caution.WEAK_GRADER] = (
            f"Sensitivity + specificity - 1 is {worth:.2f} (standard error {error:.2f}); Rogan-Gladen divides by it, "
            f"and below {WEAK} is less sure than the labels alone."
        )
    return told
