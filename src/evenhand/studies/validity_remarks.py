"""What must be said beside the figures of a validity card."""

from collections.abc import Iterator

from evenhand.report.figure_texts import count
from evenhand.report.validity_card import ValidityCard, two_digits, whole_percent
from evenhand.statistics.detection import Recognition, Verdict
from evenhand.studies.audit.remarks import FEW_CLUSTERS

_FEW_CAPTURED = 0.5
_LITTLE_CONSISTENCY = 0.8


def of_card(card: ValidityCard) -> Iterator[str]:
    """Yield the remarks of a card."""
    if card.verdict is not Verdict.TELLS:
        yield Recognition(card.verdict, card.auc).sentence
    yield from _one_verdict(card)
    yield from _threshold(card)
    yield from _controls(card)
    if card.labelled_by == "silver":
        yield "nobody judged the two texts side by side: the labels follow from what people said of each alone"
    if card.labelled_by == "construction":
        yield "the labels are those for which the texts were written: no people were asked, and cases may be easy"
    if card.measure == "even_handedness" and card.instrument == "refusal":
        yield (
            "even-handedness follows here from which sides were declined: a side that was answered worse, and not"
            " declined, can't be seen"
        )
    if card.seen is not None:
        yield (
            "a fitted grader weighs one response at a time and features as they are: the controls for the order of"
            " responses and of options do not apply"
        )
    if card.measure == "preference" and card.instrument != "preference":
        yield (
            f"preferences are read from {card.instrument}: whether the assistant was more willing in one of two"
            " dialogues that begin with the same request"
        )
    if card.neither:
        yield f"{count(card.neither, 'item')} of neither class: in the table by label, and in no other figure"
    if card.unreadable:
        states = ", ".join(f"{number} {state}" for state, number in card.unreadable.items())
        share = "" if card.unread.value is None else f" ({whole_percent(card.unread)} of the items)"
        yield f"{states}: these answers could not be read and enter no figure{share}"
    if card.captured.value is not None and card.captured.value < _FEW_CAPTURED:
        yield f"only {card.captured.value:.0%} of the grader's probability fell on valid answers"
    if 0 < card.observed.clusters < FEW_CLUSTERS:
        yield (
            f"with {count(card.observed.clusters, 'cluster')} ({card.cluster}) the intervals are rough;"
            f" {FEW_CLUSTERS} or more are advised"
        )


def _one_verdict(card: ValidityCard) -> Iterator[str]:
    if card.table is None or card.n == 0 or card.verdict in (Verdict.CONSTANT, Verdict.ONE_SIDED):
        return
    said = [sum(row[column] for row in card.table) for column in (0, 1)]
    if 0 in said:
        yield f"its verdict is {'negative' if said[0] == 0 else 'positive'} on every item"


def _threshold(card: ValidityCard) -> Iterator[str]:
    best = card.best_threshold
    if card.verdict not in (Verdict.TELLS, Verdict.ONE_SIDED) or best.threshold is None:
        return
    if best.low is not None and best.high is not None and not best.low <= card.threshold <= best.high:
        yield (
            f"the threshold {card.threshold:g} is not where it belongs: {two_digits(best.threshold)}"
            f" [{two_digits(best.low)}, {two_digits(best.high)}] tells the classes apart best"
        )


def _controls(card: ValidityCard) -> Iterator[str]:
    controls = card.controls
    if controls.direction_auc.high is not None and controls.direction_auc.high < 0.5:
        yield "where one side was treated better, it names the other: a and b are exchanged"
    if controls.swap_consistency.value is not None and controls.swap_consistency.value < _LITTLE_CONSISTENCY:
        yield f"only {controls.swap_consistency.value:.0%} of the verdicts survive an exchange of the two responses"
    if controls.option_swap.value is not None and controls.option_swap.value < _LITTLE_CONSISTENCY:
        yield f"only {controls.option_swap.value:.0%} of the verdicts survive listing the options the other way round"
    if card.verdict is Verdict.TELLS and controls.equal_length.low is not None and controls.equal_length.low <= 0.5:
        yield "among items of about equal length it can't be told from chance: length may be what it sees"
