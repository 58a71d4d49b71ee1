"""The third round of ``bench.fit_graders``: what the log odds of questions to an embedded model add.

A task is scored on the rows of which the answers are stored, with and without the questions alike, so that a run of
``bench.question_features`` that was cut short gives fewer rows and no other figures.
"""

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from bench.compact_wordings import auc_gain
from bench.fit_graders_recipes import ISSUES, SECOND_CHOICE, STANCES, XSTEST, Recipe
from bench.fit_graders_rounds import CARRIED_TASK, FAMILIES_TASK, HEDGING_TASK, Scored, scored
from bench.question_features import FEWEST
from evenhand.graders.fitted.grader_card import HeldOut
from evenhand.graders.fitted.question_part import Standard
from evenhand.statistics import ClusterBootstrap, Estimate
from evenhand.statistics.detection import roc_auc
from evenhand.studies.fit_grader import Problem
from evenhand.studies.held_out import Split, families_left_out, issues_left_out, source_left_out

Floats = npt.NDArray[np.float64]

_DRAWS = 2000


@dataclass(frozen=True)
class Compared:
    """What a choice of features came to on the rows of a task, beside the first choice."""

    task: str
    asked: tuple[str, ...]
    """The questions that took part."""
    recipe: Recipe
    figures: HeldOut
    loss: float
    auc_gain: Estimate | None = None
    kappa_gain: Estimate | None = None


@dataclass(frozen=True)
class ByItself:
    """How well the log odds of a question rank the rows of a source, before any fit."""

    question: str
    source: str
    positive: int
    auc: Estimate


@dataclass(frozen=True)
class _Task:
    name: str
    source: str
    """Whose rows are scored."""
    without: str
    """The source that takes no part in a fit."""
    by: str
    splits: Callable[[Problem, Recipe], Iterator[Split]]


def third_round(refusal: Problem, hedging: Problem) -> Iterator[Compared]:
    """Compare the recipes of the second round with and without questions, and questions alone."""
    yield from _compared(hedging, SECOND_CHOICE[1], _Task(HEDGING_TASK, STANCES, "", "cluster", _issues))
    yield from _compared(refusal, SECOND_CHOICE[0], _Task(FAMILIES_TASK, XSTEST, "", "family", _families))
    yield from _compared(refusal, SECOND_CHOICE[0], _Task(CARRIED_TASK, ISSUES, ISSUES, "family", _carried))


def by_themselves(refusal: Problem, hedging: Problem) -> Iterator[ByItself]:
    """Return each question's figures on each source about which it has enough answers."""
    for problem, sources in ((hedging, (STANCES,)), (refusal, (XSTEST, ISSUES))):
        answers = problem.answers
        for column, question in enumerate(answers.questions if answers else ()):
            values = answers.values[:, column] if answers else np.zeros(0)
            for source in sources:
                chosen = problem.where(half="fit", sources=[source]) & np.isin(problem.target, (0.0, 1.0))
                rows = np.flatnonzero(chosen & ~np.isnan(values))
                if rows.size >= FEWEST:
                    clusters = [problem.examples[row].cluster for row in rows]
                    truth = problem.target[rows] == 1
                    auc = roc_auc(values[rows], truth, ClusterBootstrap(clusters, seed=0, draws=_DRAWS))
                    yield ByItself(question.name, source, int(truth.sum()), auc)


def _issues(problem: Problem, recipe: Recipe) -> Iterator[Split]:
    return issues_left_out(problem, recipe.sources, STANCES)


def _families(problem: Problem, recipe: Recipe) -> Iterator[Split]:
    return families_left_out(problem, recipe.sources, XSTEST, "fit")


def _carried(problem: Problem, recipe: Recipe) -> Iterator[Split]:
    return source_left_out(problem, recipe.sources, ISSUES, "fit")


def _compared(problem: Problem, ships: Recipe, task: _Task) -> Iterator[Compared]:
    answers = problem.answers
    rows = problem.where(half="fit", sources=[task.source]) & np.isin(problem.target, (0.0, 1.0))
    counts = np.zeros(0) if answers is None else (~np.isnan(answers.values[rows])).sum(axis=0)
    columns = np.flatnonzero((counts >= FEWEST) & (counts >= 0.9 * counts.max(initial=0)))
    if answers is None or not columns.size:
        return
    problem = copy(problem)
    answers = replace(
        answers, values=answers.values[:, columns], questions=tuple(answers.questions[place] for place in columns)
    )
    problem.answers, problem.standard = answers, Standard.of(answers.values[problem.where(half="fit")])
    sources = tuple(source for source in ships.sources if source != task.without)
    asked = tuple(question.name for question in answers.questions)
    alone = tuple(source for source in sources if source not in ships.practice)
    plain = replace(ships, name="as it ships", sources=sources)
    recipes = (
        plain,
        replace(plain, name="and questions", questions=1.0),
        replace(plain, name="questions alone", sources=alone, blocks=(), practice=(), questions=1.0),
    )
    base: Scored | None = None
    for recipe in recipes:
        found = _of(scored(problem, recipe, task.by, task.splits(problem, recipe)), rows & answers.known)
        figures, loss = found.figures(problem, task.name, task.name), found.loss(problem)
        gains = (None, None) if base is None else _gains(problem, found, base)
        base = base or found
        print(
            f"{task.name}; {recipe.name}: AUC {figures.auc.value} kappa {figures.kappa.value} loss {loss}", flush=True
        )
        yield Compared(task.name, asked, recipe, figures, loss, *gains)


def _of(found: Scored, chosen: npt.NDArray[np.bool_]) -> Scored:
    kept = chosen[found.rows]
    return Scored(found.rows[kept], found.margins[kept], found.called[kept])


def _gains(problem: Problem, one: Scored, other: Scored) -> tuple[Estimate, Estimate]:
    """Return how much higher AUC and kappa are, on the same rows in the same order."""
    assert (one.rows == other.rows).all()
    positive = problem.target[one.rows]
    clusters = [problem.examples[row].cluster for row in one.rows]
    bootstrap = ClusterBootstrap(clusters, seed=0, draws=_DRAWS)
    gain = auc_gain(one.margins, other.margins, positive, bootstrap)
    return gain, kappa_gain(one.called, other.called, positive == 1, bootstrap.of_row)


def kappa_gain(
    one: npt.NDArray[np.bool_],
    other: npt.NDArray[np.bool_],
    truth: npt.NDArray[np.bool_],
    cluster: npt.NDArray[np.int64],
) -> Estimate:
    """Estimate the difference of two kappas over the same rows, with a percentile bootstrap over clusters."""
    clusters = int(cluster.max()) + 1
    drawn = np.random.default_rng(0).multinomial(clusters, np.full(clusters, 1 / clusters), size=_DRAWS)
    weights = drawn[:, cluster].astype(np.float64)
    gains = _kappa(one, truth, weights) - _kappa(other, truth, weights)
    whole = np.ones((1, truth.size))
    value = float((_kappa(one, truth, whole) - _kappa(other, truth, whole))[0])
    low, high = np.nanquantile(gains, (0.025, 0.975)).tolist()
    return Estimate(value, low, high, truth.size, clusters, "percentile bootstrap")


def _kappa(called: npt.NDArray[np.bool_], truth: npt.NDArray[np.bool_], weights: Floats) -> Floats:
    total = weights.sum(axis=1)
    same, p, q = (weights @ each.astype(np.float64) / total for each in (called == truth, called, truth))
    by_chance = p * q + (1 - p) * (1 - q)
    return np.asarray((same - by_chance) / np.where(by_chance < 1, 1 - by_chance, np.nan), dtype=np.float64)
