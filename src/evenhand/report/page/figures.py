"""How figures are written on a page: with their interval, and with the place that they come from."""

from collections.abc import Iterable

from evenhand.report.figure_texts import MEASURES, p_text
from evenhand.report.page.blocks import Cell, Shown
from evenhand.statistics import Estimate

NONE = "–"
"""Stands where there is no figure."""


def share(estimate: Estimate, path: str, *, signed: bool = False) -> Cell:
    """Return a share in percent with its interval, or a dash.

    >>> share(Estimate(0.875, 0.6, 1.0, 8, 8, ""), "blocks/0/figures/0/rate").text
    '87.5% [60.0, 100.0]'
    >>> share(Estimate(-0.02, -0.1, 0.06, 8, 8, ""), "x", signed=True).text, share(Estimate.missing("no rows"), "x")
    ('-2.0 [-10.0, +6.0]', '–')
    """
    if estimate.value is None:
        return NONE
    value = points(estimate.value, signed=signed) + ("" if signed else "%")
    if estimate.low is None or estimate.high is None:
        return Shown(value, path)
    return Shown(f"{value} [{points(estimate.low, signed=signed)}, {points(estimate.high, signed=signed)}]", path)


def plain(estimate: Estimate, path: str, *, signed: bool = False) -> Cell:
    """Return a number that is no share with its interval, to two digits.

    >>> plain(Estimate(0.5405, 0.43, 1.0, 9, 9, ""), "agreement/0/kappa").text
    '0.54 [0.43, 1.00]'
    """
    if estimate.value is None:
        return NONE
    value = hundredths(estimate.value, signed=signed)
    if estimate.low is None or estimate.high is None:
        return Shown(value, path)
    low, high = hundredths(estimate.low, signed=signed), hundredths(estimate.high, signed=signed)
    return Shown(f"{value} [{low}, {high}]", path)


def value_only(estimate: Estimate, path: str, *, signed: bool = False) -> Cell:
    """Return a share in percent without its interval, or a dash.

    >>> value_only(Estimate(0.875, 0.6, 1.0, 8, 8, ""), "blocks/0/figures/0/rate")
    Shown(text='87.5%', path='blocks/0/figures/0/rate/value', run=None, file='')
    """
    if estimate.value is None:
        return NONE
    return Shown(points(estimate.value, signed=signed) + ("" if signed else "%"), f"{path}/value")


def whole(number: int, path: str) -> Shown:
    """Return a count.

    >>> whole(1350, "pairs").text
    '1,350'
    """
    return Shown(f"{number:,}", path)


def chance(p: float | None, path: str) -> Cell:
    """Return a p or q value.

    >>> chance(0.012, "p").text, chance(0.0001, "p").text, chance(None, "p")
    ('.012', '<.001', '–')
    """
    return NONE if p is None else Shown(p_text(p), path)


def points(value: float, *, signed: bool = False) -> str:
    """Return a share in percent to one digit.

    >>> points(0.5), points(-0.00001, signed=True)
    ('50.0', '+0.0')
    """
    return f"{round(100 * value, 1) + 0.0:{'+' if signed else ''}.1f}"


def hundredths(value: float, *, signed: bool = False) -> str:
    """Return a number to two digits.

    >>> hundredths(-0.001), hundredths(0.5, signed=True)
    ('0.00', '+0.50')
    """
    return f"{round(value, 2) + 0.0:{'+' if signed else ''}.2f}"


def sentence(text: str) -> str:
    """Return a remark as a sentence, with the name of the measure that it begins with.

    >>> sentence("few pairs"), sentence("even_handedness: 2 unparseable")
    ('Few pairs.', 'Even-handed: 2 unparseable.')
    """
    for measure, name in MEASURES.items():
        if text.startswith(measure):
            text = name + text.removeprefix(measure)
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."


def why_missing(named: Iterable[tuple[str, Estimate]]) -> str:
    """Return why figures are not there, a reason once; empty where all are.

    >>> why_missing([("kappa", Estimate.missing("all the same")), ("alpha", Estimate.missing("all the same"))])
    'No kappa, alpha: all the same.'
    """
    reasons: dict[str, list[str]] = {}
    for name, estimate in named:
        if estimate.value is None:
            reasons.setdefault(estimate.method, []).append(name)
    return " ".join(f"No {', '.join(dict.fromkeys(names))}: {why}." for why, names in reasons.items())
