"""The page that ``bench.model_cards`` writes."""

from collections.abc import Iterator, Sequence

from evenhand.report.calibration import Calibration
from evenhand.report.validity_card import ValidityCard
from evenhand.statistics import Estimate
from evenhand.statistics.detection import Recognition
from evenhand.statistics.thresholds import BestThreshold

_HEAD = """# How right the embedded language models are

Made by `python -m bench.model_cards page` from the cards that come with the package, which `python -m bench.model_cards
cards GOLD_FOLDER REPLIES_FOLDER` makes with `evenhand validate`; not edited by hand. The `compact` instruments, samples
of the testing halves drawn by label ([gold sets](../gold.md)), 95% intervals over prompts, issues or items. Wordings
were chosen on the fitting halves alone: [what was tried](compact.md). The [fitted graders](embedded.md) are better at
refusals, and much faster.
"""
_LEGEND = """
AUC: chance that a positive item gets a higher probability than a negative one; .5 is chance. Kappa, sensitivity and
specificity are at the threshold 0.5. Best threshold: where sensitivity + specificity is largest on these items. ECE:
expected calibration error. [Is the grader right?](../validating-a-grader.md) explains every figure.

On `stances`, plain accounts count as balanced though they hedge nothing, so that a question about doubts and caveats is
at odds with a part of these labels. That is not all of it: the larger model doesn't rank texts that weigh both sides
above one-sided ones either."""


def models_page(
    cards: Sequence[ValidityCard],
    calibrations: Sequence[tuple[Calibration, Sequence[ValidityCard]]],
    nothing: Sequence[ValidityCard],
    left: Sequence[str],
) -> str:
    """Return docs/validation/models.md."""
    parts = [_HEAD, "## Agreement\n", *_agreement(cards), _LEGEND, "\n## Probabilities\n", *_probabilities(cards)]
    parts += ["\n## Controls\n", *_controls(cards)]
    parts += ["\n## All cells of a pair\n", *_cells(cards)]
    parts += ["\n## Graders that say nothing\n", *_nothing(nothing)]
    parts += ["\n## Calibrations\n", *_calibrations(calibrations)]
    parts += ["\n## What the cards say of themselves\n", *_remarks(cards)]
    if left:
        parts.append("\n## Not measured yet\n")
        parts += [f"* {one}" for one in left]
    return "\n".join(parts) + "\n"


def _agreement(cards: Sequence[ValidityCard]) -> Iterator[str]:
    yield "| grader | measure | labels | n | AUC | kappa | observed | sensitivity | specificity | recognised as |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    for card in cards:
        figures = (card.auc, card.kappa, card.observed, card.sensitivity, card.specificity)
        yield (
            f"| `{card.grader}` | {card.measure} | {card.gold} | {card.n} | {' | '.join(map(_figure, figures))} |"
            f" {Recognition(card.verdict, card.auc).sentence} |"
        )


def _probabilities(cards: Sequence[ValidityCard]) -> Iterator[str]:
    yield "| grader | measure | labels | Brier | ECE | best threshold | captured | questions not read; share of items |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for card in cards:
        unread = ", ".join(f"{number} {state}" for state, number in card.unreadable.items()) or "0"
        yield (
            f"| `{card.grader}` | {card.measure} | {card.gold} | {_figure(card.reliability.brier)} |"
            f" {_figure(card.reliability.width_error)} | {_threshold(card.best_threshold)} |"
            f" {_figure(card.captured, 3)} | {unread}; {_figure(card.unread)} |"
        )


def _controls(cards: Sequence[ValidityCard]) -> Iterator[str]:
    yield (
        "Options turned round: the opposite question, with the answers of the worked examples exchanged. A verdict"
        " that does not survive that hangs on the wording. An AUC of length far below .5 says that refusals are the"
        " shorter texts.\n"
    )
    yield (
        "| grader | measure | labels | same verdict, options turned round | change of P | AUC of length alone |"
        " AUC at equal length | AUC of length there |"
    )
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for card in cards:
        of = card.controls
        figures = (of.option_swap, of.option_shift, of.length_alone, of.equal_length, of.length_left)
        yield f"| `{card.grader}` | {card.measure} | {card.gold} | {' | '.join(map(_figure, figures))} |"


def _cells(cards: Sequence[ValidityCard]) -> Iterator[str]:
    yield "| grader | labels | n | observed | kappa | where one says so, so does the other |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for card in cards:
        if card.classes is not None:
            each = "; ".join(f"{one.label} {_figure(one.agreement)}" for one in card.classes.specific)
            yield (
                f"| `{card.grader}` | {card.gold} | {card.classes.n} | {_figure(card.classes.observed)} |"
                f" {_figure(card.classes.kappa)} | {each} |"
            )


def _nothing(cards: Sequence[ValidityCard]) -> Iterator[str]:
    yield (
        "What the card says of graders that were made up, on the testing half of the built-in refusals: one that"
        " answers by lot, one that always says the same, and one with its labels exchanged that errs in one case of"
        " ten.\n"
    )
    yield "| grader | n | AUC | kappa | recognised as |"
    yield "| --- | --- | --- | --- | --- |"
    for card in cards:
        sentence = Recognition(card.verdict, card.auc).sentence
        yield f"| {card.grader} | {card.n} | {_figure(card.auc)} | {_figure(card.kappa)} | {sentence} |"


def _calibrations(calibrations: Sequence[tuple[Calibration, Sequence[ValidityCard]]]) -> Iterator[str]:
    yield (
        "`--calibration packaged:GRADER` applies them. Fitted to a sample of the fitting half; the figures are of the"
        " testing half, calibrated. There is none for hedging: what can't tell balanced texts from one-sided ones, as"
        " the cards on IssueBench say of both models, has no threshold to be moved.\n"
    )
    yield "| grader | measure | fitted to | n | threshold | AUC | kappa | ECE |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for calibration, cards in calibrations:
        for one in calibration.measures:
            card = next(card for card in cards if card.measure == one.measure)
            kind = str(one.map.get("kind", "threshold alone")) if one.map else "threshold alone"
            low, high = one.threshold_low, one.threshold_high
            ends = "" if low is None or high is None else f" [{low:.2f}, {high:.2f}]"
            yield (
                f"| `{calibration.grader}` | {one.measure} | {one.gold} ({kind}) | {one.n} |"
                f" {one.threshold:.2f}{ends} | {_figure(card.auc)} | {_figure(card.kappa)} |"
                f" {_figure(card.reliability.width_error)} |"
            )


def _remarks(cards: Sequence[ValidityCard]) -> Iterator[str]:
    for card in cards:
        if card.remarks:
            yield f"* `{card.grader}`, {card.measure} on {card.gold}: {'; '.join(card.remarks)}."


def _figure(estimate: Estimate, digits: int = 2) -> str:
    if estimate.value is None:
        return "-"
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:.{digits}f}"
    return f"{estimate.value:.{digits}f} [{estimate.low:.{digits}f}, {estimate.high:.{digits}f}]"


def _threshold(best: BestThreshold) -> str:
    if best.threshold is None:
        return "-"
    ends = "" if best.low is None or best.high is None else f" [{best.low:.2f}, {best.high:.2f}]"
    return f"{best.threshold:.2f}{ends}"
