"""Charts of how a grader's probabilities compare to labels."""

from collections.abc import Sequence

from evenhand.report.charts.card_agreement import said_of
from evenhand.report.charts.chart import Row, chart
from evenhand.report.charts.curves import Curve, Spot, curves
from evenhand.report.charts.forest import Line, Mark, forest
from evenhand.report.charts.frame import SHARES, Axis
from evenhand.report.charts.labels import percents, rounded
from evenhand.report.figure_texts import measure_name
from evenhand.report.page.blocks import Chart, Shown
from evenhand.report.page.figures import hundredths, points, share, whole
from evenhand.report.validity_card import ValidityCard
from evenhand.statistics import Estimate
from evenhand.statistics.thresholds import ThresholdPoint

MOST_KINDS = 40
_CURVE_ROWS = 25
"""Thresholds in the table; the curve has more."""
_QUARTERS = (0, 25, 50, 75, 100)


def reliability_chart(card: ValidityCard, number: int, *, prefix: str = "") -> Chart | None:
    """Return the share of positive items over the probability that the grader gave."""
    bins = [one for one in enumerate(card.reliability.curve) if one[1].observed.value is not None]
    if not bins:
        return None
    spots = []
    rows: list[Row] = []
    for place, one in bins:
        at, observed = f"cards/{number}/reliability/curve/{place}", one.observed
        low, high = (None if end is None else 100 * end for end in (observed.low, observed.high))
        spots.append(Spot(100 * one.mean, 100 * (observed.value or 0), low, high))
        rows.append(
            (
                f"{points(one.low)} to {points(one.high)}",
                Shown(f"{points(one.mean)}%", f"{at}/mean"),
                share(observed, f"{at}/observed"),
                whole(observed.n, f"{at}/observed/n"),
            )
        )
    return chart(
        f"{prefix}card-{number + 1}-reliability",
        f"{measure_name(card.measure)}: what the probabilities are worth",
        [
            (f"given {rounded(100 * one.mean, 1)} percent", f"{percents(one.observed)} percent positive")
            for _, one in bins
        ],
        curves(
            (Curve("share found", tuple(spots)),),
            Axis(0, 100, "mean probability given by the grader, percent", _QUARTERS),
            Axis(0, 100, "positive items, percent", _QUARTERS),
            line=False,
            diagonal=True,
        ),
        (("Probability between, percent", "Mean given", "Positive", "n"), rows),
        note="On the dashed line, what the grader gives 80 percent is positive in 80 of 100 cases. Bins of about equal"
        f" numbers of items. {said_of(card)}",
        before="Points with intervals beside the line on which both are equal.",
    )


def card_threshold_chart(
    card: ValidityCard, number: int, curve: Sequence[ThresholdPoint] = (), *, prefix: str = ""
) -> Chart | None:
    """Return sensitivity and specificity over thresholds with the best one; the curve is not part of the card."""
    best = card.best_threshold
    if len(curve) < 2:
        return None
    across = Axis(0, 1, "threshold", (0, 0.25, 0.5, 0.75, 1))
    up = Axis(0, 100, "percent", _QUARTERS)
    if curve[0].threshold < 0 or curve[-1].threshold > 1:
        across = Axis(curve[0].threshold, curve[-1].threshold, "threshold")
    drawn = (
        Curve("sensitivity", tuple(Spot(one.threshold, 100 * one.sensitivity) for one in curve)),
        Curve("specificity", tuple(Spot(one.threshold, 100 * one.specificity) for one in curve)),
    )
    every = max(1, len(curve) // _CURVE_ROWS)
    rows: list[Row] = [
        (f"{one.threshold:.3f}", f"{points(one.sensitivity)}%", f"{points(one.specificity)}%", hundredths(one.kappa))
        for one in curve[::every]
    ]
    spoken = []
    if best.threshold is not None:
        at = f"cards/{number}/best_threshold"
        where = hundredths(best.threshold)
        if best.low is not None and best.high is not None:
            where += f" [{hundredths(best.low)}, {hundredths(best.high)}]"
        spoken = [("best threshold", where)]
        if best.point is not None:
            rows.insert(
                0,
                (
                    Shown(hundredths(best.threshold), f"{at}/threshold"),
                    Shown(f"{points(best.point.sensitivity)}%", f"{at}/point/sensitivity"),
                    Shown(f"{points(best.point.specificity)}%", f"{at}/point/specificity"),
                    Shown(hundredths(best.point.kappa), f"{at}/point/kappa"),
                ),
            )
    sure = None if best.low is None or best.high is None else (best.low, best.high)
    return chart(
        f"{prefix}card-{number + 1}-thresholds",
        f"{measure_name(card.measure)}: sensitivity and specificity over thresholds",
        [*spoken, ("the card's threshold", f"{card.threshold:g}")],
        curves(drawn, across, up, dots=False, at=best.threshold, said_at="best on these items", span=sure),
        (("Threshold", "Sensitivity", "Specificity", "Kappa"), rows),
        note="The line is where sensitivity + specificity is largest on these very items, the grey its 95% interval; on"
        f" other items expect less. First row of the table: the best one. {said_of(card)}",
        before="Curves of sensitivity and specificity as the threshold rises.",
    )


def gold_labels_chart(card: ValidityCard, number: int, *, prefix: str = "") -> Chart | None:
    """Return the mean probability that items of each gold label got."""
    found = list(enumerate(card.by_label))
    if not any(one.mean.value is not None for _, one in found):
        return None
    lines = [
        Line(_counted_as(one.label, one.counts_as), (one.mean,), percents(one.mean), f"{one.n:,}") for _, one in found
    ]
    rows: list[Row] = []
    for place, one in found:
        at = f"cards/{number}/by_label/{place}"
        cells = (whole(one.n, f"{at}/n"), share(one.mean, f"{at}/mean"), share(one.over, f"{at}/over"))
        rows.append((one.label, one.counts_as or "neither", *cells))
    return chart(
        f"{prefix}card-{number + 1}-labels",
        f"{measure_name(card.measure)}: what items of each label were given",
        [(line.label, f"{line.said} percent") for line in lines],
        forest(lines, SHARES, said="mean probability", counted="n", mark=_at(card.threshold)),
        (("Gold label", "Counts as", "n", "Mean probability", f"Above {card.threshold:.2g}"), rows),
        note=said_of(card),
        before="Points with intervals, a row a label.",
    )


def gold_kinds_chart(card: ValidityCard, number: int, *, prefix: str = "") -> Chart | None:
    """Return agreement on the items of each kind."""
    found = sorted(enumerate(card.by_kind), key=lambda one: _or_last(one[1].observed))
    known = [one for one in found if one[1].observed.value is not None]
    if not known:
        return None
    drawn = known[:MOST_KINDS]
    overall = card.observed.value if card.classes is None else card.classes.observed.value
    mark = None if overall is None else Mark(100 * overall, f"all items {rounded(100 * overall, 1)}")
    lines = [Line(one.kind, (one.observed,), percents(one.observed), f"{one.observed.n:,}") for _, one in drawn]
    rows: list[Row] = []
    for place, one in found:
        at = f"cards/{number}/by_kind/{place}/observed"
        rows.append((one.kind, whole(one.observed.n, f"{at}/n"), share(one.observed, at)))
    note = f"Drawn are the {MOST_KINDS} lowest of {len(known):,}. " if len(known) > MOST_KINDS else ""
    return chart(
        f"{prefix}card-{number + 1}-kinds",
        f"{measure_name(card.measure)}: agreement by kind of item",
        [(line.label, f"{line.said} percent") for line in lines],
        forest(lines, SHARES, mark=mark, said="agrees [95% interval]", counted="n"),
        (("Kind", "n", "Agreement"), rows),
        note=note + said_of(card),
        before="Points with intervals, a row a kind, from the lowest.",
    )


def _counted_as(label: str, counts_as: str) -> str:
    return f"{label} ({counts_as or 'neither'})"


def _at(threshold: float) -> Mark | None:
    return Mark(100 * threshold, f"threshold {threshold:.2g}") if 0 <= threshold <= 1 else None


def _or_last(estimate: Estimate) -> float:
    return 2.0 if estimate.value is None else estimate.value
