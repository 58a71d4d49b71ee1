"""What well-known models cost, from a small dated table; what the user gives in the settings file wins over it."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib import resources
from typing import Any

from evenhand.models.model import Price

_DATED = re.compile(r"(.+?)-(?:20\d\d-\d\d-\d\d|20\d{6})")


@dataclass(frozen=True, slots=True)
class ListedPrice:
    """A price of the table."""

    price: Price
    source: str
    """The page of the provider's that it is from."""
    hosts: tuple[str, ...]
    """Where it holds: the provider's own hosts."""
    note: str
    """Under what condition it holds; empty where there is none."""


def known_price(model: str, host: str | None = None) -> Price | None:
    """Return the listed price of a model, or None where there is none.

    Args:
        model: the name that the provider gives it, alone or with the date of its version: nothing else is taken for
            it, since a wrong price is worse than a missing one.
        host: where it is asked. The table speaks of the providers' own hosts; another may call anything by a
            well-known name. None leaves that to the caller.

    >>> known_price("gpt-4.1-mini-2025-04-14") == known_price("gpt-4.1-mini") != None
    True
    >>> known_price("gpt-4.1-mini", host="localhost"), known_price("gpt-4.1-mini-of-ours"), known_price("GPT-4.1")
    (None, None, None)
    """
    listed = listed_price(model)
    return listed.price if listed and (host is None or host in listed.hosts) else None


def listed_price(model: str) -> ListedPrice | None:
    """Return what the table says of a model: itself, or else the name without a date at its end."""
    _, models = _table()
    dated = _DATED.fullmatch(model)
    return models.get(model) or (models.get(dated[1]) if dated else None)


def prices_as_of() -> date:
    """Return the date on which the table was right."""
    return _table()[0]


@cache
def _table() -> tuple[date, Mapping[str, ListedPrice]]:
    text = resources.files("evenhand.models").joinpath("data", "prices.toml").read_text("utf-8")
    values: dict[str, Any] = tomllib.loads(text)
    as_of: date = values.pop("as_of")
    models: dict[str, ListedPrice] = {}
    for provider in values.values():
        for name, entry in provider["models"].items():
            note = entry.pop("note", "")
            models[name] = ListedPrice(Price(**entry), provider["source"], tuple(provider["hosts"]), note)
    return as_of, models
