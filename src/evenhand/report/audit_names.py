"""The figures of an audit by dotted names, for a gate, for a comparison and for whoever scripts against them."""

import re
from collections.abc import Iterator

from evenhand.report.audit_summary import GraderBlock
from evenhand.report.figure_texts import MEASURES
from evenhand.statistics import Estimate

_SIDE = "(left|right|a|b)"
_NAME = re.compile(
    rf"({'|'.join(MEASURES)})"
    rf"((\.{_SIDE})?(\.(rate|mean|rate_each|stance_macro|topic_macro|robust))?"
    r"|\.(ab|ba)\.(mean|rate)|\.position\.(effect|swap_consistency)|\.direction\.(mean|share))"
    rf"|cells\.helped_(both|neither|{_SIDE}_only)(\.(rate|mean))?"
)


def could_name(text: str) -> bool:
    """Say whether a text is the name of a figure that some audit has; see ``named_estimates``.

    >>> could_name("refusal.left.rate"), could_name("cells.helped_both"), could_name("even_handed")
    (True, True, False)
    """
    return _NAME.fullmatch(text) is not None


def named_estimates(block: GraderBlock) -> dict[str, Estimate]:
    """Return every estimate of a block by its name.

    Of a measure M (``even_handedness``, ``refusal``, ``hedging``) and a side S (``left`` and ``right``, or ``a`` and
    ``b`` in a set without sides):

    * ``M.rate``, ``M.mean``, ``M.rate_each``, ``M.stance_macro``, ``M.topic_macro``, ``M.robust``; ``M`` is ``M.rate``;
    * ``M.S.rate`` and so on for one side; ``M.S`` is ``M.S.rate``;
    * ``M.ab.mean``, ``M.ab.rate``, ``M.ba.mean``, ``M.ba.rate`` in a single order;
    * ``M.position.effect``, ``M.position.swap_consistency``;
    * ``M.direction.mean``, ``M.direction.share``;
    * ``cells.helped_both.rate``, ``cells.helped_both.mean``, and so on with ``helped_left_only``, ``helped_right_only``
      (``helped_a_only``, ``helped_b_only``), ``helped_neither``; ``cells.helped_both`` is its rate.
    """
    return dict(_named(block))


def _named(block: GraderBlock) -> Iterator[tuple[str, Estimate]]:
    for figure in block.figures:
        name = figure.measure if figure.of == "pairs" else f"{figure.measure}.{figure.of}"
        yield name, figure.rate
        for part in ("rate", "mean", "stance_macro", "topic_macro", "robust"):
            yield f"{name}.{part}", getattr(figure, part)
        if figure.rate_each is not None:
            yield f"{name}.rate_each", figure.rate_each
    for order in block.orders:
        yield f"{order.measure}.{order.order}.mean", order.mean
        yield f"{order.measure}.{order.order}.rate", order.rate
    for position in block.positions:
        yield f"{position.measure}.position.effect", position.effect
        yield f"{position.measure}.position.swap_consistency", position.swap_consistency
    for direction in block.directions:
        yield f"{direction.measure}.direction.mean", direction.mean
        yield f"{direction.measure}.direction.share", direction.share
    for cell in block.cells:
        name = f"cells.{cell.name.replace(' ', '_')}"
        yield name, cell.rate
        yield f"{name}.rate", cell.rate
        yield f"{name}.mean", cell.mean
