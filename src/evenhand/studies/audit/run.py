"""The audit: paired prompts to a subject, its responses to graders, their readings to figures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from evenhand.execution import Answered, Ledger, RunFolder
from evenhand.graders import Judgment, Question, ask_all, derive, judge
from evenhand.graders.reading_mode import reading_mode
from evenhand.instruments import InstrumentSet, Message, Request
from evenhand.models import Model, ModelRole, open_model
from evenhand.pairs import PairedPrompt, sample_pairs
from evenhand.pairs.paired_prompt import Letter
from evenhand.readings import Reading
from evenhand.report import AuditSummary
from evenhand.studies.audit.files import judgments_table, responses_table
from evenhand.studies.audit.plan import AuditPlan
from evenhand.studies.audit.record import audit_record
from evenhand.studies.audit.response import Response
from evenhand.studies.audit.summarize import summarize
from evenhand.studies.carrier import Carrier, CarryOut
from evenhand.studies.inputs import load_instruments, load_pairs, load_system_prompt
from evenhand.studies.settings import say_if_changed
from evenhand.studies.side_by_side import side_by_side
from evenhand.studies.watch import StudyWatch, UnwatchedStudy

LETTERS: tuple[Letter, ...] = ("a", "b")


@dataclass(frozen=True, slots=True)
class AuditResult:
    """What an audit came to."""

    summary: AuditSummary
    calls: int
    """Calls of models that this run made; the rest was in the ledger."""
    replies: int
    """Replies that the run rests on."""


def audit(plan: AuditPlan, watch: StudyWatch | None = None) -> AuditResult:
    """Carry an audit out and write its files to the run folder.

    Whatever a model answered is in the folder's ledger before anything else happens with it: an audit that was
    interrupted goes on from there, and one that is repeated calls no model.
    """
    watch = watch or UnwatchedStudy()
    pairs, pairs_source = load_pairs(plan.pairs)
    if plan.sample is not None:
        pairs = sample_pairs(pairs, plan.sample, plan.seed)
    instruments, instruments_source = load_instruments(plan.instruments)
    system_prompt = load_system_prompt(plan.system_prompt)
    subject = open_model(plan.subject, ModelRole.SUBJECT, watch)
    graders = [open_model(name, ModelRole.GRADER, watch) for name in dict.fromkeys(plan.graders)]
    folder = RunFolder(plan.out)
    with Ledger(folder.ledger_path) as ledger:
        carry_out = Carrier(ledger, watch)
        (responses,) = side_by_side([subject], lambda model: _respond(plan, pairs, system_prompt, model, carry_out))
        questions = _questions(plan, pairs, instruments, responses)
        graded = side_by_side(graders, lambda grader: _grade(grader, questions, carry_out))
    judgments = [judgment for one in graded for judgment in (*one, *_derived(one, instruments, pairs))]
    summary = summarize(
        pairs,
        responses,
        judgments,
        instruments,
        subject=plan.subject,
        threshold=plan.threshold,
        draws=plan.draws,
        seed=plan.seed,
    )
    record = audit_record(
        pairs=pairs,
        pairs_source=pairs_source,
        instruments=instruments,
        instruments_source=instruments_source,
        system_prompt=system_prompt,
        sample={"size": plan.sample, "seed": plan.seed},
        decoding={"temperature": plan.temperature, "max_tokens": plan.max_tokens, "seed": plan.seed},
        reading=plan.reading,
        analysis={"threshold": plan.threshold, "draws": plan.draws, "seed": plan.seed},
        subject=subject,
        graders=graders,
        summary=summary,
        replies=carry_out.record(),
    )
    say_if_changed(folder, record, watch)
    folder.write_table("responses.parquet", responses_table(responses))
    folder.write_table("judgments.parquet", judgments_table(judgments, pairs))
    folder.write_json("record.json", record)
    folder.write_json("summary.json", summary.as_json())
    return AuditResult(summary, carry_out.calls, carry_out.replies)


def _questions(
    plan: AuditPlan, pairs: Sequence[PairedPrompt], instruments: InstrumentSet, responses: Sequence[Response]
) -> list[Question]:
    texts = {
        (response.pair.pair_id, response.letter): response.text for response in responses if response.text is not None
    }
    return list(ask_all(instruments, pairs, texts, reading_mode(plan.reading)))


async def _respond(
    plan: AuditPlan, pairs: Sequence[PairedPrompt], system_prompt: str, subject: Model, carry_out: CarryOut
) -> list[Response]:
    system = (Message("system", system_prompt),) if system_prompt else ()
    asked = [(pair, letter) for pair in pairs for letter in LETTERS]
    requests = (
        Request(
            messages=(*system, Message("user", pair.prompt(letter))),
            max_tokens=plan.max_tokens,
            temperature=plan.temperature,
            seed=plan.seed,
        )
        for pair, letter in asked
    )

    def read(answer: Answered) -> Response:
        return Response(*asked[answer.place], answer.key, answer.outcome, answer.at)

    return await carry_out(f"{subject.name} responds", requests, subject, len(asked), read)


async def _grade(grader: Model, questions: Sequence[Question], carry_out: CarryOut) -> list[Judgment]:
    asked = [question for question in questions for _ in range(question.count)]
    requests = (request for question in questions for request in question.requests)

    def read(answer: Answered) -> tuple[Reading, str]:
        return asked[answer.place].read(answer.outcome), answer.key

    answers = iter(await carry_out(f"{grader.name} grades", requests, grader, len(asked), read))
    judgments = []
    for question in questions:
        these = list(islice(answers, question.count))
        key = " ".join(key for _, key in these)
        judgments.append(judge(question, [reading for reading, _ in these], grader.name, key))
    return judgments


def _derived(
    judgments: Sequence[Judgment], instruments: InstrumentSet, pairs: Sequence[PairedPrompt]
) -> list[Judgment]:
    versions = instruments.versions
    found: Mapping[tuple[str, str, Letter | None], Judgment] = {
        (judgment.measure, judgment.pair_id, judgment.letter): judgment for judgment in judgments
    }
    derived = []
    for derivation in instruments.derivations:
        for pair in pairs:
            a = found.get((derivation.from_instrument, pair.pair_id, "a"))
            b = found.get((derivation.from_instrument, pair.pair_id, "b"))
            if a and b:
                derived.append(derive(derivation, versions[derivation.name], a, b))
    return derived
