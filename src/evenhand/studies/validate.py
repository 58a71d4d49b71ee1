"""Is a grader right? Gold items put to it, and a validity card made of what it says."""

import json
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
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
from evenhand.graders.fitted.judging import FittedGraders
from evenhand.graders.reading_mode import reading_mode
from evenhand.instruments import InstrumentSet
from evenhand.models import Model
from evenhand.pairs.gold.item import GoldMeasure
from evenhand.readings import MINIMUM_CAPTURED
from evenhand.report.calibration import Calibration, MeasureCalibration
from evenhand.report.validity_card import ValidityCard
from evenhand.studies.audit.grade import grade, weigh
from evenhand.studies.audit.positive import check_positive, positive_labels
from evenhand.studies.audit.put_questions import put_questions
from evenhand.studies.audit.record import FITTED_READING
from evenhand.studies.audit.respond import provided_responses
from evenhand.studies.audit.run import Graders, open_graders
from evenhand.studies.audit.validity import VALIDATION
from evenhand.studies.calibration_file import calibrated, check_calibration, read_calibration, write_calibration
from evenhand.studies.calibration_fit import fit_measure, halves
from evenhand.studies.carrier import Carrier, CarryOut
from evenhand.studies.forecast import ForecastCarrier
from evenhand.studies.gold import labelled_by
from evenhand.studies.inputs import load_model_settings
from evenhand.studies.option_swap import positive_when_reversed, with_options_reversed
from evenhand.studies.side_by_side import side_by_side
from evenhand.studies.validation_jobs import GoldPart, Job, gold_parts, jobs_of, nothing_measured
from evenhand.studies.validation_plan import ValidationPlan
from evenhand.studies.validation_scores import Scores, scores_of
from evenhand.studies.validation_seen import SeenInFitting, seen_in_fitting
from evenhand.studies.validity import CardSettings, GradedBy, validity_card
from evenhand.studies.watch import StudyWatch, UnwatchedStudy

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
class _Scored:
    """One gold set as one grader judged it."""

    part: GoldPart
    graded: GradedBy
    instruments: InstrumentSet
    """What was asked, and what follows from it."""
    judgments: Sequence[Judgment]
    scores: Scores
    turned: Scores | None = None
    """With the options the other way round."""
    threshold: float | None = None
    """A fitted grader's own."""
    seen: SeenInFitting | None = None
    """What a fitted grader has seen of the items; None of another grader."""
    remarks: tuple[str, ...] = ()

    @property
    def measure(self) -> GoldMeasure:
        """What was measured."""
        return self.part.measure

    def saying(self, remark: str) -> "_Scored":
        """Return it with one remark more."""
        return replace(self, remarks=(*self.remarks, remark))

    def derived_anew(self, plan: ValidationPlan, calibration: Calibration) -> "_Scored":
        """Return it with what follows from calibrated readings, where it follows from any: as in an audit."""
        if not self.instruments.derivations:
            return self
        return replace(
            self, scores=_scores(plan, self.part, calibrated(self.judgments, [calibration]), self.instruments)
        )


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
            _say_what_goes(plan.out, cards, watch)
            record = work.record(carry_out.record())
            values = {"schema": VALIDATION_SCHEMA, "cards": [card.as_json() for card in cards], "record": record}
            folder.write_json(VALIDATION, json.loads(json.dumps(values)))
            folder.write_table("validation.parquet", _table(scored))
    if plan.calibrate is not None and calibration is not None:
        calibration = write_calibration(plan.calibrate, calibration, cards)
    calls, replies, found = carry_out.calls, carry_out.replies, carry_out.found
    return ValidationResult(tuple(cards), calibration, calls, replies, found, carry_out.cost)


def forecast_validation(plan: ValidationPlan, watch: StudyWatch | None = None) -> Forecast:
    """Return what a validation would take. No model is called, and nothing is written."""
    work = _Work.prepared(plan, watch or UnwatchedStudy())
    with _looked_into(plan.out) as ledger:
        carry_out = ForecastCarrier(ledger)
        work.scored(carry_out)
    return carry_out.forecast


@dataclass(frozen=True, slots=True)
class _Work:
    """All that a validation needs, read and opened."""

    plan: ValidationPlan
    graders: Graders
    parts: tuple[GoldPart, ...]
    jobs: tuple[Job, ...]
    """What models are asked."""
    weighed: tuple[tuple[FittedGraders, tuple[Job, ...]], ...]
    """Fitted graders, and what each of them is held against."""

    @classmethod
    def prepared(cls, plan: ValidationPlan, watch: StudyWatch) -> "_Work":
        parts = gold_parts(plan, watch)
        graders = open_graders(plan.grading, load_model_settings(plan.models), watch)
        check_positive(positive_labels(plan.positive), graders.sets)
        jobs = jobs_of(parts, graders.instruments, watch) if graders.instruments else ()
        weighed = tuple((one, jobs_of(parts, one.instruments, watch)) for one in graders.fitted)
        used = {job.part.gold.name for each in (jobs, *(found for _, found in weighed)) for job in each}
        if not used:
            raise nothing_measured(parts, graders.sets, plan.grading)
        return cls(plan, graders, tuple(part for part in parts if part.gold.name in used), jobs, weighed)

    def scored(self, carry_out: CarryOut) -> list[_Scored]:
        async def work(model: Model) -> list[_Scored]:
            return [await self._one(job, model, carry_out) for job in self.jobs]

        found = [one for judged in side_by_side(self.graders.models, work) for one in judged]
        found += [one for graders, jobs in self.weighed for one in self._weighed(graders, jobs, carry_out)]
        places = {graders.name: len(self.graders.models) for graders in self.graders.fitted}
        places |= {name: place for place, name in enumerate(self.plan.grading.graders)}
        return sorted(found, key=lambda one: (places.get(one.graded.grader, 0), self.parts.index(one.part)))

    def _weighed(self, graders: FittedGraders, jobs: Sequence[Job], carry_out: CarryOut) -> Iterator[_Scored]:
        for grader in graders.graders:
            own = [job for job in jobs if job.instruments.instruments[0].name == grader.card.measure]
            # Its other measures are not asked for; the identity stays that of all, as audits record it. All gold sets
            # at once, because a model that it asks is closed after one round.
            part = replace(graders, graders=(grader,))
            pairs = [pair for job in own for pair in job.part.pairs]
            texts = {key: text for job in own for key, text in job.part.texts.items()}
            responses = provided_responses(pairs, texts, self.plan.gold)
            log_odds = put_questions(part, self.graders.helpers, pairs, responses, carry_out)
            by_pair: dict[str, list[Judgment]] = defaultdict(list)
            for judgment in weigh(part, pairs, responses, log_odds):
                by_pair[judgment.pair_id].append(judgment)
            graded = GradedBy(graders.name, graders.identity, graders.instruments.name, FITTED_READING, "")
            for job in own:
                judgments = [judgment for pair in job.part.pairs for judgment in by_pair[pair.pair_id]]
                scores = _scores(self.plan, job.part, judgments, job.instruments)
                yield _Scored(
                    *(job.part, graded, job.instruments, judgments, scores),
                    threshold=grader.card.threshold if grader.card.measure == job.part.measure else None,
                    seen=seen_in_fitting(grader.card, job.part),
                )

    async def _one(self, job: Job, model: Model, carry_out: CarryOut) -> _Scored:
        grading, plan = self.plan.grading, self.plan
        name = self.graders.instruments.name if self.graders.instruments else ""
        graded = GradedBy(model.name, model.identity, name, grading.reading, grading.orders)
        judgments = await self._asked(job, job.instruments, model, carry_out)
        found = _Scored(
            job.part, graded, job.instruments, judgments, _scores(plan, job.part, judgments, job.instruments)
        )
        turned = with_options_reversed(job.instruments) if plan.option_swap else None
        if turned is not None:
            positive = positive_when_reversed(positive_labels(plan.positive), job.instruments, turned)
            judgments = await self._asked(job, turned, model, carry_out)
            return replace(found, turned=_scores(plan, job.part, judgments, turned, positive))
        if plan.option_swap:
            return found.saying(
                f"options were not reversed: {name} lists none for {job.part.measure}, and has no opposite"
            )
        return found

    async def _asked(self, job: Job, instruments: InstrumentSet, model: Model, carry_out: CarryOut) -> list[Judgment]:
        grading, pairs = self.plan.grading, job.part.pairs
        mode = reading_mode(grading.reading)
        questions = list(ask_all(instruments, pairs, job.part.texts, mode, orders=grading.asked_orders))
        return await grade(model, questions, instruments, pairs, carry_out)

    def record(self, replies: dict[str, int | str | None]) -> dict[str, Any]:
        plan = self.plan
        return {
            "evenhand": evenhand.__version__,
            "gradings": self.graders.records(),
            "gold": [
                {
                    "name": part.gold.name,
                    "sha256": part.gold.sha256,
                    "measure": str(part.measure),
                    "items": len(part.items),
                    "licence": part.gold.licence,
                    "source": part.gold.source,
                }
                for part in self.parts
            ],
            "sample": {"size": plan.sample, "seed": plan.seed},
            "split": plan.split,
            "kinds": list(plan.kinds),
            "gold_positive": {measure: list(labels) for measure, labels in plan.gold_labels.items()},
            "option_swap": plan.option_swap,
            "calibrate": str(plan.calibrate or ""),
            "calibration": str(plan.calibration or ""),
            "minimum_captured": MINIMUM_CAPTURED,
            "threshold": plan.card.threshold,
            "intervals": {"draws": plan.card.draws, "seed": plan.card.seed, "kind": plan.card.interval},
            "replies": replies,
        }


def _scores(
    plan: ValidationPlan,
    part: GoldPart,
    judgments: Sequence[Judgment],
    instruments: InstrumentSet,
    positive: Mapping[str, Sequence[str]] | None = None,
) -> Scores:
    positive = positive_labels(plan.positive) if positive is None else positive
    return scores_of(part.pairs, judgments, instruments, part.measure, orders=plan.grading.orders, positive=positive)


def _cards(plan: ValidationPlan, scored: Sequence[_Scored]) -> tuple[list[ValidityCard], Calibration | None]:
    if plan.calibrate is not None:
        return _calibrated_cards(plan, scored)
    calibration = read_calibration(plan.calibration) if plan.calibration else None
    cards = []
    for one in scored:
        everything = np.ones(len(one.part.items), dtype=bool)
        if calibration is None:
            cards.append(_card(plan, one, None, everything, plan.split))
            continue
        fitted = check_calibration(
            calibration,
            grader=one.graded.grader,
            identity=one.graded.identity,
            measure=str(one.measure),
            versions=one.scores.versions,
        )
        said = one.saying(f"calibrated by {calibration.name} (sha256 {calibration.sha256[:12]})")
        cards.append(_card(plan, said.derived_anew(plan, calibration), fitted, everything, plan.split))
    return cards, calibration


def _calibrated_cards(plan: ValidationPlan, scored: Sequence[_Scored]) -> tuple[list[ValidityCard], Calibration]:
    graded = scored[0].graded
    name = plan.calibrate.stem if plan.calibrate else ""
    calibration = Calibration(name, graded.grader, graded.identity, graded.reading, ())
    for one in scored:
        if not one.instruments.derivations:
            calibration = replace(calibration, measures=(*calibration.measures, _fitted(plan, one, calibration)))
    cards: list[ValidityCard] = []
    for one in scored:
        fit, split = halves(one.part.items)
        (instrument,) = one.instruments.instruments
        if calibration.of(instrument.name) is None:
            raise InputError(
                f"{one.measure} follows from {instrument.name}, and is calibrated where that is",
                field="--calibrate",
                way_out=f"give labels of {instrument.name} with --gold",
            )
        said = one.saying(f"calibrated by {name}, which was fitted to the other half")
        seen = 0 if one.seen is None else int((one.seen.items & fit).sum())
        if seen and not one.instruments.derivations:
            said = said.saying(
                f"the calibration was fitted to {seen:,} items that the weights had been fitted to: there they are"
                " surer than elsewhere, so labels that they haven't seen calibrate better"
            )
        cards.append(_card(plan, said.derived_anew(plan, calibration), calibration.of(str(one.measure)), ~fit, split))
    return cards, calibration


def _fitted(plan: ValidationPlan, one: _Scored, before: Calibration) -> MeasureCalibration:
    part = one.part
    if before.of(str(one.measure)) is not None:
        raise InputError(f"{plan.gold} holds two sets of {one.measure}", field="--calibrate", way_out="fit to one")
    where, _ = halves(part.items)
    return fit_measure(
        part.gold, part.items, one.scores, part.classes.codes(part.items), where=where, seed=plan.card.seed
    )


def _card(
    plan: ValidationPlan, one: _Scored, fitted: MeasureCalibration | None, where: npt.NDArray[np.bool_], split: str
) -> ValidityCard:
    settings, scores, part = plan.card, one.scores, one.part
    if one.threshold is not None and settings.threshold == CardSettings().threshold:
        settings = replace(settings, threshold=one.threshold)
    if fitted is not None:
        scores = replace(scores, probability=fitted.mapped(scores.probability))
        settings = replace(settings, threshold=fitted.threshold)
    rows = np.flatnonzero(where)
    card = validity_card(
        part.gold,
        [part.items[row] for row in rows],
        scores.of_rows(rows),
        one.graded,
        classes=part.classes,
        settings=settings,
        split=split,
        # Reversed options are compared as they were read: a calibration was fitted for the other wording.
        reversed_scores=one.turned.of_rows(rows) if one.turned and fitted is None else None,
        labelled_by=labelled_by(part.gold),
        seen=None if one.seen is None else int(one.seen.items[rows].sum()),
    )
    remarks = [*card.remarks]
    if plan.kinds:
        remarks.append(f"held against items of the kinds {', '.join(plan.kinds)} alone")
    if one.seen is not None:
        remarks.append(one.seen.remark(rows))
    return replace(card, remarks=(*remarks, *one.remarks, *part.gold.warnings))


@contextmanager
def _looked_into(out: Path | None) -> Iterator[Ledger]:
    with (
        tempfile.TemporaryDirectory(prefix="evenhand-") as nothing,
        Ledger.peek((out or Path(nothing)) / "ledger.sqlite") as ledger,
    ):
        yield ledger


def _say_what_goes(out: Path, cards: Sequence[ValidityCard], watch: StudyWatch) -> None:
    """Tell a watch of the cards in a folder that are of something else, and are replaced."""
    try:
        before = json.loads((out / VALIDATION).read_text("utf-8"))["cards"]
        of_what = {(str(one["grader"]), str(one["gold"])) for one in before}
    except (OSError, ValueError, KeyError, TypeError):
        return
    gone = sorted(of_what - {(card.grader, card.gold) for card in cards})
    if gone:
        names = ", ".join(f"{grader} on {gold}" for grader, gold in gone)
        watch.say(
            f"{out / VALIDATION} held the cards of {names}, which are replaced: with an --out for each gold set both"
            " would stay (the replies are still in this folder's ledger)"
        )


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
            "gold": one.part.gold.name,
            "measure": str(item.measure),
            "item_id": item.item_id,
            "label": item.label,
            "split": item.split,
            "probability": None if np.isnan(probability) else float(probability),
        }
        for one in scored
        for item, probability in zip(one.part.items, one.scores.probability, strict=True)
    ]
    names = ("grader", "gold", "measure", "item_id", "label", "split")
    return pl.DataFrame(rows, schema={**dict.fromkeys(names, pl.String), "probability": pl.Float64})
