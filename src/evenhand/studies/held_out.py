"""Which rows are fitted to and which are scored, so that what is held out takes no part in a fit."""

import hashlib
import re
from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.graders.fitted.training import Mask
from evenhand.studies.fit_grader import Problem

Split: TypeAlias = tuple[Mask, Mask]
"""Rows that are fitted to, and rows that are scored."""


_GENERATION = re.compile(r"(gpt)-?(\d)|(llama)-?(\d)|(mistral)", re.IGNORECASE)


def generation(model: str) -> str:
    """Return the generation in a model's name: what may share weights or training with it.

    >>> [generation(name) for name in ("gpt4", "gpt-4o-2024-05-13", "gpt-3.5-turbo-0125")]
    ['gpt4', 'gpt4', 'gpt3']
    >>> [generation(name) for name in ("llama2new", "meta-llama/Meta-Llama-3-8B-Instruct", "mistralinstruct", "own")]
    ['llama2', 'llama3', 'mistral', 'own']
    """
    found = _GENERATION.search(model)
    return "".join(part for part in found.groups() if part).lower() if found else model


def models_left_out(problem: Problem, sources: Sequence[str], scored: str, half: str) -> Iterator[Split]:
    """Leave out each model that wrote answers of the scored source, with all of its generation, in all sources.

    Other models of its maker stay where they answered other sources. Fitted to is the fitting half; with the testing
    half scored, requests are held out, too.
    """
    generations = np.array([generation(each.model) for each in problem.examples])
    for name in sorted({generation(each.model) for each in problem.examples if each.source == scored}):
        yield (
            problem.where(half="fit", sources=sources) & (generations != name),
            problem.where(half=half, sources=[scored]) & (generations == name),
        )


def families_and_requests_left_out(
    problem: Problem, sources: Sequence[str], scored: str, folds: int = 2
) -> Iterator[Split]:
    """Leave out each family and a share of the requests of the fitting half: what a testing half asks, within it."""
    inside, fold = problem.where(half="fit", sources=sources), _request_folds(problem, scored, folds)
    for name in _families(problem, scored):
        for left in range(folds):
            yield (
                inside & problem.where(but_family=name) & (fold != left),
                problem.where(half="fit", sources=[scored], of_family=name) & (fold == left),
            )


def _request_folds(problem: Problem, source: str, folds: int) -> npt.NDArray[np.int64]:
    def fold(cluster: str) -> int:
        return hashlib.sha256(cluster.encode()).digest()[-1] % folds

    return np.array([fold(each.cluster) if each.source == source else -1 for each in problem.examples])


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
