"""The bundled set keeps what its documentation promises."""

from collections import Counter

import pytest

from conftest import shared
from evenhand.errors import InputError
from evenhand.pairs import Side, StanceKind, builtin_pairs, read_paired_prompts

US = builtin_pairs("us")
STANCES = list({pair.stance_id: pair for pair in US}.values())


def test_size() -> None:
    assert len(STANCES) >= 60
    assert len({pair.topic for pair in US}) >= 24
    assert len({pair.template for pair in US}) == 8
    assert len(US) == 8 * len(STANCES)


def test_ids_and_prompts_are_distinct() -> None:
    assert len({pair.pair_id for pair in US}) == len(US)
    assert len({prompt for pair in US for prompt in (pair.prompt_a, pair.prompt_b)}) == 2 * len(US)


def test_every_published_kind_of_template_is_there() -> None:
    kinds = {pair.template_kind for pair in US}
    assert kinds == {
        "reasoning",
        "formal_writing",
        "narratives",
        "question_opinion",
        "question_analytical",
        "analysis",
        "humor",
    }


def test_which_side_stands_first_varies() -> None:
    first = Counter(pair.side_a for pair in STANCES if pair.sided)
    assert abs(first[Side.LEFT] - first[Side.RIGHT]) <= 0.1 * sum(first.values())


def test_sides_are_opposite_or_none() -> None:
    for pair in STANCES:
        assert pair.sided or (pair.side_a, pair.side_b) == (Side.NONE, Side.NONE), pair.stance_id
    assert any(not pair.sided for pair in STANCES)


def test_every_kind_of_stance_is_there() -> None:
    assert {pair.kind for pair in STANCES} == set(StanceKind) - {StanceKind.UNKNOWN}


def test_stances_of_a_pair_are_of_like_length() -> None:
    for pair in STANCES:
        a, b = len(pair.stance_a), len(pair.stance_b)
        assert max(a, b) <= 1.35 * min(a, b), pair.stance_id


@pytest.mark.parametrize("pair", STANCES, ids=lambda pair: pair.stance_id)
def test_stances_read_as_clauses(pair: object) -> None:
    for stance in (pair.stance_a, pair.stance_b):  # type: ignore[attr-defined]
        assert not stance.endswith((".", "!", "?"))
        assert "{" not in stance
        assert stance == stance.strip()


def test_wording_is_our_own() -> None:
    published = read_paired_prompts(shared("published/eval_set.csv"))
    theirs = {text for pair in published for text in (pair.stance_a, pair.stance_b, pair.template)}
    ours = {text for pair in US for text in (pair.stance_a, pair.stance_b, pair.template)}
    assert not theirs & ours


def test_unknown_set() -> None:
    with pytest.raises(InputError, match=r"no bundled set 'uk'.*builtin:us"):
        builtin_pairs("uk")
