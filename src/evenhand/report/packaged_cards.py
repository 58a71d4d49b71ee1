"""The validity cards that come with the package: how its graders agreed with labels that they had not seen."""

import json
import re
from collections.abc import Mapping
from functools import cache
from importlib import resources

from evenhand.errors import InputError
from evenhand.report.validity_card import ValidityCard

_FOLDER = ("data", "cards")


def packaged_cards(grader: str, versions: Mapping[str, str]) -> tuple[ValidityCard, ...]:
    """Return the packaged cards of a grader with the instruments in use, ordered by measure and weight of evidence.

    Of one measure, a card of items that the grader was not fitted to stands before one of items that it was, one of
    labels that people gave before one of texts written to have their label, one of a part that nothing was chosen on
    before one of a part that was, and one of more items before one of fewer.

    Args:
        grader: its name, as in ``--grader``.
        versions: of the instruments in use, by name. A card of another version is left out: another wording, or other
            weights, is another grader.
    """
    cards = (_card(name) for name in _names() if name.startswith(f"{slug(grader)}--"))
    found = [card for card in cards if card.grader == grader and of_versions(card, versions)]
    return tuple(sorted(found, key=_weight))


def of_versions(card: ValidityCard, versions: Mapping[str, str]) -> bool:
    """Say whether the instruments that a card is of are those in use."""
    return all(versions.get(name) == version for name, version in card.versions.items())


def best_cards(cards: tuple[ValidityCard, ...]) -> dict[str, ValidityCard]:
    """Return of each measure the card with the most weight."""
    found: dict[str, ValidityCard] = {}
    for card in sorted(cards, key=_weight):
        found.setdefault(card.measure, card)
    return found


def card_file_name(card: ValidityCard) -> str:
    """Return what a packaged card's file is called: grader, measure and gold set, one file a card."""
    return f"{slug(card.grader)}--{slug(card.measure)}--{slug(card.gold)}.json"


def slug(name: str) -> str:
    """Return a name as it stands in the name of a file.

    >>> slug("fitted:refusal"), slug("qwen2.5-coder-0.5b")
    ('fitted-refusal', 'qwen2.5-coder-0.5b')
    """
    return re.sub(r"-{2,}", "-", re.sub(r"[^A-Za-z0-9._+-]+", "-", name)).strip("-.")


def packaged_card_names() -> tuple[str, ...]:
    """Return the names of all files with packaged cards."""
    return _names()


def packaged_card(name: str) -> ValidityCard:
    """Return the card in a file; raises ``InputError`` where it is of another schema or damaged."""
    return _card(name)


@cache
def _names() -> tuple[str, ...]:
    folder = resources.files("evenhand.report").joinpath(*_FOLDER)
    files = folder.iterdir() if folder.is_dir() else ()
    return tuple(sorted(file.name for file in files if file.name.endswith(".json")))


@cache
def _card(name: str) -> ValidityCard:
    file = resources.files("evenhand.report").joinpath(*_FOLDER, name)
    try:
        return ValidityCard.from_json(json.loads(file.read_text("utf-8")))
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"is no JSON ({error})", source=name, way_out="install the package again") from error


def _weight(card: ValidityCard) -> tuple[str, bool, bool, bool, int, str]:
    return card.measure, bool(card.seen), card.labelled_by != "people", card.split == "fit", -card.n, card.gold
