"""The rating run: questions about preference pairs to graders, and their ratings to the run folder."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import evenhand
from evenhand.execution import Budget, Ledger, RunFolder
from evenhand.execution.forecast import Forecast
from evenhand.graders.rating import PairRating, ask_ratings, pair_up
from evenhand.instruments.questions import Question, read_questions
from evenhand.instruments.rating import BUILTIN_RATING, Protocol, RatingInstrument, rating_instrument
from evenhand.models import Model, ModelRole, open_model
from evenhand.pairs.preference_pair import PreferencePair
from evenhand.pairs.preferences import PreferenceSet, collected
from evenhand.studies.carrier import Carrier, CarryOut
from evenhand.studies.forecast import ForecastCarrier
from evenhand.studies.inputs import load_model_settings
from evenhand.studies.preference_source import open_preferences, source_record
from evenhand.studies.rate.files import pairs_table, ratings_table
from evenhand.studies.rate.plan import RatePlan
from evenhand.studies.rated import rated
from evenhand.studies.settings import say_if_changed
from evenhand.studies.side_by_side import side_by_side
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


@dataclass(frozen=True, slots=True)
class _Part:
    """What is rated under one protocol."""

    protocol: Protocol
    instrument: RatingInstrument
    pairs: Sequence[PreferencePair]


@dataclass(frozen=True, slots=True)
class _Work:
    """All that a rating run needs, read and opened."""

    plan: RatePlan
    found: PreferenceSet
    questions: Sequence[Question]
    parts: Sequence[_Part]
    graders: Sequence[Model]

    @classmethod
    def prepared(cls, plan: RatePlan, watch: StudyWatch) -> "_Work":
        found = collected(open_preferences(plan.pairs, format=plan.format, columns=plan.columns))
        watch.say(f"{plan.pairs}: {len(found.pairs)} preference pairs, read as {found.format}")
        if found.problems:
            watch.say(f"{len(found.problems)} rows are no pairs; `evenhand inspect-data {plan.pairs}` lists them")
        pairs = draw(found.pairs, plan.sample, plan.seed)
        settings = load_model_settings(plan.models)
        graders = [open_model(name, ModelRole.GRADER, watch, settings) for name in dict.fromkeys(plan.graders)]
        return cls(plan, found, read_questions(plan.questions), _parts(plan, pairs), graders)

    def rows(self, carry_out: CarryOut) -> list[PairRating]:
        rated_by = side_by_side(
            self.graders, lambda grader: _rate(self.plan, grader, self.parts, self.questions, carry_out)
        )
        return [row for one in rated_by for row in one]


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
    folder.write_json("questions.json", [question.as_json() for question in work.questions])
    folder.write_json("record.json", record)
    return RateResult(
        pairs=len(pairs),
        questions=len(work.questions),
        problems=len(work.found.problems),
        states=_states(rows),
        calls=carry_out.calls,
        replies=carry_out.replies,
    )


def forecast_rate(plan: RatePlan, watch: StudyWatch | None = None) -> Forecast:
    """Return what a rating run would take. No model is called, and nothing is written."""
    work = _Work.prepared(plan, watch or UnwatchedStudy())
    with Ledger.peek(plan.out / "ledger.sqlite") as ledger:
        carry_out = ForecastCarrier(ledger)
        work.rows(carry_out)
    return carry_out.forecast


def _parts(plan: RatePlan, pairs: Sequence[PreferencePair]) -> list[_Part]:
    protocol = Protocol(plan.protocol)
    parts = [_Part(protocol, rating_instrument(plan.instrument, protocol), pairs)]
    if plan.leak_sample and protocol is not Protocol.LABELLED:
        probed = draw([pair for pair in pairs if not pair.tie], min(plan.leak_sample, len(pairs)), plan.seed)
        told = (Protocol.LABELLED, Protocol.LABEL_SWAP)
        parts += [_Part(name, rating_instrument(plan.instrument, name), probed) for name in told]
    return parts


def draw(pairs: Sequence[PreferencePair], size: int | None, seed: int) -> list[PreferencePair]:
    """Return so many pairs in their own order, the same for the same seed on any machine; all if there are fewer."""
    if size is None or size >= len(pairs):
        return list(pairs)
    ranked = sorted(pairs, key=lambda pair: hashlib.sha256(f"{seed}\0{pair.pair_id}".encode()).digest())
    chosen = {pair.pair_id for pair in ranked[:size]}
    return [pair for pair in pairs if pair.pair_id in chosen]


async def _rate(
    plan: RatePlan, grader: Model, parts: Sequence[_Part], questions: Sequence[Question], carry_out: CarryOut
) -> list[PairRating]:
    manner = replace(plan.manner, prefill=grader.prefills and plan.manner.samples == 1)
    rows: list[PairRating] = []
    for part in parts:
        asks = list(ask_ratings(part.instrument, part.protocol, part.pairs, questions, manner))
        rows += pair_up(grader.name, await rated(f"{grader.name} rates, {part.protocol}", asks, grader, carry_out))
    return rows


def _states(rows: Sequence[PairRating]) -> dict[str, dict[str, int]]:
    counts: dict[str, Counter[str]] = {}
    for row in rows:
        count = counts.setdefault(str(row.protocol), Counter())
        count[str(row.chosen.state)] += 1
        count[str(row.rejected.state)] += 1
    return {protocol: dict(count) for protocol, count in counts.items()}


def _record(work: _Work) -> dict[str, Any]:
    plan = work.plan
    texts = "\0".join(f"{question.id}\0{question.text}" for question in work.questions)
    return {
        "schema": 1,
        "evenhand": evenhand.__version__,
        "settings": {
            "pairs": {
                **source_record(plan.pairs, work.found.format),
                "used": len(work.parts[0].pairs),
                "problems": len(work.found.problems),
            },
            "sample": {"size": plan.sample, "leak": plan.leak_sample, "seed": plan.seed},
            "questions": {"name": Path(plan.questions).name, "sha256": hashlib.sha256(texts.encode()).hexdigest()},
            "instrument": plan.instrument if plan.instrument in BUILTIN_RATING else Path(plan.instrument).name,
            "instruments": {str(part.protocol): part.instrument.version for part in work.parts},
            "reading": plan.reading,
            "reasons": plan.reasons,
            "graders": [grader.describe() for grader in work.graders],
        },
    }
