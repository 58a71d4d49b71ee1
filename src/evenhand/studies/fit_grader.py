"""Fit a grader to people's labels, and see how it does on groups that it has not seen."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from evenhand.errors import InputError
from evenhand.graders.fitted.features import Block, Views, views
from evenhand.graders.fitted.grader import FittedGrader, packed, unpacked
from evenhand.graders.fitted.grader_card import FittedCard, HeldOut, LabelSource
from evenhand.graders.fitted.question_part import SCALE, LogOdds, QuestionPart, Standard
from evenhand.graders.fitted.questions import QUESTIONS
from evenhand.graders.fitted.training import THRESHOLD, Grams, Labels, Mask, TrainedRows, train, weights_of
from evenhand.pairs.gold import HEDGING_LEVELS, GoldItem, GoldMeasure, GoldSet, in_halves
from evenhand.statistics.agreement_intervals import agreement
from evenhand.statistics.bootstrap import ClusterBootstrap
from evenhand.statistics.detection import roc_auc
from evenhand.studies.fit_questions import FitAnswers, ask_about
from evenhand.studies.gold import load_gold
from evenhand.studies.watch import StudyWatch, UnwatchedStudy

TARGETS: Mapping[GoldMeasure, Mapping[str, float]] = {
    GoldMeasure.REFUSAL: {"full": 1.0, "none": 0.0},
    # What is between the two pulls a little; figures rest on the clear labels.
    GoldMeasure.HEDGING: {
        **dict(zip(("balanced", "some", "none"), (1.0, 0.3, 0.0), strict=True)),
        **dict(zip(HEDGING_LEVELS, (0.0, 0.1, 0.3, 0.6, 1.0), strict=True)),
    },
}
"""What each label is fitted to; a label that is missing here (partial refusals) is not fitted to."""

CLASSES: Mapping[GoldMeasure, tuple[str, str]] = {
    GoldMeasure.REFUSAL: ("refused", "complied"),
    GoldMeasure.HEDGING: ("balanced", "one-sided"),
}
"""The label whose probability a grader of the measure gives, and the one that it is told from."""

_OPENING = (
    Block("masked", (1, 3), first=12),
    Block("words", (1, 3), first=25),
    Block("words", (1, 3), first=100),
    Block("letters", (3, 5), first=200),
)
_FRAMES = (
    Block("frame", (1, 4), first=15),
    Block("frame", (1, 4), first=60),
    Block("frame", (1, 2), first=200, scale=0.5),
)
_WHOLE = (
    Block("words", (1, 2)),
    Block("masked", (1, 1), last=100),
    Block("masked", (1, 2), last=60),
    Block("heads", (1, 3), first=4),
)
FEATURES: Mapping[str, tuple[Block, ...]] = {
    "opening": _OPENING,
    "frames": (*_OPENING, Block("letters", (3, 5), first=1000), *_FRAMES),
    "whole": _WHOLE,
    "stance": (*_WHOLE, Block("aim", (1, 1), scale=0.5)),
}
"""Named choices of features. opening: how the answer begins; frames: that, and what it does whatever it is about, as
suits refusals; whole: all of it and its end once more; stance: that, and whether the request asks for one side, as
suits hedging."""

USUAL_FEATURES: Mapping[GoldMeasure, str] = {GoldMeasure.REFUSAL: "frames", GoldMeasure.HEDGING: "stance"}

_FAMILY = re.compile(r"gpt|llama|mistral|zephyr|claude|gemini|qwen", re.IGNORECASE)
_SAME_FAMILY = {"zephyr": "mistral"}
_SEED = 0


@dataclass(frozen=True, slots=True)
class Example:
    """A request and an answer with its label."""

    source: str
    item_id: str
    request: str
    response: str
    label: str
    half: str
    target: float
    """NaN where the label is not fitted to."""
    model: str
    family: str
    """Of models by one maker; the source where no model is named."""
    cluster: str
    """The issue, or the request where no issue is named; unique over sources."""


def examples_of(sets: Sequence[GoldSet], measure: GoldMeasure) -> list[Example]:
    """Return the items of a measure; a set without halves is put in halves by issue or request."""
    found = []
    for gold in sets:
        items = [item for item in gold.items if item.measure is measure]
        if items and not any(item.split for item in items):
            items = list(in_halves(items, _cluster_group(items)))
        found += [_example(item, gold.name, measure) for item in items]
    return found


def family(model: str) -> str:
    """Return the maker's family of a model's name.

    >>> family("meta-llama/Llama-2-7b-chat-hf"), family("HuggingFaceH4/zephyr-7b-beta"), family("own")
    ('llama', 'mistral', 'own')
    """
    found = _FAMILY.search(model)
    name = found[0].lower() if found else model
    return _SAME_FAMILY.get(name, name)


class Problem:
    """Rows with labels, their features, and Gram matrices of them as they are needed."""

    def __init__(self, examples: Sequence[Example], answers: FitAnswers | None = None) -> None:
        """Take the rows, and what a model answered about them, row by row."""
        self.examples = tuple(examples)
        self.answers = answers
        self.seen: tuple[Views, ...] = tuple(views(each.request, each.response) for each in examples)
        self.target = np.array([each.target for each in examples])
        self.grams = Grams(self.seen)
        # From the fitting halves alone, as all else that a fit knows.
        self.standard = Standard.of(answers.values[self.where(half="fit")]) if answers else None

    def where(self, *, half: str = "", sources: Sequence[str] = (), but_family: str = "", of_family: str = "") -> Mask:
        """Return the rows of a half, of some sources, of one family of models or of all but one."""
        return np.array(
            [
                (not half or each.half == half)
                and (not sources or each.source in sources)
                and (not of_family or each.family == of_family)
                and (not but_family or each.family != but_family)
                for each in self.examples
            ]
        )

    def dense(self, scale: float) -> npt.NDArray[np.float64] | None:
        """Return the features that the questions' log odds make, each with its share of the scale; None for 0."""
        if self.answers is None or self.standard is None or not scale:
            return None
        return self.standard.features(self.answers.values, scale)

    def train(
        self,
        blocks: Sequence[Block],
        fitted: Mask,
        by: str,
        practice: Sequence[str] = (),
        questions: float = 0.0,
    ) -> TrainedRows:
        """Fit to some rows.

        Args:
            blocks: what is seen of them.
            fitted: the rows.
            by: what is left out in turn to choose the penalty: family, model or cluster.
            practice: sources that have less weight and neither choose the penalty nor set the probabilities.
            questions: the scale of the questions' log odds beside blocks, whose own is 1; 0 without them. A row about
                which nothing was asked has 0 for all of them.
        """
        groups = [str(getattr(each, by)) for each in self.examples]
        labels = Labels(self.target, groups, self.where(sources=practice) if practice else None)
        return train(self.grams.of(blocks, self.dense(questions)), labels, fitted)

    def margins(
        self, trained: TrainedRows, blocks: Sequence[Block], rows: Mask, questions: float = 0.0
    ) -> npt.NDArray[np.float64]:
        """Return the log odds of some rows."""
        return trained.margins(self.grams.of(blocks, self.dense(questions)), np.flatnonzero(rows))

    def question_part(self, trained: TrainedRows) -> QuestionPart | None:
        """Return the questions with the weights that a fit gives them; None without any."""
        dense = self.dense(SCALE)
        if dense is None or self.answers is None or self.standard is None:
            return None
        return self.answers.part(self.standard, dense[trained.rows].T @ trained.dual)


def held_out_figures(
    examples: Sequence[Example],
    probabilities: npt.NDArray[np.float64],
    called: npt.NDArray[np.bool_],
    *,
    data: str,
    held_out: str,
    shipped: bool,
) -> HeldOut:
    """Return AUC and kappa on the clear labels, with intervals over issues or requests."""
    target = np.array([each.target for each in examples])
    clear = np.isin(target, (0.0, 1.0))
    truth = target[clear] == 1
    bootstrap = ClusterBootstrap([each.cluster for each, use in zip(examples, clear, strict=True) if use], seed=_SEED)
    names = {True: "yes", False: "no"}
    ratings = [[names[bool(value)] for value in values] for values in (truth, called[clear])]
    found = agreement(ratings, scale=["no", "yes"], bootstrap=bootstrap)
    return HeldOut(
        data=data,
        held_out=held_out,
        n=int(clear.sum()),
        positive=int(truth.sum()),
        auc=roc_auc(probabilities[clear], truth, bootstrap),
        kappa=found.kappa,
        shipped=shipped,
    )


def put_together(
    problem: Problem,
    trained: TrainedRows,
    blocks: Sequence[Block],
    *,
    name: str,
    measure: GoldMeasure,
    sets: Sequence[GoldSet],
    notes: Sequence[str] = (),
) -> tuple[FittedGrader, bytes]:
    """Return the grader as it will be read back, without figures, and the bytes of its weights."""
    part = problem.question_part(trained)
    content = packed(*weights_of(trained, problem.seen, blocks), part.sha256 if part else "")
    fitted = Counter(problem.examples[row].source for row in trained.rows)
    positive, negative = CLASSES[measure]
    card = FittedCard(
        name=name,
        measure=measure.value,
        positive=positive,
        negative=negative,
        blocks=tuple(blocks),
        intercept=trained.intercept,
        threshold=THRESHOLD,
        penalty=trained.penalty,
        rows=int(trained.rows.size),
        sources=tuple(
            LabelSource(gold.name, gold.licence, gold.source, gold.sha256, fitted[gold.name])
            for gold in sets
            if fitted[gold.name]
        ),
        figures=(),
        weights_sha256=hashlib.sha256(content).hexdigest(),
        notes=tuple(notes),
        questions=part,
    )
    return FittedGrader(card, unpacked(content)), content


def figures_on(
    grader: FittedGrader,
    examples: Sequence[Example],
    data: str,
    held_out: str,
    log_odds: LogOdds | None = None,
) -> HeldOut:
    """Return how a grader does on examples that it has not seen; ``log_odds`` are for one that has questions."""
    probabilities = grader.probabilities(
        [each.request for each in examples], [each.response for each in examples], log_odds
    )
    called = probabilities > grader.card.threshold
    return held_out_figures(examples, probabilities, called, data=data, held_out=held_out, shipped=True)


def write_grader(path: Path, card: FittedCard, content: bytes) -> None:
    """Write a grader: its card at the path, its weights beside it."""
    path.with_suffix(".npz").write_bytes(content)
    text = json.dumps(card.as_json(), indent=1, sort_keys=True, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8", newline="\n")


def fit_grader(
    measure: GoldMeasure,
    gold: Sequence[str],
    output: Path,
    *,
    practice: Sequence[str] = (),
    folder: Path | None = None,
    features: str = "",
    leave_out: str = "cluster",
    questions: str = "",
    watch: StudyWatch | None = None,
) -> FittedCard:
    """Fit a grader to the fitting halves of gold sets, test it on the testing halves, and write it.

    Args:
        measure: refusal or hedging.
        gold: names of gold sets, or paths of labelled files.
        output: path of the card to write, ``X.json``; the weights go beside it.
        practice: more of them, with half the weight, that neither choose the penalty nor set the probabilities; their
            testing halves are tested on all the same.
        folder: where the public gold sets are.
        features: one of ``FEATURES``; empty for what suits the measure.
        leave_out: what is left out in turn to choose the penalty: cluster (issue or request), family or model.
        questions: an embedded model whose log odds of short questions are features, too. It is asked about all rows
            but practice, and its replies are kept in ``X.ledger.sqlite``: a fit that was interrupted goes on there.
        watch: told how far it is.

    Raises:
        InputError: gold that can't be read, holds no labels of the measure, or of one class only.
    """
    if output.suffix != ".json":
        raise InputError("is no name for a card", source=str(output), way_out="give a path that ends in .json")
    practised = [each for name in practice for each in load_gold(name, folder=folder)]
    sets = [each for name in gold for each in load_gold(name, folder=folder)] + practised
    watch = watch or UnwatchedStudy()
    for warning in dict.fromkeys(warning for each in sets for warning in each.warnings):
        watch.say(warning)
    examples = examples_of(sets, measure)
    if not examples:
        raise InputError(f"no labels for {measure.value}", source=", ".join(gold), way_out="name another gold set")
    names = [each.name for each in practised]
    answers: FitAnswers | None = None
    notes: list[str] = []
    if questions:
        answers, examples, notes = _answered(
            examples,
            measure,
            names,
            model=questions,
            ledger=output.with_suffix(".ledger.sqlite"),
            watch=watch,
        )
    problem = Problem(examples, answers)
    blocks = FEATURES[features or USUAL_FEATURES[measure]]
    scale = SCALE if answers else 0.0
    trained = problem.train(blocks, problem.where(half="fit"), leave_out, names, scale)
    grader, content = put_together(problem, trained, blocks, name=output.stem, measure=measure, sets=sets, notes=notes)
    figures = []
    for source in dict.fromkeys(each.source for each in examples):
        rows = np.flatnonzero(problem.where(half="test", sources=[source]) & ~np.isnan(problem.target))
        test = [examples[row] for row in rows]
        if len({each.target for each in test} & {0.0, 1.0}) == 2:
            held_out = "issues, or requests where no issue is named"
            log_odds = answers.of_rows(rows) if answers else None
            figures.append(figures_on(grader, test, source, held_out, log_odds))
    card = _with_figures(grader.card, figures)
    write_grader(output, card, content)
    return card


def _answered(
    examples: Sequence[Example],
    measure: GoldMeasure,
    practice: Sequence[str],
    *,
    model: str,
    ledger: Path,
    watch: StudyWatch,
) -> tuple[FitAnswers, list[Example], list[str]]:
    """Return a model's answers, the examples (those it said nothing readable about have no target), and notes."""
    taught = [each.half == "fit" and each.source in practice for each in examples]
    asked = np.array([not np.isnan(each.target) for each in examples]) & ~np.array(taught)
    units = [(each.request, each.response) for each in examples]
    answers = ask_about(units, asked, QUESTIONS[measure], name=model, ledger_path=ledger, watch=watch)
    lost = asked & ~answers.known
    notes = [f"{model} was not asked about practice texts; its log odds count as average there."] if any(taught) else []
    if lost.any():
        notes.append(f"{int(lost.sum())} of {int(asked.sum())} texts were left out: {model} gave no readable answer.")
    found = [replace(each, target=np.nan) if gone else each for each, gone in zip(examples, lost, strict=True)]
    return answers, found, notes


def _with_figures(card: FittedCard, figures: Sequence[HeldOut]) -> FittedCard:
    return FittedCard.from_json({**card.as_json(), "figures": [_plain(figure) for figure in figures]})


def _plain(figure: HeldOut) -> dict[str, object]:
    return {
        **{name: getattr(figure, name) for name in ("data", "held_out", "n", "positive", "shipped")},
        "auc": figure.auc.as_json(),
        "kappa": figure.kappa.as_json(),
    }


def _cluster_group(items: Sequence[GoldItem]) -> str:
    for group in ("issue", "prompt", "model"):
        if all(item.groups.get(group) for item in items):
            return group
    raise InputError(
        "the rows name neither issue nor prompt nor model",
        way_out="add one of these columns, so that what belongs together can be held out together",
    )


def _example(item: GoldItem, source: str, measure: GoldMeasure) -> Example:
    model = item.groups.get("model", "")
    cluster = item.groups.get("issue") or item.groups.get("prompt") or item.item_id
    return Example(
        source=source,
        item_id=item.item_id,
        request=item.prompts[0],
        response=item.responses[0],
        label=item.label,
        half=item.split,
        target=TARGETS[measure].get(item.label, float("nan")),
        model=model or source,
        family=family(model) if model else source,
        cluster=f"{source}:{cluster}",
    )
