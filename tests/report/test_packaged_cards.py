"""The validity cards that come with the package, and the lines that quote them."""

from dataclasses import replace
from typing import Any

import pytest
from test_validity_card import a_card

from evenhand.cli import demo
from evenhand.graders.fitted import BUILTIN_GRADERS, FittedGrader
from evenhand.graders.fitted.judging import FittedGraders
from evenhand.instruments import BUILTIN_INSTRUMENT_SETS, builtin_instruments
from evenhand.report import packaged_cards as packaging
from evenhand.report.packaged_cards import (
    best_cards,
    card_file_name,
    packaged_card,
    packaged_card_names,
    packaged_cards,
)
from evenhand.report.quoted_card import QuotedCard
from evenhand.report.validity_card import ValidityCard
from evenhand.statistics import Estimate


@pytest.fixture
def cards(monkeypatch: pytest.MonkeyPatch) -> dict[str, ValidityCard]:
    """Cards in place of those of the package, by the names of their files."""
    found: dict[str, ValidityCard] = {}
    monkeypatch.setattr(packaging, "_names", lambda: tuple(found))
    monkeypatch.setattr(packaging, "_card", found.__getitem__)
    return found


def add(cards: dict[str, ValidityCard], **changes: Any) -> ValidityCard:
    card = a_card(**{"grader": "g", "versions": {"refusal": "v1"}, **changes})
    cards[card_file_name(card)] = card
    return card


def test_only_cards_of_the_versions_in_use_are_found(cards: dict[str, ValidityCard]) -> None:
    card = add(cards)
    add(cards, gold="other-set", versions={"refusal": "v0"})
    add(cards, grader="g--h")
    add(cards, grader="gg")
    assert packaged_cards("g", {"refusal": "v1", "hedging": "v1"}) == (card,)
    assert packaged_cards("g", {}) == ()
    assert packaged_cards("h", {"refusal": "v1"}) == ()


def test_the_card_with_most_weight_is_quoted(cards: dict[str, ValidityCard]) -> None:
    small = add(cards, gold="people-small", n=90)
    add(cards, gold="built", n=900, labelled_by="construction")
    fit = replace(small, gold="people-fit", n=500, split="fit")
    large = replace(small, gold="people-large", n=300, split="test")
    cards |= {card_file_name(one): one for one in (fit, large)}
    found = packaged_cards("g", {"refusal": "v1"})
    assert [card.gold for card in found] == ["people-large", "people-small", "people-fit", "built"]
    assert best_cards(tuple(reversed(found))) == {"refusal": large}


def test_files_are_named_by_grader_measure_and_gold() -> None:
    card = a_card(grader="http://h:1/v1#a/b--c", gold="x test")
    assert card_file_name(card) == "http-h-1-v1-a-b-c--refusal--x-test.json"


def test_every_packaged_card_is_whole_and_in_its_place() -> None:
    for name in packaged_card_names():
        card = packaged_card(name)
        assert card_file_name(card) == name
        assert card.split != "fit", f"{name}: figures of a part that it was fitted to say little"


def test_packaged_cards_are_of_what_is_packaged() -> None:
    """A card of a former wording, or of former weights, would never be quoted: python -m bench.fitted_cards and
    python -m bench.model_cards make them anew."""
    for name in packaged_card_names():
        card = packaged_card(name)
        if card.grader.startswith("fitted:"):
            grader = FittedGrader.load(card.grader).card
            own = FittedGraders.load(card.grader).instruments.versions
            known = [{grader.measure: grader.weights_sha256}, own]
        else:
            known = [builtin_instruments(one).versions for one in BUILTIN_INSTRUMENT_SETS]
        assert any(card in packaged_cards(card.grader, versions) for versions in known), name


@pytest.mark.parametrize("name", BUILTIN_GRADERS)
def test_the_first_figure_of_a_fitted_grader_is_quoted(name: str) -> None:
    card = FittedGrader.load(f"fitted:{name}").card
    quoted = QuotedCard.of_fitted(card, f"fitted:{name}")
    assert quoted is not None
    first = card.figures[0]
    assert (quoted.kappa, quoted.auc, quoted.n, quoted.held_out) == (first.kappa, first.auc, first.n, first.held_out)
    assert f"{first.n:,} labelled answers ({first.data})" in quoted.line
    assert "people" in quoted.line
    lines = [
        getattr(QuotedCard.of_fitted(replace(card, figures=(replace(first, shipped=shipped),)), name), "line", "")
        for shipped in (True, False)
    ]
    assert lines[0].endswith(f"; not seen in its fitting: {first.held_out}")
    assert lines[1].endswith(f"; of weights fitted alike that had not seen: {first.held_out}")
    assert quoted.line == lines[not first.shipped]
    assert QuotedCard.of_fitted(replace(card, figures=()), name) is None
    unknown = replace(first, data="builtin-refusal", kappa=Estimate.missing("too few"), auc=Estimate.missing("too few"))
    line = getattr(QuotedCard.of_fitted(replace(card, figures=(unknown,)), name), "line", "")
    assert "agrees with labels given by construction over" in line
    assert "kappa" not in line


def test_the_demo_takes_the_packaged_grader_that_agrees_best_with_people() -> None:
    """About refusals, which is what even-handedness is derived from in all of them."""
    (fitted,) = (one.card for one in FittedGraders.load(demo.GRADER).graders if one.card.measure == "refusal")
    best = fitted.figures[0].kappa.value
    assert best is not None
    for name in packaged_card_names():
        card = packaged_card(name)
        if card.measure == "refusal" and card.labelled_by == "people" and not card.grader.startswith("fitted:"):
            assert card.kappa.value is None or card.kappa.value < best, name
