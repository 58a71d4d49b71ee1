"""How far graders agree, as tables for a terminal of 80 columns."""

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from evenhand.report.agreement_summary import GraderAgreement
from evenhand.report.figure_texts import count, grid, measure_name
from evenhand.statistics import Estimate


def agreement_tables(agreement: Sequence[GraderAgreement], threshold: float) -> Iterator[RenderableType]:
    """Yield what a terminal shows of the agreement between graders; nothing where there is none."""
    by_graders: dict[tuple[str, str], list[GraderAgreement]] = {}
    for row in agreement:
        by_graders.setdefault((row.one, row.other), []).append(row)
    for (one, other), rows in by_graders.items():
        yield Text()
        yield Text(f"Agreement of {one} and {other}" if other else f"Agreement of {one}", style="bold")
        yield _beyond_chance(rows, threshold)
        yield _specific(rows)
        for remark in _remarks(rows):
            yield Padding(Text(f"- {remark}"), (0, 0, 0, 1), expand=False)


def _beyond_chance(rows: Sequence[GraderAgreement], threshold: float) -> RenderableType:
    table = grid((f"at {threshold:g}", 11), ("observed", 14), ("kappa", 17), ("AC1", 17), ("alpha", 17))
    for row in rows:
        table.add_row(measure_name(row.measure), *map(_figure, (row.observed, row.kappa, row.ac1, row.alpha)))
    return table


def _specific(rows: Sequence[GraderAgreement]) -> RenderableType:
    table = grid(("one says", 12), ("n", 6), ("so does the other", 28), ("", 28))
    table.columns[2].justify = table.columns[3].justify = "left"
    for row in rows:
        figures = (f"{one.label} {_figure(one.agreement)}" for one in row.specific)
        table.add_row(measure_name(row.measure), f"{row.n}", *figures)
    return table


def _remarks(rows: Sequence[GraderAgreement]) -> Iterator[str]:
    for row in rows:
        if row.left_out:
            left = count(row.left_out, row.unit.removesuffix("s"))
            yield f"{row.measure}: {left} could not be read by both and left out"
        missing: dict[str, list[str]] = {}
        for name, figure in (("kappa", row.kappa), ("AC1", row.ac1), ("alpha", row.alpha)):
            if figure.value is None:
                missing.setdefault(figure.method, []).append(name)
        for why, names in missing.items():
            yield f"{row.measure}, no {' and no '.join(names)}: {why}"
    if any(row.one_family for row in rows):
        yield "graders that seem to come from one maker may agree because they err alike"
    related = dict.fromkeys(name for row in rows for name in row.related)
    if related:
        yield f"{' and '.join(related)}: seems to come from the maker of what is graded"


def _figure(estimate: Estimate) -> str:
    """Return an agreement with its interval, or a dash where there is none.

    >>> _figure(Estimate(0.5405, 0.43, 1.0, 9, 9, "")), _figure(Estimate(-0.03, None, None, 9, 9, ""))
    ('.54 [.43, 1.0]', '-.03')
    """
    if estimate.value is None:
        return "-"
    if estimate.low is None or estimate.high is None:
        return _short(estimate.value)
    return f"{_short(estimate.value)} [{_short(estimate.low)}, {_short(estimate.high)}]"


def _short(value: float) -> str:
    """Return two digits without the zero before the point.

    >>> _short(0.9999), _short(0.05), _short(-0.001), _short(-1.0)
    ('1.0', '.05', '.00', '-1.0')
    """
    shown = round(value, 2) + 0.0
    return f"{shown:.1f}" if abs(shown) >= 1 else f"{shown:.2f}".replace("0.", ".", 1)
