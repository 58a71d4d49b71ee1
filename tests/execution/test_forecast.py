"""What requests would take, added up without a call."""

import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conftest import ScriptedModel, reply
from evenhand.execution import Ledger, run_requests
from evenhand.execution.forecast import (
    LEAST_CACHED,
    SHARE_OF_THINKING,
    SHARE_WITH_STOPS,
    TYPICAL_ANSWER,
    Forecast,
    StageForecast,
    common_beginning,
    forecast,
)
from evenhand.execution.tokens import MARGIN, estimate_tokens
from evenhand.instruments import Message, Request
from evenhand.models import Limits, Price
from evenhand.readings import Reply

PRICE = Price(input=2.0, cached_input=0.5, output=8.0)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger(tmp_path / "ledger.sqlite") as opened:
        yield opened


def request(text: str, **changes: Any) -> Request:
    return Request(**{"messages": (Message("user", text),), "max_tokens": 64, **changes})


def never(_: Request) -> Reply:
    raise AssertionError("a forecast calls no model")


def answers(tokens: int, prompt_tokens: int = 0) -> Any:
    return lambda _: replace(reply(), text="text", completion_tokens=tokens, prompt_tokens=prompt_tokens)


def test_each_request_is_a_call_or_in_the_ledger_or_a_repetition(ledger: Ledger) -> None:
    model = ScriptedModel(answers(3))
    run_requests([request("kept"), request("kept too")], model, ledger)
    asked = [request(text) for text in ("kept", "new", "new", "kept", "other", "new")]
    found = forecast(asked, ScriptedModel(never), ledger, stage="a stage")
    assert (found.stage, found.model) == ("a stage", "scripted")
    assert (found.requests, found.in_ledger, found.repeated, found.calls) == (6, 2, 2, 2)
    assert len(model.asked) == 2
    run_requests(asked, model, ledger)
    assert len(model.asked) == 2 + found.calls
    assert forecast(asked, ScriptedModel(never), ledger).calls == 0


def test_another_model_has_to_be_asked_again(ledger: Ledger) -> None:
    run_requests([request("text")], ScriptedModel(answers(3)), ledger)
    assert forecast([request("text")], ScriptedModel(never, name="another"), ledger).calls == 1


def test_tokens_in_are_estimated_and_tokens_out_bounded(ledger: Ledger) -> None:
    asked = [request("one " * 100, max_tokens=4000), request("two", max_tokens=6), request("3", max_tokens=1)]
    found = forecast(asked, ScriptedModel(never), ledger)
    assert found.tokens_in == sum(map(estimate_tokens, asked))
    assert found.most_tokens_in == round(found.tokens_in * MARGIN)
    assert found.most_tokens_out == 4007
    assert found.tokens_out == TYPICAL_ANSWER + 7
    stopped = forecast([request("rate", max_tokens=40, stop=("}",))], ScriptedModel(never), ledger)
    assert (stopped.tokens_out, stopped.most_tokens_out) == (round(40 * SHARE_WITH_STOPS), 40)


def test_replies_of_the_same_shape_tell_how_long_answers_are(ledger: Ledger) -> None:
    long = [request(f"write {n}", max_tokens=500) for n in range(10)]
    short = [request(f"grade {n}", max_tokens=6, top_logprobs=5) for n in range(10)]
    run_requests(long[:4], ScriptedModel(answers(120)), ledger)
    assert forecast(long, ScriptedModel(never), ledger).tokens_out == 6 * 120
    both = forecast([*long, *short], ScriptedModel(never), ledger)
    assert both.tokens_out == 6 * 120 + 10 * 6
    assert both.seen == 4


def test_replies_in_the_ledger_correct_the_estimate_of_prompts(ledger: Ledger) -> None:
    asked = [request(f"{n} " + "слово " * 50) for n in range(10)]
    run_requests(asked[:5], ScriptedModel(answers(3, prompt_tokens=2 * estimate_tokens(asked[0]))), ledger)
    found = forecast(asked, ScriptedModel(never), ledger)
    assert found.tokens_in == pytest.approx(2 * sum(map(estimate_tokens, asked[5:])), abs=1)


def test_a_provider_that_counts_nothing_teaches_nothing(ledger: Ledger) -> None:
    asked = [request(f"write {n}") for n in range(4)]
    run_requests(asked[:2], ScriptedModel(answers(0)), ledger)
    found = forecast(asked, ScriptedModel(never), ledger)
    assert (found.seen, found.tokens_out) == (0, 2 * 64)
    assert found.tokens_in == sum(map(estimate_tokens, asked[2:]))


def test_what_begins_like_the_request_before_is_cacheable(ledger: Ledger) -> None:
    shared = "a rule that every grader reads first. " * 200
    asked = [request(f"{shared} {text}") for text in ("zero", "one", "two")]
    found = forecast(asked, ScriptedModel(never), ledger)
    one = estimate_tokens(asked[0])
    assert one > LEAST_CACHED
    assert found.cacheable == pytest.approx(2 * one, rel=0.02)
    assert found.cacheable_share == pytest.approx(2 / 3, rel=0.02)


def test_a_short_common_beginning_is_cacheable_on_this_machine_alone(ledger: Ledger) -> None:
    asked = [request("the same rule for all of them: " * 10 + text) for text in ("zero", "one")]
    assert forecast(asked, ScriptedModel(never), ledger).cacheable == 0
    assert forecast(asked, ScriptedModel(never, local=True), ledger).cacheable > 40


def test_what_is_in_the_ledger_warms_no_cache(ledger: Ledger) -> None:
    shared = "a rule that every grader reads first. " * 200
    asked = [request(f"{shared} {text}") for text in ("zero", "one")]
    run_requests(asked[:1], ScriptedModel(answers(1)), ledger)
    assert forecast(asked, ScriptedModel(never), ledger).cacheable == 0


def test_the_role_of_a_message_does_not_hide_a_common_beginning(ledger: Ledger) -> None:
    system = Message("system", "You are a support bot of a shop that sells lamps. " * 120)
    asked = [Request(messages=(system, Message("user", text)), max_tokens=5) for text in ("zero", "one")]
    assert forecast(asked, ScriptedModel(never), ledger).cacheable > LEAST_CACHED


def test_costs_follow_the_price_and_are_unknown_without_one(ledger: Ledger) -> None:
    shared = "a rule that every grader reads first. " * 200
    asked = [request(f"{shared} {text}", max_tokens=100) for text in ("zero", "one", "two")]
    found = forecast(asked, ScriptedModel(never, price=PRICE), ledger)
    assert found.cost == pytest.approx(PRICE.of(found.tokens_in, found.cacheable, 300))
    assert found.most_cost == pytest.approx(PRICE.of(found.most_tokens_in, 0, 300))
    unpriced = forecast(asked, ScriptedModel(never), ledger)
    assert (unpriced.cost, unpriced.most_cost) == (None, None)
    assert Forecast((found, unpriced)).cost is None
    assert Forecast((found, unpriced)).unpriced == ("scripted",)
    assert Forecast((found, found)).most_cost == pytest.approx(2 * (found.most_cost or 0))


def test_a_stage_without_calls_costs_nothing_whatever_the_price(ledger: Ledger) -> None:
    run_requests([request("text")], ScriptedModel(answers(1)), ledger)
    found = forecast([request("text")], ScriptedModel(never), ledger)
    assert (found.cost, found.most_cost, Forecast((found,)).unpriced) == (0.0, 0.0, ())


@pytest.mark.parametrize(
    ("limits", "minutes"),
    [
        (Limits(requests_per_minute=10), 30 / 10),
        (Limits(tokens_per_minute=100), 30 * (64 + 17) / 100),
        (Limits(requests_per_minute=10, tokens_per_minute=100), 30 * (64 + 17) / 100),
        (Limits(requests_per_minute=1, tokens_per_minute=1e9), 30.0),
    ],
)
def test_hours_are_those_of_the_tighter_limit(ledger: Ledger, limits: Limits, minutes: float) -> None:
    asked = [request(f"{n:08}") for n in range(30)]
    assert estimate_tokens(asked[0]) == 17
    found = forecast(asked, ScriptedModel(never, limits=limits), ledger)
    assert found.hours == pytest.approx(minutes / 60)


def test_without_limits_nobody_knows_the_hours(ledger: Ledger) -> None:
    found = forecast([request("text")], ScriptedModel(never), ledger)
    assert found.hours is None
    assert Forecast((found,)).hours is None


def test_stages_of_one_model_follow_one_another_and_others_go_beside_them(ledger: Ledger) -> None:
    def stage(model: str, minutes: float) -> StageForecast:
        asked = [request(f"{n}") for n in range(60)]
        scripted = ScriptedModel(never, name=model, limits=Limits(requests_per_minute=60 / minutes))
        return forecast(asked, scripted, ledger)

    found = Forecast((stage("subject", 60), stage("grader", 120), stage("grader", 30)))
    assert found.hours == pytest.approx(2.5)
    assert found.calls == 180


def test_calls_that_tell_1_from_10_are_counted_at_most(ledger: Ledger) -> None:
    begun = Message("assistant", '{"rating":')
    asked = [
        Request(messages=(Message("user", f"rate {n}"), begun), max_tokens=40, top_logprobs=5, stop=("}",))
        for n in range(10)
    ]
    found = forecast(asked, ScriptedModel(never), ledger)
    assert (found.calls, found.most_calls) == (10, 30)
    assert found.most_tokens_in == round(3 * found.tokens_in * MARGIN)
    assert found.most_tokens_out == 10 * 40 + 20
    written = forecast([replace(one, top_logprobs=0) for one in asked], ScriptedModel(never), ledger)
    assert written.most_calls == 10
    second = forecast([replace(one, max_tokens=1, stop=()) for one in asked], ScriptedModel(never), ledger)
    assert (second.calls, second.most_calls) == (10, 10)


def test_a_model_that_thinks_may_write_more_than_the_limit(ledger: Ledger) -> None:
    model = ScriptedModel(never)
    model.thinking_tokens = 1000
    found = forecast([request("text", max_tokens=6)], model, ledger)
    assert found.most_tokens_out == 1006
    assert found.tokens_out == 6 + round(1000 * SHARE_OF_THINKING)


def test_requests_are_drawn_one_at_a_time_and_none_is_kept(ledger: Ledger) -> None:
    size, count = 20_000, 1_000
    asked = (request(f"{n} " * (size // len(f"{n} "))) for n in range(count))
    tracemalloc.start()
    found = forecast(asked, ScriptedModel(never), ledger)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.calls == count
    assert peak < 50 * size


def test_common_beginnings() -> None:
    for first, second in (("", ""), ("a", ""), ("abc", "abd"), ("abc", "abc"), ("abc", "xbc"), ("a" * 999, "a" * 998)):
        slow = next((n for n, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), None)
        assert common_beginning(first, second) == (min(len(first), len(second)) if slow is None else slow)
