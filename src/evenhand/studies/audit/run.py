"""The audit: paired prompts to a subject, its responses to graders, their readings to figures."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evenhand.errors import InputError
from evenhand.execution import Budget, Ledger, RunFolder
from evenhand.execution.forecast import Forecast
from evenhand.graders import Judgment, ask_all
from evenhand.graders.fitted.judging import FittedGraders
from evenhand.graders.reading_mode import reading_mode
from evenhand.instruments import InstrumentSet
from evenhand.models import Model, ModelRole, ModelSettings, open_model
from evenhand.pairs import PairedPrompt, sample_pairs
from evenhand.pairs.paired_prompt import Letter
from evenhand.pairs.responses import read_responses
from evenhand.report import AuditSummary
from evenhand.studies.audit.grade import grade, weigh
from evenhand.studies.audit.plan import AuditPlan, GradingPlan
from evenhand.studies.audit.positive import check_positive
from evenhand.studies.audit.put_questions import open_helpers, put_questions
from evenhand.studies.audit.record import audit_record, audit_settings, described, fitted_record, grading_record
from evenhand.studies.audit.respond import Decoding, provided_responses, respond, texts_of
from evenhand.studies.audit.response import Response
from evenhand.studies.audit.saved_run import write_run
from evenhand.studies.audit.summarize_all import summarize_all
from evenhand.studies.audit.validity import GivenCards, read_given_cards, with_validity
from evenhand.studies.calibration_file import check_calibrations
from evenhand.studies.carrier import Carrier, CarryOut
from evenhand.studies.forecast import ForecastCarrier
from evenhand.studies.inputs import load_instruments, load_model_settings, load_pairs, load_system_prompt
from evenhand.studies.settings import RunKind, check_kind, say_if_changed
from evenhand.studies.side_by_side import side_by_side
from evenhand.studies.watch import StudyWatch, UnwatchedStudy


@dataclass(frozen=True, slots=True)
class AuditResult:
    """What an audit came to."""

    summary: AuditSummary
    calls: int
    """Requests that a model was called for in this run; the rest was in the ledger."""
    replies: int
    """Replies that the run rests on."""
    found: int
    """Those of them that were in the ledger before."""
    cost: float
    """US dollars that this run's calls have cost, as far as prices are known."""


@dataclass(frozen=True, slots=True)
class Graders:
    """Graders, opened, and what they are asked."""

    plan: GradingPlan
    instruments: InstrumentSet | None
    """What models are asked; None where no grader is a model."""
    source: dict[str, str]
    models: tuple[Model, ...]
    fitted: tuple[FittedGraders, ...] = ()
    cards: tuple[GivenCards, ...] = ()
    """Validity cards of the user's."""
    helpers: Mapping[tuple[str, str], Model] = field(default_factory=dict)
    """Embedded models that fitted graders ask, by the graders' name and the measure."""

    @property
    def sets(self) -> tuple[InstrumentSet, ...]:
        """The instruments of all of them: those of models first, then those of each of the fitted graders."""
        of_models = (self.instruments,) if self.instruments is not None else ()
        return (*of_models, *(graders.instruments for graders in self.fitted))

    def judge(
        self, pairs: Sequence[PairedPrompt], responses: Sequence[Response], carry_out: CarryOut
    ) -> list[Judgment]:
        """Return the judgments of all graders, each going its own way; those of fitted graders at the end."""
        found = self._of_models(pairs, responses, carry_out)
        for graders in self.fitted:
            log_odds = put_questions(graders, self.helpers, pairs, responses, carry_out)
            found += weigh(graders, pairs, responses, log_odds)
        return found

    def ask(self, pairs: Sequence[PairedPrompt], responses: Sequence[Response], carry_out: CarryOut) -> None:
        """Take a carrier through all that models are asked."""
        self._of_models(pairs, responses, carry_out)
        for graders in self.fitted:
            put_questions(graders, self.helpers, pairs, responses, carry_out)

    def _of_models(
        self, pairs: Sequence[PairedPrompt], responses: Sequence[Response], carry_out: CarryOut
    ) -> list[Judgment]:
        instruments = self.instruments
        if instruments is None:
            return []
        questions = list(
            ask_all(
                instruments,
                pairs,
                texts_of(responses),
                reading_mode(self.plan.reading),
                orders=self.plan.asked_orders,
                blind_groups=self.plan.blind_groups,
            )
        )
        found = side_by_side(self.models, lambda model: grade(model, questions, instruments, pairs, carry_out))
        return [judgment for one in found for judgment in one]

    def records(self) -> list[dict[str, Any]]:
        """Return what a record says of them, without their validity cards."""
        of_models = [
            grading_record(model, self.plan, self.instruments, self.source)
            for model in self.models
            if self.instruments is not None
        ]
        return of_models + [fitted_record(graders, self.helpers) for graders in self.fitted]


def audit(plan: AuditPlan, watch: StudyWatch | None = None) -> AuditResult:
    """Carry an audit out and write its files to the run folder.

    Whatever a model answered is in the folder's ledger before anything else happens with it: an audit that was
    interrupted goes on from there, and one that is repeated calls no model.
    """
    watch = watch or UnwatchedStudy()
    work = _Work.prepared(plan, watch)
    folder = RunFolder(plan.out)
    with Ledger(folder.ledger_path) as ledger:
        carry_out = Carrier(ledger, watch, Budget(plan.max_cost))
        responses = work.responses(carry_out)
        judgments = work.graders.judge(work.pairs, responses, carry_out)
    sets, settings = work.graders.sets, work.settings()
    summary = summarize_all(
        work.pairs,
        responses,
        judgments,
        sets,
        subject=settings["subject"],
        configuration=plan.configuration,
        analysis=plan.full_analysis,
        gradings=settings["gradings"],
    )
    record = audit_record(settings, summary, responses, judgments, carry_out.record())
    say_if_changed(folder, record, watch)
    write_run(
        folder,
        record=record,
        summary=summary,
        pairs=work.pairs,
        sets=sets,
        system_prompt=work.system_prompt,
        responses=responses,
        judgments=judgments,
    )
    return AuditResult(summary, carry_out.calls, carry_out.replies, carry_out.found, carry_out.cost)


def forecast_audit(plan: AuditPlan, watch: StudyWatch | None = None) -> Forecast:
    """Return what an audit would take. No model is called, and nothing is written."""
    work = _Work.prepared(plan, watch or UnwatchedStudy())
    with Ledger.peek(plan.out / "ledger.sqlite") as ledger:
        carry_out = ForecastCarrier(ledger)
        work.graders.ask(work.pairs, work.responses(carry_out), carry_out)
    return carry_out.forecast


def stages_of_audit(plan: AuditPlan, watch: StudyWatch | None = None) -> Callable[[CarryOut], object]:
    """Prepare an audit, and return what takes any carrier through its stages."""
    work = _Work.prepared(plan, watch or UnwatchedStudy())
    return lambda carry_out: work.graders.ask(work.pairs, work.responses(carry_out), carry_out)


def open_graders(plan: GradingPlan, settings: Mapping[str, ModelSettings], watch: StudyWatch) -> Graders:
    """Open what a plan of grading names; where no grader is a model, neither a model nor instruments of models.

    Raises:
        InputError: there is no such grader, or two sets of instruments are called the same.
    """
    cards = read_given_cards(plan.cards)
    fitted = tuple({one.name: one for one in (FittedGraders.load(name) for name in plan.fitted)}.values())
    helpers = open_helpers(fitted, lambda name: open_model(name, ModelRole.GRADER, watch, settings))
    if not plan.models:
        return Graders(plan, None, {}, (), fitted, cards, helpers)
    instruments, source = load_instruments(plan.instruments)
    if any(one.instruments.name == instruments.name for one in fitted):
        raise InputError(
            f"is called {instruments.name!r}, as the instruments of the fitted graders are",
            field="--instruments",
            way_out="give the prompt file another name",
        )
    models = tuple(open_model(name, ModelRole.GRADER, watch, settings) for name in plan.models)
    return Graders(plan, instruments, source, models, fitted, cards, helpers)


@dataclass(frozen=True, slots=True)
class _Work:
    """All that an audit needs, read and opened."""

    plan: AuditPlan
    pairs: list[PairedPrompt]
    pairs_source: dict[str, str]
    system_prompt: str
    graders: Graders
    gradings: list[dict[str, Any]]
    """What the record says of the graders."""
    subject: Model | None
    """None where the responses are provided."""
    provided: Mapping[tuple[str, Letter], str]
    provided_record: dict[str, Any]

    @classmethod
    def prepared(cls, plan: AuditPlan, watch: StudyWatch) -> "_Work":
        check_kind(plan.out, RunKind.AUDIT)
        whole, pairs_source = load_pairs(plan.pairs)
        pairs = whole if plan.sample is None else sample_pairs(whole, plan.sample, plan.seed)
        settings = load_model_settings(plan.models)
        graders = open_graders(plan.grading, settings, watch)
        analysis = plan.full_analysis
        check_positive(analysis.positive, graders.sets)
        gradings = with_validity(graders.records(), graders.cards)
        check_calibrations(analysis.calibrations, gradings, analysis.positive)
        system_prompt = load_system_prompt(plan.system_prompt)
        if plan.responses is None:
            subject = open_model(plan.subject, ModelRole.SUBJECT, watch, settings)
            return cls(plan, pairs, pairs_source, system_prompt, graders, gradings, subject, {}, {})
        drawn = {pair.pair_id for pair in pairs}
        # Found in the whole set: a file may answer more than the sample.
        found = read_responses(plan.responses, whole)
        provided = {place: text for place, text in found.items() if place[0] in drawn}
        answered = {pair_id for pair_id, _ in provided}
        there = [pair for pair in pairs if pair.pair_id in answered]
        if not there:
            raise InputError(
                "answers none of the pairs of the sample",
                source=plan.responses.name,
                field="--sample",
                way_out="give the --sample and the --seed by which the prompts were drawn, or no --sample",
            )
        half = 2 * len(there) - len(provided)
        watch.say(
            f"{plan.responses}: responses to {len(there)} of {len(pairs)} pairs"
            + (f", and to {half} of these to one prompt alone" if half else "")
        )
        record = {
            "name": plan.subject,
            "kind": "provided",
            "file": plan.responses.name,
            "pairs_in_set": len(pairs),
            "pairs_answered": len(there),
        }
        return cls(plan, there, pairs_source, system_prompt, graders, gradings, None, provided, record)

    @property
    def decoding(self) -> Decoding | None:
        if self.subject is None:
            return None
        return Decoding(self.plan.max_tokens, self.plan.temperature, self.plan.seed)

    def responses(self, carry_out: CarryOut) -> list[Response]:
        subject, decoding = self.subject, self.decoding
        if subject is None or decoding is None:
            return provided_responses(self.pairs, self.provided, self.plan.subject)
        (found,) = side_by_side(
            [subject], lambda model: respond(self.pairs, self.system_prompt, decoding, model, carry_out)
        )
        return found

    def settings(self) -> dict[str, Any]:
        return audit_settings(
            pairs=self.pairs,
            pairs_source=self.pairs_source,
            sample={"size": self.plan.sample, "seed": self.plan.seed},
            system_prompt=self.system_prompt,
            subject=described(self.subject) if self.subject else self.provided_record,
            configuration=self.plan.configuration,
            decoding=self.decoding,
            gradings=self.gradings,
            analysis=self.plan.full_analysis,
        )
