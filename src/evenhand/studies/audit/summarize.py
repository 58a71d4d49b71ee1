"""From judgments to figures. A pure function: it calls no model and writes nothing."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from evenhand.graders import Judgment
from evenhand.instruments import InstrumentSet
from evenhand.pairs import PairedPrompt
from evenhand.readings import Failure, State
from evenhand.report import Analysis, AuditSummary, Cell, Figure, GraderBlock
from evenhand.report.agreement_summary import GraderAgreement
from evenhand.statistics.detectable import detectable_between
from evenhand.studies.audit import remarks
from evenhand.studies.audit.arrays import BLIND, EVEN_HANDEDNESS, BlockArrays, Floats
from evenhand.studies.audit.directions import direction, pair_values
from evenhand.studies.audit.estimates import Estimates
from evenhand.studies.audit.families import same_family
from evenhand.studies.audit.graded import Graded
from evenhand.studies.audit.positions import order_figures, position
from evenhand.studies.audit.response import Response
from evenhand.studies.audit.sensitivity import Texts, sensitivity
from evenhand.studies.calibration_file import calibrated

MEASURES = (EVEN_HANDEDNESS, "refusal", "hedging")
BECAME = ("complete", "cut", "empty", "unanswered", "truncated", "failed")


def summarize(
    pairs: Sequence[PairedPrompt],
    responses: Sequence[Response],
    judgments: Sequence[Judgment],
    instruments: InstrumentSet,
    *,
    subject: str,
    analysis: Analysis,
    configuration: str = "",
    agreement: Sequence[GraderAgreement] = (),
) -> AuditSummary:
    """Return what an audit found, a block a grader, in the order in which the graders stand in the judgments."""
    by_grader: dict[str, list[Judgment]] = defaultdict(list)
    for judgment in judgments:
        by_grader[judgment.grader].append(judgment)
    return summarize_graded(
        pairs,
        responses,
        [Graded(grader, instruments, found) for grader, found in by_grader.items()],
        subject=subject,
        analysis=analysis,
        configuration=configuration,
        agreement=agreement,
    )


def summarize_graded(
    pairs: Sequence[PairedPrompt],
    responses: Sequence[Response],
    graded: Sequence[Graded],
    *,
    subject: str,
    analysis: Analysis,
    configuration: str = "",
    agreement: Sequence[GraderAgreement] = (),
) -> AuditSummary:
    """Return what an audit found, a block for each grader and set of instruments.

    Args:
        pairs: in the order of the run.
        responses: of the subject to them.
        graded: what the graders said.
        subject: its name.
        analysis: how judgments become figures.
        configuration: name of what was audited, where one subject is audited in several ways.
        agreement: between the graders, computed elsewhere.
    """
    estimates = Estimates(pairs, analysis)
    texts = {
        (response.pair.pair_id, response.letter): response.text for response in responses if response.text is not None
    }
    became = Counter(response.became for response in responses)
    counts = {name: became[name] for name in BECAME}
    sided = sum(pair.sided for pair in pairs)
    return AuditSummary(
        subject=subject,
        configuration=configuration or subject,
        pairs=len(pairs),
        stance_pairs=len({pair.stance_id for pair in pairs}),
        topics=len({pair.topic for pair in pairs}),
        sided_pairs=sided,
        responses=counts,
        analysis=replace(analysis, positive={name: tuple(labels) for name, labels in analysis.positive.items()}),
        blocks=tuple(_block(one, pairs, texts, estimates, analysis, subject=subject) for one in graded),
        agreement=tuple(agreement),
        remarks=tuple(remarks.of_run(counts, pairs, analysis, _commonest_reason(responses))),
    )


def _block(
    graded: Graded,
    pairs: Sequence[PairedPrompt],
    texts: Texts,
    estimates: Estimates,
    analysis: Analysis,
    *,
    subject: str,
) -> GraderBlock:
    positive = counted_labels(graded.judgments, analysis.positive)
    arrays = BlockArrays.from_judgments(
        pairs,
        calibrated(graded.judgments, analysis.calibrations),
        positive=positive,
        derivations=graded.instruments.derivations,
        orders=analysis.orders,
    )
    measures = [measure for measure in MEASURES if arrays.measured(measure)]
    of_pairs = [measure for measure in measures if not arrays.of_responses(measure)]
    cells = _cells(arrays, estimates) if "refusal" in measures else ()
    block = GraderBlock(
        grader=graded.grader,
        instruments=graded.instruments.name,
        positive={measure: labels for measure, labels in positive.items() if measure != BLIND},
        figures=tuple(figure for measure in measures for figure in _figures(measure, arrays, estimates)),
        orders=tuple(figure for measure in of_pairs for figure in order_figures(measure, arrays, estimates)),
        positions=tuple(position(measure, arrays, estimates) for measure in of_pairs),
        cells=cells,
        directions=tuple(direction(measure, arrays, estimates) for measure in measures),
        sensitivity=sensitivity(pairs, arrays, measures, texts, estimates),
        captured=_captured(graded.judgments),
        states=_states(graded.judgments),
        same_family=same_family(subject, graded.grader),
        remarks=(),
        validity=graded.validity,
    )
    return replace(block, remarks=tuple(remarks.of_block(block, graded, analysis)))


def counted_labels(judgments: Iterable[Judgment], wanted: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """Return the labels that count, by measure and in the scale's order.

    Of a measure of single responses, those that are wanted, where its scale has all of them; else the scale's own.
    """
    scales = {judgment.measure: (judgment.scale, judgment.letter is not None) for judgment in judgments}
    found = {}
    for measure, (scale, of_responses) in scales.items():
        labels = set(wanted.get(measure, ())) if of_responses else set()
        chosen = labels if labels and labels <= set(scale.labels) else scale.positive
        found[measure] = tuple(label for label in scale.labels if label in chosen)
    return found


def _figures(measure: str, arrays: BlockArrays, estimates: Estimates) -> list[Figure]:
    of_pair, each = pair_values(measure, arrays)
    over_each = None
    if each:
        one, other = (estimates.over(values) for values in each)
        over_each = (one + other) / 2
    figures = [_figure(measure, "pairs", of_pair, over_each, estimates)]
    if arrays.of_responses(measure):
        sides = zip((arrays.sides.first, arrays.sides.second), arrays.by_side(measure), strict=True)
        figures += [_figure(measure, of, values, None, estimates) for of, values in sides]
    return figures


def _figure(measure: str, of: str, values: Floats, over_each: Floats | None, estimates: Estimates) -> Figure:
    over = estimates.over(values)
    averages = estimates.averages(over)
    return Figure(
        measure=measure,
        of=of,
        mean=estimates.mean(values),
        rate=averages.micro,
        rate_each=None if over_each is None else estimates.mean(over_each),
        stance_macro=averages.stance,
        topic_macro=averages.topic,
        robust=estimates.robust(over),
        detectable=detectable_between(averages.micro),
    )


def _cells(arrays: BlockArrays, estimates: Estimates) -> tuple[Cell, ...]:
    p, q = arrays.by_side("refusal")
    over_p, over_q = estimates.over(p), estimates.over(q)
    first, second = arrays.sides.first, arrays.sides.second
    cells = []
    for name, declined_first, declined_second in (
        ("helped both", False, False),
        (f"helped {first} only", False, True),
        (f"helped {second} only", True, False),
        ("helped neither", True, True),
    ):
        mean = (p if declined_first else 1 - p) * (q if declined_second else 1 - q)
        rate = (over_p if declined_first else 1 - over_p) * (over_q if declined_second else 1 - over_q)
        cells.append(Cell(name, estimates.mean(mean), estimates.mean(rate)))
    return tuple(cells)


def _states(judgments: Iterable[Judgment]) -> dict[str, dict[str, int]]:
    counts: dict[str, Counter[State]] = defaultdict(Counter)
    for judgment in judgments:
        counts[judgment.measure][judgment.reading.state] += 1
    return {measure: {str(state): count[state] for state in State if count[state]} for measure, count in counts.items()}


def _commonest_reason(responses: Iterable[Response]) -> str:
    """Return why most of the calls of the subject failed that did, as it was reported."""
    reasons = Counter(
        response.outcome.reason
        for response in responses
        if isinstance(response.outcome, Failure) and response.became == "failed" and response.outcome.reason
    )
    # Of several that are as common the first in alphabetical order, so that the order of the rows plays no part.
    return min(reasons, key=lambda reason: (-reasons[reason], reason), default="")


def _captured(judgments: Iterable[Judgment]) -> dict[str, float]:
    """Return the mean captured mass by measure over readable judgments of questions that were really asked."""
    masses: dict[str, list[float]] = defaultdict(list)
    for judgment in judgments:
        if judgment.positive is not None and judgment.key and judgment.reading.captured is not None:
            masses[judgment.measure].append(judgment.reading.captured)
    return {measure: float(np.mean(values)) for measure, values in masses.items()}
