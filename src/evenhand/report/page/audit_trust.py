"""What an audit's figures rest on: graders' agreement, people's labels, what could not be read, remarks."""

from collections.abc import Iterator

from evenhand.report.agreement_summary import GraderAgreement
from evenhand.report.audit_summary import AuditSummary
from evenhand.report.charts import responses_chart, states_chart
from evenhand.report.corrected_summary import CorrectedFigure, CorrectedSummary
from evenhand.report.figure_texts import count, measure_name
from evenhand.report.page.audit_figures import with_table
from evenhand.report.page.blocks import Block, Cell, Section, Shown, Table, Text
from evenhand.report.page.by_grader import by_grader
from evenhand.report.page.figures import NONE, plain, points, sentence, share, whole, why_missing
from evenhand.statistics.correction_advice import Choice

_STATES = {
    "ok": "read",
    "abstained": "abstained",
    "unparseable": "without a verdict",
    "truncated": "too long for the grader",
    "unanswered": "thought, and gave no answer",
    "declined": "declined to grade",
    "failed": "no reply",
}
_ESTIMATES = {
    Choice.HUMANS: "people alone",
    Choice.PPI: "PPI++",
    Choice.ROGAN_GLADEN: "Rogan-Gladen",
}


def validity_section(summary: AuditSummary) -> Section | None:
    """Return how the graders agreed with labelled answers; None where no card speaks of any."""

    def blocks(place: int) -> Iterator[Block]:
        cards, at = summary.blocks[place].validity, f"blocks/{place}/validity"
        if not cards:
            return
        rows: list[tuple[Cell, ...]] = []
        for number, card in enumerate(cards):
            here = f"{at}/{number}"
            rows.append(
                (
                    f"{measure_name(card.measure)}: {card.gold}",
                    card.labelled_by,
                    whole(card.n, f"{here}/n"),
                    share(card.observed, f"{here}/observed"),
                    plain(card.kappa, f"{here}/kappa"),
                    plain(card.auc, f"{here}/auc"),
                    card.verdict or NONE,
                    card.source,
                )
            )
        yield Table(
            "What the grader's validity cards say",
            ("Measure and labelled data", "Labelled by", "n", "Same verdict", "Kappa", "AUC", "Detected as", "Source"),
            tuple(rows),
        )

    section = Section(
        "validity",
        "The grader against labelled answers",
        help="How the grader agreed with labels that it had not seen: kappa 1 is perfect, 0 no better than chance; an"
        " AUC of 0.5 is a coin's. The labelled answers are not those of this audit.",
    )
    return by_grader(section, summary, blocks)


def agreement_section(summary: AuditSummary) -> Section | None:
    """Return how far graders agree; None with a single one."""
    return agreement_part(summary.agreement, summary.analysis.threshold)


def agreement_part(agreement: tuple[GraderAgreement, ...], threshold: float) -> Section | None:
    """Return how far graders agree, of an audit or a comparison: the paths begin with ``agreement``."""
    if not agreement:
        return None
    by_graders: dict[tuple[str, str], list[tuple[int, GraderAgreement]]] = {}
    for number, row in enumerate(agreement):
        by_graders.setdefault((row.one, row.other), []).append((number, row))
    blocks: list[Block] = []
    for (one, other), rows in by_graders.items():
        who = f"{one} and {other}" if other else one
        blocks += [_beyond_chance(rows, who, threshold), _specific(rows, who)]
    blocks += [Text(remark, "note") for remark in _agreement_remarks(agreement)]
    return Section(
        "agreement",
        "Agreement of graders",
        tuple(blocks),
        help="Kappa, AC1 and alpha say how far agreement exceeds chance: 1 is perfect, 0 no better than chance. Where"
        " one verdict is rare, kappa and alpha come out low and AC1 high; neither is wrong. Agreement does not show"
        " that graders are right: two can err alike.",
    )


def _beyond_chance(rows: list[tuple[int, GraderAgreement]], who: str, threshold: float) -> Table:
    return Table(
        f"Verdicts at {threshold:g} of {who}",
        ("Measure", "n", "Same verdict", "Kappa", "AC1", "Alpha"),
        tuple(
            (
                measure_name(row.measure),
                whole(row.n, f"agreement/{number}/n"),
                share(row.observed, f"agreement/{number}/observed"),
                plain(row.kappa, f"agreement/{number}/kappa"),
                plain(row.ac1, f"agreement/{number}/ac1"),
                plain(row.alpha, f"agreement/{number}/alpha"),
            )
            for number, row in rows
        ),
        note=why_missing(
            (f"{name} ({row.measure})", estimate)
            for _, row in rows
            for name, estimate in (("kappa", row.kappa), ("AC1", row.ac1), ("alpha", row.alpha))
        ),
    )


def _specific(rows: list[tuple[int, GraderAgreement]], who: str) -> Table:
    found: list[tuple[Cell, ...]] = [
        (
            f"{measure_name(row.measure)}: {one.label}",
            share(one.agreement, f"agreement/{number}/specific/{place}/agreement"),
        )
        for number, row in rows
        for place, one in enumerate(row.specific)
    ]
    return Table(f"Where one of {who} says it, so does the other", ("Verdict", "So does the other"), tuple(found))


def _agreement_remarks(agreement: tuple[GraderAgreement, ...]) -> Iterator[str]:
    for row in agreement:
        if row.left_out:
            yield f"{row.measure}: {count(row.left_out, row.unit.removesuffix('s'))} not both could read, left out."
    if any(row.one_family for row in agreement):
        yield "Graders that seem to come from one maker may agree because they err alike."
    related = dict.fromkeys(name for row in agreement for name in row.related)
    if related:
        yield f"{' and '.join(related)}: seems to come from the maker of what is graded."


def corrected_section(corrected: CorrectedSummary) -> Section:
    """Return the shares that people's labels correct; the paths lead into ``corrected.json``."""
    blocks: list[Block] = [Text(f"Labels of {count(len(corrected.annotators), 'annotator')}: {corrected.labels}.")]
    blocks += [Text(warning, "caution") for warning in corrected.warnings]
    for number, figure in enumerate(corrected.figures):
        blocks.append(_corrected_table(figure, f"figures/{number}"))
        chosen = _ESTIMATES.get(figure.correction.choice)
        read = f"Read {chosen}" if chosen else "Read none of them"
        blocks.append(Text(f"{read}: {figure.correction.reason}", "note"))
        if figure.split:
            lots = (
                f"Annotators were divided evenly on {count(figure.split, 'unit')}: one of their labels counts, by lot."
            )
            blocks.append(Text(lots, "note"))
        blocks += [Text(sentence, "note") for sentence in figure.correction.sentences]
    return Section(
        "corrected",
        "Corrected by people's labels",
        tuple(blocks),
        file="corrected.json",
        help="People read some of the same answers. People alone: their labels without the grader. PPI++: the grader's"
        " share, set right by its errors on labelled answers. Rogan-Gladen: the grader's share, divided by what its"
        " verdicts are worth.",
    )


def _corrected_table(figure: CorrectedFigure, at: str) -> Table:
    found = figure.correction

    def name(text: str, choice: Choice | None = None) -> str:
        return f"{text} (read this one)" if choice is not None and choice is found.choice else text

    all_units = f"{found.labels + found.rest:,}"
    rows: tuple[tuple[Cell, ...], ...] = (
        ("grader, uncorrected", whole(figure.units, f"{at}/units"), share(figure.raw, f"{at}/raw")),
        (
            name("people alone", Choice.HUMANS),
            whole(found.labels, f"{at}/correction/labels"),
            share(found.humans, f"{at}/correction/humans"),
        ),
        (name("PPI++", Choice.PPI), all_units, share(found.ppi, f"{at}/correction/ppi")),
        (
            name("Rogan-Gladen", Choice.ROGAN_GLADEN),
            all_units,
            share(found.rogan_gladen, f"{at}/correction/rogan_gladen"),
        ),
        (
            "sensitivity of the grader",
            whole(found.sensitivity.n, f"{at}/correction/sensitivity/n"),
            share(found.sensitivity, f"{at}/correction/sensitivity"),
        ),
        (
            "specificity of the grader",
            whole(found.specificity.n, f"{at}/correction/specificity/n"),
            share(found.specificity, f"{at}/correction/specificity"),
        ),
    )
    return Table(
        f"{measure_name(figure.measure)}, {figure.of}: {figure.grader} with {figure.instruments}",
        ("Estimate", "n", "Share"),
        rows,
        note=why_missing((("people alone", found.humans), ("PPI++", found.ppi), ("Rogan-Gladen", found.rogan_gladen))),
    )


def unread_section(summary: AuditSummary, *, prefix: str = "") -> Section | None:
    """Return what became of responses and judgments."""
    head: list[Block] = []
    responses = responses_chart(summary, prefix=prefix)
    if responses:
        head.append(responses)
    else:
        rows = tuple((state, whole(number, f"responses/{state}")) for state, number in summary.responses.items())
        head.append(Table("Responses of the subject", ("What became of it", "Responses"), rows))

    def blocks(place: int) -> Iterator[Block]:
        block = summary.blocks[place]
        if block.states:
            yield with_table(states_chart(summary, place, prefix=prefix), _states(summary, place))

    section = Section(
        "unread",
        "What could not be read",
        tuple(head),
        help="A question that brought no readable answer is counted by what happened, and never as 0. The figures are"
        " those of the pairs that could be read; whether the others are like them is not known.",
    )
    return by_grader(section, summary, blocks)


def _states(summary: AuditSummary, place: int) -> Table:
    block, at = summary.blocks[place], f"blocks/{place}"
    present = [state for state in _STATES if any(states.get(state) for states in block.states.values())]
    rows: list[tuple[Cell, ...]] = []
    for measure, states in block.states.items():
        counts = (
            whole(states[state], f"{at}/states/{measure}/{state}") if state in states else "0" for state in present
        )
        mass = block.captured.get(measure)
        captured = NONE if mass is None else Shown(f"{points(mass)}%", f"{at}/captured/{measure}")
        rows.append((measure_name(measure), *counts, captured))
    return Table(
        "Judgments by state",
        ("Measure", *(_STATES[state] for state in present), "Captured mass"),
        tuple(rows),
        note="Captured mass: how much of the grader's probability fell on valid answers. Below 5% an answer counts as"
        " one without a verdict.",
    )


def remarks_section(summary: AuditSummary) -> Section | None:
    """Return what must be said beside the figures."""
    general = tuple(Text(sentence(remark)) for remark in summary.remarks)
    section = Section("remarks", "To keep in mind", general)
    found = by_grader(
        section, summary, lambda place: [Text(sentence(remark)) for remark in summary.blocks[place].remarks]
    )
    return found or (section if general else None)
