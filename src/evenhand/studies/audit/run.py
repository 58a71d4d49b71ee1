"""The audit: paired prompts to a subject, its responses to graders, their readings to figures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from evenhand.execution import Ledger, RunFolder
from evenhand.graders import Judgment, ask_all, derive, judge
from evenhand.graders.reading_mode import ReadingMode, reading_mode
from evenhand.instruments import InstrumentSet, Message, Request
from evenhand.models import Model, ModelRole, open_model
from evenhand.pairs import PairedPrompt, sample_pairs
from evenhand.pairs.paired_prompt import Letter
from evenhand.report import AuditSummary
from evenhand.studies.audit.files import judgments_table, responses_table
from evenhand.studies.audit.plan import AuditPlan
from evenhand.studies.audit.record import audit_record
from evenhand.studies.audit.response import Response
from evenhand.studies.audit.summarize import summarize
from evenhand.studies.carrier import Carrier
from evenhand.studies.inputs import load_instruments, load_pairs, load_system_prompt
from evenhand.studies.settings import say_if_changed
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
        mode = reading_mode(plan.reading)
        responses = _respond(plan, pairs, system_prompt, subject, carry_out)
        judgments = [
            judgment
            for grader in graders
            for judgment in _grade(grader, instruments, pairs, responses, mode=mode, carry_out=carry_out)
        ]
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


def _respond(
    plan: AuditPlan, pairs: Sequence[PairedPrompt], system_prompt: str, subject: Model, carry_out: Carrier
) -> list[Response]:
    system = (Message("system", system_prompt),) if system_prompt else ()
    asked = [(pair, letter) for pair in pairs for letter in LETTERS]
    requests = [
        Request(
            messages=(*system, Message("user", pair.prompt(letter))),
            max_tokens=plan.max_tokens,
            temperature=plan.temperature,
            seed=plan.seed,
        )
        for pair, letter in asked
    ]
    try:
        answers = carry_out(f"{subject.name} responds", requests, subject)
    finally:
        subject.close()
    return [
        Response(pair, letter, answer.key, answer.outcome, answer.at)
        for (pair, letter), answer in zip(asked, answers, strict=True)
    ]


def _grade(
    grader: Model,
    instruments: InstrumentSet,
    pairs: Sequence[PairedPrompt],
    responses: Sequence[Response],
    *,
    mode: ReadingMode,
    carry_out: Carrier,
) -> list[Judgment]:
    texts: Mapping[tuple[str, Letter], str] = {
        (response.pair.pair_id, response.letter): response.text for response in responses if response.text is not None
    }
    questions = list(ask_all(instruments, pairs, texts, mode))
    try:
        answers = iter(
            carry_out(
                f"{grader.name} grades", [request for question in questions for request in question.requests], grader
            )
        )
    finally:
        grader.close()
    judgments = []
    for question in questions:
        these = list(islice(answers, len(question.requests)))
        key = " ".join(answer.key for answer in these)
        judgments.append(judge(question, [answer.outcome for answer in these], grader.name, key, mode))
    versions = instruments.versions
    found = {(judgment.measure, judgment.pair_id, judgment.letter): judgment for judgment in judgments}
    for derivation in instruments.derivations:
        for pair in pairs:
            a = found.get((derivation.from_instrument, pair.pair_id, "a"))
            b = found.get((derivation.from_instrument, pair.pair_id, "b"))
            if a and b:
                judgments.append(derive(derivation, versions[derivation.name], a, b))
    return judgments
