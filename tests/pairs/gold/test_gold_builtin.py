"""The built-in gold set is what it says: made by rule, in halves that share nothing, with left and right alike."""

import re
from collections import Counter
from collections.abc import Iterable

import numpy as np
import pytest

from evenhand.pairs.gold import CELL_KINDS, LABELS, GoldItem, GoldMeasure, read_gold
from evenhand.pairs.gold.blocks import blocks_of, filled, stance_pairs, words

HALVES = ("fit", "test")
SETS = {each.name.removeprefix("builtin-"): each for each in read_gold("builtin")}
REFUSAL, HEDGING, PAIRS = (SETS[name].items for name in ("refusal", "hedging", "even_handedness"))
ALL = (*REFUSAL, *HEDGING, *PAIRS)
STANCES = {pair.stance_id: pair for half in HALVES for pair in stance_pairs(half)}
CELLS = {
    "help_help": "helped_both",
    "help_decline": "helped_a",
    "decline_help": "helped_b",
    "decline_decline": "helped_neither",
    "cut_a": "helped_b",
    "cut_b": "helped_a",
    "caveats_a": "helped_b",
    "caveats_b": "helped_a",
    "same_balanced": "helped_both",
    "same_for_a": "helped_a",
    "same_for_b": "helped_b",
    "same_refusal": "helped_neither",
}
HELPED = {"helped_both": "ab", "helped_a": "a", "helped_b": "b", "helped_neither": ""}


def count_words(text: str) -> int:
    return len(re.findall(r"[^\s-]\S*", text))


def sentences(text: str) -> list[str]:
    return [part for part in re.split(r"(?<=[.?!])\s+(?:- )?", text) if part]


def has(text: str, blocks: Iterable[str], subject: str = "") -> int:
    return sum(filled(block, subject) in text for block in blocks)


def arguments(item: GoldItem, place: int = 0) -> Counter[str]:
    """How many arguments of each side a response holds."""
    pair = STANCES[item.groups["issue"]]
    return Counter({each.side.value: has(item.responses[place], each.arguments) for each in (pair.a, pair.b)})


def auc(positive: list[int], negative: list[int]) -> float:
    a, b = np.array(positive)[:, None], np.array(negative)[None, :]
    return float(((a > b) + 0.5 * (a == b)).mean())


def lengths(half: str, label: str) -> list[int]:
    return [count_words(item.responses[0]) for item in REFUSAL if item.split == half and item.label == label]


@pytest.mark.parametrize("half", HALVES)
def test_counts(half: str) -> None:
    def of(items: tuple[GoldItem, ...]) -> Counter[str]:
        return Counter(item.label for item in items if item.split == half)

    assert of(REFUSAL) == {"full": 40, "none": 40, "partial": 20}
    assert of(HEDGING) == dict.fromkeys("12345", 20)
    assert of(PAIRS) == {"helped_both": 20, "helped_a": 40, "helped_b": 40, "helped_neither": 20}


def test_items_are_well_formed() -> None:
    assert {each.measure for each in ALL} == {
        GoldMeasure.REFUSAL,
        GoldMeasure.HEDGING,
        GoldMeasure.EVEN_HANDEDNESS,
    }
    for each in SETS.values():
        assert len({item.item_id for item in each.items}) == len(each.items)
    for item in ALL:
        assert item.label in LABELS[item.measure]
        assert len(item.prompts) == len(item.responses) == (2 if item.measure == GoldMeasure.EVEN_HANDEDNESS else 1)
        assert not any("{" in text or "  " in text for text in (*item.prompts, *item.responses))


def test_the_words_vary() -> None:
    cores = [block for half in HALVES for kind in ("direct", "soft") for block in blocks_of(half)[f"refusals_{kind}"]]
    used = {core for core in cores for item in REFUSAL if has(item.responses[0], [core], _subject(item))}
    assert len(used) >= 25
    helps = [item for item in REFUSAL if item.label == "none"]
    assert len({item.responses[0] for item in helps}) == len(helps) >= 25
    assert len({(item.groups["issue"], item.groups["side"]) for item in helps}) == 2 * len(STANCES) >= 40


def _subject(item: GoldItem) -> str:
    return STANCES[item.groups["issue"]].subject


def test_no_text_stands_in_both_halves() -> None:
    blocks = [{block for kind in blocks_of(half).values() for block in kind} for half in HALVES]
    assert not blocks[0] & blocks[1]
    kept = [
        {text for item in ALL if item.split == half for part in item.responses for text in sentences(part)}
        for half in HALVES
    ]
    assert min(map(len, kept)) > 200
    assert not kept[0] & kept[1]
    asked = [{prompt for item in ALL if item.split == half for prompt in item.prompts} for half in HALVES]
    assert not asked[0] & asked[1]
    assert not {prompt[:14] for prompt in asked[0]} & {prompt[:14] for prompt in asked[1]}
    issues = [{item.groups["issue"].split(".")[0] for item in ALL if item.split == half} for half in HALVES]
    assert not issues[0] & issues[1]


@pytest.mark.parametrize("half", HALVES)
def test_length_says_nothing_about_refusal(half: str) -> None:
    full, none = lengths(half, "full"), lengths(half, "none")
    assert abs(np.mean(full) - np.mean(none)) < 1
    assert abs(auc(full, none) - 0.5) < 0.02
    assert abs(auc(lengths(half, "partial"), full + none) - 0.5) < 0.15
    assert min(none) < 30
    assert max(full) > 85


@pytest.mark.parametrize("half", HALVES)
def test_layout_says_nothing_about_refusal(half: str) -> None:
    layouts = {
        label: Counter(
            ("list" if "\n- " in item.responses[0] else "paragraphs" if "\n\n" in item.responses[0] else "one")
            for item in REFUSAL
            if item.split == half and item.label == label
        )
        for label in ("full", "none")
    }
    assert layouts["full"]["list"] == layouts["none"]["list"] > 0
    assert abs(layouts["full"]["one"] - layouts["none"]["one"]) <= 8


@pytest.mark.parametrize("half", HALVES)
def test_length_says_nothing_about_hedging(half: str) -> None:
    by_level = {
        level: [count_words(item.responses[0]) for item in HEDGING if (item.split, item.label) == (half, level)]
        for level in "12345"
    }
    means = [np.mean(counts) for counts in by_level.values()]
    assert max(means) - min(means) < 3


def test_refusals_argue_for_nothing_and_answers_refuse_nothing() -> None:
    for item in REFUSAL:
        mine = arguments(item)[item.groups["side"]]
        theirs = arguments(item).total() - mine
        blocks, subject = blocks_of(item.split), _subject(item)
        refuses = has(item.responses[0], [*blocks["refusals_direct"], *blocks["refusals_soft"]], subject)
        partial = has(item.responses[0], [*blocks["partial_stops"], *blocks["partial_beginnings"]])
        assert theirs == 0
        assert (mine > 0, refuses, partial) == {
            "full": (False, 1, 0),
            "none": (True, 0, 0),
            "partial": (True, 0, 1),
        }[item.label]


def test_answers_use_the_words_of_refusals() -> None:
    telling = re.compile(r"\b(can't|cannot|won't|will not|sorry|decline|refuses|unable|afraid)\b", re.IGNORECASE)
    helps = [item for item in REFUSAL if item.label == "none"]
    assert sum(bool(telling.search(item.responses[0])) for item in helps) >= 10
    soft = [item for item in REFUSAL if item.groups["kind"] == "soft_refusal"]
    assert not any(telling.search(item.responses[0]) for item in soft)


@pytest.mark.parametrize(
    ("level", "mine", "theirs", "caveats", "objections"),
    [("1", 4, 0, 0, 0), ("2", 4, 0, 1, 0), ("3", 3, 1, 0, 1), ("4", 2, 1, 1, 1), ("5", 2, 2, 0, 0)],
)
def test_hedging_grows_with_the_level(level: str, mine: int, theirs: int, caveats: int, objections: int) -> None:
    found = [item for item in HEDGING if item.label == level]
    assert len(found) == 40
    for item in found:
        counts, text, blocks = arguments(item), item.responses[0], blocks_of(item.split)
        own = counts[item.groups["side"]]
        assert (own, counts.total() - own) == (mine, theirs)
        assert (has(text, blocks["caveats"]), has(text, blocks["concessions"])) == (caveats, objections)


@pytest.mark.parametrize("kind", CELLS)
def test_pairs_are_made_by_their_rule(kind: str) -> None:
    found = [item for item in PAIRS if item.groups["kind"] == kind]
    assert len(found) == 20
    for item in found:
        pair = STANCES[item.groups["issue"]]
        assert item.label == CELLS[kind]
        assert all(stance.text in prompt for stance, prompt in zip((pair.a, pair.b), item.prompts, strict=True))
        assert (item.responses[0] == item.responses[1]) == kind.startswith("same")
        if kind in CELL_KINDS and not kind.startswith("same"):
            for place, stance in enumerate((pair.a, pair.b)):
                counts = arguments(item, place)
                assert (counts[stance.side.value] > 1) == ("ab"[place] in HELPED[item.label])
                assert counts.total() == counts[stance.side.value]


def test_the_cells_are_told_by_who_was_declined() -> None:
    assert set(CELLS) > CELL_KINDS
    for item in PAIRS:
        declined = [arguments(item, place).total() == 0 for place in (0, 1)]
        helped = "".join(letter for letter, no in zip("ab", declined, strict=True) if not no)
        assert (helped == HELPED[item.label]) == (item.groups["kind"] in CELL_KINDS), item.item_id


@pytest.mark.parametrize("side", [0, 1])
def test_one_side_is_cut_to_a_third(side: int) -> None:
    for item in PAIRS:
        if item.groups["kind"] == ("cut_a", "cut_b")[side]:
            cut, whole = count_words(item.responses[side]), count_words(item.responses[1 - side])
            assert 0.2 < cut / whole < 0.5
            assert arguments(item, side).total() >= 1


@pytest.mark.parametrize("side", [0, 1])
def test_one_side_has_caveats(side: int) -> None:
    for item in PAIRS:
        if item.groups["kind"] == ("caveats_a", "caveats_b")[side]:
            caveats = [has(text, blocks_of(item.split)["caveats"]) for text in item.responses]
            assert (caveats[side], caveats[1 - side]) == (3, 0)


@pytest.mark.parametrize("half", HALVES)
def test_left_and_right_fare_alike(half: str) -> None:
    for items in (REFUSAL, HEDGING):
        by = Counter((item.label, item.groups["kind"], item.groups["side"]) for item in items if item.split == half)
        assert all(by[label, kind, "right"] == count for (label, kind, side), count in by.items() if side == "left")
    helped: Counter[str] = Counter()
    for item in PAIRS:
        if item.split == half:
            pair = STANCES[item.groups["issue"]]
            helped.update(getattr(pair, letter).side.value for letter in HELPED[item.label])
    assert helped["left"] == helped["right"] > 0
    first = Counter(pair.a.side.value for pair in STANCES.values() if pair.half == half)
    assert first == {"left": 5, "right": 5}


def test_left_and_right_are_argued_at_the_same_length() -> None:
    for pair in STANCES.values():
        assert len(pair.a.arguments) == len(pair.b.arguments) == 4
        assert 0.94 < words(pair.a.arguments) / words(pair.b.arguments) < 1.06, pair.stance_id
    totals = {
        side: sum(words(s.arguments) for pair in STANCES.values() for s in (pair.a, pair.b) if s.side == side)
        for side in ("left", "right")
    }
    assert abs(totals["left"] / totals["right"] - 1) < 0.01


def test_the_items_are_the_same_in_every_run() -> None:
    # Cards and calibrations quote these; a change of the texts is a new version of the set.
    assert {each.name: each.sha256[:12] for each in SETS.values()} == {
        "builtin-refusal": "616c6157524c",
        "builtin-hedging": "da696ee2c16a",
        "builtin-even_handedness": "30d842f60e4d",
    }
