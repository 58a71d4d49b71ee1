"""How far an audit's figures depend on the threshold, the choice of pairs, length and group labels."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from evenhand.pairs import PairedPrompt, StanceKind
from evenhand.pairs.paired_prompt import Letter
from evenhand.report import BlindFigure, GroupFigure, LengthFigure, Sensitivity, ThresholdPoint
from evenhand.statistics import Estimate
from evenhand.statistics.multiplicity import q_values
from evenhand.studies.audit.arrays import BLIND, EVEN_HANDEDNESS, BlockArrays, Bools, Floats, above
from evenhand.studies.audit.directions import oriented, pair_values
from evenhand.studies.audit.estimates import SHARE, SIGNED, Estimates

THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)

Texts: TypeAlias = Mapping[tuple[str, Letter], str]

_GROUPS: tuple[tuple[str, Callable[[PairedPrompt], str]], ...] = (
    ("template", lambda pair: pair.template),
    ("topic", lambda pair: pair.topic),
    ("kind", lambda pair: str(pair.kind)),
)
_LEAST_CLUSTERS = 6
"""With G clusters whose values lie to either side of the truth as a coin falls, all lie on one side with a chance of
2 / 2^G: below six no interval between their least and greatest can hold in 95 of 100 cases."""
_LEFT_OUT: tuple[tuple[str, Callable[[PairedPrompt], bool]], ...] = (
    ("settled evidence", lambda pair: pair.kind is StanceKind.SETTLED_EVIDENCE),
    ("same request", lambda pair: pair.same_request),
)


def sensitivity(
    pairs: Sequence[PairedPrompt],
    arrays: BlockArrays,
    measures: Sequence[str],
    texts: Texts,
    estimates: Estimates,
) -> Sensitivity:
    """Return the sensitivity panel of a block.

    Args:
        pairs: the rows of the arrays.
        arrays: what the grader found.
        measures: those to report.
        texts: the responses by pair and letter; their lengths are compared.
        estimates: over the pairs.
    """
    lengths = _log_lengths(pairs, texts)
    return Sensitivity(
        thresholds=tuple(_thresholds(arrays, measures, estimates)),
        groups=tuple(_groups(pairs, arrays, measures, estimates)),
        length=tuple(_length(measure, arrays, lengths, estimates) for measure in measures),
        blind=tuple(_blind(arrays, estimates)),
    )


def _thresholds(arrays: BlockArrays, measures: Sequence[str], estimates: Estimates) -> Iterator[ThresholdPoint]:
    for measure in measures:
        series = [("pairs", pair_values(measure, arrays)[0])]
        if arrays.of_responses(measure):
            sides = arrays.by_side(measure)
            series += zip((arrays.sides.first, arrays.sides.second), sides, strict=True)
        for of, values in series:
            for threshold in THRESHOLDS:
                yield ThresholdPoint(measure, of, threshold, estimates.mean(above(values, threshold)))


def _where_enough(estimate: Estimate, clusters: int) -> Estimate:
    """Return an estimate without an interval that was resampled from too few clusters.

    Such an interval lies between the least and the greatest of the clusters' values; two stance pairs that happen to
    agree would give it no width at all.
    """
    if estimate.low is None or clusters >= _LEAST_CLUSTERS or "bootstrap" not in estimate.method:
        return estimate
    return replace(
        estimate, low=None, high=None, standard_error=None, method=f"no interval: fewer than {_LEAST_CLUSTERS} clusters"
    )


def _groups(
    pairs: Sequence[PairedPrompt], arrays: BlockArrays, measures: Sequence[str], estimates: Estimates
) -> Iterator[GroupFigure]:
    columns = [_Column.of(measure, arrays, estimates) for measure in measures]
    for by, name_of in _GROUPS:
        names = [name_of(pair) for pair in pairs]
        distinct = list(dict.fromkeys(names))
        if len(distinct) < 2:
            continue
        members = {name: np.array([other == name for other in names]) for name in distinct}
        for column in columns:
            p_values = estimates.group_p_values(by, names, column.over)
            for name, p, q in zip(distinct, p_values, q_values(p_values), strict=True):
                inside = members[name]
                found = column.within(inside, estimates)
                others = estimates.mean(np.where(inside, np.nan, column.over))
                fewest = min(found.rate.clusters, others.clusters)
                yield replace(
                    found,
                    by=by,
                    name=name,
                    rate=_where_enough(found.rate, found.rate.clusters),
                    direction=_where_enough(found.direction, found.direction.clusters),
                    difference=_where_enough(estimates.difference(column.over, inside), fewest),
                    p=p,
                    q=q,
                )
    for name, left_out in _LEFT_OUT:
        kept = np.array([not left_out(pair) for pair in pairs], dtype=bool)
        if kept.all() or not kept.any():
            continue
        for column in columns:
            change = estimates.change(column.over, kept)
            yield replace(column.within(kept, estimates), by="left out", name=name, difference=change)


@dataclass(frozen=True, slots=True)
class _Column:
    """What is compared between groups of pairs."""

    measure: str
    over: Floats
    lean: Floats

    @classmethod
    def of(cls, measure: str, arrays: BlockArrays, estimates: Estimates) -> "_Column":
        lean, _ = oriented(measure, arrays, estimates.threshold)
        return cls(measure, estimates.over(pair_values(measure, arrays)[0]), lean)

    def within(self, inside: Bools, estimates: Estimates) -> GroupFigure:
        """Return the figure of some pairs, still without a name and a comparison."""
        rate = estimates.mean(np.where(inside, self.over, np.nan))
        direction = estimates.mean(np.where(inside, self.lean, np.nan), SIGNED)
        none = Estimate.missing("not compared")
        return GroupFigure("", "", self.measure, "pairs", rate.n, rate, none, direction, None, None)


def _log_lengths(pairs: Sequence[PairedPrompt], texts: Texts) -> tuple[Floats, Floats]:
    a, b = (
        np.array(
            [
                np.log1p(len(texts[pair.pair_id, letter])) if (pair.pair_id, letter) in texts else np.nan
                for pair in pairs
            ]
        )
        for letter in _LETTERS
    )
    return a, b


_LETTERS: tuple[Letter, ...] = ("a", "b")


def _length(measure: str, arrays: BlockArrays, lengths: tuple[Floats, Floats], estimates: Estimates) -> LengthFigure:
    ratio = arrays.sides.difference(*lengths)
    lean = oriented(measure, arrays, estimates.threshold)[0]
    both = ~(np.isnan(ratio) | np.isnan(lean))
    ratio, lean = np.where(both, ratio, np.nan), np.where(both, lean, np.nan)
    slope, at_equal_length = estimates.line(ratio, lean)
    return LengthFigure(
        measure=measure,
        first=arrays.sides.first,
        second=arrays.sides.second,
        log_ratio=estimates.mean(ratio, None),
        slope=slope,
        at_equal_length=_within(at_equal_length),
        correlation=estimates.rank_correlation(ratio, lean),
    )


def _blind(arrays: BlockArrays, estimates: Estimates) -> Iterator[BlindFigure]:
    if not (arrays.measured(BLIND) and arrays.measured(EVEN_HANDEDNESS)):
        return
    shown, hidden = (pair_values(measure, arrays)[0] for measure in (EVEN_HANDEDNESS, BLIND))
    compared = {
        "mean": (shown, hidden),
        "rate": (estimates.over(shown), estimates.over(hidden)),
        "direction": (arrays.lean(EVEN_HANDEDNESS), arrays.lean(BLIND)),
    }
    for what, (with_labels, without) in compared.items():
        both = ~(np.isnan(with_labels) | np.isnan(without))
        bounds = SIGNED if what == "direction" else SHARE
        yield BlindFigure(
            measure=EVEN_HANDEDNESS,
            what=what,
            shown=estimates.mean(np.where(both, with_labels, np.nan), bounds),
            hidden=estimates.mean(np.where(both, without, np.nan), bounds),
            difference=estimates.mean(without - with_labels, (bounds[0] - bounds[1], bounds[1] - bounds[0])),
        )


def _within(difference: Estimate) -> Estimate:
    """Return a difference of probabilities whose interval goes no further than there is room."""
    if difference.low is None or difference.high is None:
        return difference
    return replace(difference, low=max(-1.0, difference.low), high=min(1.0, difference.high))
