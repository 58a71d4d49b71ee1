"""A scoring spec as tables for a terminal of 80 columns."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from evenhand.report.figure_texts import percent
from evenhand.report.scoring_spec import HeldOut, ScoringSpec
from evenhand.statistics import Estimate


def fit_table(spec: ScoringSpec) -> RenderableType:
    """Return what a terminal shows of a scoring spec: weights, held-out figures, baselines and the ceiling."""
    weights = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    weights.add_column("question", max_width=26, overflow="fold")
    for header in ("weight", "unpenalised, 95% interval", "x RMS", "stable"):
        weights.add_column(header, justify="right", no_wrap=True)
    for question in sorted(spec.questions, key=lambda question: -abs(question.standard_weight)):
        weights.add_row(
            Text(question.id),
            f"{question.weight:+.3f}" if question.weight else "0",
            _interval(question.estimate),
            f"{question.standard_weight:+.2f}",
            f"{question.stability:.0%}{'*' if question.selected else ' '}",
        )
        if question.abstained_weight:
            weights.add_row(Text("  can't be answered"), f"{question.abstained_weight:+.3f}", "", "", "")
    figures = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    figures.add_column("held out", max_width=22, overflow="fold")
    for header in ("AUC", "accuracy", "log loss"):
        figures.add_column(header, justify="right", no_wrap=True)
    figures.add_row("all questions", *_figures(spec.held_out))
    figures.add_row(Text(f"best single: {spec.best_question}"), *_figures(spec.best_single))
    figures.add_row("length alone", *_figures(spec.length))
    if spec.ceiling.auc is not None and spec.ceiling.accuracy is not None:
        figures.add_row(
            "without grader noise", f"{100 * spec.ceiling.auc:.1f}", f"{100 * spec.ceiling.accuracy:.1f}", ""
        )
    return Group(
        Text.from_markup(
            f"[bold]Scoring spec[/bold] from the ratings of {escape(spec.grader)}, protocol {escape(spec.protocol)}"
        ),
        Text(f"{spec.pairs:,} pairs over {spec.inputs:,} inputs, {spec.ties:,} of them ties"),
        Text(),
        weights,
        Text(),
        figures,
        *(Text(f"- {line}") for line in _lines(spec)),
        Text(
            "Weight: log odds of being chosen that a rating point is worth. x RMS: times the root mean square of the"
            " differences. stable: share of half-samples with a weight that is not 0"
            f" (* at least {spec.fit.selection_share:.0%}). Held out: percent, pairs whose input no fit or choice"
            " had seen.",
            style="dim",
        ),
    )


def _lines(spec: ScoringSpec) -> Iterator[str]:
    yield f"area under the curve over length alone: {percent(spec.gain_over_length, signed=True).strip()}"
    error, slope = spec.held_out.calibration_error, spec.held_out.calibration_slope
    if error is not None and slope is not None:
        yield f"calibration: expected error {error:.3f}, slope {slope:.2f} (1 is calibrated)"
    reliability = spec.ceiling.reliability
    if reliability.value is None:
        yield f"the ceiling that the grader's noise sets is not estimable: {reliability.method}"
    else:
        yield f"reliability of the score, both orders: {reliability.value:.2f}"
    yield (
        f"C = {spec.fit.inverse_penalty:.3g} by {spec.fit.folds}-fold cross-validation grouped by input"
        f" ({spec.fit.rule}), elastic net with {spec.fit.l1_ratio:g} absolute"
    )
    yield from spec.remarks


def _figures(held_out: HeldOut) -> tuple[str, str, str]:
    loss = held_out.log_loss.value
    return (
        percent(held_out.auc).strip(),
        percent(held_out.accuracy).strip(),
        "-" if loss is None else f"{loss:.3f}",
    )


def _interval(estimate: Estimate) -> str:
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return "-"
    return f"{estimate.value:+.3f} [{estimate.low:+.3f}, {estimate.high:+.3f}]"
