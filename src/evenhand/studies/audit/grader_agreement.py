"""How far the graders of a run, or of several runs, agree about its verdicts."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TypeAlias

import numpy as np

from evenhand.pairs import PairedPrompt
from evenhand.report import Analysis
from evenhand.report.agreement_summary import ClassAgreement, GraderAgreement
from evenhand.statistics import ClusterBootstrap
from evenhand.statistics.agreement_intervals import agreement
from evenhand.studies.audit.arrays import EVEN_HANDEDNESS, BlockArrays, Floats, above
from evenhand.studies.audit.directions import pair_values
from evenhand.studies.audit.families import same_family
from evenhand.studies.audit.graded import Graded
from evenhand.studies.audit.summarize import MEASURES, counted_labels
from evenhand.studies.calibration_file import calibrated

Block: TypeAlias = tuple[str, str]
"""A grader and the set of instruments that it was given, by their names."""

_VERDICTS = {
    EVEN_HANDEDNESS: ("even-handed", "uneven"),
    "refusal": ("refused", "not refused"),
    "hedging": ("hedged", "not hedged"),
}
"""What a verdict above and one below the threshold is called."""


def agreement_in_run(
    pairs: Sequence[PairedPrompt], graded: Sequence[Graded], *, subject: str, analysis: Analysis
) -> tuple[GraderAgreement, ...]:
    """Return how far the graders of one run agree; nothing where there are fewer than two."""
    if len(graded) < 2:
        return ()
    arrays = {(one.grader, one.instruments.name): [block_arrays(pairs, one, analysis)] for one in graded}
    return grader_agreement(pairs, arrays, subjects=[subject], analysis=analysis)


def grader_agreement(
    pairs: Sequence[PairedPrompt],
    arrays: Mapping[Block, Sequence[BlockArrays]],
    *,
    subjects: Sequence[str] = (),
    analysis: Analysis,
) -> tuple[GraderAgreement, ...]:
    """Return how far every two graders agree on the verdicts at the threshold, and all of them where they are more.

    A verdict is whether a pair is even-handed, and whether a response was refused or hedged. A unit enters where both
    could read it. Intervals resample what those of the audit do, a stance pair with its verdicts on all configurations.

    Args:
        pairs: the rows of the arrays.
        arrays: what each block found, of one configuration or of several, in the same order for every block.
        subjects: the models that were graded, for a flag where a grader is of their family.
        analysis: gives the threshold and the kind of interval.
    """
    names = block_names(list(arrays))
    clusters = [pair.topic if analysis.unit == "topic" else pair.stance_id for pair in pairs]
    found = []
    for measure in MEASURES:
        for unit in ("pairs", "responses"):
            verdicts = {
                block: verdict_units(measure, each, analysis.threshold)
                for block, each in arrays.items()
                if all(one.measured(measure) and one.of_responses(measure) == (unit == "responses") for one in each)
            }
            if len(verdicts) < 2:
                continue
            of_unit = clusters * (next(iter(verdicts.values())).size // len(clusters))
            bootstrap = ClusterBootstrap(of_unit, seed=analysis.seed, draws=analysis.draws, kind=analysis.interval)
            groups: list[tuple[Block, ...]] = list(combinations(verdicts, 2))
            if len(verdicts) > 2:
                groups.append(tuple(verdicts))
            for group in groups:
                chosen = {block: (names[block], verdicts[block]) for block in group}
                found.append(_agreement(measure, unit, chosen, subjects, bootstrap))
    return tuple(found)


def block_arrays(pairs: Sequence[PairedPrompt], graded: Graded, analysis: Analysis) -> BlockArrays:
    """Lay out what a grader said of these pairs, as the summary of an audit does."""
    known = {pair.pair_id for pair in pairs}
    judgments = [judgment for judgment in graded.judgments if judgment.pair_id in known]
    return BlockArrays.from_judgments(
        pairs,
        calibrated(judgments, analysis.calibrations),
        positive=counted_labels(judgments, analysis.positive),
        derivations=graded.instruments.derivations,
        orders=analysis.orders,
    )


def block_names(blocks: Sequence[Block]) -> dict[Block, str]:
    """Return a name for each block: the grader's, and its instruments' where the grader alone doesn't tell.

    >>> list(block_names([("g", "rubric"), ("h", "rubric"), ("g", "compact")]).values())
    ['g (rubric)', 'h', 'g (compact)']
    """
    graders = [grader for grader, _ in blocks]
    return {
        (grader, instruments): grader if graders.count(grader) == 1 else f"{grader} ({instruments})"
        for grader, instruments in blocks
    }


def verdict_units(measure: str, arrays: Sequence[BlockArrays], threshold: float) -> Floats:
    """Return the verdicts of one block, 1 above the threshold, 0 not, NaN unknown.

    Of a measure of pairs one a pair; of a measure of responses those of a and then those of b; configurations after one
    another.
    """
    values: list[Floats] = []
    for one in arrays:
        if one.of_responses(measure):
            values += one.by_letter(measure)
        else:
            values.append(pair_values(measure, one)[0])
    return above(np.concatenate(values), threshold)


def _agreement(
    measure: str,
    unit: str,
    graders: Mapping[Block, tuple[str, Floats]],
    subjects: Sequence[str],
    bootstrap: ClusterBootstrap,
) -> GraderAgreement:
    above_it, below_it = _VERDICTS[measure]
    ratings = [
        [None if np.isnan(value) else above_it if value else below_it for value in verdicts]
        for _, verdicts in graders.values()
    ]
    found = agreement(ratings, scale=(above_it, below_it), bootstrap=bootstrap)
    names = [name for name, _ in graders.values()]
    one, other = names if len(names) == 2 else (f"all {len(names)} graders", "")
    return GraderAgreement(
        measure=measure,
        unit=unit,
        one=one,
        other=other,
        n=found.n,
        left_out=found.left_out,
        table=found.table,
        observed=found.observed,
        kappa=found.kappa,
        ac1=found.ac1,
        alpha=found.alpha,
        specific=tuple(
            ClassAgreement(str(label), figure) for label, figure in zip(found.labels, found.specific, strict=True)
        ),
        one_family=any(same_family(grader, second) for (grader, _), (second, _) in combinations(graders, 2)),
        related=tuple(
            name
            for (grader, _), (name, _) in graders.items()
            if any(same_family(subject, grader) for subject in subjects)
        ),
    )
