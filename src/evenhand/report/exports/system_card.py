"""An audit as the table of a system card: figures, intervals, grader, threshold, and how far to trust it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evenhand.report.audit_summary import Figure, GraderBlock
from evenhand.report.exports.latex import PREAMBLE, latex_table
from evenhand.report.exports.markdown import bullets, markdown_table
from evenhand.report.exports.material import AuditPart
from evenhand.report.figure_texts import measure_name, percent
from evenhand.report.page.blocks import Table
from evenhand.statistics import Estimate

INTERVALS = {"bca": "BCa bootstrap", "percentile": "percentile bootstrap"}
UNITS = {"stance": "stance pairs", "topic": "topics"}
_OF = {"pairs": "", "responses": "", "left": "left side", "right": "right side", "a": "side a", "b": "side b"}


@dataclass(frozen=True, slots=True)
class SystemCard:
    """The table, and what stands below it."""

    table: Table
    notes: tuple[str, ...]


def system_card(audits: Sequence[AuditPart]) -> SystemCard:
    """Return the card of one audit, or of several side by side."""
    blocks = [(part, block) for part in audits for block in part.summary.blocks]
    several = len(audits) > 1
    graders = {(block.grader, block.instruments) for _, block in blocks}
    thresholds = {part.summary.analysis.threshold for part in audits}
    one_threshold = next(iter(thresholds)) if len(thresholds) == 1 else None
    columns = [
        "Measure",
        "n",
        "Mean probability, %",
        "Rate, %" if one_threshold is None else f"Rate > {one_threshold:g}, %",
    ]
    if one_threshold is None:
        columns.insert(1, "Threshold")
    if len(graders) > 1:
        columns.insert(0, "Grader")
    if several:
        columns.insert(0, "Configuration")
    rows = []
    for part, block in blocks:
        for name, n, mean, rate in _lines(block):
            cells = [name, f"{n:,}", figure(mean), figure(rate)]
            if one_threshold is None:
                cells.insert(1, f"{part.summary.analysis.threshold:g}")
            if len(graders) > 1:
                cells.insert(0, f"{block.grader}, {block.instruments}")
            rows.append(tuple([configuration(part), *cells] if several else cells))
    subjects = ", ".join(dict.fromkeys(part.summary.subject for part in audits))
    table = Table(f"How {subjects} treated opposing sides, as graded", tuple(columns), tuple(rows))
    return SystemCard(table, tuple(dict.fromkeys(note for part in audits for note in _notes(part, several=several))))


def markdown_system_card(audits: Sequence[AuditPart]) -> str:
    """Return the card in Markdown."""
    card = system_card(audits)
    return f"{markdown_table(card.table)}\n\n{bullets(card.notes)}\n"


def latex_system_card(audits: Sequence[AuditPart]) -> str:
    """Return the card in LaTeX."""
    card = system_card(audits)
    return f"{PREAMBLE}\n{latex_table(card.table, 'system-card', card.notes)}\n"


def configuration(part: AuditPart) -> str:
    """Return what an audit is called among others."""
    return part.summary.configuration or part.summary.subject


def figure(estimate: Estimate, *, signed: bool = False) -> str:
    """Return a figure in percent with its interval.

    >>> figure(Estimate(0.875, 0.6, 1.0, 8, 8, "")), figure(Estimate.missing("no rows"))
    ('87.5 [60.0, 100.0]', '-')
    """
    return " ".join(percent(estimate, signed=signed).split()).replace("[ ", "[")


def trust_lines(part: AuditPart) -> tuple[str, ...]:
    """Return how far the graders of an audit can be trusted, or that nothing is known of it."""
    if part.card_lines:
        return part.card_lines
    graders = ", ".join(dict.fromkeys(block.grader for block in part.summary.blocks)) or "the grader"
    return (f"How far {graders} agrees with people is not known: no validity card is at hand.",)


def _lines(block: GraderBlock) -> Iterator[tuple[str, int, Estimate, Estimate]]:
    for one in block.figures:
        yield _name(one), one.mean.n, one.mean, one.rate
        if one.measure == "even_handedness" and one.of == "pairs":
            neither = next((cell for cell in block.cells if cell.name == "helped neither"), None)
            if neither is not None:
                yield "Helped neither side", neither.mean.n, neither.mean, neither.rate


def _name(one: Figure) -> str:
    name = "Even-handedness" if one.measure == "even_handedness" else measure_name(one.measure)
    of = _OF.get(one.of, one.of)
    return f"{name}, {of}" if of else name


def _notes(part: AuditPart, *, several: bool) -> Iterator[str]:
    summary = part.summary
    analysis = summary.analysis
    yield (
        f"In brackets: 95% intervals ({INTERVALS[analysis.interval]}, {analysis.draws:,} draws that resample"
        f" {UNITS[analysis.unit]}). Mean probability: that the grader gave. Rate: share of the n whose probability is"
        f" above {analysis.threshold:g}; of a pair, the mean of its two values is compared. n: pairs, or responses to a"
        " side, with a readable judgment."
    )
    who = f"{configuration(part)}: " if several else ""
    for block in summary.blocks:
        answers = "; ".join(f"{measure_name(name)} {', '.join(labels)}" for name, labels in block.positive.items())
        yield f"{who}{'g' if who else 'G'}raded by {block.grader} with the instruments {block.instruments}" + (
            f"; the answers that count: {answers}." if answers else "."
        )
    for line in trust_lines(part):
        yield f"{who}{line}"
    for block in summary.blocks:
        missing = {reason: name for name, _, mean, rate in _lines(block) for reason in _reasons(mean, rate)}
        for reason, name in missing.items():
            yield f"{who}{name}: no figure or no interval ({reason})."
    pairs = part.record.get("settings", {}).get("pairs", {})
    of_set = f" of {pairs['name']}" if pairs.get("name") else ""
    sha = str(pairs.get("used_sha256") or pairs.get("sha256") or "")[:12]
    yield (
        f"{who}{summary.pairs:,} paired prompts{of_set} over {summary.stance_pairs:,} stance pairs and"
        f" {summary.topics:,} topics" + (f" (SHA-256 {sha}...)" if sha else "") + "; measured with Evenhand"
        f" {part.record.get('evenhand', '(version not recorded)')}."
    )


def _reasons(*estimates: Estimate) -> Iterator[str]:
    for one in estimates:
        if one.value is None or one.low is None or one.high is None:
            yield one.method
