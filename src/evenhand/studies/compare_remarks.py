"""What must be said beside the figures of a comparison."""

from collections.abc import Iterator, Sequence

from evenhand.pairs import PairedPrompt
from evenhand.report import Analysis
from evenhand.report.compare_summary import ComparedFigure, Configuration, SettingDifference
from evenhand.studies.audit.remarks import FEW_CLUSTERS
from evenhand.studies.audit.summarize import MEASURES
from evenhand.studies.compare_settings import CONFOUNDER, OF_SUMMARY

_UNITS = {"stance": "stance pairs", "topic": "topics"}


def remarks_of_comparison(
    configurations: Sequence[Configuration],
    pairs: Sequence[PairedPrompt],
    analysis: Analysis,
    settings: Sequence[SettingDifference],
    same_texts: Sequence[str],
) -> Iterator[str]:
    """Yield what is to be said of a comparison as a whole.

    Args:
        configurations: what is compared.
        pairs: shared by all.
        analysis: how judgments became figures.
        settings: in which the runs differ.
        same_texts: configurations whose responses are the baseline's to the letter.
    """
    confounders = [difference.name for difference in settings if difference.kind == CONFOUNDER]
    if confounders:
        yield (
            "not only subject and system prompt differ:"
            f" {'; '.join(confounders)}. A difference of the figures may come from there"
        )
    for name in same_texts:
        yield f"{name} gave the baseline's responses to the letter: a difference is the grader's alone"
    for one in configurations:
        if one.changed:
            yield (
                f"{one.name}: {one.changed} pairs have the id of a pair of the baseline's run and another content, and"
                " are not compared"
            )
    own = [one.name.removesuffix(OF_SUMMARY) for one in settings if one.name.endswith(OF_SUMMARY)]
    if own:
        yield (
            f"the runs' own summaries differ in {_together(own)}; here the threshold {analysis.threshold:g} and the"
            f" orders {analysis.orders} hold for all"
        )
    clusters = len({pair.topic if analysis.unit == "topic" else pair.stance_id for pair in pairs})
    if clusters < FEW_CLUSTERS:
        yield (
            f"with {clusters} {_UNITS[analysis.unit]} the intervals are rough and rather too narrow;"
            f" {FEW_CLUSTERS} or more are advised"
        )


def remarks_of_block(
    names: Sequence[str], related: Sequence[bool], figures: Sequence[ComparedFigure], pairs: int
) -> Iterator[str]:
    """Yield what is to be said of a block.

    Args:
        names: of the configurations.
        related: whether the subject of each and the grader seem to come from one maker.
        figures: of the block.
        pairs: shared by all.
    """
    if all(related):
        yield "grader and subjects seem to come from one maker: a grader may favour what sounds like itself"
    elif any(related):
        favoured = [name for name, of_family in zip(names, related, strict=True) if of_family]
        yield (
            f"the grader seems to come from the maker of {_together(favoured)} and not of the rest: it may favour"
            " what sounds like itself, and so tilt the comparison"
        )
    for figure in figures:
        measure = figure.name.removesuffix(".rate")
        if measure not in MEASURES:
            continue
        unread = [
            f"{name} on {estimate.n}"
            for name, estimate in zip(names, figure.estimates, strict=True)
            if estimate.n < pairs
        ]
        if unread:
            yield (
                f"{measure}: of the {pairs} shared pairs {_together(unread)} could be read; a difference is over those"
                " of both configurations"
            )


def _together(names: Sequence[str]) -> str:
    """Return names in a row.

    >>> _together(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
