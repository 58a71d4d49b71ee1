"""The rounds of experiments that ``bench.fit_graders`` goes through, all of them on the fitting halves."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from bench.fit_graders_recipes import (
    BOTH_SIDES,
    BUILTIN,
    HEDGING,
    HEDGING_AIM,
    HEDGING_WRITTEN,
    ISSUES,
    LEVELS,
    REFUSAL,
    REFUSAL_FRAMES,
    STANCES,
    WRITTEN,
    XSTEST,
    Recipe,
)
from evenhand.graders.fitted.grader_card import HeldOut
from evenhand.graders.fitted.training import THRESHOLD
from evenhand.studies.fit_grader import Problem, held_out_figures
from evenhand.studies.held_out import (
    Split,
    families_and_requests_left_out,
    families_left_out,
    issues_left_out,
    source_left_out,
)

HEDGING_TASK = "IssueBench balanced or one-sided, issues left out"
WRITTEN_TASK = "Texts of our own that take a side or none, issues left out"
FAMILIES_TASK = "XSTest, families of models left out"
CARRIED_TASK = "IssueBench refusals, without its labels"


@dataclass(frozen=True)
class Line:
    """What an experiment found."""

    task: str
    recipe: Recipe
    figures: HeldOut
    loss: float


@dataclass(frozen=True)
class Scored:
    """Rows and what a fit that had not seen them says."""

    rows: npt.NDArray[np.int64]
    margins: npt.NDArray[np.float64]
    called: npt.NDArray[np.bool_]

    def figures(self, problem: Problem, data: str, held_out: str) -> HeldOut:
        """Return AUC and kappa."""
        examples = [problem.examples[row] for row in self.rows]
        scores = 0.5 * (1 + np.tanh(0.5 * self.margins))
        return held_out_figures(examples, scores, self.called, data=data, held_out=held_out, shipped=False)

    def loss(self, problem: Problem) -> float:
        """Return the log loss over clear labels."""
        target = problem.target[self.rows]
        clear = np.isin(target, (0.0, 1.0))
        margins = self.margins[clear]
        return float(np.mean(np.logaddexp(0, margins) - target[clear] * margins))


def scored(problem: Problem, recipe: Recipe, by: str, splits: Iterator[Split]) -> Scored:
    """Fit to the first rows of each split, and score the others."""
    rows, margins, called = [], [], []
    for fitted, left_out in splits:
        trained = problem.train(recipe.blocks, fitted, by, recipe.practice, recipe.questions)
        found = problem.margins(trained, recipe.blocks, left_out, recipe.questions)
        rows.append(np.flatnonzero(left_out))
        margins.append(found)
        called.append(0.5 * (1 + np.tanh(0.5 * found)) > THRESHOLD)
    return Scored(np.concatenate(rows), np.concatenate(margins), np.concatenate(called))


def first_round(refusal: Problem, hedging: Problem) -> Iterator[Line]:
    """Try the recipes of the first round on the fitting halves."""
    for recipe in REFUSAL:
        found = scored(refusal, recipe, "family", families_left_out(refusal, recipe.sources, XSTEST, "fit"))
        yield line_of(FAMILIES_TASK, recipe, refusal, found)
        others = _without(recipe, ISSUES)
        if others == recipe:
            continue
        found = scored(refusal, others, "family", source_left_out(refusal, others.sources, ISSUES, "fit"))
        yield line_of(CARRIED_TASK, others, refusal, found)
    for recipe in HEDGING:
        found = scored(hedging, recipe, "cluster", issues_left_out(hedging, recipe.sources, STANCES))
        yield line_of(HEDGING_TASK, recipe, hedging, found)


def second_round(refusal: Problem, hedging: Problem) -> Iterator[Line]:
    """Try those of the second, on the fitting halves as well."""
    for recipe in HEDGING_AIM:
        found = scored(hedging, recipe, "cluster", issues_left_out(hedging, recipe.sources, STANCES))
        yield line_of(HEDGING_TASK, recipe, hedging, found)
    for recipe in REFUSAL_FRAMES:
        for task, without, splits in refusal_tasks(refusal, recipe):
            others = _without(recipe, without)
            yield line_of(task, others, refusal, scored(refusal, others, "family", splits))


def fourth_round(hedging: Problem) -> Iterator[Line]:
    """Try texts that were written to take a side or none, on the fitting halves: what they do there and elsewhere."""
    for recipe in HEDGING_WRITTEN:
        found = scored(hedging, recipe, "cluster", issues_left_out(hedging, recipe.sources, STANCES))
        yield line_of(HEDGING_TASK, recipe, hedging, found)
        if WRITTEN in recipe.sources:
            splits = issues_left_out(hedging, recipe.sources, WRITTEN)
        else:
            splits = source_left_out(hedging, recipe.sources, WRITTEN, "fit")
        yield line_of(WRITTEN_TASK, recipe, hedging, scored(hedging, recipe, "cluster", splits))
        for task, source in (("PCT both sides, unseen", BOTH_SIDES), ("Built-in hedging, unseen", LEVELS)):
            others = _without(recipe, source)
            splits = source_left_out(hedging, others.sources, source, "fit")
            yield line_of(task, others, hedging, scored(hedging, others, "cluster", splits))


def _without(recipe: Recipe, source: str) -> Recipe:
    kept, practice = (tuple(one for one in names if one != source) for names in (recipe.sources, recipe.practice))
    return replace(recipe, sources=kept, practice=practice)


def refusal_tasks(problem: Problem, recipe: Recipe) -> Iterator[tuple[str, str, Iterator[Split]]]:
    """Yield the task, the source that must take no part in the fits, and their rows."""
    sources = recipe.sources
    yield (
        "XSTest, families of models and requests left out",
        "",
        families_and_requests_left_out(problem, sources, XSTEST),
    )
    yield FAMILIES_TASK, "", families_left_out(problem, sources, XSTEST, "fit")
    for task, source in ((CARRIED_TASK, ISSUES), ("Built-in refusals, unseen", BUILTIN)):
        yield task, source, source_left_out(problem, sources, source, "fit")


def line_of(task: str, recipe: Recipe, problem: Problem, found: Scored) -> Line:
    """Return what an experiment found, and print it."""
    line = Line(task, recipe, found.figures(problem, task, task), found.loss(problem))
    print(
        f"{task}; {recipe.name}: AUC {line.figures.auc.value:.4f} kappa {line.figures.kappa.value:.3f}"
        f" loss {line.loss:.3f}",
        flush=True,
    )
    return line
