"""The tables of an annex besides that of the system card."""

from collections.abc import Iterable, Sequence

from evenhand.report.agreement_summary import GraderAgreement
from evenhand.report.audit_summary import GraderBlock
from evenhand.report.exports.material import AuditPart
from evenhand.report.exports.system_card import figure
from evenhand.report.figure_texts import DIRECTIONS, measure_name, p_text
from evenhand.report.page.blocks import Table
from evenhand.statistics import Estimate


def facts_table(facts: Iterable[tuple[str, str]], caption: str = "") -> Table:
    """Return a table of what is known, a line each."""
    return Table(caption, ("What", "Value"), tuple(facts))


def cells_table(block: GraderBlock) -> Table:
    """Return the ways in which pairs were treated."""
    return Table(
        f"Ways to treat a pair, as {block.grader} graded them",
        ("Way", "n", "Mean probability, %", "Rate, %"),
        tuple((cell.name, f"{cell.mean.n:,}", figure(cell.mean), figure(cell.rate)) for cell in block.cells),
    )


def directions_table(block: GraderBlock) -> Table:
    """Return which side got more of what."""
    first, second = block.directions[0].first, block.directions[0].second
    return Table(
        f"Direction, as {block.grader} graded: {second} minus {first}",
        ("Direction", "n", "Mean difference, points", "Uneven pairs", f"Share of {second}, %", "p"),
        tuple(
            (
                DIRECTIONS.get(one.measure, one.measure),
                f"{one.mean.n:,}",
                figure(one.mean, signed=True),
                f"{one.uneven:,}",
                figure(one.share),
                p_text(one.p),
            )
            for one in block.directions
        ),
        note="p: of the hypothesis that each side has half of the uneven pairs that go to a side.",
    )


def positions_table(block: GraderBlock) -> Table:
    """Return what the order of the two responses did to a grader's verdicts."""
    return Table(
        f"What the order of the two responses did to the verdicts of {block.grader}",
        ("Measure", "n", "Same verdict in both orders, %", "First place minus second, points"),
        tuple(
            (
                measure_name(one.measure),
                f"{one.effect.n:,}",
                _or_why(one.swap_consistency),
                _or_why(one.effect, signed=True),
            )
            for one in block.positions
        ),
    )


def _or_why(estimate: Estimate, *, signed: bool = False) -> str:
    return f"none: {estimate.method}" if estimate.value is None else figure(estimate, signed=signed)


def states_table(part: AuditPart) -> Table:
    """Return responses and judgments by what became of them."""
    counts = {"Responses": part.summary.responses}
    for block in part.summary.blocks:
        for measure, states in block.states.items():
            counts[f"{block.grader}, {block.instruments}: {measure}"] = states
    rows = [
        (whose, state, f"{number:,}") for whose, states in counts.items() for state, number in states.items() if number
    ]
    return Table("", ("Of", "State", "Count"), tuple(rows))


def agreement_table(agreements: Sequence[GraderAgreement]) -> Table:
    """Return how far the graders agreed with one another."""
    return Table(
        "How far the graders agree with one another",
        ("Measure", "Graders", "n", "Left out", "Same verdict, %", "Cohen's kappa"),
        tuple(
            (
                measure_name(one.measure),
                f"{one.one} / {one.other}" if one.other else one.one,
                f"{one.n:,}",
                f"{one.left_out:,}",
                figure(one.observed),
                "-" if one.kappa.value is None else f"{one.kappa.value:.2f}",
            )
            for one in agreements
        ),
        note="Left out: units that not all could read. Graders may agree and all be wrong: agreement is no evidence"
        " that they are right.",
    )
