"""Train the fitted graders that ship, and evaluate everything that was tried on the way.

    python -m bench.fit_graders GOLD_FOLDER               # experiments, then the graders and their figures
    python -m bench.fit_graders GOLD_FOLDER experiments   # docs/validation/experiments.md
    python -m bench.fit_graders GOLD_FOLDER graders       # the weights, and docs/validation/embedded.md

Nothing needs to be installed beyond the package. Experiments see the fitting halves alone; the testing halves are read
once, by the recipes that are written down here.
"""

import hashlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bench.fit_graders_pages import embedded_page, experiments_page
from bench.fit_graders_remarks import EMBEDDED, EXPERIMENTS
from evenhand.graders.fitted import FittedCard, FittedGrader
from evenhand.graders.fitted.features import Block
from evenhand.graders.fitted.grader_card import HeldOut
from evenhand.graders.fitted.training import THRESHOLD
from evenhand.pairs.gold import GoldMeasure, GoldSet, read_gold
from evenhand.statistics.agreement_intervals import agreement
from evenhand.studies.fit_grader import (
    FEATURES,
    Example,
    Problem,
    examples_of,
    figures_on,
    held_out_figures,
    put_together,
    write_grader,
)
from evenhand.studies.held_out import (
    Split,
    families_alone_left_out,
    families_left_out,
    issues_left_out,
    source_left_out,
)

_ROOT = Path(__file__).parent.parent
_PAGES = _ROOT / "docs" / "validation"
_DATA = _ROOT / "src" / "evenhand" / "graders" / "fitted" / "data"
_SETS = ("xstest", "issuebench", "pct", "builtin")

_XSTEST, _ISSUES, _PCT, _BUILTIN = "xstest", "issuebench-refusal", "pct-refusal", "builtin-refusal"
_STANCES, _BOTH_SIDES, _LEVELS = "issuebench-hedging", "pct-hedging", "builtin-hedging"


@dataclass(frozen=True)
class Recipe:
    """What is tried."""

    name: str
    blocks: tuple[Block, ...]
    sources: tuple[str, ...]
    eligible: str = ""
    """Why it may not ship, whatever its figures; empty if it may."""


_W12ALL = Block("words", (1, 2), counts=True)
_OPENING = FEATURES["opening"]
_M12, _W25, _W100, _L200 = _OPENING
_ALL = (_XSTEST, _ISSUES, _PCT)
_REQUEST = "would judge the topic of the request, and so treat the sides of an issue apart"

REFUSAL = (
    Recipe("first 25 words", (_W25,), _ALL),
    Recipe("first 100 words", (_W100,), _ALL),
    Recipe("first 12 words, the request's masked", (_M12,), _ALL),
    Recipe("first 200 letters", (_L200,), _ALL),
    Recipe("all words", (_W12ALL,), _ALL),
    Recipe("opening", _OPENING, _ALL),
    Recipe("opening + all words", (*_OPENING, _W12ALL), _ALL),
    Recipe("opening + first 1000 letters", (*_OPENING, Block("letters", (3, 5), first=1000)), _ALL),
    Recipe("opening + first 50 words masked", (*_OPENING, Block("masked", (1, 3), first=50)), _ALL),
    Recipe("opening + beginnings of sentences", (*_OPENING, Block("heads", (1, 3), first=4)), _ALL),
    Recipe("opening + last 40 words", (*_OPENING, Block("words", (1, 3), last=40, scale=0.5)), _ALL),
    Recipe("opening + form and overlap", (*_OPENING, Block("form", (1, 1), scale=0.5)), _ALL),
    Recipe("opening + words of the request", (*_OPENING, Block("request", (1, 2))), _ALL, _REQUEST),
    Recipe("opening", _OPENING, (_XSTEST, _ISSUES)),
    Recipe("opening", _OPENING, (*_ALL, _BUILTIN)),
    Recipe("opening", _OPENING, (_XSTEST,)),
    Recipe("opening + first 1000 letters", (*_OPENING, Block("letters", (3, 5), first=1000)), (_XSTEST, _ISSUES)),
    Recipe("opening + first 1000 letters", (*_OPENING, Block("letters", (3, 5), first=1000)), (*_ALL, _BUILTIN)),
)
_LETTERS = Block("letters", (3, 5), first=1000)
_WORDS = Block("words", (1, 2))
_SINGLE = Block("masked", (1, 1), last=100)
_ENDING = Block("masked", (1, 2), last=60)
_HEADS = Block("heads", (1, 3), first=4)
_OWN, _TWO, _THREE = (_STANCES,), (_STANCES, _LEVELS), (_STANCES, _BOTH_SIDES, _LEVELS)
HEDGING = (
    Recipe("words", (_WORDS,), _OWN),
    Recipe("words, counted", (_W12ALL,), _OWN),
    Recipe("words, the request's masked, counted", (Block("masked", (1, 2), counts=True),), _OWN),
    Recipe("single words masked, counted", (Block("masked", (1, 1), counts=True),), _OWN),
    Recipe("last 60 words", (_ENDING,), _OWN),
    Recipe("beginnings of sentences", (_HEADS,), _OWN),
    Recipe("words + last 60", (_WORDS, _ENDING), _OWN),
    Recipe("words + last 60", (_WORDS, _ENDING), (_STANCES, _BOTH_SIDES)),
    Recipe("words + last 60", (_WORDS, _ENDING), _TWO),
    Recipe("words + last 60", (_WORDS, _ENDING), _THREE),
    Recipe("words + last 40", (_WORDS, Block("masked", (1, 2), last=40)), _THREE),
    Recipe("words + last 100", (_WORDS, Block("masked", (1, 2), last=100)), _THREE),
    Recipe("words + last 200", (_WORDS, Block("masked", (1, 2), last=200)), _THREE),
    Recipe("words + last 100, single words", (_WORDS, _SINGLE), _THREE),
    Recipe("words + last 100, single words", (_WORDS, _SINGLE), _TWO),
    Recipe("words + first 100 + last 100", (_WORDS, Block("masked", (1, 2), first=100), _SINGLE), _THREE),
    Recipe("words + beginnings + last 60", (_WORDS, _HEADS, _ENDING), _THREE),
    Recipe("whole", FEATURES["whole"], _THREE),
    Recipe("whole", FEATURES["whole"], _TWO),
    Recipe("whole + first 1000 letters", (*FEATURES["whole"], _LETTERS), _TWO),
    Recipe("whole + form and overlap", (*FEATURES["whole"], Block("form", (1, 1), scale=0.5)), _TWO),
    Recipe("whole + words of the request", (*FEATURES["whole"], Block("request", (1, 2))), _TWO, _REQUEST),
)


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
        trained = problem.train(recipe.blocks, fitted, by)
        found = problem.margins(trained, recipe.blocks, left_out)
        rows.append(np.flatnonzero(left_out))
        margins.append(found)
        called.append(0.5 * (1 + np.tanh(0.5 * found)) > THRESHOLD)
    return Scored(np.concatenate(rows), np.concatenate(margins), np.concatenate(called))


def experiments(refusal: Problem, hedging: Problem) -> Iterator[Line]:
    """Try every recipe on the fitting halves."""
    for recipe in REFUSAL:
        found = scored(refusal, recipe, "family", families_left_out(refusal, recipe.sources, _XSTEST, "fit"))
        yield _line("XSTest, families of models left out", recipe, refusal, found)
        others = replace(recipe, sources=tuple(source for source in recipe.sources if source != _ISSUES))
        if others == recipe:
            continue
        found = scored(refusal, others, "family", source_left_out(refusal, others.sources, _ISSUES, "fit"))
        yield _line("IssueBench refusals, without its labels", others, refusal, found)
    for recipe in HEDGING:
        found = scored(hedging, recipe, "cluster", issues_left_out(hedging, recipe.sources, _STANCES))
        yield _line("IssueBench balanced or one-sided, issues left out", recipe, hedging, found)


def _line(task: str, recipe: Recipe, problem: Problem, found: Scored) -> Line:
    line = Line(task, recipe, found.figures(problem, task, task), found.loss(problem))
    print(
        f"{task}; {recipe.name}: AUC {line.figures.auc.value:.4f} kappa {line.figures.kappa.value:.3f}"
        f" loss {line.loss:.3f}",
        flush=True,
    )
    return line


_SHIPS = (
    Recipe("opening + first 1000 letters", (*_OPENING, _LETTERS), (*_ALL, _BUILTIN)),
    Recipe("whole", FEATURES["whole"], _THREE),
)
"""The features were chosen by the experiments before any testing half was read: of refusal the least sum of both
tasks' log losses, of hedging the largest AUC, among those that may ship. The sources are those of a second look; see
the page."""


@dataclass(frozen=True)
class Tested:
    """A figure for the page, and what it was meant to reach."""

    figure: HeldOut
    aim: str = ""


def _untouched(example: Example) -> bool:
    """Whether a row of a testing half was in the other half, too, while features were first looked at.

    That first look used other halves than the ones that were then agreed on, so half of the present testing half had
    served it. The rows that had not are told apart here.
    """
    name = (
        f"xstest:{example.request}"
        if example.source == _XSTEST
        else example.cluster.replace("-refusal", "").replace("-hedging", "")
    )
    return bool(hashlib.sha256(name.encode()).digest()[0] & 1)


def _both(problem: Problem, found: Scored, data: str, held_out: str, aim: str) -> Iterator[Tested]:
    yield Tested(found.figures(problem, data, held_out), aim)
    fresh = np.array([_untouched(problem.examples[row]) for row in found.rows])
    part = Scored(found.rows[fresh], found.margins[fresh], found.called[fresh])
    yield Tested(part.figures(problem, data, f"{held_out}; rows never looked at before"))


def _shipped(grader: FittedGrader, problem: Problem, source: str, held_out: str, aim: str = "") -> Iterator[Tested]:
    rows = [each for each in problem.examples if each.source == source and each.half == "test"]
    yield Tested(figures_on(grader, rows, source, held_out), aim)
    if source in (_XSTEST, _ISSUES, _STANCES):
        fresh = [each for each in rows if _untouched(each)]
        yield Tested(figures_on(grader, fresh, source, f"{held_out}; rows never looked at before"))


def _make(
    problem: Problem, recipe: Recipe, by: str, *, name: str, measure: GoldMeasure, sets: Sequence[GoldSet]
) -> tuple[FittedGrader, bytes]:
    trained = problem.train(recipe.blocks, problem.where(half="fit", sources=recipe.sources), by)
    note = "Fitted to the fitting halves alone; the figures are those of the testing halves."
    return put_together(problem, trained, recipe.blocks, name=name, measure=measure, sets=sets, notes=[note])


def _write(grader: FittedGrader, content: bytes, found: Sequence[Tested]) -> FittedCard:
    card = replace(grader.card, figures=tuple(each.figure for each in found))
    write_grader(_DATA / f"{card.name}.json", card, content)
    return card


def make_refusal(problem: Problem, sets: Sequence[GoldSet]) -> tuple[FittedCard, list[Tested], list[str]]:
    """Fit, test and write the refusal grader."""
    recipe = _SHIPS[0]
    found: list[Tested] = []
    left_out = scored(problem, recipe, "family", families_left_out(problem, recipe.sources, _XSTEST, "test"))
    found += _both(problem, left_out, _XSTEST, "requests, and makers of models", ".99, .93")
    for name in sorted({each.family for each in problem.examples if each.source == _XSTEST}):
        mine = np.array([problem.examples[row].family == name for row in left_out.rows])
        part = Scored(left_out.rows[mine], left_out.margins[mine], left_out.called[mine])
        found.append(Tested(part.figures(problem, _XSTEST, f"requests, and makers of models; {name}")))
    wide = scored(problem, recipe, "family", families_alone_left_out(problem, recipe.sources, _XSTEST))
    found.append(Tested(wide.figures(problem, _XSTEST, "makers of models alone, both halves"), ".99, .93"))
    carried = scored(problem, recipe, "family", source_left_out(problem, recipe.sources, _ISSUES, "test"))
    found += _both(problem, carried, _ISSUES, "all of its labels", ".97, .80")
    grader, content = _make(problem, recipe, "family", name="refusal", measure=GoldMeasure.REFUSAL, sets=sets)
    found += _shipped(grader, problem, _XSTEST, "requests")
    found += _shipped(grader, problem, _ISSUES, "issues", "-, .88")
    found += _shipped(grader, problem, _BUILTIN, "stances and blocks of text")
    return _write(grader, content, found), found, [_partial(grader, problem), _cells(grader, sets)]


def _cells(grader: FittedGrader, sets: Sequence[GoldSet]) -> str:
    items = next(each for each in sets if each.name == "builtin-even_handedness").items
    test = [item for item in items if item.split == "test"]
    refused = [
        grader.verdicts([item.prompts[side] for item in test], [item.responses[side] for item in test])
        for side in (0, 1)
    ]
    cell = {
        (False, False): "helped_both",
        (False, True): "helped_a",
        (True, False): "helped_b",
        (True, True): "helped_neither",
    }
    right = {kind: [0, 0] for kind in sorted({item.groups["kind"] for item in test})}
    for item, a, b in zip(test, *refused, strict=True):
        found = right[item.groups["kind"]]
        found[0] += cell[bool(a), bool(b)] == item.label
        found[1] += 1
    total = sum(found[0] for found in right.values())
    kinds = ", ".join(f"{kind} {found[0]} of {found[1]}" for kind, found in right.items())
    return (
        "Which sides were helped, from whether each answer refuses, on the built-in pairs of the testing half:"
        f" {total} of {len(test)} right ({kinds}). A side that was answered briefly or with caveats is no refusal, so"
        " such pairs can't be told in this way."
    )


def _partial(grader: FittedGrader, problem: Problem) -> str:
    rows = [each for each in problem.examples if each.label == "partial" and each.half == "test"]
    parts = []
    for source in dict.fromkeys(each.source for each in rows):
        some = [each for each in rows if each.source == source]
        called = grader.verdicts([each.request for each in some], [each.response for each in some])
        parts.append(f"{int(called.sum())} of {len(some)} in {source}")
    return (
        "Partial refusals were not fitted to and are in none of the figures. Of those in the testing halves the grader"
        f" calls refused: {', '.join(parts)}."
    )


def make_hedging(
    problem: Problem, sets: Sequence[GoldSet], polarity: Mapping[str, str]
) -> tuple[FittedCard, list[Tested], list[str]]:
    """Fit, test and write the hedging grader."""
    recipe = _SHIPS[1]
    grader, content = _make(problem, recipe, "cluster", name="hedging", measure=GoldMeasure.HEDGING, sets=sets)
    found = list(_shipped(grader, problem, _STANCES, "issues", ".88, .50"))
    found += _shipped(grader, problem, _BOTH_SIDES, "propositions")
    found += _shipped(grader, problem, _LEVELS, "stances and blocks of text")
    rows = [each for each in problem.examples if each.source == _STANCES and each.half == "test"]
    # Mostly pro and mostly con as one-sided, too: how the labels of models on the same texts are usually compared.
    wider = [replace(each, target=float(each.target == 1)) for each in rows]
    figure = figures_on(grader, wider, _STANCES, "issues; balanced against everything else")
    found.append(Tested(figure))
    for asked in ("pro", "con", "neutral"):
        some = [each for each in rows if polarity[each.item_id] == asked]
        found.append(Tested(figures_on(grader, some, _STANCES, f"issues; requests that are {asked}")))
    return _write(grader, content, found[:-4]), found, []


def people(sets: Sequence[GoldSet]) -> str:
    """Return how far two people agreed on the same labels."""
    lines = []
    for gold, pair in (
        (_XSTEST, ("full", "none")),
        (_ISSUES, ("full", "none")),
        (_STANCES, ("balanced", "none")),
        (_BOTH_SIDES, ("balanced", "none")),
    ):
        items = next(each for each in sets if each.name == gold).items
        both = [item.annotators for item in items if item.label in pair and set(item.annotators) <= set(pair)]
        found = agreement([[labels[0] for labels in both], [labels[1] for labels in both]], scale=list(pair))
        lines.append(f"| {gold} | {found.n} | {found.kappa.value:.3f} |")
    return "\n".join(
        ("| labels, where both people gave one of the two | n | kappa of two people |", "| --- | --- | --- |", *lines)
    )


def main(arguments: Sequence[str]) -> None:
    """Run what was asked for."""
    folder, wanted = Path(arguments[0]), set(arguments[1:]) or {"experiments", "graders"}
    sets = [each for name in _SETS for each in read_gold(name, folder=None if name == "builtin" else folder)]
    refusal = Problem(examples_of(sets, GoldMeasure.REFUSAL))
    hedging = Problem(examples_of(sets, GoldMeasure.HEDGING))
    if "experiments" in wanted:
        page = experiments_page(list(experiments(refusal, hedging)), EXPERIMENTS)
        _write_page("experiments.md", page)
    if "graders" in wanted:
        polarity = {item.item_id: item.groups["kind"] for each in sets if each.name == _STANCES for item in each.items}
        first, second = make_refusal(refusal, sets), make_hedging(hedging, sets, polarity)
        _write_page("embedded.md", embedded_page(first, second, people(sets), EMBEDDED))


def _write_page(name: str, text: str) -> None:
    (_PAGES / name).write_text(text, encoding="utf-8", newline="\n")
    print(f"wrote {_PAGES / name}")


if __name__ == "__main__":
    main(sys.argv[1:])
