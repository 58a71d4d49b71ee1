"""What predicts preference: from ratings to a scoring spec."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

import evenhand
from evenhand.errors import InputError
from evenhand.execution import RunFolder, UnwritableError, keeping
from evenhand.report.scoring_spec import Ceiling, FitSettings, HeldOut, ScoringSpec, SpecQuestion
from evenhand.report.spec_exports import Export
from evenhand.statistics import Estimate
from evenhand.statistics.calibration import calibration_slope, expected_calibration_error
from evenhand.statistics.ceiling import accuracy_without_noise, auc_without_noise
from evenhand.statistics.clustered_means import ClusteredMeans
from evenhand.statistics.cross_validation import (
    CrossValidation,
    carried,
    cross_validate,
    grouped_folds,
    held_out_margins,
    penalty_grid,
    stability,
)
from evenhand.statistics.logistic import PairRows, fit_path, losses
from evenhand.statistics.logistic import fit as fit_weights
from evenhand.statistics.paired_effects import or_none
from evenhand.statistics.ranks import signed_auc
from evenhand.statistics.reliability import correlation, lengthened
from evenhand.statistics.weight_intervals import noise_penalty, weight_intervals
from evenhand.studies.made_from import made_from
from evenhand.studies.rating_matrices import BOTH_ORDERS, Ratings
from evenhand.studies.rating_run import RatingRun
from evenhand.studies.run_pairs import RunPairs

Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]

L1_RATIO = 0.5
SEARCHED_PAIRS = 50_000
"""Of more pairs a sample of whole inputs serves to choose the penalty and to find the stability; weights and held-out
figures rest on all."""
FITTED_CELLS = 30_000_000
"""Of more pairs x questions a sample of whole inputs is all that is fitted to: the memory of a fit ends here, and the
weights are known to a few thousandths of what a standard deviation brings."""
SELECTION_SHARE = 0.75
_HALF_SAMPLES = 50
_FEWEST_INPUTS, _FEWEST_PAIRS = 10, 20
_FEWEST_ABSTAINED = 20
"""An indicator needs so many pairs on which the grader abstained on one output only."""
_FOLDS, _FOLDS_OF_MANY, _MANY = 10, 5, 20_000


@dataclass(frozen=True, slots=True)
class _Design:
    """The rows of the fit, their features scaled to a root mean square of 1."""

    rows: PairRows
    clusters: Integers
    scale: Floats
    """Of each feature; 1 where it never varies."""
    questions: int
    """The first so many features are the questions' differences."""
    indicators: tuple[int, ...]
    """The questions whose applicability indicators are the other features."""
    centres: Floats
    known: Integers
    length: Floats
    kept: npt.NDArray[np.bool_]
    """Pairs of the run that are rows of the fit."""


def fit(
    folder: Path,
    *,
    grader: str | None = None,
    seed: int = 0,
    use_strength: bool = True,
    unkept: Callable[[UnwritableError], object] | None = None,
) -> ScoringSpec:
    """Fit a scoring spec to the ratings of a run, write it to ``spec.json`` in its folder, and return it.

    Args:
        folder: of a run of ``evenhand rate``.
        grader: whose ratings; needed where several graders rated.
        seed: of folds and samples.
        use_strength: let strong preferences weigh more, where the data have strengths.
        unkept: is told where the spec can't be written, and it is returned all the same.
    """
    run = RatingRun(folder)
    graders = run.choose_graders(grader)
    if len(graders) > 1:
        raise InputError(
            f"several graders rated in {folder}", field="--grader", way_out=f"name one of {', '.join(graders)}"
        )
    every = run.pairs()
    pairs = _fitted(every, len(run.questions), seed)
    protocol = run.main_protocol(graders[0])
    ratings = run.ratings(graders[0], protocol, pairs)
    design = _design(ratings, pairs, len(run.questions), use_strength=use_strength, source=str(folder))
    spec = _spec(run, graders[0], protocol, design, ratings, seed=seed)
    spec = replace(
        spec,
        fit=replace(spec.fit, strengths=use_strength and bool(np.isfinite(pairs.strength).any())),
        remarks=(
            *_remarks(design, pairs, protocol, every=len(every), use_strength=use_strength),
            *spec.remarks,
        ),
        provenance={**spec.provenance, "use_strength": use_strength},
    )
    with keeping(unkept):
        RunFolder(folder).write_json("spec.json", spec.as_json())
    return spec


def write_export(export: Export, path: Path) -> None:
    """Write an export; raises ``InputError`` if the file can't be written."""
    try:
        path.write_text(export.text, "utf-8", newline="\n")
    except OSError as error:
        raise InputError(
            f"can't be written ({error.strerror or error})",
            source=str(path),
            field="--export-to",
            way_out="name another file",
        ) from error


def _design(ratings: Ratings, pairs: RunPairs, questions: int, *, use_strength: bool, source: str) -> _Design:
    x = np.empty((len(pairs), questions))
    one_sided: dict[int, npt.NDArray[np.int8]] = {}
    centres, known = np.zeros(questions), np.zeros(questions, dtype=np.int64)
    kept = np.zeros(len(pairs), dtype=bool)
    for index in range(questions):
        gap = ratings.differences(index)
        both = np.concatenate(ratings.output_means(index))
        if not np.isnan(both).all():
            centres[index] = np.nanmean(both)
        there = ~np.isnan(gap)
        known[index] = there.sum()
        kept |= there
        x[:, index] = np.where(there, gap, 0.0)
        found = _abstained(ratings, index)
        if np.count_nonzero(found) >= _FEWEST_ABSTAINED:
            one_sided[index] = found
            kept |= found != 0
    if one_sided:
        x = np.column_stack([x, *one_sided.values()])
    if not kept.all():
        x = x[kept]
    clusters = _numbered(pairs.clusters[kept])
    tie = pairs.tie[kept]
    inputs, decided = int(clusters.max(initial=-1)) + 1, int((~tie).sum())
    if inputs < _FEWEST_INPUTS or decided < _FEWEST_PAIRS:
        raise InputError(
            f"has {decided} rated pairs that are no ties over {inputs} inputs, too few for a fit",
            source=source,
            way_out=f"rate at least {_FEWEST_PAIRS} pairs over {_FEWEST_INPUTS} inputs; some hundreds are advised",
        )
    weight = np.ones(tie.size)
    strength = pairs.strength[kept]
    given = np.isfinite(strength) & (strength > 0)
    if use_strength and given.any():
        weight[given] = strength[given] / strength[given].mean()
    scale = np.sqrt(np.einsum("ij,ij->j", x, x) / x.shape[0])
    scale[scale == 0] = 1.0
    x /= scale
    length = pairs.length[kept]
    return _Design(PairRows(x, weight, tie), clusters, scale, questions, tuple(one_sided), centres, known, length, kept)


def _abstained(ratings: Ratings, index: int) -> npt.NDArray[np.int8]:
    """Return 1 a pair where the grader abstained on the chosen output only, -1 on the rejected one only, else 0."""
    chosen, rejected = (
        (np.isnan(mean) & (count > 0)).astype(np.int8)
        for mean, count in zip(ratings.output_means(index), ratings.abstained(index), strict=True)
    )
    one_sided: npt.NDArray[np.int8] = chosen - rejected
    return one_sided


def _spec(run: RatingRun, grader: str, protocol: str, design: _Design, ratings: Ratings, *, seed: int) -> ScoringSpec:
    rows, clusters = design.rows, design.clusters
    inputs = int(clusters.max()) + 1
    folds = min(_FOLDS if len(rows) <= _MANY else _FOLDS_OF_MANY, inputs)
    fold = grouped_folds(clusters, folds, seed)
    searched = _whole_inputs(clusters, SEARCHED_PAIRS, seed)
    sample = rows if searched is None else rows.at(searched)
    sample_clusters = clusters if searched is None else _numbered(clusters[searched])
    penalties = penalty_grid(sample, L1_RATIO)
    found = cross_validate(rows, fold, L1_RATIO, penalties, searched=searched)
    path = fit_path(sample, penalties[: found.best + 1].tolist(), L1_RATIO)
    penalty = carried(float(penalties[found.best]), sample, rows)
    w = fit_weights(rows, penalty, L1_RATIO, start=path[found.best])
    strict = max(
        float(penalties[found.one_standard_error]), noise_penalty(sample, sample_clusters, path[found.best], L1_RATIO)
    )
    strict_w = fit_weights(sample, strict, L1_RATIO)
    stable = stability(sample, sample_clusters, strict, L1_RATIO, draws=_HALF_SAMPLES // 2, seed=seed, start=strict_w)
    means = ClusteredMeans(clusters, seed=seed)
    length = _one_feature(design.length, rows)
    length_margins, _ = held_out_margins(length, fold, [[0]])
    single_margins, taken = held_out_margins(
        rows, fold, [[index] for index in range(design.questions)], searched=searched
    )
    held_out = _held_out(found.margins, rows.tie, means)
    return ScoringSpec(
        grader=grader,
        protocol=protocol,
        questions=tuple(_questions(run.questions, design, w, stable)),
        held_out=held_out,
        length=_held_out(length_margins, rows.tie, means),
        best_question=run.questions[Counter(taken).most_common(1)[0][0]]["id"],
        best_single=_held_out(single_margins, rows.tie, means),
        gain_over_length=means.mean(_auc_values(found.margins, rows.tie) - _auc_values(length_margins, rows.tie)),
        ceiling=_ceiling(design, ratings, w, held_out),
        fit=_settings(found, rows, folds, len(sample), penalty=penalty, strict=strict),
        pairs=len(rows),
        ties=int(rows.tie.sum()),
        inputs=inputs,
        provenance=_provenance(run.path, seed),
        remarks=(),
    )


def _numbered(clusters: Integers) -> Integers:
    """Return the clusters as numbers from 0 without gaps."""
    return np.unique(clusters, return_inverse=True)[1].astype(np.int64)


def _fitted(pairs: RunPairs, questions: int, seed: int) -> RunPairs:
    """Return the pairs to fit to: all, or of very many a sample of whole inputs."""
    kept = _whole_inputs(pairs.clusters, FITTED_CELLS // max(questions, 1), seed)
    return pairs if kept is None else pairs.some(kept)


def _whole_inputs(clusters: Integers, pairs: int, seed: int) -> npt.NDArray[np.bool_] | None:
    """Return rows of whole clusters, at most so many of them; None where that is all."""
    if clusters.size <= pairs:
        return None
    order = np.random.default_rng(seed).permutation(int(clusters.max()) + 1)
    enough = np.cumsum(np.bincount(clusters)[order]) <= pairs
    taken = np.zeros(order.size, dtype=bool)
    taken[order[enough]] = True
    return taken[clusters]


def _one_feature(values: Floats, rows: PairRows) -> PairRows:
    scale = float(np.sqrt(np.mean(values**2))) or 1.0
    return PairRows(values[:, None] / scale, rows.weight, rows.tie)


def _questions(
    questions: Sequence[dict[str, Any]], design: _Design, w: Floats, stable: Floats
) -> Iterator[SpecQuestion]:
    intervals = weight_intervals(design.rows, design.clusters, w)
    rows, inputs = len(design.rows), int(design.clusters.max()) + 1
    abstained = {index: column for column, index in enumerate(design.indicators, design.questions)}
    for index, question in enumerate(questions):
        scale = float(design.scale[index])
        value, low, high = (
            or_none(float(part[index]) / scale) for part in (intervals.value, intervals.low, intervals.high)
        )
        column = abstained.get(index)
        yield SpecQuestion(
            id=question["id"],
            text=question["text"],
            tags=tuple(question["tags"]),
            direction=question["direction"],
            weight=float(w[index]) / scale,
            estimate=Estimate(value, low, high, rows, inputs, intervals.method),
            standard_weight=float(w[index]),
            centre=float(design.centres[index]),
            abstained_weight=0.0 if column is None else float(w[column] / design.scale[column]),
            stability=float(stable[index]),
            selected=bool(stable[index] >= SELECTION_SHARE),
            pairs=int(design.known[index]),
        )


def _held_out(margins: Floats, tie: npt.NDArray[np.bool_], means: ClusteredMeans) -> HeldOut:
    decided = margins[~tie]
    right = np.where(tie, np.nan, (np.sign(margins) + 1) / 2)
    loss = np.where(tie, np.nan, losses(margins, np.zeros(tie.size, dtype=bool)))
    return HeldOut(
        auc=means.mean(_auc_values(margins, tie), bounds=(0.0, 1.0)).within(0.0, 1.0),
        accuracy=means.mean(right, bounds=(0.0, 1.0)),
        log_loss=means.mean(loss),
        calibration_error=or_none(expected_calibration_error(decided)),
        calibration_slope=or_none(calibration_slope(decided)),
    )


def _auc_values(margins: Floats, tie: npt.NDArray[np.bool_]) -> Floats:
    values = np.full(margins.size, np.nan)
    _, values[~tie] = signed_auc(margins[~tie])
    return values


def _ceiling(design: _Design, ratings: Ratings, w: Floats, held_out: HeldOut) -> Ceiling:
    if not ratings.both_orders():
        return Ceiling(Estimate.missing("outputs were not shown in both orders"), None, None)
    margins = []
    for order in BOTH_ORDERS:
        total = np.zeros(len(design.rows))
        for index in np.flatnonzero(w[: design.questions]).tolist():
            gap = ratings.differences(index, [order])[design.kept]
            total += w[index] / design.scale[index] * np.where(np.isnan(gap), 0.0, gap)
        margins.append(total)
    # What a place gives cancels in the mean of both orders, and is no noise of it.
    place = (margins[0].mean() - margins[1].mean()) / 2
    once = correlation(margins[0] - place, margins[1] + place, design.clusters, centred=False)
    reliability = lengthened(once, 2)
    auc, accuracy = held_out.auc.value, held_out.accuracy.value
    if reliability.value is None or auc is None or accuracy is None:
        return Ceiling(reliability, None, None)
    return Ceiling(
        reliability,
        or_none(auc_without_noise(auc, reliability.value)),
        or_none(accuracy_without_noise(accuracy, reliability.value)),
    )


def _settings(
    found: CrossValidation, rows: PairRows, folds: int, searched_pairs: int, *, penalty: float, strict: float
) -> FitSettings:
    return FitSettings(
        penalty=penalty,
        inverse_penalty=1 / (penalty * float(rows.weight.sum())),
        l1_ratio=L1_RATIO,
        rule="least mean log loss over folds",
        folds=folds,
        searched_pairs=searched_pairs,
        path=tuple(
            (float(a), float(b), float(c))
            for a, b, c in zip(found.penalties, found.mean_loss, found.standard_error, strict=True)
        ),
        stability_penalty=strict,
        half_samples=_HALF_SAMPLES,
        selection_share=SELECTION_SHARE,
        strengths=False,
    )


def _provenance(folder: Path, seed: int) -> dict[str, Any]:
    record = RunFolder(folder).read_json("record.json") or {}
    return {
        "instrument": record.get("settings", {}).get("instrument"),
        "evenhand": evenhand.__version__,
        "seed": seed,
        **made_from(folder),
    }


def _remarks(design: _Design, pairs: RunPairs, protocol: str, *, every: int, use_strength: bool) -> Iterator[str]:
    if len(pairs) < every:
        yield f"the fit rests on {len(pairs)} of {every} pairs: whole inputs, drawn at random"
    left_out = len(pairs) - len(design.rows)
    if left_out:
        yield f"{left_out} of {len(pairs)} pairs have no rating to go by and are left out"
    if protocol not in {"blind", "single"}:
        yield f"the protocol {protocol} tells the grader the label: the held-out figures are too good"
    inputs = int(design.clusters.max()) + 1
    if inputs < 10 * design.rows.x.shape[1]:
        yield f"{inputs} inputs are few for {design.rows.x.shape[1]} features; the weights are rough"
    if use_strength and np.isfinite(pairs.strength).any():
        yield "pairs weigh by the strength of their preference (held-out figures count each pair once)"
