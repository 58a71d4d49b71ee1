"""A validity card as tables for a terminal of 80 columns."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.text import Text

from evenhand.report.figure_texts import count, grid, measure_name, percent
from evenhand.report.validity_card import ManyClasses, ValidityCard, two_digits, whole_percent
from evenhand.statistics import Estimate
from evenhand.statistics.detection import Recognition, Verdict

_BAR = 20


def validity_card_table(card: ValidityCard) -> RenderableType:
    """Return what a terminal shows of a card."""
    return Group(*_parts(card))


def _parts(card: ValidityCard) -> Iterator[RenderableType]:
    yield Text.from_markup(f"[bold]{measure_name(card.measure)}: {escape(card.grader)} against {_labels(card)}[/bold]")
    yield Text(_what(card))
    sentence = Recognition(card.verdict, card.auc).sentence
    yield Text(sentence, style="" if card.verdict is Verdict.TELLS else "bold red")
    yield _agreement(card)
    yield _detection(card)
    yield from _confusion(card)
    if card.classes is not None:
        yield from _classes(card.classes)
    yield from _by_label(card)
    yield from _by_kind(card)
    yield from _reliability(card)
    yield _controls(card)
    yield from _annotators(card)
    for remark in card.remarks:
        if remark != sentence:
            yield Padding(Text(f"- {remark}"), (0, 0, 0, 1), expand=False)
    yield Text(_legend(card), style="dim")


def _labels(card: ValidityCard) -> str:
    part = f", part {card.split}" if card.split else ""
    return f"{escape(card.gold)}{part}"


def _what(card: ValidityCard) -> str:
    orders = f", orders {card.orders}" if card.orders else ""
    captured = ""
    if card.captured.value is not None:
        captured = f"; {whole_percent(card.captured)} of its probability on valid answers"
    return (
        f"{count(card.items, 'item')} {card.how_labelled} (sha256 {card.gold_sha256[:12]}), {card.n:,} in the figures;"
        f" instruments {card.instruments}, {card.instrument}, read as {card.reading}{orders}{captured}"
    )


def _agreement(card: ValidityCard) -> RenderableType:
    table = grid(("Agreement", 10), ("", 24), ("where one says", 14), ("so does the other", 24))
    rows = [("observed", card.observed), ("kappa", card.kappa), ("AC1", card.ac1), ("alpha", card.alpha)]
    specific = [(one.label, one.agreement) for one in card.specific]
    for number, (name, figure) in enumerate(rows):
        label, agreement = specific[number] if number < len(specific) else ("", None)
        table.add_row(name, _figure(figure), label, "" if agreement is None else _figure(agreement))
    return table


def _detection(card: ValidityCard) -> RenderableType:
    table = grid((f"At {card.threshold:g}", 10), ("", 24), ("", 14), ("", 24))
    best = card.best_threshold
    where = "-"
    if best.threshold is not None:
        where = two_digits(best.threshold)
        if best.low is not None and best.high is not None:
            where += f" [{two_digits(best.low)}, {two_digits(best.high)}]"
    table.add_row("sensitiv.", _figure(card.sensitivity), "AUC", _figure(card.auc, 3))
    table.add_row("specific.", _figure(card.specificity), "best at", where)
    table.add_row(
        "Brier", _figure(card.reliability.brier, 3), "calibr. error", _figure(card.reliability.width_error, 3)
    )
    return table


def _confusion(card: ValidityCard) -> Iterator[RenderableType]:
    if card.table is None:
        return
    table = grid(("Label", 16), ("verdict positive", 17), ("negative", 10))
    for name, labels, row in zip(("positive", "negative"), (card.positive, card.negative), card.table, strict=True):
        table.add_row(f"{name} ({', '.join(labels)})", *(f"{cell:,}" for cell in row))
    table.columns[0].width = 44
    yield table


def _classes(classes: ManyClasses) -> Iterator[RenderableType]:
    table = grid(("All classes", 14), ("n", 5), ("where one says so, so does the other", 37))
    table.add_row("observed", f"{classes.n}", _figure(classes.observed))
    table.add_row("kappa", f"{classes.n}", _figure(classes.kappa))
    for one in classes.specific:
        table.add_row(one.label, f"{one.agreement.n}", _figure(one.agreement))
    yield table


def _by_label(card: ValidityCard) -> Iterator[RenderableType]:
    if len(card.by_label) < 2:
        return
    table = grid(("Gold label", 16), ("counts as", 10), ("n", 5), ("mean P", 22), (f"over {card.threshold:.2g}", 22))
    for row in card.by_label:
        table.add_row(row.label, row.counts_as or "neither", f"{row.n}", percent(row.mean), percent(row.over))
    yield table


def _by_kind(card: ValidityCard) -> Iterator[RenderableType]:
    if not card.by_kind:
        return
    table = grid(("Kind of item", 34), ("n", 5), ("agrees", 23))
    for row in card.by_kind:
        table.add_row(Text(row.kind), f"{row.observed.n}", percent(row.observed))
    yield table


def _reliability(card: ValidityCard) -> Iterator[RenderableType]:
    if not card.reliability.curve:
        return
    table = grid(("P between", 13), ("n", 5), ("mean P", 7), ("positive", 23), ("", _BAR))
    table.columns[4].justify = "left"
    for one in card.reliability.curve:
        bar = "" if one.observed.value is None else _bar(one.mean, one.observed.value)
        span = f"{two_digits(one.low)} - {two_digits(one.high)}"
        table.add_row(span, f"{one.observed.n}", f"{100 * one.mean:5.1f}", percent(one.observed), bar)
    yield table


def _controls(card: ValidityCard) -> RenderableType:
    controls = card.controls
    table = grid(("Controls", 34), ("", 24))
    for name, figure in (
        ("same verdict in both orders", controls.swap_consistency),
        ("P(first) - P(second shown)", controls.position_effect),
        ("AUC of a against b", controls.direction_auc),
        ("same verdict, options reversed", controls.option_swap),
        ("change of P, options reversed", controls.option_shift),
        ("AUC of length alone", controls.length_alone),
        ("AUC at equal length", controls.equal_length),
        ("AUC of length at equal length", controls.length_left),
    ):
        if figure.value is not None:
            table.add_row(name, _figure(figure, 3 if name.startswith("AUC") else 2))
    return table


def _annotators(card: ValidityCard) -> Iterator[RenderableType]:
    if not card.annotators:
        return
    table = grid(("Who agrees with whom", 34), ("n", 5), ("observed", 19), ("kappa", 19))
    for row in card.annotators:
        table.add_row(f"{row.one} - {row.other}", f"{row.n}", _figure(row.observed), _figure(row.kappa))
    yield table


def _figure(estimate: Estimate, digits: int = 2) -> str:
    """Return a figure with its interval, or a dash.

    >>> _figure(Estimate(0.9999, 0.973, 1.0, 9, 9, ""), 3), _figure(Estimate.missing("no rows"))
    ('1.000 [.973, 1.000]', '-')
    """
    if estimate.value is None:
        return "-"
    value = two_digits(estimate.value, digits)
    if estimate.low is None or estimate.high is None:
        return value
    return f"{value} [{two_digits(estimate.low, digits)}, {two_digits(estimate.high, digits)}]"


def _bar(predicted: float, observed: float) -> str:
    """Return a line from 0 to 1 with the mean probability (o) and the share of positive items (x).

    >>> _bar(0.0, 1.0), _bar(0.5, 0.5)
    ('o------------------x', '----------*---------')
    """
    places = [round(value * (_BAR - 1)) for value in (predicted, observed)]
    line = ["-"] * _BAR
    line[places[0]], line[places[1]] = "o", "x"
    if places[0] == places[1]:
        line[places[0]] = "*"
    return "".join(line)


def _legend(card: ValidityCard) -> str:
    what = {"item": "items", "issue": "issues", "prompt": "prompts"}.get(card.cluster, card.cluster)
    return (
        f"95% intervals over {what}. AUC: chance that a positive item gets a higher probability than a negative one; .5"
        " is chance. best at: where sensitivity + specificity is largest on these very items. Brier, calibration error:"
        " 0 is best. The line: o mean probability, x share of positive items; * both."
    )
