"""What a terminal and --json show of a forecast."""

import json
from dataclasses import replace
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from evenhand.execution.forecast import Forecast, StageForecast
from evenhand.models import Limits, Price
from evenhand.models.prices import known_price, prices_as_of
from evenhand.report.forecast_table import forecast_json, forecast_notes, forecast_table

STAGE = StageForecast(
    stage="openai:gpt-4.1 grades",
    model="openai:gpt-4.1",
    requests=1500,
    in_ledger=300,
    repeated=0,
    calls=1200,
    begun=0,
    tokens_in=1_200_000,
    tokens_in_begun=0,
    tokens_out=7_200,
    limits_out=7_200,
    thinking=0,
    cacheable=600_000,
    seen=0,
    price=Price(2.0, 0.5, 8.0),
    limits=Limits(requests_per_minute=40),
)
SUBJECT = replace(
    STAGE,
    stage="http://localhost:8000/v1#mine responds",
    model="http://localhost:8000/v1#mine",
    calls=500,
    price=None,
    limits=Limits(),
    cacheable=0,
)


def shown(*stages: StageForecast) -> str:
    out = StringIO()
    Console(file=out, width=80, color_system=None).print(forecast_table(Forecast(stages)))
    return out.getvalue()


def rows(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


def notes(*stages: StageForecast, **changes: Any) -> str:
    return " ".join(forecast_notes(Forecast(tuple(replace(stage, **changes) for stage in stages))))


def test_a_row_a_stage_with_what_it_is_at_most_below() -> None:
    text = rows(shown(STAGE))
    # 0.6 M tokens fresh, 0.6 M cached and 7,200 written; at most 1.68 M fresh.
    assert ["openai:gpt-4.1", "grades", "1,200", "300", "1.20M", "7,200", "50%", "$1.56", "0.5"] in text
    assert ["at", "most", "1,200", "1.68M", "7,200", "$3.42"] in text
    assert not any(row[:1] == ["All"] for row in text)


def test_totals_where_there_are_several_stages() -> None:
    text = rows(shown(STAGE, replace(STAGE, stage="openai:gpt-4.1 grades again")))
    assert ["All", "2,400", "600", "2.40M", "14.4k", "50%", "$3.12", "1.0"] in text
    assert ["at", "most", "2,400", "3.36M", "14.4k", "$6.84"] in text


def test_it_fits_80_columns() -> None:
    most = replace(STAGE, calls=123_456_789, begun=123_456_789, tokens_in=9_876_543_210, tokens_in_begun=9_876_543_210)
    text = shown(most, SUBJECT, replace(most, stage="a/model/with/a/long/name-that-does-not-break grades"))
    assert max(map(len, text.splitlines())) <= 80
    assert "..." not in text.replace("= ...", "")
    assert "…" not in text


def test_an_unknown_price_is_no_zero_and_says_what_to_write() -> None:
    text = shown(STAGE, SUBJECT)
    assert [row[-2] for row in rows(text) if row[:1] == ["All"]] == ["?"]
    said = notes(STAGE, SUBJECT)
    assert "the price of http://localhost:8000/v1#mine is not known" in said
    assert '["http://localhost:8000/v1#mine"]: price = { input' in said


def test_prices_of_the_table_come_with_their_date_and_condition() -> None:
    assert f"prices as of {prices_as_of().isoformat()}" in notes(STAGE)
    flash = known_price("deepseek-flash")
    assert "deepseek-flash (half of it outside peak hours)" in notes(
        STAGE, model="inspect:deepseek/deepseek-flash", price=flash
    )
    assert "prices as of" not in notes(STAGE, price=Price(9.0, 9.0, 9.0))
    assert "prices as of" not in notes(SUBJECT)


def test_the_assumptions_are_said() -> None:
    said = notes(STAGE)
    assert "4.5 characters a token" in said
    assert "count at their longest" in said
    assert "1,024 tokens" in said
    assert "corrected by" not in said
    assert "thinking" not in said
    assert "corrected by 300 replies" in notes(STAGE, seen=300)
    assert "thinking" in notes(STAGE, thinking=4096)
    assert "no limits given" in notes(SUBJECT)
    assert "no limits given" not in notes(STAGE)


def test_second_calls_stand_in_the_row_at_most() -> None:
    begun = replace(STAGE, begun=1200, tokens_in_begun=1_200_000)
    assert ["at", "most", "3,600", "5.04M", "9,600", "$10.16"] in rows(shown(begun))
    assert "each of 1,200 calls may be followed by 2" in notes(begun)
    assert "may be followed" not in notes(STAGE)


def test_nothing_to_do_is_said_in_one_line() -> None:
    done = replace(STAGE, calls=0, in_ledger=1500, tokens_in=0, tokens_out=0, limits_out=0, cacheable=0)
    assert list(forecast_notes(Forecast((done,)))) == ["every reply is in the ledger: a run calls no model"]
    assert ["openai:gpt-4.1", "grades", "0", "1,500", "0", "0", "0%", "$0", "0.0"] in rows(shown(done))
    assert "at most" not in shown(done)


@pytest.mark.parametrize("name", ["[bold]loud[/bold]", "[/]", "a [link=x]b"])
def test_a_name_is_no_markup(name: str) -> None:
    assert name in shown(replace(STAGE, stage=name, model=name))


def test_json_holds_every_figure_and_null_for_what_is_not_known() -> None:
    found = json.loads(json.dumps(forecast_json(Forecast((STAGE, SUBJECT))), allow_nan=False))
    graded, responded = found["stages"]
    assert (graded["calls"], graded["in_ledger"], graded["tokens_in"]) == (1200, 300, 1_200_000)
    assert graded["cost"] == pytest.approx(1.5576)
    assert graded["most_cost"] == pytest.approx(3.4176)
    assert graded["hours"] == pytest.approx(0.5)
    assert (responded["cost"], responded["most_cost"], responded["hours"]) == (None, None, None)
    assert (found["calls"], found["cost"], found["unpriced"]) == (1700, None, [SUBJECT.model])
    assert found["assumptions"]["prices_as_of"] == prices_as_of().isoformat()
