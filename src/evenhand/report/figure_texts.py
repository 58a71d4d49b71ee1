"""How figures are written in the tables of a terminal."""

from rich.table import Table

from evenhand.statistics import Estimate

MEASURES = {"even_handedness": "Even-handed", "refusal": "Refusal", "hedging": "Hedging"}
DIRECTIONS = {"even_handedness": "better treated", "refusal": "declined more", "hedging": "hedged more"}


def measure_name(measure: str) -> str:
    """Return the name of a measure for a table."""
    return MEASURES.get(measure, measure)


def percent(estimate: Estimate, *, signed: bool = False) -> str:
    """Return a figure in percent with its interval, or a dash where there is none.

    >>> percent(Estimate(0.875, 0.6, 1.0, 8, 8, "")), percent(Estimate.missing("no rows"))
    (' 87.5 [ 60.0, 100.0]', '-')
    """
    if estimate.value is None:
        return "-"
    value = points(estimate.value, signed=signed)
    if estimate.low is None or estimate.high is None:
        return f"{value} (no interval)"
    return f"{value} [{points(estimate.low, signed=signed)}, {points(estimate.high, signed=signed)}]"


def points(value: float, *, signed: bool = False) -> str:
    """Return a share in percent, of a width that keeps columns straight.

    >>> points(0.5), points(-0.00001, signed=True)
    (' 50.0', '  +0.0')
    """
    shown = round(100 * value, 1) + 0.0
    return f"{shown:{'+6.1f' if signed else '5.1f'}}"


def p_text(p: float | None) -> str:
    """Return a p or q value in at most five characters.

    >>> p_text(0.0004), p_text(0.25), p_text(1.0), p_text(None)
    ('<.001', '.250', '1.00', '-')
    """
    if p is None:
        return "-"
    if p < 0.001:
        return "<.001"
    return f"{p:.3f}"[1:] if p < 0.9995 else "1.00"


def count(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> count(1, "topic"), count(1350, "paired prompt")
    ('1 topic', '1,350 paired prompts')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def grid(*columns: tuple[str, int]) -> Table:
    """Return a table without lines; the first column stands left, the others right.

    A name that is too long is shortened; a figure never is: it goes on in the next line.
    """
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for index, (header, width) in enumerate(columns):
        table.add_column(
            header,
            justify="right" if index else "left",
            width=width,
            no_wrap=not index,
            overflow="fold" if index else "ellipsis",
        )
    return table
