"""Charts of a scoring spec."""

import math

from evenhand.report.charts.chart import Row, bare, chart, named, values
from evenhand.report.charts.curves import Curve, Spot, curves
from evenhand.report.charts.forest import Line, Mark, forest
from evenhand.report.charts.frame import Axis, around_zero
from evenhand.report.charts.labels import numbers, percents, rounded
from evenhand.report.page.blocks import Chart, Shown
from evenhand.report.page.figures import NONE, plain, points, share, whole
from evenhand.report.scoring_spec import HeldOut, ScoringSpec, SpecQuestion
from evenhand.statistics import Estimate


def weights_chart(spec: ScoringSpec, *, prefix: str = "") -> Chart | None:
    """Return the weights of the questions with their intervals."""
    ranked = by_weight(spec)
    ends = values(*(one.estimate for _, one in ranked), scale=1) + [one.weight for _, one in ranked]
    if not ranked:
        return None
    lines = [
        Line(one.id, (_alone(one.weight), one.estimate), rounded(one.weight, 3, signed=True), f"{one.stability:.0%}")
        for _, one in ranked
    ]
    rows: list[Row] = [
        (
            *(one.id, bare(one.weight, f"questions/{at}/weight", signed=True)),
            plain(one.estimate, f"questions/{at}/estimate", signed=True),
            bare(one.standard_weight, f"questions/{at}/standard_weight", signed=True),
            Shown(f"{points(one.stability)}%", f"questions/{at}/stability"),
            "yes" if one.selected else "no",
            whole(one.pairs, f"questions/{at}/pairs"),
        )
        for at, one in ranked
    ]
    columns = ("Question", "Weight", "Unpenalised", "x RMS", "Stability", "Selected", "Pairs")
    return chart(
        f"{prefix}weights",
        "What a rating point of each question is worth",
        [(one.id, f"{rounded(one.weight, 3, signed=True)}, unpenalised {numbers(one.estimate)}") for _, one in ranked],
        forest(
            lines,
            around_zero(ends, "log odds of being chosen, a rating point"),
            series=("weight in the spec", "unpenalised, with its interval"),
            scale=1,
            mark=Mark(0),
            said="weight",
            counted="stable",
            ends=("speaks against", "speaks for being chosen"),
        ),
        (columns, rows),
        note="Weight: log odds of being chosen that a rating point is worth; the penalty pulls it toward 0. x RMS:"
        " times the root mean square of the differences, comparable between questions. Stable: share of half-samples"
        f" with a weight that is not 0, selected from {spec.fit.selection_share:.0%}. {said_of(spec)}",
        before="Points around 0, two a row: the weight, and the unpenalised one with its interval.",
    )


def held_out_chart(spec: ScoringSpec, *, prefix: str = "") -> Chart | None:
    """Return how well pairs are predicted that the fit has not seen, beside the baselines."""
    found: list[tuple[str, HeldOut, str]] = [
        ("all questions", spec.held_out, "held_out"),
        (f"best single: {spec.best_question}", spec.best_single, "best_single"),
        ("length alone", spec.length, "length"),
    ]
    if all(one.auc.value is None and one.accuracy.value is None for _, one, _ in found):
        return None
    lines = [Line(name, (one.auc, one.accuracy), percents(one.auc), f"{one.auc.n:,}") for name, one, _ in found]
    rows: list[Row] = [
        (
            *(name, share(one.auc, f"{at}/auc"), share(one.accuracy, f"{at}/accuracy")),
            plain(one.log_loss, f"{at}/log_loss"),
            bare(one.calibration_error, f"{at}/calibration_error"),
            bare(one.calibration_slope, f"{at}/calibration_slope"),
        )
        for name, one, at in found
    ]
    if spec.ceiling.auc is not None and spec.ceiling.accuracy is not None:
        best = (_alone(spec.ceiling.auc), _alone(spec.ceiling.accuracy))
        lines.append(Line("without grader noise", best, percents(best[0])))
        cells = [Shown(f"{points(getattr(spec.ceiling, name))}%", f"ceiling/{name}") for name in ("auc", "accuracy")]
        rows.append(("without grader noise", *cells, NONE, NONE, NONE))
    least = min(values(*(figure for line in lines for figure in line.figures)), default=50.0)
    low = int(min(50.0, least) // 10) * 10
    spec_of = forest(
        lines,
        Axis(low, 100, "percent", tuple(range(low, 101, 10 if low >= 30 else 20))),
        series=("area under the curve", "accuracy"),
        mark=Mark(50, "a coin"),
        said="AUC [95% interval]",
        counted="pairs",
    )
    columns = ("Predicted by", "AUC", "Accuracy", "Log loss", "Calibration error", "Calibration slope")
    return chart(
        f"{prefix}held-out",
        "How well unseen pairs are predicted",
        [(line.label, f"area under the curve {line.said} percent") for line in lines],
        spec_of,
        (columns, rows),
        note="Pairs whose input was used neither to fit nor to choose. Log loss: 0.69 is a coin's. Calibration error: 0"
        f" is best; slope: 1 is calibrated, below 1 the probabilities are too sure. {said_of(spec)}",
        before="Points with intervals, two a row: area under the curve and accuracy.",
    )


def penalty_chart(spec: ScoringSpec, *, prefix: str = "") -> Chart | None:
    """Return the loss over penalties, which chose the penalty."""
    path = sorted((one for one in enumerate(spec.fit.path) if one[1][0] > 0), key=lambda one: one[1][0])
    if len(path) < 2:
        return None
    spots = tuple(Spot(math.log10(penalty), loss, loss - error, loss + error) for _, (penalty, loss, error) in path)
    losses = [end for spot in spots for end in (spot.low, spot.high) if end is not None]
    room = 0.05 * (max(losses) - min(losses)) or 0.01
    across = Axis(math.floor(spots[0].x), math.ceil(spots[-1].x), "penalty, as a power of ten")
    up = Axis(min(losses) - room, max(losses) + room, "mean held-out log loss")
    rows: list[Row] = [
        (
            Shown(f"{penalty:.6f}", f"fit/path/{at}/0"),
            Shown(f"{loss:.4f}", f"fit/path/{at}/1"),
            Shown(f"{error:.4f}", f"fit/path/{at}/2"),
        )
        for at, (penalty, loss, error) in path
    ]
    best = min(path, key=lambda one: one[1][1])[1]
    return chart(
        f"{prefix}penalties",
        "How the penalty was chosen",
        [("least loss", f"{best[1]:.4f} at a penalty of {best[0]:.3g}"), ("chosen", f"{spec.fit.penalty:.3g}")],
        curves(
            (Curve("log loss", spots),),
            across,
            up,
            at=math.log10(spec.fit.penalty) if spec.fit.penalty > 0 else None,
            said_at="chosen" if spec.fit.penalty > 0 else "",
        ),
        (("Penalty", "Log loss", "Standard error"), rows),
        note=f"Mean log loss over {spec.fit.folds} folds of whole inputs, with a band of one standard error;"
        f" {spec.fit.rule}.",
        before="A curve of the held-out loss over penalties.",
    )


def by_weight(spec: ScoringSpec) -> list[tuple[int, SpecQuestion]]:
    """Return the questions with their places in the spec, the heaviest first."""
    return sorted(enumerate(spec.questions), key=lambda one: -abs(one[1].standard_weight))


def said_of(spec: ScoringSpec) -> str:
    """Return what the figures of a spec rest on."""
    return (
        f"From the ratings of {named(spec.grader)}, protocol {spec.protocol}: {spec.pairs:,} pairs over {spec.inputs:,}"
        " inputs. 95% intervals, inputs kept together."
    )


def _alone(value: float) -> Estimate:
    return Estimate(value, None, None, 0, 0, "no interval")
