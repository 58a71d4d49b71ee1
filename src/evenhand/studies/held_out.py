"""Which rows are fitted to and which are scored, so that what is held out takes no part in a fit."""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np

from evenhand.graders.fitted.training import Mask
from evenhand.studies.fit_grader import Problem

Split: TypeAlias = tuple[Mask, Mask]
"""Rows that are fitted to, and rows that are scored."""


def families_left_out(problem: Problem, sources: Sequence[str], scored: str, half: str) -> Iterator[Split]:
    """Leave out each family of models that wrote answers of the scored source, in all sources.

    Fitted to is the fitting half; with the testing half scored, requests are held out, too.
    """
    for name in _families(problem, scored):
        yield (
            problem.where(half="fit", sources=sources, but_family=name),
            problem.where(half=half, sources=[scored], of_family=name),
        )


def families_alone_left_out(problem: Problem, sources: Sequence[str], scored: str) -> Iterator[Split]:
    """Leave out each family, and fit to all answers of the others, those to the same requests as well."""
    fitted = problem.where(half="fit", sources=sources) | problem.where(sources=[scored])
    for name in _families(problem, scored):
        yield fitted & problem.where(but_family=name), problem.where(sources=[scored], of_family=name)


def issues_left_out(problem: Problem, sources: Sequence[str], scored: str, folds: int = 5) -> Iterator[Split]:
    """Leave out a share of the issues of the fitting half in turn, each once."""
    inside = problem.where(half="fit", sources=sources)
    clusters = sorted({each.cluster for each in problem.examples if each.source == scored and each.half == "fit"})
    fold_of = {cluster: place % folds for place, cluster in enumerate(clusters)}
    fold = np.array([fold_of.get(each.cluster, -1) for each in problem.examples])
    for left in range(folds):
        yield inside & (fold != left), fold == left


def source_left_out(problem: Problem, sources: Sequence[str], scored: str, half: str) -> Iterator[Split]:
    """Fit to the other sources, and score one that gave no label."""
    others = [source for source in sources if source != scored]
    yield problem.where(half="fit", sources=others), problem.where(half=half, sources=[scored])


def _families(problem: Problem, source: str) -> list[str]:
    return sorted({each.family for each in problem.examples if each.source == source})
