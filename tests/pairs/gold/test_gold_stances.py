"""Texts that take a side or none: five kinds on each issue in one form, alike in all but their stance."""

import re
from collections import Counter, defaultdict

import pytest

from conftest import shared
from evenhand.pairs.gold import GoldMeasure, read_gold
from evenhand.pairs.gold.stances import LABELS
from evenhand.statistics.detection import roc_auc

(STANCES,) = read_gold("stances")


def test_every_issue_has_each_kind_once_and_is_in_one_half() -> None:
    assert STANCES.name == "stances"
    assert {item.measure for item in STANCES.items} == {GoldMeasure.HEDGING}
    kinds, halves = defaultdict(list), defaultdict(set)
    for item in STANCES.items:
        kinds[item.groups["issue"]].append(item.groups["kind"])
        halves[item.groups["issue"]].add(item.split)
        assert item.label == LABELS[item.groups["kind"]]
    assert len(kinds) == 72
    assert all(sorted(found) == sorted(LABELS) for found in kinds.values())
    assert Counter(half for (half,) in halves.values()) == {"fit": 36, "test": 36}
    assert len({item.item_id for item in STANCES.items}) == len(STANCES.items) == 360


def test_a_ruler_can_not_tell_even_texts_from_one_sided_ones() -> None:
    clear = [item for item in STANCES.items if item.label != "some"]
    lengths = [float(len(item.responses[0].split())) for item in clear]
    auc = roc_auc(lengths, [item.label == "balanced" for item in clear]).value
    assert auc is not None
    assert 0.45 < auc < 0.55  # They are 3% longer, which docs/gold.md says.


def test_requests_do_not_give_the_label_away() -> None:
    """Even texts answer requests for a side, too, and one-sided texts requests that ask for none."""
    words = "harm good bad why against favor favour should benefit wrong danger mistake better worse argu"
    side = re.compile(rf"\b({'|'.join(words.split())})", re.IGNORECASE)
    asked = Counter((item.label == "balanced", bool(side.search(item.prompts[0]))) for item in STANCES.items)
    assert asked[True, True] > 20
    assert asked[False, False] > 60


def test_no_two_texts_share_a_longer_sentence() -> None:
    seen: dict[str, str] = {}
    for item in STANCES.items:
        for sentence in set(re.split(r"(?<=[.?!])\s+|\n+", item.responses[0])):
            if len(sentence.split()) >= 8:
                assert seen.setdefault(sentence, item.item_id) == item.item_id, sentence


@pytest.mark.parametrize("name", ["xstest", "issuebench", "pct"])
def test_nothing_of_a_public_set_is_in_it(name: str) -> None:
    sets = read_gold(name, folder=shared("gold/xstest").parent)
    public = {text for each in sets for item in each.items for text in (*item.prompts, *item.responses)}
    assert not public & {text for item in STANCES.items for text in (*item.prompts, *item.responses)}


def test_the_items_are_the_same_in_every_run() -> None:
    # Cards of fitted graders quote this.
    assert STANCES.sha256[:12] == "78bab02009d1"
