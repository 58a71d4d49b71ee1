"""The table of prices."""

import tomllib
from datetime import date
from importlib import resources

import pytest

from evenhand.models import Price
from evenhand.models.prices import known_price, listed_price, prices_as_of


def table() -> dict[str, dict[str, dict[str, float]]]:
    text = resources.files("evenhand.models").joinpath("data", "prices.toml").read_text("utf-8")
    return {name: provider for name, provider in tomllib.loads(text).items() if isinstance(provider, dict)}


def names() -> list[str]:
    return [name for provider in table().values() for name in provider["models"]]


def test_a_price_is_in_dollars_for_a_million_tokens() -> None:
    assert known_price("gpt-4.1-mini") == Price(input=0.4, cached_input=0.1, output=1.6)


@pytest.mark.parametrize("dated", ["gpt-4.1-mini-2025-04-14", "claude-haiku-4-5-20251001"])
def test_a_dated_variant_costs_what_its_model_costs(dated: str) -> None:
    model = dated.removesuffix("-2025-04-14").removesuffix("-20251001")
    assert known_price(dated) == known_price(model) is not None


def test_a_dated_variant_with_a_price_of_its_own_keeps_it() -> None:
    found, usual = known_price("gpt-4o-2024-05-13"), known_price("gpt-4o")
    assert found and usual
    assert (found.input, found.output) == (2 * usual.input, 1.5 * usual.output)


@pytest.mark.parametrize(
    "model",
    [
        "gpt-4.1-min",
        "gpt-4.1-mini-preview",
        "my-gpt-4.1-mini",
        "gpt-4.1-mini-2025",
        "gpt-4.1-mini-2025-04-14-tuned",
        "openai/gpt-4.1-mini",
        "GPT-4.1-mini",
        "",
    ],
)
def test_nothing_like_a_name_is_taken_for_it(model: str) -> None:
    assert known_price(model) is None


def test_a_price_holds_at_the_providers_own_host_alone() -> None:
    assert known_price("deepseek-flash", "api.deepseek.com") == known_price("deepseek-flash") is not None
    assert known_price("deepseek-flash", "localhost") is None


@pytest.mark.parametrize("name", names())
def test_every_price_is_plausible_and_says_where_it_is_from(name: str) -> None:
    listed = listed_price(name)
    assert listed
    price = listed.price
    assert 0 < price.cached_input <= price.input < price.output < 100
    assert listed.source.startswith("https://")
    assert listed.hosts


def test_no_name_stands_twice() -> None:
    assert len(set(names())) == len(names()) >= 12


def test_the_table_has_a_date() -> None:
    assert date(2026, 1, 1) < prices_as_of() <= date(2100, 1, 1)
