"""The page's sections of a validation: how a grader agrees with people, a section a card."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from evenhand.report.charts import (
    agreement_chart,
    card_threshold_chart,
    controls_chart,
    gold_kinds_chart,
    gold_labels_chart,
    raters_chart,
    reliability_chart,
)
from evenhand.report.figure_texts import count, measure_name
from evenhand.report.page.blocks import Block, Cell, Chart, Command, Section, Shown, Table, Text
from evenhand.report.page.figures import NONE, hundredths, plain, share, whole
from evenhand.report.validity_card import ValidityCard, card_line
from evenhand.statistics.detection import Recognition, Verdict
from evenhand.statistics.thresholds import ThresholdPoint

_IN_A_WORD = {
    Verdict.TELLS: "tells the classes apart",
    Verdict.RANDOM: "as if by lot",
    Verdict.CONSTANT: "always the same",
    Verdict.ONE_SIDED: "one verdict only, at this threshold",
    Verdict.INVERTED: "upside down",
    Verdict.UNDECIDED: "too few items to say",
}


_USUAL_READING = "probabilities"
_NO_LICENCE = "not said"
"""The licence of a file of the user's, as gold sets have it."""


class _Maker(Protocol):
    """What makes a chart of a card."""

    def __call__(self, card: ValidityCard, number: int, *, prefix: str = "") -> Chart | None: ...


def card_sections(
    cards: Sequence[ValidityCard],
    record: Mapping[str, Any] | None = None,
    curves: Sequence[Sequence[ThresholdPoint]] = (),
    *,
    prefix: str = "",
    run: str = "RUN",
) -> tuple[Section, ...]:
    """Return the sections of ``validation.json``; the paths of their figures lead into it (``cards/0/kappa``).

    Args:
        cards: those of the file, in their order.
        record: of the file.
        curves: a threshold curve a card (``statistics.thresholds.threshold_curve`` of ``validation.parquet``); without
            them the best threshold is shown alone.
        prefix: goes before every anchor and every chart's name.
        run: the folder as the user named it.
    """
    found = [_overview(cards, prefix)] if len(cards) > 1 else []
    for number, card in enumerate(cards):
        curve = curves[number] if number < len(curves) else ()
        found.append(_card(card, number, curve, prefix))
    return (*found, _record(cards, record or {}, prefix, run))


def _overview(cards: Sequence[ValidityCard], prefix: str) -> Section:
    rows: list[tuple[Cell, ...]] = []
    for number, card in enumerate(cards):
        at = f"cards/{number}"
        rows.append(
            (
                *(f"{measure_name(card.measure)}: {card.grader}", _gold(card), whole(card.n, f"{at}/n")),
                *(
                    share(card.observed, f"{at}/observed"),
                    plain(card.kappa, f"{at}/kappa"),
                    plain(card.auc, f"{at}/auc"),
                ),
                _IN_A_WORD[card.verdict],
            )
        )
    return Section(
        f"{prefix}cards",
        "All cards",
        (
            Table(
                "Agreement of each grader with the labels",
                ("Card", "Gold set", "n", "Observed", "Kappa", "AUC", "Finding"),
                tuple(rows),
                "Kappa: agreement beyond chance. AUC: chance that a positive item gets a higher probability than a"
                " negative one; 0.5 is chance.",
            ),
        ),
        help="A card is of one grader with one wording on one gold set, and of no other.",
    )


def _card(card: ValidityCard, number: int, curve: Sequence[ThresholdPoint], prefix: str) -> Section:
    parts = [
        ("agreement", "Agreement", _agreement(card, number, prefix)),
        ("reliability", "What the probabilities are worth", _probabilities(card, number, prefix)),
        ("threshold", "Where the threshold belongs", _threshold(card, number, curve, prefix)),
        ("labels", "By label and by kind", _charts(card, number, prefix, gold_labels_chart, gold_kinds_chart)),
        ("controls", "What should make no difference", _charts(card, number, prefix, controls_chart)),
        ("raters", "Who agrees with whom", _charts(card, number, prefix, raters_chart)),
        ("made", "What the card is of", _made_of(card, number)),
    ]
    anchor = f"{prefix}card-{number + 1}"
    inner = [(name, heading, tuple(blocks)) for name, heading, blocks in parts]
    return Section(
        anchor,
        f"{measure_name(card.measure)}: {card.grader} against {_gold(card)}",
        tuple(_head(card, number)),
        tuple(Section(f"{anchor}-{name}", heading, blocks) for name, heading, blocks in inner if blocks),
    )


def _gold(card: ValidityCard) -> str:
    return f"{card.gold}, part {card.split}" if card.split else card.gold


def _sentence(card: ValidityCard) -> str:
    return Recognition(card.verdict, card.auc).sentence


def _head(card: ValidityCard, number: int) -> Iterator[Block]:
    line = card_line(card)
    yield Text(f"{line}." if line[-1] not in ".!" else line)
    sentence = _sentence(card)
    yield Text(sentence, "plain" if card.verdict is Verdict.TELLS else "caution")
    observed = share(card.observed, f"cards/{number}/observed")
    yield Text((f"Agreement with {card.whom}: ", observed, f" of {card.n:,} items"), "headline")
    if card.kappa.value is not None:
        yield Text(("Kappa: ", plain(card.kappa, f"cards/{number}/kappa"), " beyond chance"), "headline")
    if card.auc.value is not None:
        yield Text(
            ("AUC: ", plain(card.auc, f"cards/{number}/auc"), " that a positive item gets the higher probability"),
            "headline",
        )
    for remark in card.remarks:
        if remark != sentence:
            yield Text(f"{remark[:1].upper()}{remark[1:]}.", "note")


def _agreement(card: ValidityCard, number: int, prefix: str) -> Iterator[Block]:
    chart = agreement_chart(card, number, prefix=prefix)
    if chart:
        yield chart
    if card.table is not None:
        yield _confusion(
            ("positive", "negative"),
            (f"positive ({', '.join(card.positive)})", f"negative ({', '.join(card.negative)})"),
            card.table,
            f"cards/{number}/table",
        )
    if card.classes is not None and card.classes.table is not None:
        names = tuple(one.label for one in card.classes.specific)
        yield _confusion(names, names, card.classes.table, f"cards/{number}/classes/table")


def _confusion(verdicts: Sequence[str], labels: Sequence[str], table: Sequence[Sequence[int]], path: str) -> Table:
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (label, *(whole(found, f"{path}/{down}/{across}") for across, found in enumerate(row)))
        for down, (label, row) in enumerate(zip(labels, table, strict=True))
    )
    return Table("Items by label (rows) and verdict (columns)", ("Label", *verdicts), rows)


def _probabilities(card: ValidityCard, number: int, prefix: str) -> Iterator[Block]:
    chart = reliability_chart(card, number, prefix=prefix)
    if chart is None:
        return
    yield chart
    found, at = card.reliability, f"cards/{number}/reliability"
    rows: list[tuple[Cell, ...]] = []
    for name, figure, field, beside, beside_field in (
        ("Brier score", found.brier, "brier", found.brier_of_base_rate, "brier_of_base_rate"),
        ("Calibration error", found.width_error, "width_error", found.width_error_by_chance, "width_error_by_chance"),
        (
            *("Calibration error, equal numbers", found.mass_error, "mass_error"),
            *(found.mass_error_by_chance, "mass_error_by_chance"),
        ),
    ):
        other = NONE if beside is None else Shown(hundredths(beside), f"{at}/{beside_field}")
        rows.append((name, plain(figure, f"{at}/{field}"), other))
    yield Table(
        "How far the probabilities are off",
        ("Figure", "Value", "For comparison"),
        tuple(rows),
        "0 is best. For comparison: the Brier score of always saying the share of positive items; the calibration error"
        " that right probabilities would show by chance.",
    )


def _threshold(card: ValidityCard, number: int, curve: Sequence[ThresholdPoint], prefix: str) -> Iterator[Block]:
    best, at = card.best_threshold, f"cards/{number}/best_threshold"
    chart = card_threshold_chart(card, number, curve, prefix=prefix)
    if chart:
        yield chart
    if best.threshold is None:
        yield Text(f"There is no best threshold: {best.method}.", "note")
        return
    sure: tuple[Cell, ...] = ()
    if best.low is not None and best.high is not None:
        ends = (Shown(hundredths(best.low), f"{at}/low"), " to ", Shown(hundredths(best.high), f"{at}/high"))
        sure = (" (95% interval ", *ends, ")")
    yield Text(
        (
            "Sensitivity + specificity is largest at ",
            *(Shown(hundredths(best.threshold), f"{at}/threshold"), *sure, "; the card's threshold is "),
            *(Shown(f"{card.threshold:g}", f"cards/{number}/threshold"), "."),
            " It was chosen on these very items: on others expect less.",
        )
    )


def _charts(card: ValidityCard, number: int, prefix: str, *made: _Maker) -> Iterator[Chart]:
    for make in made:
        chart = make(card, number, prefix=prefix)
        if chart is not None:
            yield chart


def _made_of(card: ValidityCard, number: int) -> Iterator[Block]:
    rows: list[tuple[Cell, ...]] = [
        ("Grader", f"{card.grader}; {card.identity}"),
        ("Instruments", f"{card.instruments}, {card.instrument}"),
        *((f"Version of {name}", version) for name, version in card.versions.items()),
        ("Reading", f"{card.reading}, orders {card.orders}" if card.orders else card.reading),
        ("Gold set", f"{card.title}; sha256 {card.gold_sha256}"),
        ("Labels", card.how_labelled),
        ("Counts as positive", ", ".join(card.positive) or NONE),
        ("Counts as negative", ", ".join(card.negative) or NONE),
        ("Items", f"{card.items:,} put to the grader, {card.neither:,} of neither class, {card.n:,} in the figures"),
        ("Intervals resample", card.cluster),
    ]
    if card.unreadable:
        rows.append(("Not read", ", ".join(f"{number:,} {state}" for state, number in card.unreadable.items())))
    rows.append(("Items of which something could not be read", share(card.unread, f"cards/{number}/unread")))
    if card.captured.value is not None:
        rows.append(("Probability on valid answers", share(card.captured, f"cards/{number}/captured")))
    yield Table("What the card is of", ("What", "As recorded"), tuple(rows))


def _record(cards: Sequence[ValidityCard], record: Mapping[str, Any], prefix: str, run: str) -> Section:
    blocks: list[Block] = []
    if record.get("evenhand"):
        blocks.append(Text(f"Made with Evenhand {record['evenhand']}: {count(len(cards), 'card')}."))
    golds = [one for one in record.get("gold") or () if isinstance(one, Mapping)]
    if golds:
        names = ("name", "measure", "items", "licence", "source", "sha256")
        rows = tuple(tuple(str(one.get(name, NONE)) for name in names) for one in golds)
        blocks.append(Table("Gold sets", tuple(name.capitalize() for name in names), rows))
    for command in dict.fromkeys(_command(card, record, run) for card in cards):
        blocks.append(Command(command, "Make it again; replies in the folder are not asked for anew"))
    return Section(f"{prefix}record", "Record, and how to repeat it", tuple(blocks))


def _command(card: ValidityCard, record: Mapping[str, Any], run: str) -> str:
    parts = ["evenhand", "validate", "--grader", card.grader]
    if card.seen is None:
        parts += ["--instruments", card.instruments]
        parts += ["--reading", card.reading] if card.reading != _USUAL_READING else []
    parts += ["--gold", _gold_as_given(card, record)]
    sample = record.get("sample")
    if isinstance(sample, Mapping) and sample.get("size") is not None:
        parts += ["--sample", str(sample["size"])]
        parts += ["--seed", str(sample["seed"])] if sample.get("seed") else []
    if record.get("split"):
        parts += ["--split", str(record["split"])]
    for kind in record.get("kinds") or ():
        parts += ["--kind", str(kind)]
    for measure, labels in (record.get("gold_positive") or {}).items():
        parts += ["--gold-positive", f"{measure}={','.join(labels)}"]
    parts += ["--option-swap"] if record.get("option_swap") else []
    for option in ("calibrate", "calibration"):
        parts += [f"--{option}", str(record[option])] if record.get(option) else []
    return shlex.join([*parts, "--out", run])


def _gold_as_given(card: ValidityCard, record: Mapping[str, Any]) -> str:
    """Return what ``--gold`` takes: the name of a set, or the path of the user's file, which has no name."""
    for one in record.get("gold") or ():
        if isinstance(one, Mapping) and one.get("name") == card.gold and one.get("licence") == _NO_LICENCE:
            return str(one.get("source"))
    return card.gold
