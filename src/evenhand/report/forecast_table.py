"""A forecast as a table for a terminal of 80 columns, and as JSON."""

from collections.abc import Iterator
from typing import Any

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from evenhand.execution.forecast import (
    LEAST_CACHED,
    SECOND_CALLS,
    SHARE_OF_THINKING,
    SHARE_WITH_STOPS,
    TYPICAL_ANSWER,
    Forecast,
    StageForecast,
)
from evenhand.execution.tokens import CHARACTERS_PER_TOKEN, MARGIN, TOKENS_PER_EXTRA_BYTE
from evenhand.models.prices import ListedPrice, listed_price, prices_as_of

_COLUMNS = (("Calls", 8), ("In ledger", 9), ("Tokens in", 9), ("out", 7), ("Cache", 5), ("Cost", 8), ("Hours", 5))


def forecast_table(forecast: Forecast) -> RenderableType:
    """Return what a terminal shows of a forecast: a row a stage, what it is at most below it, and the assumptions."""
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    table.add_column("Stage", overflow="fold")
    for name, width in _COLUMNS:
        table.add_column(name, justify="right", min_width=width, no_wrap=True)
    for stage in forecast.stages:
        _add(table, stage)
    if len(forecast.stages) > 1:
        _add_totals(table, forecast)
    return Group(
        Text.from_markup("[bold]Forecast[/bold]: no model is called, and nothing is written"),
        Text(),
        table,
        Text(),
        *(Text(f"- {note}") for note in forecast_notes(forecast)),
    )


def forecast_json(forecast: Forecast) -> dict[str, Any]:
    """Return plain values; costs in US dollars, null where a price is not known."""
    return {
        "stages": [_stage_json(stage) for stage in forecast.stages],
        "calls": forecast.calls,
        "most_calls": forecast.most_calls,
        "in_ledger": forecast.in_ledger,
        "cost": forecast.cost,
        "most_cost": forecast.most_cost,
        "hours": forecast.hours,
        "unpriced": list(forecast.unpriced),
        "assumptions": {
            "characters_per_token": CHARACTERS_PER_TOKEN,
            "tokens_per_extra_byte": TOKENS_PER_EXTRA_BYTE,
            "margin_of_prompts": MARGIN,
            "typical_answer_tokens": TYPICAL_ANSWER,
            "least_cached_tokens": LEAST_CACHED,
            "prices_as_of": prices_as_of().isoformat(),
        },
        "notes": list(forecast_notes(forecast)),
    }


def forecast_notes(forecast: Forecast) -> Iterator[str]:
    """Yield what the figures rest on."""
    called = [stage for stage in forecast.stages if stage.calls]
    if not called:
        yield f"{'every reply is in the ledger' if forecast.stages else 'no model is asked'}: a run calls no model"
        return
    thinking = any(stage.thinking for stage in called)
    for model in forecast.unpriced:
        yield (
            f'the price of {model} is not known; give it in a file for --models, under ["{model}"]:'
            " price = { input = ..., cached_input = ..., output = ... } (US dollars a million tokens)"
        )
    yield (
        f"prompts: estimated at {CHARACTERS_PER_TOKEN:g} characters a token, more for letters outside ASCII"
        + _learned(called)
        + f"; at most {MARGIN - 1:.0%} more. Answers that are not there yet count at their longest where graders read"
        " them"
    )
    yield (
        f"answers: expected at {TYPICAL_ANSWER} tokens, or at their limit where that is less ({SHARE_WITH_STOPS:.0%} of"
        " it for ratings), or as long as those in the ledger; at most their limit"
        + (f", with all of what models are given for thinking (expected: {SHARE_OF_THINKING:.0%})" if thinking else "")
    )
    yield (
        "cache: share of the prompts that begins like the prompt before"
        + (f", from {LEAST_CACHED:,} tokens on" if any(not _is_free(stage) for stage in called) else "")
        + "; the expected cost takes it for served, the cost at most does not. Writing to a cache may cost extra"
    )
    yield from _prices(called)
    if begun := sum(stage.begun for stage in called):
        yield (
            f"ratings: each of {begun:,} calls may be followed by {SECOND_CALLS} with the same prompt and an answer of"
            " one token, where the model's tokenizer has no token for 10; only the rows at most count them"
        )
    if forecast.hours is None:
        yield "hours: no limits given"
    else:
        yield "hours: what the limits given for the models allow at best; stages of different models go side by side"


def _add(table: Table, stage: StageForecast) -> None:
    table.add_row(
        escape(stage.stage),
        f"{stage.calls:,}",
        f"{stage.in_ledger:,}",
        short(stage.tokens_in),
        short(stage.tokens_out),
        f"{stage.cacheable_share:.0%}",
        dollars(stage.cost),
        _hours(stage.hours),
    )
    if stage.calls:
        most = (short(stage.most_tokens_in), short(stage.most_tokens_out), "", dollars(stage.most_cost), "")
        table.add_row("  at most", f"{stage.most_calls:,}", "", *most, style="dim")


def _add_totals(table: Table, forecast: Forecast) -> None:
    stages = forecast.stages
    tokens_in = sum(stage.tokens_in for stage in stages)
    cacheable = sum(stage.cacheable for stage in stages)
    table.add_row(
        "All",
        f"{forecast.calls:,}",
        f"{forecast.in_ledger:,}",
        short(tokens_in),
        short(sum(stage.tokens_out for stage in stages)),
        f"{cacheable / tokens_in if tokens_in else 0:.0%}",
        dollars(forecast.cost),
        _hours(forecast.hours),
        style="bold",
    )
    most_in = sum(stage.most_tokens_in for stage in stages)
    most_out = sum(stage.most_tokens_out for stage in stages)
    if forecast.calls:
        most = (short(most_in), short(most_out), "", dollars(forecast.most_cost), "")
        table.add_row("  at most", f"{forecast.most_calls:,}", "", *most, style="bold dim")


def _stage_json(stage: StageForecast) -> dict[str, Any]:
    return {
        "stage": stage.stage,
        "model": stage.model,
        "requests": stage.requests,
        "in_ledger": stage.in_ledger,
        "repeated": stage.repeated,
        "calls": stage.calls,
        "most_calls": stage.most_calls,
        "tokens_in": stage.tokens_in,
        "most_tokens_in": stage.most_tokens_in,
        "tokens_out": stage.tokens_out,
        "most_tokens_out": stage.most_tokens_out,
        "cacheable_tokens": stage.cacheable,
        "cacheable_share": round(stage.cacheable_share, 4),
        "cost": stage.cost,
        "most_cost": stage.most_cost,
        "hours": stage.hours,
    }


def _learned(called: list[StageForecast]) -> str:
    seen = sum(stage.seen for stage in called)
    return f", corrected by {seen:,} replies in the ledger" if seen else ""


def _prices(called: list[StageForecast]) -> Iterator[str]:
    """Say which prices are the table's, and under what conditions they hold."""
    listed = {stage.model: entry for stage in called if (entry := _listed(stage))}
    if not listed:
        return
    names = ", ".join(f"{name} ({entry.note})" if entry.note else name for name, entry in listed.items())
    yield (
        f"prices as of {prices_as_of().isoformat()}, from the table that comes with Evenhand: {names}. Check before you"
        " rely on them"
    )


def _listed(stage: StageForecast) -> ListedPrice | None:
    # A name is openai:NAME, ADDRESS#NAME or inspect:PROVIDER/NAME.
    name = stage.model.rpartition("#")[2] if "#" in stage.model else stage.model.rpartition(":")[2].rpartition("/")[2]
    entry = listed_price(name)
    return entry if entry and entry.price == stage.price else None


def _is_free(stage: StageForecast) -> bool:
    return stage.price is not None and not (stage.price.input or stage.price.output)


def _hours(hours: float | None) -> str:
    if hours is None:
        return "-"
    return f"{hours:,.1f}" if hours >= 0.05 or not hours else "<0.1"


def dollars(cost: float | None) -> str:
    """Return a cost as it is shown.

    >>> dollars(12.345), dollars(0.004), dollars(0.0), dollars(None), dollars(123456.0)
    ('$12.35', '<$0.01', '$0', '?', '$123,456')
    """
    if cost is None:
        return "?"
    if not cost:
        return "$0"
    if cost < 0.01:
        return "<$0.01"
    return f"${cost:,.2f}" if cost < 1000 else f"${cost:,.0f}"


def short(number: int) -> str:
    """Return a number in at most seven characters.

    >>> short(9876), short(98_765), short(9_876_543), short(9_876_543_210)
    ('9,876', '98.8k', '9.88M', '9,877M')
    """
    if number < 10_000:
        return f"{number:,}"
    if number < 999_950:
        return f"{number / 1e3:.1f}k"
    return f"{number / 1e6:.2f}M" if number < 999_950_000 else f"{number / 1e6:,.0f}M"
