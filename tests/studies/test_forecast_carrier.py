"""A forecast of a study is what the study then does."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conftest import ScriptedModel, make_pair, position, reply
from evenhand.execution import Answered, Ledger
from evenhand.execution.forecast import Forecast
from evenhand.execution.tokens import estimate_text
from evenhand.graders import ask_all
from evenhand.graders.rating import RatingManner, ask_ratings
from evenhand.graders.reading_mode import ReadingMode
from evenhand.instruments import Message, Request, builtin_instruments
from evenhand.instruments.questions import Question
from evenhand.instruments.rating import Protocol, rating_instrument
from evenhand.pairs.preference_pair import PreferencePair
from evenhand.readings import Failure, Reply
from evenhand.studies.carrier import Carrier, CarryOut
from evenhand.studies.forecast import ForecastCarrier, stand_in
from evenhand.studies.rated import rated
from evenhand.studies.watch import UnwatchedStudy

PAIRS = [make_pair(n) for n in range(5)]
PREFERENCES = [PreferencePair(f"p{n}", f"i{n}", f"input {n}", f"chosen {n}", f"rejected {n}") for n in range(4)]
QUESTIONS = [Question("polite", "Is it polite?"), Question("short", "Is it short?")]
LIMIT = 80


def subject() -> ScriptedModel:
    # As many tokens as the limit allows, and no two responses alike.
    def write(request: Request) -> Reply:
        text = f"On {request.messages[-1].content}: " + "so and so, " * 200
        return Reply(text[: round(LIMIT * 4.5)], "length", "m", completion_tokens=LIMIT)

    return ScriptedModel(write, name="subject")


def grader(**settings: Any) -> ScriptedModel:
    def answer(request: Request) -> Reply:
        if request.prompt:
            return reply(position(" Yes", 0.7, **{" No": 0.3}))
        if request.top_logprobs and request.max_tokens == 6:
            return reply(position("C", 0.9, A=0.1))
        if request.top_logprobs:
            return numbers(request)
        return replace(reply(position("C", 1.0)), positions=(), finish="stop")

    return ScriptedModel(answer, name="grader", **settings)


def numbers(request: Request) -> Reply:
    if request.max_tokens == 1:
        return reply(position("0", 0.2, **{",": 0.8}))
    pieces = ['{"first_rating": ', "7", ', "second_rating": ', "3", "}"]
    if request.messages[-1].role == "assistant":
        pieces[0] = " "
    return reply(*(position(piece, 0.9, **{"1": 0.1}) for piece in pieces), finish="stop")


async def audited(
    carry_out: CarryOut, subject: ScriptedModel, grader: ScriptedModel, instruments: str, mode: ReadingMode
) -> int:
    """Go through the stages of an audit, and return how many judgments there are to make."""
    asked = [(pair, letter) for pair in PAIRS for letter in ("a", "b")]
    requests = (Request(messages=(Message("user", p.prompt(x)),), max_tokens=LIMIT) for p, x in asked)  # type: ignore[arg-type]

    def text_of(answer: Answered) -> str:
        assert isinstance(answer.outcome, Reply)
        return answer.outcome.text

    texts = await carry_out("subject responds", requests, subject, len(asked), text_of)
    responses = {(pair.pair_id, letter): text for (pair, letter), text in zip(asked, texts, strict=True)}
    questions = list(ask_all(builtin_instruments(instruments), PAIRS, responses, mode))  # type: ignore[arg-type]
    each = [question for question in questions for _ in range(question.count)]
    graded = (request for question in questions for request in question.requests)
    readings = await carry_out(
        "grader grades", graded, grader, len(each), lambda answer: each[answer.place].read(answer.outcome)
    )
    return len(readings)


async def rated_pairs(carry_out: CarryOut, grader: ScriptedModel, instrument: str, manner: RatingManner) -> int:
    """Go through the stages of a rating run."""
    rows = 0
    for protocol in (Protocol.BLIND, Protocol.LABELLED, Protocol.SINGLE):
        asks = list(ask_ratings(rating_instrument(instrument, protocol), protocol, PREFERENCES, QUESTIONS, manner))
        rows += len(await rated(f"grader rates, {protocol}", asks, grader, carry_out))
    return rows


def forecast(path: Path, study: Callable[[CarryOut], Awaitable[int]]) -> Forecast:
    with Ledger.peek(path) as ledger:
        carry_out = ForecastCarrier(ledger)
        asyncio.run(run(study, carry_out))
    return carry_out.forecast


def really(path: Path, study: Callable[[CarryOut], Awaitable[int]]) -> int:
    with Ledger(path) as ledger:
        carry_out = Carrier(ledger, UnwatchedStudy())
        asyncio.run(run(study, carry_out))
    return carry_out.calls


async def run(study: Callable[[CarryOut], Awaitable[int]], carry_out: CarryOut) -> int:
    return await study(carry_out)


def everything_in(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("instruments", "mode"),
    [
        ("compact", ReadingMode()),
        ("rubric", ReadingMode()),
        ("rubric", ReadingMode(probabilities=False)),
        ("rubric", ReadingMode(probabilities=False, samples=3)),
    ],
)
def test_an_audit_makes_the_calls_that_were_forecast(tmp_path: Path, instruments: str, mode: ReadingMode) -> None:
    path = tmp_path / "run" / "ledger.sqlite"
    one, other = subject(), grader()

    def study(carry_out: CarryOut) -> Awaitable[int]:
        return audited(carry_out, one, other, instruments, mode)

    before = forecast(path, study)
    assert not path.parent.exists()
    assert one.asked == other.asked == []
    path.parent.mkdir()
    assert really(path, study) == before.calls
    assert [stage.calls for stage in before.stages] == [len(one.asked), len(other.asked)]
    assert [stage.repeated for stage in before.stages] == [0, 0]
    kept = everything_in(path.parent)
    after = forecast(path, study)
    assert (after.calls, after.in_ledger) == (0, before.calls)
    assert everything_in(path.parent) == kept
    assert really(path, study) == 0


def test_graders_are_counted_with_responses_at_their_longest(tmp_path: Path) -> None:
    one, other = subject(), grader()
    path = tmp_path / "ledger.sqlite"

    def study(carry_out: CarryOut) -> Awaitable[int]:
        return audited(carry_out, one, other, "rubric", ReadingMode())

    before = forecast(path, study).stages[1]
    really(path, study)
    real = sum(estimate_text(request.messages[0].content) for request in other.asked) + 15 * len(other.asked)
    assert before.tokens_in == pytest.approx(real, rel=0.02)


def test_responses_that_are_there_are_counted_as_they_are(tmp_path: Path) -> None:
    terse = ScriptedModel(lambda request: Reply("No.", "stop", "m", completion_tokens=2), name="subject")
    path = tmp_path / "ledger.sqlite"
    with Ledger(path) as ledger:
        carry_out = Carrier(ledger, UnwatchedStudy())
        with pytest.raises(RuntimeError, match="no grader"):
            asyncio.run(
                audited(carry_out, terse, ScriptedModel(lambda _: RuntimeError("no grader")), "rubric", ReadingMode())
            )
    found = forecast(path, lambda carry_out: audited(carry_out, terse, grader(), "rubric", ReadingMode()))
    longest = forecast(
        tmp_path / "none" / "ledger.sqlite",
        lambda carry_out: audited(carry_out, terse, grader(), "rubric", ReadingMode()),
    )
    assert [stage.calls for stage in found.stages] == [0, 30]
    assert found.stages[1].tokens_in < longest.stages[1].tokens_in - 30 * LIMIT * 0.8


@pytest.mark.parametrize("instrument", ["rating", "compact"])
@pytest.mark.parametrize("prefill", [False, True])
def test_a_rating_run_makes_the_calls_that_were_forecast(tmp_path: Path, instrument: str, prefill: bool) -> None:
    path = tmp_path / "run" / "ledger.sqlite"
    model = grader(prefills=prefill)

    def study(carry_out: CarryOut) -> Awaitable[int]:
        return rated_pairs(carry_out, model, instrument, RatingManner(prefill=prefill))

    before = forecast(path, study)
    assert not path.parent.exists()
    path.parent.mkdir()
    calls = really(path, study)
    second = [request for request in model.asked if request.max_tokens == 1 and request.messages]
    assert calls - len(second) == before.calls
    assert bool(second) == (prefill and instrument == "rating")
    assert before.calls <= calls <= before.most_calls
    kept = everything_in(path.parent)
    after = forecast(path, study)
    repeated = sum(stage.repeated for stage in before.stages)
    assert (after.calls, after.most_calls, after.in_ledger) == (0, 0, calls + repeated)
    assert everything_in(path.parent) == kept


def test_a_run_that_was_interrupted_is_forecast_from_where_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    model = grader()
    first = PREFERENCES[:2]
    instrument = rating_instrument("rating", Protocol.BLIND)

    def study(pairs: list[PreferencePair]) -> Callable[[CarryOut], Awaitable[int]]:
        async def rate(carry_out: CarryOut) -> int:
            asks = list(ask_ratings(instrument, Protocol.BLIND, pairs, QUESTIONS, RatingManner()))
            return len(await rated("grader rates", asks, model, carry_out))

        return rate

    really(path, study(first))
    found = forecast(path, study(PREFERENCES))
    assert (found.in_ledger, found.calls) == (8, 8)
    assert really(path, study(PREFERENCES)) == 8


def test_a_request_that_two_stages_share_is_asked_once(tmp_path: Path) -> None:
    model = grader()
    requests = [Request(prompt=f"Is it {n}?", top_logprobs=5) for n in range(3)]

    async def study(carry_out: CarryOut) -> int:
        for stage in ("one", "other"):
            await carry_out(stage, requests, model, len(requests), lambda answer: answer.outcome)
        return 0

    path = tmp_path / "ledger.sqlite"
    found = forecast(path, study)
    assert [(stage.calls, stage.repeated) for stage in found.stages] == [(3, 0), (0, 3)]
    assert really(path, study) == 3


def test_stages_stand_in_the_order_in_which_they_began(tmp_path: Path) -> None:
    async def study(carry_out: CarryOut) -> int:
        def stage(name: str, count: int) -> Awaitable[list[Any]]:
            requests = [Request(prompt=f"{name} {n}", top_logprobs=5) for n in range(count)]
            return carry_out(name, requests, grader(), count, lambda answer: answer)

        await asyncio.gather(stage("long", 500), stage("short", 1))
        return 0

    assert [stage.stage for stage in forecast(tmp_path / "none" / "ledger.sqlite", study).stages] == ["long", "short"]


def test_what_stands_in_for_a_text_is_as_long_as_it_may_be_and_its_own() -> None:
    requests = [Request(messages=(Message("user", f"{n}"),), max_tokens=512) for n in range(20)]
    replies = [stand_in(request, request.key("model")) for request in requests]
    texts = [one.text for one in replies if isinstance(one, Reply)]
    assert [round(estimate_text(text)) for text in texts] == [512] * 20
    assert len({text[:16] for text in texts}) == 20
    assert all(isinstance(one, Reply) and one.finish == "length" for one in replies)


def test_what_stands_in_for_probabilities_is_no_answer() -> None:
    asked = Request(messages=(Message("user", "Which?"),), max_tokens=6, top_logprobs=20)
    assert isinstance(stand_in(asked, asked.key("model")), Failure)
