"""Is a grader right? Gold items put to it, and a validity card made of what it says."""

import hashlib
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

import evenhand
from evenhand.errors import InputError
from evenhand.execution import Budget, Ledger, RunFolder
from evenhand.execution.forecast import Forecast
from evenhand.graders import Judgment, ask_all
from evenhand.graders.fitted import FittedGrader
from evenhand.graders.reading_mode import reading_mode
from evenhand.instruments import InstrumentSet
from evenhand.models import Model, ModelRole, open_model
from evenhand.pairs import PairedPrompt
from evenhand.pairs.gold.item import GoldItem, GoldSet
from evenhand.readings import MINIMUM_CAPTURED
from evenhand.report.calibration import Calibration, MeasureCalibration
from evenhand.report.validity_card import ValidityCard
from evenhand.studies.audit.grade import grade
from evenhand.studies.audit.positive import check_positive, positive_labels
from evenhand.studies.audit.record import grading_record
from evenhand.studies.calibration_file import check_calibration, read_calibration, write_calibration
from evenhand.studies.calibration_fit import fit_measure, halves
from evenhand.studies.carrier import Carrier, CarryOut
from evenhand.studies.fitted_scores import fitted_scores, fitted_to, is_fitted
from evenhand.studies.forecast import ForecastCarrier
from evenhand.studies.gold import load_gold
from evenhand.studies.inputs import load_instruments, load_model_settings
from evenhand.studies.option_swap import positive_when_reversed, with_options_reversed
from evenhand.studies.side_by_side import side_by_side
from evenhand.studies.validation_plan import ValidationPlan
from evenhand.studies.validation_scores import Scores, as_pair, instruments_for, response_texts, scores_of
from evenhand.studies.validity import CardSettings, GoldClasses, GradedBy, clusters_of, gold_classes, validity_card
from evenhand.studies.watch import StudyWatch, UnwatchedStudy

_CONSTRUCTED = ("builtin", "issuebench-pairs")
"""How the names of gold sets begin whose labels follow from how the texts were made or found, and not from people."""
VALIDATION = "validation.json"
VALIDATION_SCHEMA = 1


@dataclass(frozen=True, slots=True)
class ValidationResult:
    """What a validation came to."""

    cards: tuple[ValidityCard, ...]
    calibration: Calibration | None
    calls: int
    replies: int
    found: int
    """Those of them that were in the ledger before."""
    cost: float


@dataclass(frozen=True, slots=True)
class _Job:
    """One gold set and what is asked about it."""

    gold: GoldSet
    items: tuple[GoldItem, ...]
    pairs: tuple[PairedPrompt, ...]
    instruments: InstrumentSet
    turned: InstrumentSet | None
    classes: GoldClasses


@dataclass(frozen=True, slots=True)
class _Scored:
    """One gold set as one grader judged it."""

    job: _Job
    graded: GradedBy
    scores: Scores
    turned: Scores | None = None
    threshold: float | None = None
    """A fitted grader's own."""
    remarks: tuple[str, ...] = ()


def validate(plan: ValidationPlan, watch: StudyWatch | None = None) -> ValidationResult:
    """Put gold items to graders and return a card for each grader and gold set, graders in the order of the plan.

    The folder of the plan keeps every reply, ``validation.json`` (the cards and what they were made of) and
    ``validation.parquet`` (each item with its label and probability). Without a folder the replies are not kept.
    """
    watch = watch or UnwatchedStudy()
    work = _Work.prepared(plan, watch)
    with _folder(plan.out) as folder, Ledger(folder.ledger_path) as ledger:
        carry_out = Carrier(ledger, watch, Budget(plan.max_cost))
        scored = work.scored(carry_out)
        cards, calibration = _cards(plan, scored)
        if plan.out is not None:
            record = work.record(scored, carry_out.record())
            values = {"schema": VALIDATION_SCHEMA, "cards": [card.as_json() for card in cards], "record": record}
            folder.write_json(VALIDATION, json.loads(json.dumps(values)))
            folder.write_table("validation.parquet", _table(scored))
    if plan.calibrate is not None and calibration is not None:
        calibration = write_calibration(plan.calibrate, calibration, cards)
    return ValidationResult(tuple(cards), calibration, carry_out.calls, carry_out.replies, carry_out.found, carry_out.cost)


def forecast_validation(plan: ValidationPlan, watch: StudyWatch | None = None) -> Forecast:
    """Return what a validation would take. No model is called, and nothing is written."""
    work = _Work.prepared(plan, watch or UnwatchedStudy())
    with _looked_into(plan.out) as ledger:
        carry_out = ForecastCarrier(ledger)
        work.scored(carry_out)
    return carry_out.forecast


def read_cards(path: Path) -> tuple[ValidityCard, ...]:
    """Return the cards in a folder of a validation or in its ``validation.json``; raises ``InputError``."""
    file = path / VALIDATION if path.is_dir() else path
    try:
        values = json.loads(file.read_text("utf-8"))
        return tuple(ValidityCard.from_json(card) for card in values["cards"])
    except OSError as error:
        raise InputError(
            f"can't be read ({error.strerror or error})", source=str(file), way_out="make it with `evenhand validate`"
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"holds no validity cards ({error})", source=str(file), way_out="make it with `evenhand validate`"
        ) from error


@dataclass(frozen=True, slots=True)
class _Work:
    """All that a validation needs, read and opened."""

    plan: ValidationPlan
    source: dict[str, str]
    instruments: InstrumentSet
    jobs: tuple[_Job, ...]
    models: tuple[Model, ...]
    fitted: tuple[tuple[str, FittedGrader], ...]

    @classmethod
    def prepared(cls, plan: ValidationPlan, watch: StudyWatch) -> "_Work":
        instruments, source = load_instruments(plan.grading.instruments)
        check_positive(positive_labels(plan.positive), [instruments])
        jobs = tuple(_jobs(plan, instruments, watch))
        settings = load_model_settings(plan.models)
        names = list(dict.fromkeys(plan.grading.graders))
        fitted = tuple((name, FittedGrader.load(name)) for name in names if is_fitted(name))
        models = tuple(open_model(name, ModelRole.GRADER, watch, settings) for name in names if not is_fitted(name))
        return cls(plan, source, instruments, jobs, models, fitted)

    def scored(self, carry_out: CarryOut) -> list[_Scored]:
        async def work(model: Model) -> list[_Scored]:
            return [await self._one(job, model, carry_out) for job in self.jobs]

        found = [one for judged in side_by_side(self.models, work) for one in judged]
        found += [one for name, grader in self.fitted for one in self._fitted(name, grader)]
        places = {name: place for place, name in enumerate(self.plan.grading.graders)}
        if not found:
            raise InputError(
                f"give no measure of {self.plan.gold}", field="--grader", way_out="name another grader or gold set"
            )
        return sorted(found, key=lambda one: places.get(one.graded.grader, 0))

    def _fitted(self, name: str, grader: FittedGrader) -> Iterator[_Scored]:
        identity = f"fitted {grader.card.name} {grader.card.weights_sha256}"
        for job in self.jobs:
            scored = fitted_scores(grader, job.items)
            if scored is None:
                continue
            scores, threshold = scored
            remarks: tuple[str, ...] = ()
            if fitted_to(grader, job.gold.sha256) and self.plan.split != "test":
                remarks = (
                    f"its weights were fitted to labels of {job.gold.name}: only the part test (--split test) is new"
                    " to it",
                )
            graded = GradedBy(name, identity, "its own weights", "fitted map", "")
            yield _Scored(job, graded, scores, threshold=threshold, remarks=remarks)

    async def _one(self, job: _Job, model: Model, carry_out: CarryOut) -> _Scored:
        grading = self.plan.grading
        graded = GradedBy(model.name, model.identity, self.instruments.name, grading.reading, grading.orders)
        positive = positive_labels(self.plan.positive)
        scores = await self._scores(job, job.instruments, model, carry_out, positive)
        turned = None
        if job.turned is not None:
            positive = positive_when_reversed(positive, job.instruments, job.turned)
            turned = await self._scores(job, job.turned, model, carry_out, positive)
        return _Scored(job, graded, scores, turned)

    async def _scores(
        self,
        job: _Job,
        instruments: InstrumentSet,
        model: Model,
        carry_out: CarryOut,
        positive: Mapping[str, Sequence[str]],
    ) -> Scores:
        grading = self.plan.grading
        questions = list(
            ask_all(
                instruments,
                job.pairs,
                response_texts(job.items),
                reading_mode(grading.reading),
                orders=grading.asked_orders,
            )
        )
        judgments: list[Judgment] = await grade(model, questions, instruments, job.pairs, carry_out)
        return scores_of(
            job.pairs,
            judgments,
            instruments,
            job.gold.items[0].measure,
            orders=grading.orders,
            positive=positive,
        )

    def record(self, scored: Sequence[_Scored], replies: dict[str, int | str | None]) -> dict[str, Any]:
        plan = self.plan
        return {
            "evenhand": evenhand.__version__,
            "gradings": [grading_record(model, plan.grading, self.instruments, self.source) for model in self.models],
            "fitted": {name: grader.card.weights_sha256 for name, grader in self.fitted},
            "gold": [
                {
                    "name": job.gold.name,
                    "sha256": job.gold.sha256,
                    "measure": str(job.gold.items[0].measure),
                    "items": len(job.items),
                    "licence": job.gold.licence,
                    "source": job.gold.source,
                }
                for job in self.jobs
            ],
            "sample": {"size": plan.sample, "seed": plan.seed},
            "split": plan.split,
            "kinds": list(plan.kinds),
            "gold_positive": {measure: list(labels) for measure, labels in plan.gold_labels.items()},
            "option_swap": plan.option_swap,
            "minimum_captured": MINIMUM_CAPTURED,
            "threshold": plan.card.threshold,
            "intervals": {"draws": plan.card.draws, "seed": plan.card.seed, "kind": plan.card.interval},
            "replies": replies,
        }


def _jobs(plan: ValidationPlan, instruments: InstrumentSet, watch: StudyWatch) -> Iterator[_Job]:
    sets = _of_kinds([gold for gold in load_gold(plan.gold, folder=plan.gold_folder) if gold.items], plan)
    usable: list[tuple[GoldSet, InstrumentSet]] = []
    problem: InputError | None = None
    for gold in sets:
        try:
            usable.append((gold, instruments_for(gold.items[0].measure, instruments)))
        except InputError as error:
            problem = error
            watch.say(
                f"{gold.name}, {gold.items[0].measure}: left out, {instruments.name} has nothing that measures it"
            )
    if not usable:
        raise problem or InputError("holds no items", source=plan.gold, field="--gold", way_out="name another gold set")
    for gold, asked in usable:
        measure = gold.items[0].measure
        items = _chosen(gold, plan)
        _, clusters = clusters_of(items)
        # The name is what a watch is told, and no two stages of a run have the same.
        named = replace(asked, name=f"{asked.name} on {gold.name}")
        turned = with_options_reversed(named) if plan.option_swap else None
        if plan.option_swap and turned is None:
            watch.say(f"{measure}: {asked.name} lists no options and has no opposite, so neither can be turned round")
        yield _Job(
            gold,
            items,
            tuple(as_pair(item, cluster) for item, cluster in zip(items, clusters, strict=True)),
            named,
            turned,
            gold_classes(measure, plan.gold_labels.get(measure, ())),
        )


def _of_kinds(sets: Sequence[GoldSet], plan: ValidationPlan) -> list[GoldSet]:
    """Return the sets that have items of the kinds that a plan is about."""
    found = [gold for gold in sets if not plan.kinds or any(_kind(item) in plan.kinds for item in gold.items)]
    if sets and not found:
        known = ", ".join(sorted({_kind(item) for gold in sets for item in gold.items} - {""}))
        raise InputError(
            f"{plan.gold} has no items of the kinds {', '.join(plan.kinds)}",
            field="--kind",
            way_out=f"use {known}" if known else "leave --kind away: its items are of no kind",
        )
    return found


def _kind(item: GoldItem) -> str:
    return item.groups.get("kind", "")


def _chosen(gold: GoldSet, plan: ValidationPlan) -> tuple[GoldItem, ...]:
    items = [item for item in gold.items if plan.split in ("", item.split)]
    if not items:
        raise InputError(
            f"{gold.name} has no items in its part {plan.split}", field="--split", way_out="leave --split away"
        )
    items = [item for item in items if not plan.kinds or _kind(item) in plan.kinds]
    if plan.sample is None or plan.sample >= len(items):
        return tuple(items)

    def lot(item: GoldItem) -> str:
        return hashlib.sha256(f"{plan.seed}\0{item.item_id}".encode("utf-8", "replace")).hexdigest()

    # The r-th of N comes when (r + 1/2) / N of the set have been drawn: each label by its share, and each half within a
    # label. A larger sample then holds a smaller one, so that its replies are not paid for again.
    in_line = sorted(items, key=lot)
    in_line = _by_share(_by_share(in_line, lambda item: (item.label, item.split)), lambda item: item.label)
    drawn = {item.item_id for item in in_line[: plan.sample]}
    return tuple(item for item in items if item.item_id in drawn)


def _by_share(items: Sequence[GoldItem], group: Callable[[GoldItem], Hashable]) -> list[GoldItem]:
    """Return items in an order of whose every beginning each group has its share; within a group as they were."""
    sizes = Counter(map(group, items))
    seen: Counter[Hashable] = Counter()
    places: list[float] = []
    for item in items:
        places.append((seen[group(item)] + 0.5) / sizes[group(item)])
        seen[group(item)] += 1
    return [items[row] for row in sorted(range(len(items)), key=places.__getitem__)]


def _cards(plan: ValidationPlan, scored: Sequence[_Scored]) -> tuple[list[ValidityCard], Calibration | None]:
    calibration = read_calibration(plan.calibration) if plan.calibration else None
    if plan.calibrate is not None:
        return _calibrated_cards(plan, scored)
    cards = []
    for one in scored:
        fitted = None
        if calibration is not None:
            fitted = check_calibration(
                calibration,
                grader=one.graded.grader,
                identity=one.graded.identity,
                measure=str(one.job.gold.items[0].measure),
                versions=one.scores.versions,
            )
        cards.append(_card(plan, one, fitted, np.ones(len(one.job.items), dtype=bool), plan.split))
    return cards, calibration


def _calibrated_cards(plan: ValidationPlan, scored: Sequence[_Scored]) -> tuple[list[ValidityCard], Calibration]:
    cards: list[ValidityCard] = []
    measures: list[MeasureCalibration] = []
    for one in scored:
        fit, split = halves(one.job.items)
        fitted = fit_measure(
            one.job.gold,
            one.job.items,
            one.scores,
            one.job.classes.codes(one.job.items),
            where=fit,
            seed=plan.card.seed,
        )
        if any(done.measure == fitted.measure for done in measures):
            raise InputError(
                f"{plan.gold} holds two sets of {fitted.measure}", field="--calibrate", way_out="fit to one of them"
            )
        measures.append(fitted)
        cards.append(_card(plan, one, fitted, ~fit, split))
    graded = scored[0].graded
    return cards, Calibration(
        plan.calibrate.stem if plan.calibrate else "", graded.grader, graded.identity, graded.reading, tuple(measures)
    )


def _card(
    plan: ValidationPlan, one: _Scored, fitted: MeasureCalibration | None, where: npt.NDArray[np.bool_], split: str
) -> ValidityCard:
    settings, scores = plan.card, one.scores
    if one.threshold is not None and settings.threshold == CardSettings().threshold:
        settings = replace(settings, threshold=one.threshold)
    if fitted is not None:
        scores = replace(scores, probability=fitted.mapped(scores.probability))
        settings = replace(settings, threshold=fitted.threshold)
    rows = np.flatnonzero(where)
    card = validity_card(
        one.job.gold,
        [one.job.items[row] for row in rows],
        scores.of_rows(rows),
        one.graded,
        classes=one.job.classes,
        settings=settings,
        split=split,
        # Reversed options are compared as they were read: a calibration was fitted for the other wording.
        reversed_scores=one.turned.of_rows(rows) if one.turned and fitted is None else None,
        labelled_by="construction" if one.job.gold.name.startswith(_CONSTRUCTED) else "people",
    )
    only = (f"held against items of the kinds {', '.join(plan.kinds)} alone",) if plan.kinds else ()
    return replace(card, remarks=(*card.remarks, *only, *one.remarks))


@contextmanager
def _looked_into(out: Path | None) -> Iterator[Ledger]:
    with (
        tempfile.TemporaryDirectory(prefix="evenhand-") as nothing,
        Ledger.peek((out or Path(nothing)) / "ledger.sqlite") as ledger,
    ):
        yield ledger


@contextmanager
def _folder(out: Path | None) -> Iterator[RunFolder]:
    if out is not None:
        yield RunFolder(out)
        return
    with tempfile.TemporaryDirectory(prefix="evenhand-") as path:
        yield RunFolder(Path(path))


def _table(scored: Sequence[_Scored]) -> pl.DataFrame:
    rows = [
        {
            "grader": one.graded.grader,
            "gold": one.job.gold.name,
            "measure": str(item.measure),
            "item_id": item.item_id,
            "label": item.label,
            "split": item.split,
            "probability": None if np.isnan(probability) else float(probability),
        }
        for one in scored
        for item, probability in zip(one.job.items, one.scores.probability, strict=True)
    ]
    names = ("grader", "gold", "measure", "item_id", "label", "split")
    return pl.DataFrame(rows, schema={**dict.fromkeys(names, pl.String), "probability": pl.Float64})
