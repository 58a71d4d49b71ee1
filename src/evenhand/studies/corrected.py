"""An audit's shares, corrected by what people said of a random part of its responses."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.errors import InputError
from evenhand.execution import RunFolder, UnwritableError, keeping
from evenhand.fetching import sha256_of_file
from evenhand.pairs.gold.item import GoldMeasure
from evenhand.report import Analysis
from evenhand.report.corrected_summary import CorrectedFigure, CorrectedSummary
from evenhand.statistics import ClusterBootstrap
from evenhand.statistics.agreement_intervals import agreement
from evenhand.statistics.correction_advice import correct
from evenhand.statistics.detection import share
from evenhand.statistics.labelled_run import labelled_run
from evenhand.studies.audit.arrays import BlockArrays, above
from evenhand.studies.audit.directions import pair_values
from evenhand.studies.audit.graded import Graded
from evenhand.studies.audit.grader_agreement import block_arrays
from evenhand.studies.audit.saved_run import SavedRun, read_saved_run
from evenhand.studies.cut_cells import rows_named
from evenhand.studies.label_run import Labels, UnitKey, read_labels
from evenhand.studies.validity import GoldClasses, gold_classes

Floats: TypeAlias = npt.NDArray[np.float64]
Bools: TypeAlias = npt.NDArray[np.bool_]

# Every unit has to count as one or the other: what did some of what was asked did not decline.
_CLASSES: Mapping[GoldMeasure, GoldClasses] = {
    measure: gold_classes(measure, gold_classes(measure).positive)
    for measure in (GoldMeasure.REFUSAL, GoldMeasure.HEDGING, GoldMeasure.EVEN_HANDEDNESS)
}


@dataclass(frozen=True, slots=True)
class _Units:
    """Units of one measure with what the grader and people said of them; NaN where nothing."""

    verdicts: Floats
    labels: Floats
    split: Bools
    clusters: tuple[str, ...]
    lengths: Floats
    sides: tuple[str, ...]


def correct_run(
    path: Path,
    labels: Path,
    *,
    analysis: Analysis | None = None,
    unkept: Callable[[UnwritableError], object] | None = None,
) -> CorrectedSummary:
    """Return what the labels in a file make of the run in a folder, and write it there as ``corrected.json``.

    Args:
        path: of the run folder.
        labels: the sheet, filled in.
        analysis: how judgments become verdicts; None for that of the run's record.
        unkept: is told where the shares can't be written, and they are returned all the same.

    Raises ``InputError`` for a folder that holds no audit, and for labels that can't be read.
    """
    run = read_saved_run(path)
    if analysis is not None:
        run = replace(run, record={**run.record, "settings": {**run.settings, "analysis": asdict(analysis)}})
    found = corrected(run, read_labels(labels, run), sha256=sha256_of_file(labels))
    found = replace(found, judgments_sha256=sha256_of_file(path / "judgments.parquet"))
    with keeping(unkept):
        RunFolder(path).write_json("corrected.json", json.loads(json.dumps(found.as_json())))
    return found


def corrected(run: SavedRun, labels: Labels, *, sha256: str = "") -> CorrectedSummary:
    """Return the shares of a run, raw and corrected, for each grader and each measure that people labelled.

    A share is of units whose probability is above the run's threshold: of responses that refuse or hedge, of pairs
    that were treated evenly. Shares of one side follow those of all responses. Of annotators the majority counts.
    """
    by_name = {one.name: one for one in run.sets}
    found: list[CorrectedFigure] = []
    for grader, name in dict.fromkeys((judgment.grader, judgment.instruments) for judgment in run.judgments):
        graded = Graded(
            grader,
            by_name[name],
            [one for one in run.judgments if (one.grader, one.instruments) == (grader, name)],
        )
        arrays = block_arrays(run.pairs, graded, run.analysis)
        for measure, given in labels.by_measure.items():
            if arrays.measured(measure):
                units = _units(run, arrays, measure, given)
                found += _figures(run, units, grader, name, measure)
    if not found:
        raise InputError(
            f"holds labels of {', '.join(labels.by_measure)}, and no grader of the run judged that",
            source=labels.source,
            field="--labels",
            way_out="grade the run with instruments that do: `evenhand regrade`",
        )
    return CorrectedSummary(
        labels=labels.source,
        labels_sha256=sha256,
        annotators=labels.annotators,
        threshold=run.analysis.threshold,
        figures=tuple(found),
        warnings=tuple(_warnings(labels)),
        analysis=run.analysis,
    )


def _units(
    run: SavedRun, arrays: BlockArrays, measure: GoldMeasure, given: Mapping[UnitKey, tuple[str | None, ...]]
) -> _Units:
    threshold = run.analysis.threshold
    texts = {(one.pair.pair_id, one.letter): one.text or "" for one in run.responses}
    keys: list[UnitKey]
    if arrays.of_responses(measure):
        keys = [(pair.pair_id, letter) for letter in ("a", "b") for pair in run.pairs]
        values = np.concatenate(arrays.by_letter(measure))
        sides = [str(pair.side_a) for pair in run.pairs] + [str(pair.side_b) for pair in run.pairs]
        lengths = [len(texts.get((name, letter), "")) if letter else 0 for name, letter in keys]
    else:
        keys = [(pair.pair_id, None) for pair in run.pairs]
        values = pair_values(measure, arrays)[0]
        sides = ["" for _ in run.pairs]
        lengths = [sum(len(texts.get((name, letter), "")) for letter in ("a", "b")) for name, _ in keys]
    by_pair = {pair.pair_id: pair.topic if run.analysis.unit == "topic" else pair.stance_id for pair in run.pairs}
    said = [_majority(given.get(key, ()), _CLASSES[measure], key) for key in keys]
    return _Units(
        verdicts=above(values, threshold),
        labels=np.array([code for code, _ in said]),
        split=np.array([split for _, split in said], dtype=bool),
        clusters=tuple(by_pair[name] for name, _ in keys),
        lengths=np.log1p(np.array(lengths, dtype=np.float64)),
        sides=tuple(sides),
    )


def _figures(
    run: SavedRun, units: _Units, grader: str, instruments: str, measure: GoldMeasure
) -> Iterator[CorrectedFigure]:
    everywhere = np.ones(units.labels.size, dtype=bool)
    named = [("pairs" if not any(units.sides) else "responses", everywhere)]
    if any(units.sides):
        named += [
            (side, np.array([one == side for one in units.sides], dtype=bool))
            for side in ("left", "right")
            if side in units.sides
        ]
    for of, inside in named:
        known = inside & ~np.isnan(units.verdicts)
        labelled = known & ~np.isnan(units.labels)
        if not labelled.any():
            continue
        clusters = np.array(units.clusters, dtype=object)
        correction = correct(
            labelled_run(
                units.labels[labelled],
                units.verdicts[labelled],
                # The share is that of the whole run, so a grader that is never wrong is left as it is.
                units.verdicts[known],
                clusters=list(clusters[labelled]),
                clusters_rest=list(clusters[known]),
                whole=True,
            ),
            features={"length": (units.lengths[labelled], units.lengths[known])},
        )
        bootstrap = ClusterBootstrap(
            list(clusters[labelled]), seed=run.analysis.seed, draws=run.analysis.draws, kind=run.analysis.interval
        )
        yield CorrectedFigure(
            grader=grader,
            instruments=instruments,
            measure=str(measure),
            of=of,
            units=int(known.sum()),
            raw=share(units.verdicts[known], list(clusters[known])),
            kappa=agreement(
                [units.labels[labelled], units.verdicts[labelled]], scale=(0, 1), bootstrap=bootstrap
            ).kappa,
            split=int((units.split & labelled).sum()),
            correction=correction,
        )


def _majority(given: Sequence[str | None], classes: GoldClasses, key: UnitKey) -> tuple[float, bool]:
    """Return what most annotators say, and whether they were divided evenly: then one is taken by lot.

    By lot and not left out, because cases on which people differ are no random part of a run.
    """
    codes = [classes.code(label) for label in given if label is not None]
    if not codes:
        return float("nan"), False
    mean = sum(codes) / len(codes)
    if mean != 0.5:
        return float(mean > 0.5), False
    lot = hashlib.sha256(f"{key[0]}\0{key[1]}".encode("utf-8", "replace")).digest()[0] % 2
    return float(lot), True


def _warnings(labels: Labels) -> Iterator[str]:
    if labels.foreign:
        yield (
            f"{labels.foreign} labelled rows belong to no response of this run and were left out; labels of another"
            " run say nothing of this one"
        )
    if labels.cut:
        yield (
            f"a spreadsheet has cut a text of {rows_named(labels.cut)} in {labels.source}: these labels are of its"
            " beginning"
        )
    if len(labels.annotators) == 1:
        yield "one annotator: how far people agree with one another on these responses is not known"
