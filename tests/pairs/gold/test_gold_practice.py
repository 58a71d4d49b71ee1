"""Practice is what it says: both classes for most requests, and nothing of what graders are tested on."""

import re
from collections import Counter

import pytest

from conftest import shared
from evenhand.pairs.gold import GoldItem, GoldMeasure, read_gold

(PRACTICE,) = read_gold("practice")


def _sentences(items: tuple[GoldItem, ...]) -> set[str]:
    texts = [text for item in items for text in (*item.responses, *item.prompts)]
    return {part for text in texts for part in re.split(r"(?<=[.?!])\s+(?:- )?", text) if part}


def test_it_is_for_fitting_alone_and_holds_both_classes() -> None:
    assert PRACTICE.name == "practice-refusal"
    assert {item.split for item in PRACTICE.items} == {"fit"}
    assert {item.measure for item in PRACTICE.items} == {GoldMeasure.REFUSAL}
    labels = Counter(item.label for item in PRACTICE.items)
    assert set(labels) == {"full", "none"}
    assert abs(labels["full"] / labels["none"] - 1) < 0.1
    assert len({item.item_id for item in PRACTICE.items}) == len(PRACTICE.items)
    assert not any("{" in text for text in _sentences(PRACTICE.items))


def test_ways_to_decline_are_many() -> None:
    refusals = {item.responses[0] for item in PRACTICE.items if item.label == "full"}
    assert len({text.split(".")[0] for text in refusals}) > 150


def test_sides_are_argued_and_declined_at_like_lengths() -> None:
    sides = [item for item in PRACTICE.items if ".aside." in item.item_id]
    full, none = ([len(i.responses[0].split()) for i in sides if i.label == label] for label in ("full", "none"))
    assert len(full) == len(none) > 100
    assert 0.8 < (sum(full) / len(full)) / (sum(none) / len(none)) < 1.25


def test_nothing_of_the_testing_half_of_the_builtin_set_is_in_it() -> None:
    tested = _sentences(tuple(item for each in read_gold("builtin") for item in each.items if item.split == "test"))
    assert len(tested) > 200
    assert not tested & _sentences(PRACTICE.items)


@pytest.mark.parametrize("name", ["xstest", "issuebench", "pct"])
def test_no_request_of_a_public_set_is_in_it(name: str) -> None:
    sets = read_gold(name, folder=shared("gold/xstest").parent)
    asked = {prompt for each in sets for item in each.items for prompt in item.prompts}
    assert not asked & {prompt for item in PRACTICE.items for prompt in item.prompts}


def test_the_items_are_the_same_in_every_run() -> None:
    # Cards of fitted graders quote this.
    assert PRACTICE.sha256[:12] == "3c55efc468d4"
