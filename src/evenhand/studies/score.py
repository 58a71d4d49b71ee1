"""Score new outputs with a scoring spec: ask its questions of each, and weigh the ratings."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from evenhand.errors import InputError
from evenhand.execution import Budget, Ledger, RunFolder, storable
from evenhand.execution.forecast import Forecast
from evenhand.graders.rating import RatingManner, ask_ratings
from evenhand.instruments.questions import Question
from evenhand.instruments.rating import BUILTIN_RATING, Protocol, RatingInstrument, rating_instrument
from evenhand.models import Model, ModelRole, open_model
from evenhand.pairs.outputs import Output, read_outputs
from evenhand.pairs.preference_pair import PreferencePair
from evenhand.readings import RatingReading, State
from evenhand.report.scoring_spec import ScoringSpec
from evenhand.studies.carrier import Carrier, CarryOut
from evenhand.studies.forecast import ForecastCarrier
from evenhand.studies.inputs import load_model_settings
from evenhand.studies.made_from import holds_ratings, made_from, other_files
from evenhand.studies.rated import rated
from evenhand.studies.side_by_side import side_by_side
from evenhand.studies.watch import StudyWatch, UnwatchedStudy


@dataclass(frozen=True, slots=True)
class ScorePlan:
    """What to score, and with what."""

    spec: Path
    file: Path
    out: Path
    grader: str | None = None
    """None takes the grader that the spec was fitted to."""
    instrument: str | None = None
    """``rating`` or ``compact``; None takes the one that the spec was fitted to."""
    input_column: str | None = None
    output_column: str | None = None
    max_cost: float | None = None
    """US dollars that this run may cost; None is no limit."""
    models: Path | None = None
    """A file with settings of models."""


@dataclass(frozen=True, slots=True)
class ScoreResult:
    """What the scoring came to."""

    table: pl.DataFrame
    """Columns row, input, output, score, unrated (how many questions gave no rating), and a rating a question."""
    grader: str
    calls: int
    replies: int
    found: int
    """Those of them that were in the ledger before."""


def score(plan: ScorePlan, watch: StudyWatch | None = None) -> ScoreResult:
    """Rate every output on every question that has a weight, one output a call, and write ``scores.parquet``.

    An output is rated by itself and without a label, whatever the protocol of the spec. Where a question gives no
    rating its mean stands in, and the output's ``unrated`` says how often.
    """
    watch = watch or UnwatchedStudy()
    work = _Work.prepared(plan, watch)
    folder = RunFolder(plan.out)
    with Ledger(folder.ledger_path) as ledger:
        carry_out = Carrier(ledger, watch, Budget(plan.max_cost))
        ratings = work.ratings(carry_out)
    table = _table(work.spec, work.outputs, work.questions, ratings)
    folder.write_table("scores.parquet", table)
    return ScoreResult(table, work.grader.name, carry_out.calls, carry_out.replies, carry_out.found)


def forecast_score(plan: ScorePlan, watch: StudyWatch | None = None) -> Forecast:
    """Return what a scoring would take. No model is called, and nothing is written."""
    work = _Work.prepared(plan, watch or UnwatchedStudy())
    with Ledger.peek(plan.out / "ledger.sqlite") as ledger:
        carry_out = ForecastCarrier(ledger)
        work.ratings(carry_out)
    return carry_out.forecast


@dataclass(frozen=True, slots=True)
class _Work:
    """All that a scoring needs, read and opened."""

    spec: ScoringSpec
    outputs: Sequence[Output]
    questions: Sequence[Question]
    instrument: RatingInstrument
    grader: Model

    @classmethod
    def prepared(cls, plan: ScorePlan, watch: StudyWatch) -> "_Work":
        spec = read_spec(plan.spec)
        _check_origin(spec, plan.spec, watch)
        outputs = read_outputs(plan.file, input_column=plan.input_column, output_column=plan.output_column)
        questions = [Question(q.id, q.text) for q in spec.questions if q.weight or q.abstained_weight]
        if not questions:
            raise InputError(
                "gives no question a weight", source=plan.spec.name, way_out="fit it to more or other data"
            )
        instrument = rating_instrument(plan.instrument or _fitted_to(spec, plan.spec), Protocol.SINGLE)
        grader = open_model(plan.grader or spec.grader, ModelRole.GRADER, watch, load_model_settings(plan.models))
        return cls(spec, outputs, questions, instrument, grader)

    def ratings(self, carry_out: CarryOut) -> dict[str, dict[str, RatingReading]]:
        """Return what each output was rated, by output and question."""
        manner = RatingManner(prefill=self.grader.prefills)
        pairs = [_alone(output) for output in {output.output_id: output for output in self.outputs}.values()]
        every = ask_ratings(self.instrument, Protocol.SINGLE, pairs, self.questions, manner)
        asks = [ask for ask in every if ask.output == "chosen"]
        (found,) = side_by_side([self.grader], lambda model: rated(f"{model.name} rates", asks, model, carry_out))
        ratings: dict[str, dict[str, RatingReading]] = {}
        for ask, readings, _ in found:
            ratings.setdefault(ask.pair.pair_id, {})[ask.question.id] = readings["chosen"]
        return ratings


def read_spec(path: Path) -> ScoringSpec:
    """Return the spec in a file, or in the run folder of a fit; raises ``InputError``."""
    path = path / "spec.json" if path.is_dir() else path
    try:
        values = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise InputError(
            f"can't be read ({error.strerror or error})", source=str(path), way_out="make one with `evenhand fit`"
        ) from error
    except ValueError as error:
        raise InputError(
            f"is not JSON ({error})", source=str(path), way_out="make it again with `evenhand fit`"
        ) from error
    return ScoringSpec.from_json(values, source=path.name)


def _check_origin(spec: ScoringSpec, path: Path, watch: StudyWatch) -> None:
    """Check that the spec of a run folder was fitted to the ratings in it; a file by itself is what it says it is."""
    if not path.is_dir() or not holds_ratings(path):
        return
    others = other_files(spec.provenance, made_from(path))
    if others:
        raise InputError(
            f"was fitted to other {others} than lie in the folder now",
            source=str(path / "spec.json"),
            way_out=f"fit it anew: evenhand fit {path}; or name the file spec.json itself, to score with it as it is",
        )
    if others is None:
        watch.say(f"{path / 'spec.json'} doesn't say what it was fitted to: it may be of ratings that were replaced")


def _fitted_to(spec: ScoringSpec, path: Path) -> str:
    name = spec.provenance.get("instrument")
    if name not in BUILTIN_RATING:
        raise InputError(
            f"was fitted to ratings by {name or 'an unknown instrument'}, which can't rate one output by itself",
            source=path.name,
            way_out=f"name one with --instrument: {', '.join(BUILTIN_RATING)}",
        )
    return str(name)


def _alone(output: Output) -> PreferencePair:
    # A pair of which only the first output is ever asked about.
    return PreferencePair(output.output_id, output.output_id, output.input, output.output, output.output)


def _table(
    spec: ScoringSpec,
    outputs: Sequence[Output],
    questions: Sequence[Question],
    ratings: dict[str, dict[str, RatingReading]],
) -> pl.DataFrame:
    rows = []
    for output in outputs:
        found = ratings[output.output_id]
        values = {name: reading.value for name, reading in found.items()}
        abstained = [name for name, reading in found.items() if reading.state is State.ABSTAINED]
        rows.append(
            {
                "row": output.row,
                "input": storable(output.input),
                "output": storable(output.output),
                "score": spec.score(values, abstained),
                "unrated": sum(value is None for value in values.values()),
                **{question.id: values[question.id] for question in questions},
            }
        )
    numbers = {question.id: pl.Float64() for question in questions}
    fixed = {
        "row": pl.Int64(),
        "input": pl.String(),
        "output": pl.String(),
        "score": pl.Float64(),
        "unrated": pl.Int64(),
    }
    return pl.DataFrame(rows, schema={**fixed, **numbers})
