"""Charts of how a grader agrees with people."""

from evenhand.report.charts.chart import Row, chart, named, values
from evenhand.report.charts.forest import Line, Mark, forest
from evenhand.report.charts.frame import Axis
from evenhand.report.charts.labels import numbers
from evenhand.report.figure_texts import measure_name
from evenhand.report.page.blocks import Chart
from evenhand.report.page.figures import plain, whole
from evenhand.report.validity_card import ValidityCard
from evenhand.statistics import Estimate


def agreement_chart(card: ValidityCard, number: int, *, prefix: str = "") -> Chart | None:
    """Return agreement, and agreement on each class; ``number`` is the card's place in ``validation.json``."""
    at = f"cards/{number}"
    parts: list[tuple[str, list[tuple[str, Estimate, str]]]] = [
        (
            f"Two classes, at the threshold {card.threshold:g}",
            [(name, getattr(card, field), f"{at}/{field}") for name, field in _AGREEMENT],
        ),
        (
            "Where one says so, so does the other",
            [(one.label, one.agreement, f"{at}/specific/{place}/agreement") for place, one in enumerate(card.specific)],
        ),
        (
            "Telling the classes apart",
            [
                ("sensitivity", card.sensitivity, f"{at}/sensitivity"),
                ("specificity", card.specificity, f"{at}/specificity"),
                ("AUC", card.auc, f"{at}/auc"),
            ],
        ),
    ]
    if card.classes is not None:
        parts.append(
            (
                "All classes",
                [
                    *((name, getattr(card.classes, field), f"{at}/classes/{field}") for name, field in _AGREEMENT),
                    *(
                        (one.label, one.agreement, f"{at}/classes/specific/{place}/agreement")
                        for place, one in enumerate(card.classes.specific)
                    ),
                ],
            )
        )
    lines: list[Line] = []
    rows: list[Row] = []
    spoken = []
    for heading, figures in parts:
        lines.append(Line(heading))
        for name, one, path in figures:
            lines.append(Line(name, (one,), numbers(one), f"{one.n:,}", indent=True))
            rows.append((heading, name, whole(one.n, f"{path}/n"), plain(one, path)))
            spoken.append((name, numbers(one)))
    ends = values(*(figure for line in lines for figure in line.figures), scale=1)
    if not ends:
        return None
    return chart(
        f"{prefix}card-{number + 1}-agreement",
        f"{measure_name(card.measure)}: agreement of {named(card.grader)} with {card.whom}",
        spoken,
        forest(
            lines,
            _from(min(ends)),
            scale=1,
            mark=Mark(0) if min(ends) < 0 else None,
            said="[95% interval]",
            counted="n",
        ),
        (("Figure of", "Figure", "n", "Value"), rows),
        note=said_of(card),
        before="Points with intervals; 1 is perfect.",
    )


_AGREEMENT = (("observed", "observed"), ("kappa", "kappa"), ("AC1", "ac1"), ("alpha", "alpha"))


def controls_chart(card: ValidityCard, number: int, *, prefix: str = "") -> Chart | None:
    """Return what should make no difference, and what it made."""
    found = [
        (name, getattr(card.controls, field), f"cards/{number}/controls/{field}", signed)
        for name, field, signed in _CONTROLS
        if getattr(card.controls, field).value is not None
    ]
    if not found:
        return None
    ends = values(*(one for _, one, _, _ in found), scale=1)
    lines = [Line(name, (one,), numbers(one, signed=signed), f"{one.n:,}") for name, one, _, signed in found]
    rows: list[Row] = [
        (name, whole(one.n, f"{path}/n"), plain(one, path, signed=signed)) for name, one, path, signed in found
    ]
    mark = Mark(0) if min(ends) < 0 else None
    return chart(
        f"{prefix}card-{number + 1}-controls",
        f"{measure_name(card.measure)}: what should make no difference",
        [(line.label, line.said) for line in lines],
        forest(lines, _from(min(ends)), scale=1, mark=mark, said="[95% interval]", counted="n"),
        (("Control", "n", "Value"), rows),
        note=f"Of verdicts that stay the same 1 is best, of changes 0; an area under the curve of 0.5 is chance."
        f" {said_of(card)}",
        before="Points with intervals.",
    )


_CONTROLS = (
    ("same verdict in both orders", "swap_consistency", False),
    ("P(first) - P(second shown)", "position_effect", True),
    ("AUC of a against b", "direction_auc", False),
    ("same verdict, options reversed", "option_swap", False),
    ("change of P, options reversed", "option_shift", True),
    ("AUC of length alone", "length_alone", False),
    ("AUC at equal length", "equal_length", False),
    ("AUC of length at equal length", "length_left", False),
)


def raters_chart(card: ValidityCard, number: int, *, prefix: str = "") -> Chart | None:
    """Return how far the grader agrees with each annotator, and they with one another."""
    ends = values(*(one.kappa for one in card.annotators), *(one.observed for one in card.annotators), scale=1)
    if not ends:
        return None
    # The grader is in the title's note; its name would leave no room for that of the other.
    pairs = [
        (" - ".join("the grader" if name == card.grader else name for name in (one.one, one.other)), one, place)
        for place, one in enumerate(card.annotators)
    ]
    lines = [Line(name, (one.kappa, one.observed), numbers(one.kappa), f"{one.n:,}") for name, one, _ in pairs]
    rows: list[Row] = []
    for name, one, place in pairs:
        at = f"cards/{number}/annotators/{place}"
        figures = (plain(getattr(one, field), f"{at}/{field}") for _, field in _AGREEMENT)
        rows.append((name, whole(one.n, f"{at}/n"), *figures))
    return chart(
        f"{prefix}card-{number + 1}-raters",
        f"{measure_name(card.measure)}: who agrees with whom",
        [(name, f"kappa {numbers(one.kappa)}") for name, one, _ in pairs],
        forest(
            lines,
            _from(min(ends)),
            series=("kappa", "observed agreement"),
            scale=1,
            mark=Mark(0) if min(ends) < 0 else None,
            said="kappa [95% interval]",
            counted="n",
        ),
        (("Two raters", "n", *(name.capitalize() if name.islower() else name for name, _ in _AGREEMENT)), rows),
        note=f"How far annotators agree with one another is the mark to reach. {said_of(card)}",
        before="Points with intervals, two a row: kappa and observed agreement.",
    )


def said_of(card: ValidityCard) -> str:
    """Return what the figures of a card rest on."""
    part = f", part {card.split}" if card.split else ""
    labelled = card.how_labelled
    return (
        f"{named(card.grader)} with the instruments {named(card.instruments)} against {named(card.gold)}{part}:"
        f" {card.items:,} items"
        f" {labelled}, {card.n:,} in the figures. 95% intervals over {_CLUSTERS.get(card.cluster, card.cluster)}."
    )


_CLUSTERS = {"item": "items", "issue": "issues", "prompt": "prompts"}


def _from(least: float) -> Axis:
    if least >= 0:
        return Axis(0, 1, "", (0, 0.25, 0.5, 0.75, 1))
    low = -0.5 if least >= -0.5 else -1
    return Axis(low, 1, "", tuple(low + 0.5 * step for step in range(int((1 - low) / 0.5) + 1)))
