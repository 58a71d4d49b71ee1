"""The rating run: questions about preference pairs to graders, and their ratings to the run folder."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import evenhand
from evenhand.execution import Budget, Ledger, RunFolder
from evenhand.execution.forecast import Forecast
from evenhand.execution.shards import forget_shards
from evenhand.graders.rating import PairRating
from evenhand.instruments.questions import Question, read_questions
from evenhand.instruments.rating import BUILTIN_RATING
from evenhand.models import Model, ModelRole, open_model
from evenhand.pairs.preferences import PreferenceSet, collected
from evenhand.studies.carrier import Carrier, CarryOut
from evenhand.studies.forecast import ForecastCarrier
from evenhand.studies.inputs import load_model_settings
from evenhand.studies.preference_source import open_preferences, source_record
from evenhand.studies.rate.files import pairs_table, ratings_table
from evenhand.studies.rate.plan import RatePlan
from evenhand.studies.rate.work import Part, parts_of, probed, rate_parts, sampled, states_of
from evenhand.studies.settings import RunKind, check_kind, say_if_changed
from evenhand.studies.watch import StudyWatch, UnwatchedStudy


@dataclass(frozen=True, slots=True)
class RateResult:
    """What a rating run came to."""

    pairs: int
    questions: int
    problems: int
    """Rows of the data that could not become a pair."""
    states: dict[str, dict[str, int]]
    """Ratings by protocol and state."""
    calls: int
    replies: int
    found: int
    """Those of them that were in the ledger before."""


@dataclass(frozen=True, slots=True)
class _Work:
    """All that a rating run needs, read and opened."""

    plan: RatePlan
    found: PreferenceSet
    questions: Sequence[Question]
    parts: Sequence[Part]
    graders: Sequence[Model]

    @classmethod
    def prepared(cls, plan: RatePlan, watch: StudyWatch) -> "_Work":
        check_kind(plan.out, RunKind.RATING)
        found = collected(open_preferences(plan.pairs, format=plan.format, columns=plan.columns))
        watch.say(f"{plan.pairs}: {len(found.pairs)} preference pairs, read as {found.format}")
        if found.problems:
            watch.say(f"{len(found.problems)} rows are no pairs; `evenhand inspect-data {plan.pairs}` lists them")
        chosen = set(sampled(plan, [pair.pair_id for pair in found.pairs]))
        pairs = [pair for pair in found.pairs if pair.pair_id in chosen]
        settings = load_model_settings(plan.models)
        graders = [open_model(name, ModelRole.GRADER, watch, settings) for name in dict.fromkeys(plan.graders)]
        told = probed(plan, [pair.pair_id for pair in pairs if not pair.tie], len(pairs))
        return cls(plan, found, read_questions(plan.questions), parts_of(plan, pairs, told), graders)

    def rows(self, carry_out: CarryOut) -> list[PairRating]:
        return rate_parts(self.plan, self.graders, self.parts, self.questions, carry_out)


def rate(plan: RatePlan, watch: StudyWatch | None = None) -> RateResult:
    """Carry a rating run out and write its files to the run folder."""
    watch = watch or UnwatchedStudy()
    work = _Work.prepared(plan, watch)
    folder = RunFolder(plan.out)
    with Ledger(folder.ledger_path) as ledger:
        carry_out = Carrier(ledger, watch, Budget(plan.max_cost))
        rows = work.rows(carry_out)
    record = _record(work) | {"replies": carry_out.record()}
    say_if_changed(folder, record, watch)
    pairs = work.parts[0].pairs
    folder.write_table("pairs.parquet", pairs_table(pairs))
    folder.write_table("ratings.parquet", ratings_table(rows))
    forget_shards(folder)
    folder.write_json("questions.json", [question.as_json() for question in work.questions])
    folder.write_json("record.json", record)
    return RateResult(
        pairs=len(pairs),
        questions=len(work.questions),
        problems=len(work.found.problems),
        states=states_of(rows),
        calls=carry_out.calls,
        replies=carry_out.replies,
        found=carry_out.found,
    )


def forecast_rate(plan: RatePlan, watch: StudyWatch | None = None) -> Forecast:
    """Return what a rating run would take. No model is called, and nothing is written."""
    work = _Work.prepared(plan, watch or UnwatchedStudy())
    with Ledger.peek(plan.out / "ledger.sqlite") as ledger:
        carry_out = ForecastCarrier(ledger)
        work.rows(carry_out)
    return carry_out.forecast


def stages_of_rate(plan: RatePlan, watch: StudyWatch | None = None) -> Callable[[CarryOut], object]:
    """Prepare a rating run, and return what takes any carrier through its stages."""
    return _Work.prepared(plan, watch or UnwatchedStudy()).rows


def _record(work: _Work) -> dict[str, Any]:
    return rating_record(
        work.plan,
        {
            **source_record(work.plan.pairs, work.found.format),
            "used": len(work.parts[0].pairs),
            "problems": len(work.found.problems),
        },
        work.questions,
        work.graders,
        {str(part.protocol): part.instrument.version for part in work.parts},
    )


def rating_record(
    plan: RatePlan,
    pairs: dict[str, Any],
    questions: Sequence[Question],
    graders: Sequence[Model],
    instruments: dict[str, str],
) -> dict[str, Any]:
    """Return what a rating run was asked to do: all that repeats it."""
    texts = "\0".join(f"{question.id}\0{question.text}" for question in questions)
    options = _reading_options(plan)
    record: dict[str, Any] = {
        "schema": 1,
        "evenhand": evenhand.__version__,
        "settings": {
            "pairs": pairs | ({"options": options} if options else {}),
            "sample": {"size": plan.sample, "leak": plan.leak_sample, "seed": plan.seed},
            "questions": {"name": Path(plan.questions).name, "sha256": hashlib.sha256(texts.encode()).hexdigest()},
            "instrument": plan.instrument if plan.instrument in BUILTIN_RATING else Path(plan.instrument).name,
            "instruments": instruments,
            "protocol": plan.protocol,
            "reading": plan.reading,
            "reasons": plan.reasons,
            "graders": [grader.describe() for grader in graders],
        },
    }
    if plan.cluster:
        # Beside the settings: on how many machines a run rates makes no rating another.
        cluster = plan.cluster
        record["engine"] = {"name": "ray", "workers": cluster.workers, "gpus": cluster.gpus}
    return record


def _reading_options(plan: RatePlan) -> dict[str, str]:
    """Return how the user said that the pairs are to be read, under the names of the options."""
    named = {**plan.columns.named(), "values": plan.columns.values} if plan.columns else {}
    return {name: value for name, value in {"format": plan.format, **named}.items() if value is not None}
